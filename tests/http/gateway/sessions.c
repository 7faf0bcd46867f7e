/* sessions.c - finding a single session by its id and sending to it. */
#include <pthread.h>
#include <stdlib.h>

#include "consents.h"
#include "facts_read.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

static struct gateway *gateway_of(struct world *w)
{
    return guildhall_get_gateway(world_server(w));
}

static bool find_session(struct client *c, const char *session_id, uint64_t *ret)
{
    return gateway_find_session(gateway_of(c->world), id_of(c->id), str_of(session_id), ret);
}

struct announcing {
    struct gateway *gateway;
    struct emitted_event announcement_to_send;
};

static void *announce_event(void *arg)
{
    struct announcing *t = arg;

    gateway_publish_announcements(t->gateway, &t->announcement_to_send);
    return NULL;
}

/* Announces from a thread that is no loop, as handlers do. */
static void publish_event_to_session(struct world *w, uint64_t session, int i)
{
    struct announcing t = {
        .gateway = gateway_of(w),
        .announcement_to_send = { .event = EVENT_VOICE_SERVER_UPDATE,
                                  .to = audience_of_session(session),
                                  .payload = str_printf(world_arena(w), "{\"i\":%d}", i) },
    };
    pthread_t thread;

    expect(pthread_create(&thread, NULL, announce_event, &t) == 0);
    pthread_join(thread, NULL);
}

static void event_for_one_session_reaches_only_that_session(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robo");

    for (int i = 0; i < 4; i++) { /* sockets may be on either loop */
        struct gateway_conn *first = conn_session(ada, PLAIN, ""),
                            *second = conn_session(ada, PLAIN, "");
        struct gateway_conn *robo = conn_session(bot, PLAIN, "'intents': 0");
        uint64_t a = 0, b = 0, r = 0;

        expect_dispatch(first, "SESSIONS_REPLACE", "[{}, {}]");
        expect(find_session(ada, conn_id(first), &a) && find_session(ada, conn_id(second), &b) &&
               a != b);
        expect(find_session(bot, conn_id(robo), &r));
        publish_event_to_session(w, a, 1);
        publish_event_to_session(w, r, 2);
        publish_event_to_session(w, b, 3);
        expect_dispatch(first, "VOICE_SERVER_UPDATE", "{'i': 1}");
        expect_dispatch(robo, "VOICE_SERVER_UPDATE", "{'i': 2}");
        expect_dispatch(second, "VOICE_SERVER_UPDATE", "{'i': 3}");
        expect_quiet(first);
        expect_quiet(second);
        expect_quiet(robo);
        conn_close(second, 1000);
        conn_close(first, 1000);
        conn_close(robo, 1000);
    }
}

static void session_is_found_only_by_its_user_while_it_lives(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    const char *id = conn_id(g);
    uint64_t number = 7;
    char other[64];

    expect(!find_session(bob, id, &number));
    expect(!find_session(ada, "", &number));
    expect(!find_session(ada, "short", &number));
    snprintf(other, sizeof other, "%s0", id);
    expect(!find_session(ada, other, &number));
    snprintf(other, sizeof other, "%s", id);
    other[31] = other[31] == '0' ? '1' : '0';
    expect(
        !find_session(ada, other, &number)); /* correct in the half that is the session's number */
    other[31] = 'g';
    expect(!find_session(ada, other, &number));
    expect(number == 7);
    conn_lose(g);
    expect(find_session(ada, id, &number)); /* the session can resume and gets the event then */
    publish_event_to_session(w, number, 5);
    struct gateway_conn *back = conn_open(ada, PLAIN);
    expect_op(back, 10);
    conn_resume(back, id, conn_seq(g));
    expect_dispatch(back, "VOICE_SERVER_UPDATE", "{'i': 5}");
    expect_dispatch(back, "RESUMED", "{}");
    conn_close(back, 1000);
    expect(!find_session(ada, id, &number));
    publish_event_to_session(w, number, 6); /* no recipient */
}

/* A session that moves between loops gets each event once. */
static void session_moving_between_loops_gets_each_event_once(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    uint64_t number = 0;
    int i = 0;

    expect(find_session(ada, conn_id(g), &number));
    for (int round = 0; round < 20; round++) {
        struct gateway_conn *next = conn_open(ada, PLAIN);
        int resumed = 0;

        expect_op(next, 10);
        publish_event_to_session(w, number, i);
        conn_resume(next, conn_id(g), conn_seq(g));
        publish_event_to_session(w, number, i + 1);
        for (int k = 0; k < 2 || !resumed;) {
            const struct dom *m = conn_read(next, 60000);

            expect(m != NULL);
            conn_count(next, m);
            if (str_is(dom_at(m, "t")->text, "RESUMED"))
                resumed++;
            else
                expect(atoi(dom_at(m, "d.i")->text.p) == i + k++);
        }
        conn_kill(g);
        g = next;
        i += 2;
    }
    expect_quiet(g);
}

/* --- guilds that are still being sent ------------------------------------------------- */

enum { GUILDS = 24, ROUNDS = 12 };

static void resume_session_on_new_socket(struct client *bot, struct gateway_conn **g)
{
    struct gateway_conn *old = *g;

    conn_kill(old);
    *g = conn_open(bot, PLAIN);
    expect_op(*g, 10);
    conn_resume(*g, conn_id(old), conn_seq(old));
}

