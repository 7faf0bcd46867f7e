/* single_state.c - one voice state per user: other channels, sessions and guilds, and the rate of
 * VOICE_SERVER_UPDATE. */
#include "test_voice.h"

#include <string.h>

#include "base/clock.h"
#include "voice/voice.h"
#include "waits.h"

static const char *copy_token(struct client *c, const struct dom *d)
{
    return str_dup_cstring(world_arena(c->world), dom_at(d, "token")->text);
}

static const struct dom *expect_server_update(struct gateway_conn *g)
{
    return expect_dispatch(g, "VOICE_SERVER_UPDATE", "{}");
}

static void rejoining_the_same_channel_repeats_the_server_update(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    const char *first = copy_token(h.ada, expect_server_update(h.ada->gate));
    /* Without a voice connection the server update has the same token and comes later. */
    ask_voice(h.ada, h.guild, h.voice, ", 'self_mute': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': true}");
    expect(strcmp(first, copy_token(h.ada, expect_server_update(h.ada->gate))) == 0);
    /* With a voice connection there is no server update. */
    world_sql(w, "update voice_states set live = 1");
    ask_voice(h.ada, h.guild, h.voice, ", 'self_deaf': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': false, 'self_deaf': true}");
    leave_voice(&h, h.ada, NULL);
    expect_quiet(h.ada->gate);
}

static void second_session_takes_over_the_voice_state(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    const char *first = copy_token(h.ada, expect_server_update(h.ada->gate));
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{}");
    struct gateway_conn *second = conn_session(h.ada, "v=10", "");
    ask_voice_by(h.ada, second, h.guild, h.voice);
    expect_dispatch(second, "VOICE_STATE_UPDATE", "{'session_id': '%s', 'channel_id': '%s'}",
                    conn_id(second), h.voice);
    expect(strcmp(first, copy_token(h.ada, expect_server_update(second))) != 0);
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'session_id': '%s'}", conn_id(second));
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'session_id': '%s'}", conn_id(second));
    /* The first session has no voice state any more. */
    ask_voice(h.ada, h.guild, NULL, "");
    expect_quiet(h.ada->gate);
    conn_close(h.ada->gate, 1000);
    expect_dispatch(second, "SESSIONS_REPLACE", "[{}]");
    ask_voice_by(h.ada, second, h.guild, NULL);
    expect_dispatch(second, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_quiet(h.bob->gate);
}

static void moving_between_voice_channels_sends_one_state_and_a_new_token(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    const char *first = copy_token(h.ada, expect_server_update(h.ada->gate));
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{}");
    ask_voice(h.ada, h.guild, h.other, "");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    expect(strcmp(first, copy_token(h.ada, expect_server_update(h.ada->gate))) != 0);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    expect_quiet(h.bob->gate);
    expect(world_number(w, "select count(*) from voice_states") == 1);
}

