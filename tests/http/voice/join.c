/* join.c - joining, moving and leaving voice by op 4. */
#include "test_voice.h"

#include <string.h>

static void joining_voice_sends_state_update_then_server_update(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, ", 'self_mute': true, 'self_deaf': true");
    const struct dom *d = expect_dispatch(
        h.ada->gate, "VOICE_STATE_UPDATE",
        "{'guild_id': '%s', 'channel_id': '%s', 'user_id': '%s', 'session_id': '%s', "
        "'member': {'user': {'id': '%s', 'username': 'ada'}, 'roles': []}, "
        "'mute': false, 'deaf': false, 'self_mute': true, 'self_deaf': true, "
        "'self_stream': false, 'self_video': false, 'suppress': false, "
        "'request_to_speak_timestamp': null}",
        h.guild, h.voice, h.ada->id, conn_id(h.ada->gate), h.ada->id);
    expect(dom_at(d, "connected_at") && !dom_at(d, "discoverable") && !dom_at(d, "user_volume"));
    d = expect_dispatch(h.ada->gate, "VOICE_SERVER_UPDATE", "{'guild_id': '%s', 'endpoint': null}",
                        h.guild);
    const struct dom *token = dom_at(d, "token");
    expect(token->text.n == 32 && strspn(token->text.p, "0123456789abcdef") >= 32);
    expect(!dom_at(d, "channel_id"));
    /* Others get only the state. */
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'member': {}}", h.ada->id);
    leave_voice(&h, h.ada, h.bob, NULL);
    expect_quiet(h.bob->gate);
}

static void configure_voice_endpoint(struct config *config)
{
    config->voice_regions = "eu:Europe,us:America";
    config->voice_endpoint = "{region}.voice.example/v";
}

