/* gateway_resume.c - sessions that lose their socket and come back. */
#include <stdio.h>
#include <stdlib.h>

#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "net/websocket/websocket.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

/* Something to tell an account, with a number in it. */
static void tell(struct client *c, int i, size_t padding)
{
    struct arena *a = world_arena(c->world);
    char *fill = arena_alloc(a, padding + 1);

    memset(fill, 'x', padding);
    struct announcement n = {
        .event = EVENT_USER_NOTE_UPDATE,
        .to = to_user(strtoull(c->id, NULL, 10)),
        .payload = str_printf(a, "{\"i\":%d,\"fill\":\"%s\"}", i, fill),
    };
    gateway_announce(guildhall_gateway(world_server(c->world)), &n);
}

static void expect_told_numbers(struct gateway_conn *g, int from, int to)
{
    for (int i = from; i < to; i++)
        expect_dispatch(g, "USER_NOTE_UPDATE", "{'i': %d}", i);
}

static struct gateway_conn *come_back(struct client *c, const char *query, const char *id,
                                      uint64_t seq)
{
    struct gateway_conn *g = conn_open(c, query);

    expect_op(g, 10);
    conn_resume(g, id, seq);
    return g;
}

static void what_was_missed_is_told_again(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    tell(ada, 0, 0);
    expect_told_numbers(g, 0, 1);
    conn_kill(g);
    for (int i = 1; i < 10; i++)
        tell(ada, i, 0);
    world_told(w);
    g = come_back(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_told_numbers(g, 1, 10);
    expect_dispatch(g, "RESUMED", "{'_trace': ['[\\\"guildhall\\\",{\\\"micros\\\":0.0}]']}");
    tell(ada, 10, 0);
    expect_told_numbers(g, 10, 11);
}

/* What the client did not read before the end is told again as well. */
static void what_was_sent_but_not_read_is_told_again(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    for (int i = 0; i < 5; i++)
        tell(ada, i, 0);
    world_told(w);
    expect_told_numbers(g, 0, 2);
    conn_kill(g);
    g = come_back(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_told_numbers(g, 2, 5);
    expect_dispatch(g, "RESUMED", "{}");
}

/* A client answers a close frame with the same code; only one that begins it says goodbye. */
static void who_is_sent_away_and_says_so_may_come_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_send(g, "[]");
    expect_close(g, 4002);
    conn_send_bytes(g, WS_CLOSE, str_slice("\x03\xe9", 2)); /* 1001 */
    expect_soon(conn_census(g, "connected") == 0);
    tell(ada, 0, 0);
    g = come_back(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_told_numbers(g, 0, 1);
    expect_dispatch(g, "RESUMED", "{}");
}

/* Sockets land on any loop; the session follows them. */
static void nothing_is_lost_or_doubled_however_often_it_comes_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    int i = 0;

    for (int round = 0; round < 40; round++) {
        for (int k = 0; k < 3; k++)
            tell(ada, i + k, 0);
        expect_told_numbers(g, i, i + round % 3);
        conn_kill(g);
        tell(ada, i + 3, 0);
        struct gateway_conn *next = conn_open(ada, round % 2 ? PLAIN : "v=10&compress=zlib-stream");
        expect_op(next, 10);
        conn_resume(next, conn_id(g), conn_seq(g));
        tell(ada, i + 4, 0); /* while it is on its way */
        g = next;
        bool resumed = false;
        for (int k = round % 3; k < 5 || !resumed;) {
            const struct dom *m = conn_read(g, 30000);

            expect(m != NULL);
            conn_count(g, m);
            if (str_is(dom_at(m, "t")->text, "RESUMED"))
                resumed = true;
            else
                expect(atoi(dom_at(m, "d.i")->text.p) == i + k++);
        }
        i += 5;
    }
    expect_quiet(g);
}

static void a_second_socket_takes_over(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 6; i++) {
        struct gateway_conn *old = conn_session(ada, PLAIN, "");
        struct gateway_conn *g = come_back(ada, PLAIN, conn_id(old), 1);

        expect_dispatch(g, "RESUMED", "{}");
        expect_close(old, 4000);
        conn_close(g, 1000);
    }
}

static void hear_up_to(struct gateway_conn *g, int number)
{
    const struct dom *i = NULL;

    while (!i || atoi(i->text.p) != number) {
        const struct dom *m = conn_read(g, 30000);

        expect(m != NULL);
        i = dom_at(m, "d.i");
    }
}

/* Sockets that ask and are cut before they are answered: the session is theirs when it is
 * too late, and must not be taken from the one that came after them. */
static void the_last_of_a_row_of_sockets_keeps_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, ""), *g = first;

    for (int i = 0; i < 100; i++) {
        conn_kill(g);
        for (int k = 0; k < i % 4; k++)
            conn_kill(come_back(ada, PLAIN, conn_id(first), 1));
        g = come_back(ada, PLAIN, conn_id(first), 1);
        tell(ada, i, 0);
        hear_up_to(g, i);
    }
}

