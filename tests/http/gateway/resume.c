/* resume.c - sessions that lose their socket and resume. */
#include <stdio.h>
#include <stdlib.h>

#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "net/websocket/websocket.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

/* Announces an event with a number to the account. */
static void publish_event_with_number(struct client *c, int i, size_t padding)
{
    struct arena *a = world_arena(c->world);
    char *fill = arena_alloc(a, padding + 1);

    memset(fill, 'x', padding);
    struct emitted_event n = {
        .event = EVENT_USER_NOTE_UPDATE,
        .to = audience_of_user(strtoull(c->id, NULL, 10)),
        .payload = str_printf(a, "{\"i\":%d,\"fill\":\"%s\"}", i, fill),
    };
    gateway_publish_announcements(guildhall_get_gateway(world_server(c->world)), &n);
}

static void expect_events_with_numbers(struct gateway_conn *g, int from, int to)
{
    for (int i = from; i < to; i++)
        expect_dispatch(g, "USER_NOTE_UPDATE", "{'i': %d}", i);
}

static struct gateway_conn *resume_session(struct client *c, const char *query, const char *id,
                                           uint64_t seq)
{
    struct gateway_conn *g = conn_open(c, query);

    expect_op(g, 10);
    conn_resume(g, id, seq);
    return g;
}

static void missed_events_are_replayed_on_resume(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    publish_event_with_number(ada, 0, 0);
    expect_events_with_numbers(g, 0, 1);
    conn_kill(g);
    for (int i = 1; i < 10; i++)
        publish_event_with_number(ada, i, 0);
    world_received(w);
    g = resume_session(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_events_with_numbers(g, 1, 10);
    expect_dispatch(g, "RESUMED", "{'_trace': ['[\\\"guildhall\\\",{\\\"micros\\\":0.0}]']}");
    publish_event_with_number(ada, 10, 0);
    expect_events_with_numbers(g, 10, 11);
}

/* Events that were sent but not read are replayed as well. */
static void unread_events_are_replayed_on_resume(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    for (int i = 0; i < 5; i++)
        publish_event_with_number(ada, i, 0);
    world_received(w);
    expect_events_with_numbers(g, 0, 2);
    conn_kill(g);
    g = resume_session(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_events_with_numbers(g, 2, 5);
    expect_dispatch(g, "RESUMED", "{}");
}

/* A client echoes a close frame's code; only a close that the client starts ends the session. */
static void session_closed_by_the_server_can_be_resumed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_send(g, "[]");
    expect_close(g, 4002);
    conn_send_bytes(g, WS_CLOSE, str_slice("\x03\xe9", 2)); /* 1001 */
    expect_soon(conn_census(g, "connected") == 0);
    publish_event_with_number(ada, 0, 0);
    g = resume_session(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_events_with_numbers(g, 0, 1);
    expect_dispatch(g, "RESUMED", "{}");
}

/* New sockets may be on any loop; the session moves to them. */
static void repeated_resumes_lose_and_duplicate_no_events(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    int i = 0;

    for (int round = 0; round < 40; round++) {
        for (int k = 0; k < 3; k++)
            publish_event_with_number(ada, i + k, 0);
        expect_events_with_numbers(g, i, i + round % 3);
        conn_kill(g);
        publish_event_with_number(ada, i + 3, 0);
        struct gateway_conn *next = conn_open(ada, round % 2 ? PLAIN : "v=10&compress=zlib-stream");
        expect_op(next, 10);
        conn_resume(next, conn_id(g), conn_seq(g));
        publish_event_with_number(ada, i + 4, 0); /* while the session moves */
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

static void resuming_on_a_second_socket_closes_the_first(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 6; i++) {
        struct gateway_conn *old = conn_session(ada, PLAIN, "");
        struct gateway_conn *g = resume_session(ada, PLAIN, conn_id(old), 1);

        expect_dispatch(g, "RESUMED", "{}");
        expect_close(old, 4000);
        conn_close(g, 1000);
    }
}

static void read_events_until_number(struct gateway_conn *g, int number)
{
    const struct dom *i = NULL;

    while (!i || atoi(i->text.p) != number) {
        const struct dom *m = conn_read(g, 30000);

        expect(m != NULL);
        i = dom_at(m, "d.i");
    }
}

/* Sockets that resume and are cut before the reply must not take the session from a later
 * socket. */
static void last_resuming_socket_keeps_the_session(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, ""), *g = first;

    for (int i = 0; i < 100; i++) {
        conn_kill(g);
        for (int k = 0; k < i % 4; k++)
            conn_kill(resume_session(ada, PLAIN, conn_id(first), 1));
        g = resume_session(ada, PLAIN, conn_id(first), 1);
        publish_event_with_number(ada, i, 0);
        read_events_until_number(g, i);
    }
}

/* Loops may process RESUME of several sockets in any order; the socket opened last must win. */
static void resume_on_the_newest_socket_wins_over_older_ones(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *older[4], *newest;

    for (int i = 0; i < 4; i++) {
        older[i] = conn_open(ada, PLAIN);
        expect_op(older[i], 10);
    }
    newest = resume_session(ada, PLAIN, conn_id(first), 1);
    expect_dispatch(newest, "RESUMED", "{}");
    expect_close(first, 4000);
    for (int i = 0; i < 4; i++) {
        conn_resume(older[i], conn_id(first), 1);
        expect_close(older[i], 4000);
    }
    publish_event_with_number(ada, 0, 0);
    expect_events_with_numbers(newest, 0, 1);
}

static void resuming_unknown_or_foreign_session_is_invalid_session(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *lives = conn_session(ada, PLAIN, "");
    struct gateway_conn *g = resume_session(ada, PLAIN, "0123456789abcdef0123456789abcdef", 1);

    expect_op(g, 9);
    conn_identify(g, ""); /* the same socket may identify */
    conn_restart(g);
    expect_dispatch(g, "READY", "{}");
    g = resume_session(ada, PLAIN, "short", 1);
    expect_op(g, 9);
    g = resume_session(bob, PLAIN, conn_id(lives), 1);
    const struct dom *d = expect_op(g, 9);
    expect(!dom_at(d, "d")->truth);
}

static void resume_with_a_wrong_sequence_closes_with_4007(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *g = resume_session(ada, PLAIN, conn_id(first), 2);

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
    g = resume_session(ada, PLAIN, conn_id(first), 1);
    expect_dispatch(g, "RESUMED", "{}");
}

static void closing_with_1000_or_1001_ends_the_session(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const int codes[] = { 1000, 1001, 4200, 4000 };

    for (int i = 0; i < 4; i++) {
        struct gateway_conn *g = conn_session(ada, PLAIN, "");

        conn_close(g, codes[i]);
        expect(conn_close_code(g) == codes[i]);
        g = resume_session(ada, PLAIN, conn_id(g), 1);
        if (codes[i] == 1000 || codes[i] == 1001)
            expect_op(g, 9);
        else
            expect_dispatch(g, "RESUMED", "{}");
        conn_close(g, 1000);
    }
}

static void session_without_socket_expires_after_three_minutes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_lose(g);
    world_wait(w, 160);
    g = resume_session(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_dispatch(g, "RESUMED", "{}");
    conn_lose(g);
    world_wait(w, 181);
    expect_op(resume_session(ada, PLAIN, conn_id(g), conn_seq(g)), 9);
}

static void resume_buffer_keeps_4096_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, ""), *h = conn_session(bob, PLAIN, "");

    conn_lose(g);
    conn_lose(h);
    for (int i = 0; i < 4096; i++) {
        publish_event_with_number(ada, i, 0);
        publish_event_with_number(bob, i, 0);
    }
    publish_event_with_number(bob, 4096, 0);
    world_received(w);
    g = resume_session(ada, PLAIN, conn_id(g), conn_seq(g));
    expect_events_with_numbers(g, 0, 4096);
    expect_dispatch(g, "RESUMED", "{}");
    expect_op(resume_session(bob, PLAIN, conn_id(h), conn_seq(h)), 9);
}

