/* interactions_delivery.c - who hears of an interaction through the gateway, and until when
 * it can be answered. */
#include "test_commands.h"

#include <stdlib.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "waits.h"

static const char PLAIN[] = "v=10&encoding=json";

/* A command of the app's, used by bob in the scene's channel. */
static void bob_rolls(struct test_commands *s)
{
    expect_status(roll(s, s->bob, make_global_command(s, "%s", ""), "%s", ""), 204);
}

/* --- the bot -------------------------------------------------------------------------- */

static void no_intent_is_needed(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct gateway_conn *all = conn_session(s.bot, PLAIN, "'intents': 33554431"),
                        *none = conn_session(s.bot, PLAIN, "'intents': 0");

    expect_dispatch(all, "GUILD_CREATE", "{}");
    bob_rolls(&s);
    /* Every session of the shard gets it; the first answer wins. */
    const struct dom *d = expect_dispatch(none, "INTERACTION_CREATE", "{'type': 2}");
    expect_dispatch(all, "INTERACTION_CREATE", "{'id': '%s', 'token': '%s'}", dom_text(&s, d, "id"),
                    dom_text(&s, d, "token"));
    expect_quiet(all);
    expect_quiet(none);
}

static void the_guilds_shard_gets_it(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    unsigned shard = (unsigned)(strtoull(s.test_guild.id, NULL, 10) >> 22) % 2;
    struct gateway_conn *zero = conn_session(s.bot, PLAIN, "'intents': 0, 'shard': [0, 2]"),
                        *one = conn_session(s.bot, PLAIN, "'intents': 0, 'shard': [1, 2]");
    struct gateway_conn *there = shard ? one : zero, *elsewhere = shard ? zero : one;

    bob_rolls(&s);
    expect_dispatch(there, "INTERACTION_CREATE", "{'guild_id': '%s'}", s.test_guild.id);
    expect_quiet(there);
    expect_quiet(elsewhere);
    /* Where the bot is not, or outside guilds, it is shard 0. */
    world_sql(w, "delete from members where user_id = %s", s.application);
    bob_rolls(&s);
    expect_dispatch(zero, "INTERACTION_CREATE", "{'guild_id': '%s'}", s.test_guild.id);
    expect_quiet(one);
}

/* --- who asked ------------------------------------------------------------------------ */

static void one_session_is_told_or_all(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", "");
    const char *data = TEXT(w, "'id': '%s', 'version': '%s', 'name': 'roll'", id, id);
    struct gateway_conn *ada = conn_session(s.ada, PLAIN, ""),
                        *first = conn_session(s.bob, PLAIN, ""),
                        *second = conn_session(s.bob, PLAIN, "");

    expect_dispatch(first, "SESSIONS_REPLACE", "[{}, {}]");
    expect_status(
        invoke(&s, s.bob, TEXT(w, "'nonce': 'a', 'session_id': '%s'", conn_id(second)), "%s", data),
        204);
    const struct dom *d = expect_dispatch(second, "INTERACTION_CREATE", "{'nonce': 'a'}");
    expect(d->count == 2);
    expect_quiet(first);
    /* Its end is told there too. */
    world_wait(w, 4);
    expect_dispatch(second, "INTERACTION_FAILURE", "{'nonce': 'a', 'reason_code': 2}");
    expect_quiet(first);

    /* Somebody else's session, or none that lives: all of the caller's. */
    const char *const unknown[] = { conn_id(ada), "nobody" };
    for (size_t i = 0; i < 2; i++) {
        expect_status(invoke(&s, s.bob, TEXT(w, "'session_id': '%s'", unknown[i]), "%s", data),
                      204);
        d = expect_dispatch(first, "INTERACTION_CREATE", "{}");
        expect(!dom_at(d, "nonce"));
        expect_dispatch(second, "INTERACTION_CREATE", "{'id': '%s'}", dom_text(&s, d, "id"));
    }
    expect_quiet(ada);
}

/* --- until when ----------------------------------------------------------------------- */

static struct answer answer_last(struct test_commands *s)
{
    const struct dom *d = last_interaction(s);

    return client_post(world_stranger(s->world), "{'type': 4, 'data': {'content': 'Six'}}",
                       "/interactions/%s/%s/callback", dom_text(s, d, "id"),
                       dom_text(s, d, "token"));
}