/* Two loops may read what two sockets said in either order; which one the client opened last
 * does not depend on it. */
static void the_socket_that_was_opened_last_keeps_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *older[4], *newest;

    for (int i = 0; i < 4; i++) {
        older[i] = conn_open(ada, PLAIN);
        expect_op(older[i], 10);
    }
    newest = come_back(ada, PLAIN, conn_id(first), 1);
    expect_dispatch(newest, "RESUMED", "{}");
    expect_close(first, 4000);
    for (int i = 0; i < 4; i++) {
        conn_resume(older[i], conn_id(first), 1);
        expect_close(older[i], 4000);
    }
    tell(ada, 0, 0);
    expect_told_numbers(newest, 0, 1);
}

static void sessions_that_are_not_there_are_invalid(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *lives = conn_session(ada, PLAIN, "");
    struct gateway_conn *g = come_back(ada, PLAIN, "0123456789abcdef0123456789abcdef", 1);

    expect_op(g, 9);
    conn_identify(g, ""); /* the same socket goes on */
    conn_restart(g);
    expect_dispatch(g, "READY", "{}");
    g = come_back(ada, PLAIN, "short", 1);
    expect_op(g, 9);
    g = come_back(bob, PLAIN, conn_id(lives), 1);
    const struct dom *d = expect_op(g, 9);
    expect(!dom_at(d, "d")->truth);
}

static void a_bad_sequence_closes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *g = come_back(ada, PLAIN, conn_id(first), 2);

    expect_close(g, 4007);
    g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':6,'d':{'token':'%s','session_id':'%s','seq':'many'}}", ada->authorization,
              conn_id(first));
    expect_close(g, 4007);
    g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':6,'d':{'token':'nobody','session_id':'%s','seq':1}}", conn_id(first));
    expect_close(g, 4004);
    g = come_back(ada, PLAIN, conn_id(first), 1);
    expect_dispatch(g, "RESUMED", "{}");
}

static void who_says_goodbye_is_forgotten(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const int codes[] = { 1000, 1001, 4200, 4000 };

    for (int i = 0; i < 4; i++) {
        struct gateway_conn *g = conn_session(ada, PLAIN, "");

        conn_close(g, codes[i]);
        expect(conn_close_code(g) == codes[i]);
        g = come_back(ada, PLAIN, conn_id(g), 1);
        if (codes[i] == 1000 || codes[i] == 1001)
            expect_op(g, 9);
        else
            expect_dispatch(g, "RESUMED", "{}");
        conn_close(g, 1000);
    }
}

static void sessions_are_kept_three_minutes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_lose(g);
    world_wait(w, 160);
    g = come_back(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_dispatch(g, "RESUMED", "{}");
    conn_lose(g);
    world_wait(w, 181);
    expect_op(come_back(ada, PLAIN, conn_id(g), conn_seq(g)), 9);
}

static void only_so_much_is_kept(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, ""), *h = conn_session(bob, PLAIN, "");

    conn_lose(g);
    conn_lose(h);
    for (int i = 0; i < 4096; i++) {
        tell(ada, i, 0);
        tell(bob, i, 0);
    }
    tell(bob, 4096, 0);
    world_told(w);
    g = come_back(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_told_numbers(g, 0, 4096);
    expect_dispatch(g, "RESUMED", "{}");
    expect_op(come_back(bob, PLAIN, conn_id(h), conn_seq(h)), 9);
}

static void only_so_many_bytes_are_kept(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_lose(g);
    for (int i = 0; i < 5; i++)
        tell(ada, i, 1024 * 1024);
    world_told(w);
    expect_op(come_back(ada, PLAIN, conn_id(g), conn_seq(g)), 9);
}

/* It is cut, others are not held up, and it gets everything when it comes back. */
static void who_does_not_read_is_cut_and_may_come_back(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *slow = conn_session(ada, PLAIN, ""), *other = conn_session(bob, PLAIN, "");
    struct gateway_stats stats;
    int i = 0;

    for (; i < 400; i++) {
        tell(ada, i, 64 * 1024);
        tell(bob, i, 0);
        expect_told_numbers(other, i, i + 1);
        gateway_stats(guildhall_gateway(world_server(w)), &stats);
        if (stats.cut)
            break;
    }
    /* It may be on another loop than the one that was waited for. */
    expect_soon((gateway_stats(guildhall_gateway(world_server(w)), &stats), stats.cut == 1));
    conn_kill(slow);
    struct gateway_conn *g = come_back(ada, PLAIN, conn_id(slow), 1);
    /* What is kept is bounded too: it may be invalid, but it is answered. */
    expect(conn_read(g, 30000) != NULL);
    expect_quiet(other);
}

/* --- whose it is then ----------------------------------------------------------------- */