static void resume_buffer_is_limited_in_bytes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    conn_lose(g);
    for (int i = 0; i < 5; i++)
        publish_event_with_number(ada, i, 1024 * 1024);
    world_received(w);
    expect_op(resume_session(ada, PLAIN, conn_id(g), conn_seq(g)), 9);
}

/* The slow session is cut, others are not delayed, and it can resume. */
static void session_that_does_not_read_is_cut_and_can_resume(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *slow = conn_session(ada, PLAIN, ""), *other = conn_session(bob, PLAIN, "");
    struct gateway_stats stats;
    int i = 0;

    for (; i < 400; i++) {
        publish_event_with_number(ada, i, 64 * 1024);
        publish_event_with_number(bob, i, 0);
        expect_events_with_numbers(other, i, i + 1);
        gateway_read_stats(guildhall_get_gateway(world_server(w)), &stats);
        if (stats.disconnected_slow)
            break;
    }
    /* The slow session may be on another loop. */
    expect_soon((gateway_read_stats(guildhall_get_gateway(world_server(w)), &stats),
                 stats.disconnected_slow == 1));
    conn_kill(slow);
    struct gateway_conn *g = resume_session(ada, PLAIN, conn_id(slow), 1);
    /* The resume buffer is limited, too: the reply may be an invalid session. */
    expect(conn_read(g, 30000) != NULL);
    expect_quiet(other);
}

/* --- ownership of a session ----------------------------------------------------------- */

/* Creates another token of the same account. */
static struct client *issue_second_token(struct client *c)
{
    return world_token(c->world, c, CALLER_USER, "", 0);
}

static void log_out(struct client *c)
{
    expect_status(client_post(c, "{}", "/auth/logout"), 204);
}

