/* gateway_sessions.c - one session among many: found by its name, told what is for it. */
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
    return guildhall_gateway(world_server(w));
}

static bool find(struct client *c, const char *session_id, uint64_t *ret)
{
    return gateway_find_session(gateway_of(c->world), id_of(c->id), str_of(session_id), ret);
}

struct telling {
    struct gateway *gateway;
    struct announcement news;
};

static void *announce(void *arg)
{
    struct telling *t = arg;

    gateway_announce(t->gateway, &t->news);
    return NULL;
}

/* From a thread that is no loop, as handlers run. */
static void tell(struct world *w, uint64_t session, int i)
{
    struct telling t = {
        .gateway = gateway_of(w),
        .news = { .event = EVENT_VOICE_SERVER_UPDATE,
                  .to = to_session(session),
                  .payload = str_printf(world_arena(w), "{\"i\":%d}", i) },
    };
    pthread_t thread;

    expect(pthread_create(&thread, NULL, announce, &t) == 0);
    pthread_join(thread, NULL);
}

static void a_session_is_found_by_its_id_and_told_alone(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robo");

    for (int i = 0; i < 4; i++) { /* sockets land on either loop */
        struct gateway_conn *first = conn_session(ada, PLAIN, ""),
                            *second = conn_session(ada, PLAIN, "");
        struct gateway_conn *robo = conn_session(bot, PLAIN, "'intents': 0");
        uint64_t a = 0, b = 0, r = 0;

        expect_dispatch(first, "SESSIONS_REPLACE", "[{}, {}]");
        expect(find(ada, conn_id(first), &a) && find(ada, conn_id(second), &b) && a != b);
        expect(find(bot, conn_id(robo), &r));
        tell(w, a, 1);
        tell(w, r, 2);
        tell(w, b, 3);
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

static void only_its_own_user_finds_it_and_only_while_it_lives(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    const char *id = conn_id(g);
    uint64_t number = 7;
    char other[64];

    expect(!find(bob, id, &number));
    expect(!find(ada, "", &number));
    expect(!find(ada, "short", &number));
    snprintf(other, sizeof other, "%s0", id);
    expect(!find(ada, other, &number));
    snprintf(other, sizeof other, "%s", id);
    other[31] = other[31] == '0' ? '1' : '0';
    expect(!find(ada, other, &number)); /* right in the half that numbers it */
    other[31] = 'g';
    expect(!find(ada, other, &number));
    expect(number == 7);
    conn_lose(g);
    expect(find(ada, id, &number)); /* it may come back, and is told then */
    tell(w, number, 5);
    struct gateway_conn *back = conn_open(ada, PLAIN);
    expect_op(back, 10);
    conn_resume(back, id, conn_seq(g));
    expect_dispatch(back, "VOICE_SERVER_UPDATE", "{'i': 5}");
    expect_dispatch(back, "RESUMED", "{}");
    conn_close(back, 1000);
    expect(!find(ada, id, &number));
    tell(w, number, 6); /* nobody */
}

/* A session that moves from loop to loop is told each thing once. */
static void it_is_told_once_wherever_it_is(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");
    uint64_t number = 0;
    int i = 0;

    expect(find(ada, conn_id(g), &number));
    for (int round = 0; round < 20; round++) {
        struct gateway_conn *next = conn_open(ada, PLAIN);
        int resumed = 0;

        expect_op(next, 10);
        tell(w, number, i);
        conn_resume(next, conn_id(g), conn_seq(g));
        tell(w, number, i + 1);
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

/* --- guilds that are still arriving --------------------------------------------------- */

enum { GUILDS = 24, ROUNDS = 12 };

static void come_back(struct client *bot, struct gateway_conn **g)
{
    struct gateway_conn *old = *g;

    conn_kill(old);
    *g = conn_open(bot, PLAIN);
    expect_op(*g, 10);
    conn_resume(*g, conn_id(old), conn_seq(old));
}

/* Its socket is lost again and again, and lands on any loop; each guild comes once. */
static void guilds_go_on_arriving_wherever_the_bot_comes_back(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");

    for (int i = 0; i < GUILDS; i++) {
        struct test_guild v = world_test_guild(w, ada);

        test_guild_add(&v, bot);
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 1");
        int guilds = 0, resumed = 0;

        come_back(bot, &g);
        while (guilds < GUILDS || resumed < 3) {
            const struct dom *m = conn_read(g, 30000);

            expect(m != NULL);
            conn_count(g, m); /* numbered without a gap */
            if (str_is(dom_at(m, "t")->text, "GUILD_CREATE"))
                guilds++;
            else if (str_is(dom_at(m, "t")->text, "RESUMED") && ++resumed < 3)
                come_back(bot, &g);
        }
        expect(guilds == GUILDS);
        expect_quiet(g);
        conn_close(g, 1000);
    }
}

/* Reads until it is resumed or closed; an invalid session never comes. */
static bool is_resumed(struct gateway_conn *g)
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

static void the_last_of_several_that_come_back_at_once_wins(struct world *w)
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
            resumed += is_resumed(all[i]);
        expect(resumed >= 1);
        for (int i = 0; i < 4; i++)
            conn_kill(all[i]);
    }
}

/* What an app holds of somebody is not what they logged in with. */
static void apps_that_go_leave_people_connected(struct world *w)
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

/* Without its rights a session could not be told anything: it has to begin anew. */
static void take_away(struct world *w, struct client *c)
{
    struct announcement n = { .event = EVENT_GUILD_CREATE,
                              .to = to_user(id_of(c->id)),
                              .payload = STR("{\"id\":\"5\",\"owner_id\":\"6\"}") };

    n.facts = facts_read(n.event, n.payload, world_arena(w));
    world_sql(w, "alter table members rename to nobody");
    gateway_announce(guildhall_gateway(world_server(w)), &n);
}

static void who_passes_over_an_invalid_session_is_closed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, PLAIN, ""), *other = conn_session(bob, PLAIN, "");

    take_away(w, ada);
    expect_dispatch(g, "GUILD_CREATE", "{}");
    expect_op(g, 9);
    world_sql(w, "alter table nobody rename to members");
    world_wait(w, 3);
    expect_quiet(g); /* heartbeats do not help */
    world_wait(w, 8);
    expect_close(g, 4007);
    expect_quiet(other);
}

static void who_begins_anew_after_an_invalid_session_stays(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    take_away(w, ada);
    expect_dispatch(g, "GUILD_CREATE", "{}");
    expect_op(g, 9);
    world_sql(w, "alter table nobody rename to members");
    conn_identify(g, "");
    conn_restart(g);
    expect_dispatch(g, "READY", "{}");
    world_wait(w, 12);
    expect_quiet(g);
}

static void many_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_sessions_tests[] = {
    TEST(a_session_is_found_by_its_id_and_told_alone),
    TEST(only_its_own_user_finds_it_and_only_while_it_lives),
    TEST(it_is_told_once_wherever_it_is),
    TEST_WITH(guilds_go_on_arriving_wherever_the_bot_comes_back, many_loops),
    TEST_WITH(the_last_of_several_that_come_back_at_once_wins, many_loops),
    TEST(apps_that_go_leave_people_connected),
    TEST(who_passes_over_an_invalid_session_is_closed),
    TEST(who_begins_anew_after_an_invalid_session_stays),
    { 0 },
};