/* The socket is lost repeatedly and may be on any loop; each guild arrives once. */
static void bot_that_resumes_during_startup_gets_each_guild_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");

    for (int i = 0; i < GUILDS; i++) {
        struct test_guild v = world_test_guild(w, ada);

        test_guild_add(&v, bot);
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 1");
        int guilds = 0, resumed = 0;

        resume_session_on_new_socket(bot, &g);
        while (guilds < GUILDS || resumed < 3) {
            const struct dom *m = conn_read(g, 30000);

            expect(m != NULL);
            conn_count(g, m); /* consecutive sequence numbers */
            if (str_is(dom_at(m, "t")->text, "GUILD_CREATE"))
                guilds++;
            else if (str_is(dom_at(m, "t")->text, "RESUMED") && ++resumed < 3)
                resume_session_on_new_socket(bot, &g);
        }
        expect(guilds == GUILDS);
        expect_quiet(g);
        conn_close(g, 1000);
    }
}

/* Reads until RESUMED or close; an invalid session is a failure. */
static bool read_until_resumed(struct gateway_conn *g)
{
    const struct dom *m;

    while ((m = conn_read(g, 30000))) {
        expect(atoi(dom_at(m, "op")->text.p) != 9);
        if (str_is(dom_at(m, "t")->text, "RESUMED"))
            return true;
    }
    expect(conn_close_code(g) == 4000);
    return false;
}

static void concurrent_resumes_leave_at_least_one_resumed_socket(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    for (int round = 0; round < 25; round++) {
        struct gateway_conn *all[4];
        int resumed = 0;

        for (int i = 0; i < 4; i++) {
            all[i] = conn_open(ada, PLAIN);
            expect_op(all[i], 10);
        }
        for (int i = 0; i < 4; i++)
            conn_resume(all[i], conn_id(g), 1);
        for (int i = 0; i < 4; i++)
            resumed += read_until_resumed(all[i]);
        expect(resumed >= 1);
        for (int i = 0; i < 4; i++)
            conn_kill(all[i]);
    }
}

/* Tokens of an app are not the user's login. */
static void revoking_an_apps_tokens_does_not_close_user_sessions(struct world *w)
{
    struct consent c = world_consent(w);
    struct gateway_conn *g = conn_session(c.bob, PLAIN, "");
    struct client *bot = application_bot(c.ada, c.app);
    struct gateway_conn *robot = conn_session(bot, PLAIN, "'intents': 0");

    struct answer tokens = granted(&c, "identify");
    expect_status(client_form(c.nobody, "/oauth2/token/revoke",
                              "token=%s&client_id=%s&client_secret=%s",
                              answer_text(tokens, "access_token"), c.app, c.secret),
                  200);
    granted(&c, "identify");
    const char *id = answer_text(client_get(c.bob, "/oauth2/tokens"), "0.id");
    expect_status(client_delete(c.bob, "/oauth2/tokens/%s", id), 204);
    expect_dispatch(g, "USER_APPLICATION_REMOVE", "{'application_id': '%s'}", c.app);
    granted(&c, "identify");
    expect_status(client_post(c.ada, NULL, "/applications/%s/delete", c.app), 204);
    expect_dispatch(g, "USER_APPLICATION_REMOVE", "{'application_id': '%s'}", c.app);
    expect_close(robot, 4004);
    expect_quiet(g);
}

/* Makes the read of permissions fail, so that the session becomes invalid. */
static void invalidate_session(struct world *w, struct client *c)
{
    struct emitted_event n = { .event = EVENT_GUILD_CREATE,
                               .to = audience_of_user(id_of(c->id)),
                               .payload = STR("{\"id\":\"5\",\"owner_id\":\"6\"}") };

    n.routing = facts_read(n.event, n.payload, world_arena(w));
    world_sql(w, "alter table members rename to nobody");
    gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
}

static void client_that_ignores_invalid_session_is_closed_with_4007(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, ""), *other = conn_session(bob, PLAIN, "");

    invalidate_session(w, ada);
    expect_dispatch(g, "GUILD_CREATE", "{}");
    expect_op(g, 9);
    world_sql(w, "alter table nobody rename to members");
    world_wait(w, 3);
    expect_quiet(g); /* heartbeats do not prevent the close */
    world_wait(w, 8);
    expect_close(g, 4007);
    expect_quiet(other);
}

static void client_that_identifies_after_invalid_session_stays_connected(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    invalidate_session(w, ada);
    expect_dispatch(g, "GUILD_CREATE", "{}");
    expect_op(g, 9);
    world_sql(w, "alter table nobody rename to members");
    conn_identify(g, "");
    conn_restart(g);
    expect_dispatch(g, "READY", "{}");
    world_wait(w, 12);
    expect_quiet(g);
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_sessions_tests[] = {
    TEST(event_for_one_session_reaches_only_that_session),
    TEST(session_is_found_only_by_its_user_while_it_lives),
    TEST(session_moving_between_loops_gets_each_event_once),
    TEST_WITH(bot_that_resumes_during_startup_gets_each_guild_once, configure_four_event_loops),
    TEST_WITH(concurrent_resumes_leave_at_least_one_resumed_socket, configure_four_event_loops),
    TEST(revoking_an_apps_tokens_does_not_close_user_sessions),
    TEST(client_that_ignores_invalid_session_is_closed_with_4007),
    TEST(client_that_identifies_after_invalid_session_stays_connected),
    { 0 },
};