static void user_is_in_one_voice_channel_over_all_guilds(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_voice h = { .world = w, .ada = ada, .bob = bob };
    struct test_voice one = another_test_voice(&h), two = another_test_voice(&h);

    client_connect(ada);
    client_connect(bob);
    join_voice(&one, ada, one.voice, bob, NULL);
    ask_voice(ada, two.guild, two.voice, "");
    struct client *both[] = { ada, bob };
    for (int i = 0; i < 2; i++) {
        expect_event(both[i], "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'channel_id': null}",
                     one.guild);
        expect_event(both[i], "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'channel_id': '%s'}",
                     two.guild, two.voice);
    }
    expect_event(ada, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", two.guild);
    expect(world_number(w, "select count(*) from voice_states") == 1);
}

static void bot_is_in_one_voice_channel_per_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_voice h = { .world = w, .ada = ada, .bob = bob };
    struct test_voice one = another_test_voice(&h), two = another_test_voice(&h);
    struct client *bot = world_bot(w, "robot");

    put_member(one.guild, bot);
    put_member(two.guild, bot);
    client_connect(bot);
    join_voice(&one, bot, one.voice, NULL);
    join_voice(&two, bot, two.voice, NULL);
    expect(world_number(w, "select count(*) from voice_states") == 2);
    /* A bot must name the guild to leave. */
    ask_voice(bot, NULL, NULL, "");
    leave_voice(&one, bot, NULL);
    leave_voice(&two, bot, NULL);
    /* A bot's own state needs no intent; others' states do. */
    struct gateway_conn *deaf = conn_session(bot, "v=10", "'intents': 0");
    client_connect(ada);
    join_voice(&one, ada, one.voice, bot, NULL);
    ask_voice_by(bot, deaf, one.guild, one.voice);
    expect_dispatch(deaf, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", bot->id);
    expect_dispatch(deaf, "VOICE_SERVER_UPDATE", "{}");
}

static void voice_states_of_hidden_channels_are_not_sent(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    expect_status(client_put(h.ada,
                             TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(VIEW_CHANNEL))),
                             "/channels/%s/permissions/%s", h.other, cleo->id),
                  204);
    expect_event(cleo, "CHANNEL_DELETE", "{'id': '%s'}", h.other);
    expect_event(h.bob, "CHANNEL_UPDATE", "{}");
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_event(h.ada, "CHANNEL_UPDATE", "{}");
    join_voice(&h, h.ada, h.voice, h.bob, cleo, NULL);
    /* Moving to a hidden channel looks like leaving, moving back like joining. */
    ask_voice(h.ada, h.guild, h.other, "");
    expect_event(cleo, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.ada->id);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    ask_voice(h.ada, h.guild, h.other, ", 'self_mute': true");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'self_mute': true}", h.other);
    ask_voice(h.ada, h.guild, h.voice, "");
    expect_event(cleo, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    expect_quiet(cleo->gate);
    expect_quiet(h.bob->gate);
}

static void guild_create_contains_visible_voice_states(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              h.other, h.guild, BITS(PERMISSION(VIEW_CHANNEL)));
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    join_voice(&h, h.ada, h.other, NULL);
    struct client *cleo = world_client(w, "cleo");
    put_member(h.guild, cleo);
    struct gateway_conn *g = conn_open(cleo, "v=10");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *d = expect_dispatch(
        g, "READY", "{'guilds': [{'voice_states': [{'user_id': '%s', 'channel_id': '%s'}]}]}",
        h.bob->id, h.voice);
    const struct dom *s = dom_at(d, "guilds.0.voice_states.0");
    expect(!dom_at(s, "guild_id") && !dom_at(s, "member") && dom_at(s, "session_id"));
    struct client *bot = world_bot(w, "robot");
    put_member(h.guild, bot);
    struct gateway_conn *b = conn_session(bot, "v=10", "'intents': 1");
    expect_dispatch(b, "GUILD_CREATE", "{'voice_states': [{'user_id': '%s'}]}", h.bob->id);
}

static void large_guild_lists_members_in_visible_voice_channels(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    world_sql(w, "update guilds set member_count = 251 where id = %s", h.guild);
    struct gateway_conn *g = conn_open(h.ada, "v=10");
    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(g, "READY",
                    "{'guilds': [{'members': [{'user': {'id': '%s'}}, {'user': {'id': '%s'}}], "
                    "'voice_states': [{}]}]}",
                    h.ada->id, h.bob->id);
    /* Without view permission a member does not learn who is in the channel. */
    struct client *cleo = world_client(w, "cleo");
    put_member(h.guild, cleo);
    expect_status(client_put(h.ada,
                             TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(VIEW_CHANNEL))),
                             "/channels/%s/permissions/%s", h.voice, cleo->id),
                  204);
    g = conn_open(cleo, "v=10");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *d = expect_dispatch(g, "READY",
                                          "{'guilds': [{'members': [{'user': {'id': '%s'}}], "
                                          "'voice_states': []}]}",
                                          cleo->id);
    expect(!dom_at(d, "guilds.0.members.1"));
}

/* --- rates ---------------------------------------------------------------------------- */