static void three_seconds_are_all_there_is(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    client_connect(s.bob);
    bob_rolls(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    world_wait(w, 1);
    expect_status(answer_last(&s), 204);
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Six'}");
    world_wait(w, 10);

    bob_rolls(&s);
    const char *id = dom_text(&s, last_interaction(&s), "id");
    expect_event(s.bob, "INTERACTION_CREATE", "{'id': '%s'}", id);
    world_wait(w, 3.3);
    expect_event(s.bob, "INTERACTION_FAILURE", "{'id': '%s', 'reason_code': 2}", id);
    expect_error(answer_last(&s), 404, 10062);
    /* Once. */
    world_wait(w, 10);
    world_settle(w);
    expect_silence(s.bob);
}

/* The clock decides, also before anybody has looked at it. */
static void a_late_answer_is_refused_at_once(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    bob_rolls(&s);
    world_wait(w, 3.01);
    expect_error(answer_last(&s), 404, 10062);
}

static void deadlines_survive_the_process(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_status(answer_last(&s), 204);
    const char *answered = dom_text(&s, last_interaction(&s), "id"),
               *token = dom_text(&s, last_interaction(&s), "token");
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    const char *waiting = dom_text(&s, last_interaction(&s), "id");

    world_stop(w);
    world_wait(w, 60);
    expect(world_try_start(w));
    world_settle(w);
    expect_dom(&s, world_last_event(w, "INTERACTION_FAILURE"), "{'id': '%s', 'reason_code': 2}",
               waiting);
    expect(store_count(w, "select count(*) from interactions where state = 2") == 1);
    /* What was acknowledged goes on. */
    expect_status(client_post(world_stranger(w), "{'content': 'And more'}", "/webhooks/%s/%s",
                              s.application, token),
                  200);
    expect(strcmp(answered, waiting) != 0);
}

static void what_is_over_goes(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    bob_rolls(&s);
    world_wait(w, 4);
    world_settle(w);
    world_wait(w, 50 * 60);
    world_settle(w);
    expect(store_count(w, "select count(*) from interactions") == 1);
    world_wait(w, 12 * 60);
    world_settle(w);
    expect(store_count(w, "select count(*) from interactions") == 0);
    expect(store_count(w, "select count(*) from jobs where kind <> 'command_uses'") == 0);
}

/* --- entry points --------------------------------------------------------------------- */

static const char *entry_point(struct test_commands *s, int handler)
{
    return make_global_command(s, "'type': 4, 'handler': %d", handler);
}

static struct answer enter(struct test_commands *s, const char *id)
{
    return roll(s, s->bob, id, "'type': 4");
}

static void entry_points_need_something_to_enter(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    expect_invalid(enter(&s, entry_point(&s, 1)), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    expect_status(enter(&s, entry_point(&s, 1)), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(&s, d, "{'data': {'name': 'roll', 'type': 4}}");
    expect(dom_at(d, "data")->count == 3);
}

static void the_server_launches_by_itself(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    client_connect(s.bob);
    expect_status(enter(&s, entry_point(&s, 2)), 204);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE",
                 "{'application_id': '%s', 'type': 20, 'author': {'id': '%s'}}", s.application,
                 s.application);
    expect(interactions_told(&s) == 0);
    world_wait(w, 10);
    world_settle(w);
    expect_silence(s.bob);
}

static void an_app_that_launches_may_do_nothing_else(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    expect_status(enter(&s, entry_point(&s, 3)), 204);
    expect_invalid(answer_last(&s), "type", "BASE_TYPE_CHOICES");
    const struct dom *d = last_interaction(&s);
    expect_status(client_post(world_stranger(w), "{'type': 12}", "/interactions/%s/%s/callback",
                              dom_text(&s, d, "id"), dom_text(&s, d, "token")),
                  204);
}

const struct test interactions_delivery_tests[] = {
    TEST(no_intent_is_needed),
    TEST(the_guilds_shard_gets_it),
    TEST(one_session_is_told_or_all),
    TEST(three_seconds_are_all_there_is),
    TEST(a_late_answer_is_refused_at_once),
    TEST(deadlines_survive_the_process),
    TEST(what_is_over_goes),
    TEST(entry_points_need_something_to_enter),
    TEST(the_server_launches_by_itself),
    TEST(an_app_that_launches_may_do_nothing_else),
    { 0 },
};