/* Another log-in of the same account. */
static struct client *log_in_again(struct client *c)
{
    return world_token(c->world, c, CALLER_USER, "", 0);
}

static void log_out(struct client *c)
{
    expect_status(client_post(c, "{}", "/auth/logout"), 204);
}

/* What is told meanwhile does not matter. */
static void expect_end(struct gateway_conn *g, int code)
{
    while (conn_read(g, 60000))
        ;
    expect(conn_close_code(g) == code);
}

static void a_session_belongs_to_the_token_that_resumed_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 6; i++) { /* sockets land on either loop */
        struct client *first = log_in_again(ada), *second = log_in_again(ada);
        struct gateway_conn *g = conn_session(first, PLAIN, "");

        conn_kill(g);
        g = come_back(second, PLAIN, conn_id(g), 1);
        expect_dispatch(g, "RESUMED", "{}");
        log_out(first);
        expect_quiet(g);
        log_out(second);
        expect_close(g, 4004);
        expect_op(come_back(ada, PLAIN, conn_id(g), 1), 9);
    }
}

/* Nobody reads what is kept for a session whose token is gone. */
static void a_session_without_a_socket_ends_with_its_token(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 4; i++) {
        struct client *phone = log_in_again(ada);
        struct gateway_conn *g = conn_session(phone, PLAIN, "");

        conn_kill(g);
        log_out(phone);
        expect_op(come_back(ada, PLAIN, conn_id(g), 1), 9);
    }
}

/* Whichever comes first, the resumption or the end of its token. */
static void a_token_that_ends_while_it_resumes_keeps_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *thief = log_in_again(ada);
        struct gateway_conn *own = conn_session(ada, PLAIN, "");

        struct gateway_conn *g = come_back(thief, PLAIN, conn_id(own), 1);
        log_out(thief);
        expect_end(g, 4004);
        conn_kill(own);
    }
}

static void a_token_that_ends_while_it_identifies_keeps_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *thief = log_in_again(ada);
        struct gateway_conn *g = conn_open(thief, PLAIN);

        expect_op(g, 10);
        conn_identify(g, "");
        log_out(thief);
        expect_end(g, 4004);
    }
}

/* The session may have been the new token's by then, or have ended. */
static void the_old_token_may_end_while_another_resumes(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *first = log_in_again(ada), *second = log_in_again(ada);
        struct gateway_conn *g = conn_session(first, PLAIN, "");

        conn_kill(g);
        g = come_back(second, PLAIN, conn_id(g), 1);
        log_out(first);
        const struct dom *m = conn_read(g, 60000);
        expect(m != NULL);
        if (dom_at(m, "op")->text.p[0] == '9')
            continue;
        expect(str_is(dom_at(m, "t")->text, "RESUMED"));
        conn_count(g, m);
        expect_quiet(g);
        log_out(second);
        expect_end(g, 4004);
    }
}

static void ready_names_the_login_as_the_list_of_logins_does(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *phone = log_in_again(ada);
    struct gateway_conn *g = conn_open(phone, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *ready = expect_dispatch(g, "READY", "{}");
    struct str hash = dom_at(ready, "auth_session_id_hash")->text;
    expect_json(client_get(ada, "/auth/sessions"), "{'user_sessions': [{}, {'id_hash': '%.*s'}]}",
                STR_FMT(hash));
    char body[200];
    snprintf(body, sizeof body, "{'session_id_hashes': ['%.*s']}", STR_FMT(hash));
    expect_status(client_post(ada, body, "/auth/sessions/logout"), 204);
    expect_close(g, 4004);
}

static void four_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_resume_tests[] = {
    TEST(what_was_missed_is_told_again),
    TEST(what_was_sent_but_not_read_is_told_again),
    TEST(who_is_sent_away_and_says_so_may_come_back),
    TEST(nothing_is_lost_or_doubled_however_often_it_comes_back),
    TEST(a_second_socket_takes_over),
    TEST(the_last_of_a_row_of_sockets_keeps_it),
    TEST(the_socket_that_was_opened_last_keeps_it),
    TEST(sessions_that_are_not_there_are_invalid),
    TEST(a_bad_sequence_closes),
    TEST(who_says_goodbye_is_forgotten),
    TEST(sessions_are_kept_three_minutes),
    TEST(only_so_much_is_kept),
    TEST(only_so_many_bytes_are_kept),
    TEST(who_does_not_read_is_cut_and_may_come_back),
    TEST(a_session_belongs_to_the_token_that_resumed_it),
    TEST(a_session_without_a_socket_ends_with_its_token),
    TEST_WITH(a_token_that_ends_while_it_resumes_keeps_nothing, four_loops),
    TEST_WITH(a_token_that_ends_while_it_identifies_keeps_nothing, four_loops),
    TEST_WITH(the_old_token_may_end_while_another_resumes, four_loops),
    TEST(ready_names_the_login_as_the_list_of_logins_does),
    { 0 },
};