static void voice_server_updates_are_limited_to_one_per_second(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    int states = 0, servers = 0;

    int64_t before = clock_monotonic_ns();
    join_voice(&h, h.ada, h.voice, NULL);
    for (int i = 0; i < 20; i++)
        ask_voice(h.ada, h.guild, h.voice, "");
    /* Every request gets its state. Two more server updates come at once, and one for all
     * others; on a slow machine, one per second. */
    while (states < 20 || servers < 3) {
        if (str_is(dom_at(next_voice(h.ada), "t")->text, "VOICE_SERVER_UPDATE"))
            servers++;
        else
            states++;
    }
    expect(clock_monotonic_ns() - before >= (servers - 3) * INT64_C(1000000000));
    leave_voice(&h, h.ada, NULL);
    expect_quiet(h.ada->gate);
}

/* discord.py leaves and joins when its voice connection is lost. */
static void leaving_and_rejoining_voice_is_answered_at_once(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.ada, h.voice, NULL);
    int64_t before = clock_monotonic_ns();
    for (int i = 0; i < 2; i++) {
        leave_voice(&h, h.ada, NULL);
        join_voice(&h, h.ada, h.voice, NULL);
    }
    expect(clock_monotonic_ns() - before < INT64_C(900000000));
    leave_voice(&h, h.ada, NULL);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

/* Returns whether only a heartbeat ACK arrives. */
static bool receives_nothing(struct gateway_conn *g)
{
    conn_send(g, "{'op':1,'d':null}");
    const struct dom *m = conn_read(g, 60000);
    return m && str_is(dom_at(m, "op")->text, "11");
}

/* Ten joins in ten seconds of real time. */
static void voice_joins_are_limited_to_ten_in_ten_seconds(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    int64_t before = clock_monotonic_ns();

    for (int i = 0; i < 10; i++)
        ask_voice(h.bob, h.guild, i % 2 ? h.voice : h.other, "");
    for (int i = 0; i < 10; i++)
        expect_event(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}",
                     i % 2 ? h.voice : h.other);
    ask_voice(h.bob, h.guild, h.other, "");
    ask_voice(h.bob, h.guild, NULL, "");
    conn_send(h.bob->gate, "{'op':1,'d':null}");
    while (!str_is(dom_at(conn_read(h.bob->gate, 60000), "op")->text, "11"))
        ; /* both requests were read; all undelayed work is done */
    world_settle(w);
    expect(receives_nothing(h.ada->gate) ||
           clock_monotonic_ns() - before >= 10 * INT64_C(1000000000));
}

/* A client could name any number of guilds: nothing is cached for guilds that it is not in. */
static void voice_requests_for_unknown_guilds_allocate_nothing(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");

    for (int i = 0; i < 50; i++)
        conn_send(bot->gate, "{'op': 4, 'd': {'guild_id': '%d', 'channel_id': '%d'}}", 1000 + i,
                  2000 + i);
    ask_voice(bot, h.guild, h.voice, "");
    expect_event(bot, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    expect_dispatch(bot->gate, "VOICE_SERVER_UPDATE", "{}");
    expect_soon(voice_count_rate_limit_states(guildhall_get_voice(world_server(w))) == 1);
}

const struct test voice_single_state_tests[] = {
    TEST(rejoining_the_same_channel_repeats_the_server_update),
    TEST(second_session_takes_over_the_voice_state),
    TEST(moving_between_voice_channels_sends_one_state_and_a_new_token),
    TEST(user_is_in_one_voice_channel_over_all_guilds),
    TEST(bot_is_in_one_voice_channel_per_guild),
    TEST(voice_states_of_hidden_channels_are_not_sent),
    TEST(guild_create_contains_visible_voice_states),
    TEST(large_guild_lists_members_in_visible_voice_channels),
    TEST(voice_server_updates_are_limited_to_one_per_second),
    TEST(leaving_and_rejoining_voice_is_answered_at_once),
    TEST_WITH(voice_joins_are_limited_to_ten_in_ten_seconds, configure_enabled_rate_limits),
    TEST(voice_requests_for_unknown_guilds_allocate_nothing),
    { 0 },
};