static void voice_endpoint_contains_the_channels_region(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    world_sql(w, "update channels set rtc_region = 'us' where id = %s", h.stage);
    ask_voice(h.ada, h.guild, h.stage, ", 'preferred_region': 'eu'");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_event(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.voice.example/v'}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{}");
    /* The first participant's preferred region is used by all. */
    ask_voice(h.bob, h.guild, h.voice, ", 'preferred_regions': ['moon', 'us']");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{}");
    expect_event(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.voice.example/v'}");
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    ask_voice(cleo, h.guild, h.voice, ", 'preferred_region': 'eu'");
    expect_event(cleo, "VOICE_STATE_UPDATE", "{}");
    expect_event(cleo, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.voice.example/v'}");
    struct client *dan = test_voice_member(&h, "dan", 0);
    ask_voice(dan, h.guild, h.other, "");
    expect_event(dan, "VOICE_STATE_UPDATE", "{}");
    expect_event(dan, "VOICE_SERVER_UPDATE", "{'endpoint': 'eu.voice.example/v'}");
}

static void session_can_end_only_its_own_voice_state_in_that_guild(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, NULL, "");
    ask_voice(h.ada, NULL, NULL, "");
    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    /* Another session of the account has no voice state to leave. */
    struct gateway_conn *second = conn_session(h.ada, "v=10", "");
    ask_voice_by(h.ada, second, h.guild, NULL);
    /* Leaving another guild's voice has no effect here. */
    struct test_voice elsewhere = another_test_voice(&h);
    ask_voice(h.ada, elsewhere.guild, NULL, "");
    /* A client with a voice connection gets no second server update. */
    world_sql(w, "update voice_states set live = 1 where user_id = %s", h.ada->id);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_deaf': true");
    while (!str_is(dom_at(conn_read(h.ada->gate, 60000), "t")->text, "VOICE_STATE_UPDATE"))
        ;
    expect(world_number(w, "select count(*) from voice_states") == 1);
    ask_voice(h.ada, NULL, NULL, "");
    while (dom_at(conn_read(h.ada->gate, 60000), "d.channel_id")->kind != JSON_NULL)
        ;
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

static void voice_leave_event_keeps_only_guild_user_and_session(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_video': true}");
    expect_server(h.ada);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{}");
    ask_voice(h.ada, h.guild, NULL, "");
    const struct dom *d = expect_dispatch(
        h.bob->gate, "VOICE_STATE_UPDATE",
        "{'guild_id': '%s', 'channel_id': null, 'user_id': '%s', 'session_id': '%s', "
        "'self_video': false, 'self_stream': false, 'suppress': false, 'member': {}, "
        "'request_to_speak_timestamp': null}",
        h.guild, h.ada->id, conn_id(h.ada->gate));
    expect(!dom_at(d, "connected_at"));
}

static void joining_voice_in_an_invalid_channel_is_ignored(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct test_voice elsewhere = another_test_voice(&h);
    const char *text = make_channel(h.ada, h.guild, "{'name': 't'}");
    struct client *eve = world_client(w, "eve");

    client_connect(eve);
    ask_voice(h.bob, h.guild, "5", "");
    ask_voice(h.bob, h.guild, text, "");
    ask_voice(h.bob, h.guild, elsewhere.voice, "");
    ask_voice(h.bob, NULL, h.voice, "");
    ask_voice(h.bob, h.voice, h.voice, "");
    ask_voice(eve, h.guild, h.voice, "");
    ask_voice(h.bob, h.guild, h.voice, ", 'self_mute': true");
    while (!str_is(dom_at(conn_read(h.bob->gate, 60000), "t")->text, "VOICE_STATE_UPDATE"))
        ;
    expect_quiet(eve->gate);
    expect(world_number(w, "select count(*) from voice_states") == 1);
    expect(world_number(w, "select count(*) from voice_states where channel_id = %s", h.voice) ==
           1);
}

static void insert_deny_overwrite(struct test_voice *h, const char *channel, uint64_t perms)
{
    world_sql(h->world,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              channel, h->guild, BITS(perms));
}

static void joining_voice_requires_view_channel_and_connect(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *hidden = make_channel(ada, g, "{'name': 'h', 'type': 2}");
    const char *closed = make_channel(ada, g, "{'name': 'c', 'type': 2}");
    const char *open = make_channel(ada, g, "{'name': 'o', 'type': 2}");
    struct test_voice h = { .world = w, .ada = ada, .bob = bob, .guild = g, .voice = open };

    put_member(g, bob);
    insert_deny_overwrite(&h, hidden, PERMISSION(VIEW_CHANNEL));
    insert_deny_overwrite(&h, closed, PERMISSION(CONNECT));
    client_connect(ada);
    client_connect(bob);
    ask_voice(bob, g, hidden, "");
    ask_voice(bob, g, closed, "");
    join_voice(&h, bob, open, ada, NULL);
    join_voice(&h, ada, hidden, NULL);
    expect_quiet(bob->gate);
}

static void full_voice_channel_admits_only_move_members_permission(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", PERMISSION(MOVE_MEMBERS));
    struct client *dan = test_voice_member(&h, "dan", 0);

    world_sql(w, "update channels set user_limit = 2 where id = %s", h.voice);
    join_voice(&h, h.bob, h.voice, h.ada, cleo, dan, NULL);
    join_voice(&h, dan, h.voice, h.ada, h.bob, cleo, NULL);
    struct client *eli = test_voice_member(&h, "eli", 0);
    ask_voice(eli, h.guild, h.voice, "");
    join_voice(&h, eli, h.other, h.ada, h.bob, cleo, dan, NULL);
    join_voice(&h, cleo, h.voice, h.ada, h.bob, dan, eli, NULL);
    /* Participants stay and can change their state. */
    ask_voice(dan, h.guild, h.voice, ", 'self_mute': true");
    expect_event(dan, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'self_mute': true}", dan->id);
}

static void self_video_requires_stream_permission_and_a_free_slot(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    insert_deny_overwrite(&h, h.other, PERMISSION(STREAM));
    ask_voice(h.bob, h.guild, h.other, ", 'self_video': true");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'self_video': false}", h.other);
    expect_server(h.bob);
    fill_with_cameras(&h, h.voice, 25);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", h.bob->id);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_video': false}");
    expect_server(h.ada);
    world_sql(w, "update voice_states set self_video = 0 where user_id = "
                 "(select max(user_id) from voice_states where self_video = 1)");
    world_sql(w, "update voice_states set live = 1 where user_id = %s", h.ada->id);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_video': true}");
    /* A member's own camera does not count against itself. */
    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true, 'self_mute': true");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_video': true, 'self_mute': true}");
}

static void malformed_voice_state_payload_closes_with_4002(struct world *w)
{
    static const char *const bad[] = {
        "{'guild_id': 'x', 'channel_id': null}",
        "{'guild_id': null, 'channel_id': {}}",
        "{'guild_id': null, 'channel_id': null, 'self_mute': 'yes'}",
        "{'guild_id': null, 'channel_id': null, 'preferred_regions': 'eu'}",
    };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gateway_conn *g = conn_session(ada, "v=10", "");

        conn_send(g, "{'op': 4, 'd': %s}", bad[i]);
        expect_close(g, 4002);
    }
}

static void voice_state_ids_may_be_integers(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    conn_send(h.bob->gate,
              "{'op': 4, 'd': {'guild_id': %s, 'channel_id': %s, 'self_mute': null, 'flags': 2}}",
              h.guild, h.voice);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'self_mute': false}", h.voice);
    expect_server(h.bob);
}

const struct test voice_join_tests[] = {
    TEST(joining_voice_sends_state_update_then_server_update),
    TEST_WITH(voice_endpoint_contains_the_channels_region, configure_voice_endpoint),
    TEST(session_can_end_only_its_own_voice_state_in_that_guild),
    TEST(voice_leave_event_keeps_only_guild_user_and_session),
    TEST(joining_voice_in_an_invalid_channel_is_ignored),
    TEST(joining_voice_requires_view_channel_and_connect),
    TEST(full_voice_channel_admits_only_move_members_permission),
    TEST(self_video_requires_stream_permission_and_a_free_slot),
    TEST(malformed_voice_state_payload_closes_with_4002),
    TEST(voice_state_ids_may_be_integers),
    { 0 },
};