/* Skips events until the connection closes. */
static void expect_socket_closed_after_events(struct gateway_conn *g, int code)
{
    while (conn_read(g, 60000))
        ;
    expect(conn_close_code(g) == code);
}

static void resumed_session_ends_when_its_new_token_is_revoked(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 6; i++) { /* sockets may be on either loop */
        struct client *first = issue_second_token(ada), *second = issue_second_token(ada);
        struct gateway_conn *g = conn_session(first, PLAIN, "");

        conn_kill(g);
        g = resume_session(second, PLAIN, conn_id(g), 1);
        expect_dispatch(g, "RESUMED", "{}");
        log_out(first);
        expect_quiet(g);
        log_out(second);
        expect_close(g, 4004);
        expect_op(resume_session(ada, PLAIN, conn_id(g), 1), 9);
    }
}

/* Events of a session with a revoked token must not be readable. */
static void suspended_session_ends_when_its_token_is_revoked(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 4; i++) {
        struct client *phone = issue_second_token(ada);
        struct gateway_conn *g = conn_session(phone, PLAIN, "");

        conn_kill(g);
        log_out(phone);
        expect_op(resume_session(ada, PLAIN, conn_id(g), 1), 9);
    }
}

/* RESUME and revocation run in either order. */
static void revoking_a_token_during_resume_closes_the_connection(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *other_login = issue_second_token(ada);
        struct gateway_conn *own = conn_session(ada, PLAIN, "");

        struct gateway_conn *g = resume_session(other_login, PLAIN, conn_id(own), 1);
        log_out(other_login);
        expect_socket_closed_after_events(g, 4004);
        conn_kill(own);
    }
}

static void revoking_a_token_during_identify_closes_the_connection(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *other_login = issue_second_token(ada);
        struct gateway_conn *g = conn_open(other_login, PLAIN);

        expect_op(g, 10);
        conn_identify(g, "");
        log_out(other_login);
        expect_socket_closed_after_events(g, 4004);
    }
}

/* The session may already belong to the new token, or have ended. */
static void revoking_the_old_token_during_resume_gives_op_9_or_resumed(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++) {
        struct client *first = issue_second_token(ada), *second = issue_second_token(ada);
        struct gateway_conn *g = conn_session(first, PLAIN, "");

        conn_kill(g);
        g = resume_session(second, PLAIN, conn_id(g), 1);
        log_out(first);
        const struct dom *m = conn_read(g, 60000);
        expect(m != NULL);
        if (dom_at(m, "op")->text.p[0] == '9')
            continue;
        expect(str_is(dom_at(m, "t")->text, "RESUMED"));
        conn_count(g, m);
        expect_quiet(g);
        log_out(second);
        expect_socket_closed_after_events(g, 4004);
    }
}

static void ready_auth_session_id_hash_matches_the_sessions_list(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *phone = issue_second_token(ada);
    struct gateway_conn *g = conn_open(phone, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *ready = expect_dispatch(g, "READY", "{}");
    struct str hash = dom_at(ready, "auth_session_id_hash")->text;
    expect_json(client_get(ada, "/auth/sessions"), "{'user_sessions': [{}, {'id_hash': '%.*s'}]}",
                STR_ARGS(hash));
    char body[200];
    snprintf(body, sizeof body, "{'session_id_hashes': ['%.*s']}", STR_ARGS(hash));
    expect_status(client_post(ada, body, "/auth/sessions/logout"), 204);
    expect_close(g, 4004);
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_resume_tests[] = {
    TEST(missed_events_are_replayed_on_resume),
    TEST(unread_events_are_replayed_on_resume),
    TEST(session_closed_by_the_server_can_be_resumed),
    TEST(repeated_resumes_lose_and_duplicate_no_events),
    TEST(resuming_on_a_second_socket_closes_the_first),
    TEST(last_resuming_socket_keeps_the_session),
    TEST(resume_on_the_newest_socket_wins_over_older_ones),
    TEST(resuming_unknown_or_foreign_session_is_invalid_session),
    TEST(resume_with_a_wrong_sequence_closes_with_4007),
    TEST(closing_with_1000_or_1001_ends_the_session),
    TEST(session_without_socket_expires_after_three_minutes),
    TEST(resume_buffer_keeps_4096_events),
    TEST(resume_buffer_is_limited_in_bytes),
    TEST(session_that_does_not_read_is_cut_and_can_resume),
    TEST(resumed_session_ends_when_its_new_token_is_revoked),
    TEST(suspended_session_ends_when_its_token_is_revoked),
    TEST_WITH(revoking_a_token_during_resume_closes_the_connection, configure_four_event_loops),
    TEST_WITH(revoking_a_token_during_identify_closes_the_connection, configure_four_event_loops),
    TEST_WITH(revoking_the_old_token_during_resume_gives_op_9_or_resumed,
              configure_four_event_loops),
    TEST(ready_auth_session_id_hash_matches_the_sessions_list),
    { 0 },
};
