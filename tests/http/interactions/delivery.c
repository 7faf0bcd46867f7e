/* delivery.c - gateway recipients of an interaction, and its deadlines. */
#include "test_commands.h"

#include <stdlib.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "waits.h"

static const char PLAIN[] = "v=10&encoding=json";

/* Bob uses a command of the app in the test channel. */
static void invoke_roll_command_as_bob(struct test_commands *s)
{
    expect_status(roll(s, s->bob, make_global_command(s, "%s", ""), "%s", ""), 204);
}

/* --- the bot -------------------------------------------------------------------------- */

static void interaction_create_needs_no_intent(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct gateway_conn *all = conn_session(s.bot, PLAIN, "'intents': 33554431"),
                        *none = conn_session(s.bot, PLAIN, "'intents': 0");

    expect_dispatch(all, "GUILD_CREATE", "{}");
    invoke_roll_command_as_bob(&s);
    /* Every session of the shard gets it; the first response wins. */
    const struct dom *d = expect_dispatch(none, "INTERACTION_CREATE", "{'type': 2}");
    expect_dispatch(all, "INTERACTION_CREATE", "{'id': '%s', 'token': '%s'}", dom_text(&s, d, "id"),
                    dom_text(&s, d, "token"));
    expect_quiet(all);
    expect_quiet(none);
}

static void interaction_create_goes_to_the_guilds_shard(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    unsigned shard = (unsigned)(strtoull(s.test_guild.id, NULL, 10) >> 22) % 2;
    struct gateway_conn *zero = conn_session(s.bot, PLAIN, "'intents': 0, 'shard': [0, 2]"),
                        *one = conn_session(s.bot, PLAIN, "'intents': 0, 'shard': [1, 2]");
    struct gateway_conn *there = shard ? one : zero, *elsewhere = shard ? zero : one;

    invoke_roll_command_as_bob(&s);
    expect_dispatch(there, "INTERACTION_CREATE", "{'guild_id': '%s'}", s.test_guild.id);
    expect_quiet(there);
    expect_quiet(elsewhere);
    /* If the bot is not in the guild, the event goes to shard 0. */
    world_sql(w, "delete from members where user_id = %s", s.application);
    invoke_roll_command_as_bob(&s);
    expect_dispatch(zero, "INTERACTION_CREATE", "{'guild_id': '%s'}", s.test_guild.id);
    expect_quiet(one);
}

/* --- the invoking user ---------------------------------------------------------------- */

static void interaction_events_go_to_the_named_session_or_to_all(struct world *w)
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
    /* The failure goes to the same session. */
    world_wait(w, 4);
    expect_dispatch(second, "INTERACTION_FAILURE", "{'nonce': 'a', 'reason_code': 2}");
    expect_quiet(first);

    /* With an unknown session id, or that of another user, all sessions of the caller get the
     * event. */
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

/* --- deadlines ------------------------------------------------------------------------ */

static struct answer respond_to_last_interaction(struct test_commands *s)
{
    const struct dom *d = last_interaction(s);

    return client_post(world_anonymous(s->world), "{'type': 4, 'data': {'content': 'Six'}}",
                       "/interactions/%s/%s/callback", dom_text(s, d, "id"),
                       dom_text(s, d, "token"));
}

static void unanswered_interaction_fails_after_three_seconds(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    client_connect(s.bob);
    invoke_roll_command_as_bob(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    world_wait(w, 1);
    expect_status(respond_to_last_interaction(&s), 204);
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Six'}");
    world_wait(w, 10);

    invoke_roll_command_as_bob(&s);
    const char *id = dom_text(&s, last_interaction(&s), "id");
    expect_event(s.bob, "INTERACTION_CREATE", "{'id': '%s'}", id);
    world_wait(w, 3.3);
    expect_event(s.bob, "INTERACTION_FAILURE", "{'id': '%s', 'reason_code': 2}", id);
    expect_error(respond_to_last_interaction(&s), 404, 10062);
    /* Only once. */
    world_wait(w, 10);
    world_settle(w);
    expect_silence(s.bob);
}

/* The clock decides, even before the job has run. */
static void late_callback_is_refused_before_the_failure_job_runs(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    invoke_roll_command_as_bob(&s);
    world_wait(w, 3.01);
    expect_error(respond_to_last_interaction(&s), 404, 10062);
}

static void interaction_deadlines_survive_a_restart(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_status(respond_to_last_interaction(&s), 204);
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
    /* An acknowledged interaction stays usable. */
    expect_status(client_post(world_anonymous(w), "{'content': 'And more'}", "/webhooks/%s/%s",
                              s.application, token),
                  200);
    expect(strcmp(answered, waiting) != 0);
}

static void finished_interactions_are_deleted_after_an_hour(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    invoke_roll_command_as_bob(&s);
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

static const char *create_entry_point(struct test_commands *s, int handler)
{
    return make_global_command(s, "'type': 4, 'handler': %d", handler);
}

static struct answer invoke_entry_point(struct test_commands *s, const char *id)
{
    return roll(s, s->bob, id, "'type': 4");
}

static void entry_point_command_requires_an_embedded_app(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    expect_invalid(invoke_entry_point(&s, create_entry_point(&s, 1)), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    expect_status(invoke_entry_point(&s, create_entry_point(&s, 1)), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(&s, d, "{'data': {'name': 'roll', 'type': 4}}");
    expect(dom_at(d, "data")->count == 3);
}

static void entry_point_handler_2_launches_the_activity_without_the_app(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    client_connect(s.bob);
    expect_status(invoke_entry_point(&s, create_entry_point(&s, 2)), 204);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE",
                 "{'application_id': '%s', 'type': 20, 'author': {'id': '%s'}}", s.application,
                 s.application);
    expect(interactions_received(&s) == 0);
    world_wait(w, 10);
    world_settle(w);
    expect_silence(s.bob);
}

static void entry_point_handler_3_accepts_only_the_launch_callback(struct world *w)
{
    struct test_commands s = world_test_commands(w);

    world_sql(w, "update applications set flags = flags | 131072 where id = %s", s.application);
    expect_status(invoke_entry_point(&s, create_entry_point(&s, 3)), 204);
    expect_invalid(respond_to_last_interaction(&s), "type", "BASE_TYPE_CHOICES");
    const struct dom *d = last_interaction(&s);
    expect_status(client_post(world_anonymous(w), "{'type': 12}", "/interactions/%s/%s/callback",
                              dom_text(&s, d, "id"), dom_text(&s, d, "token")),
                  204);
}

const struct test interactions_delivery_tests[] = {
    TEST(interaction_create_needs_no_intent),
    TEST(interaction_create_goes_to_the_guilds_shard),
    TEST(interaction_events_go_to_the_named_session_or_to_all),
    TEST(unanswered_interaction_fails_after_three_seconds),
    TEST(late_callback_is_refused_before_the_failure_job_runs),
    TEST(interaction_deadlines_survive_a_restart),
    TEST(finished_interactions_are_deleted_after_an_hour),
    TEST(entry_point_command_requires_an_embedded_app),
    TEST(entry_point_handler_2_launches_the_activity_without_the_app),
    TEST(entry_point_handler_3_accepts_only_the_launch_callback),
    { 0 },
};
