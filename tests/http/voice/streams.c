/* streams.c - Go Live streams by the gateway: creating, watching, pausing and ending. */
#include "streams.h"

#include <stdio.h>
#include <string.h>

#include "model/permissions/permissions.h"

/* --- op 18 ---------------------------------------------------------------------------- */

static void creating_a_stream_sends_its_events_in_order(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.voice, h.ada);

    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    ask_stream(h.ada, h.guild, h.voice, ", 'preferred_region': 'us'");
    const struct dom *d = expect_dispatch(
        h.ada->gate, "STREAM_CREATE",
        "{'stream_key': '%s', 'region': 'us', 'viewer_ids': [], 'paused': false}", key);
    uint64_t server, channel;
    expect(str_to_u64(dom_at(d, "rtc_server_id")->text, &server) &&
           str_to_u64(dom_at(d, "rtc_channel_id")->text, &channel) && channel == server + 1);
    d = expect_dispatch(h.ada->gate, "STREAM_SERVER_UPDATE",
                        "{'stream_key': '%s', 'endpoint': 'us.voice.example', 'guild_id': null}",
                        key);
    expect(dom_at(d, "token")->text.n == 32);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_stream': true, 'channel_id': '%s'}", h.voice);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'self_stream': true, 'user_id': '%s'}", h.ada->id);
    expect_quiet(h.bob->gate);
    expect_quiet(h.ada->gate);
}

static void creating_a_stream_requires_the_owner_in_the_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_stream(h.ada, h.guild, h.voice, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'invalid_channel'}",
                  stream_key(&h, h.voice, h.ada));
    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    ask_stream(h.ada, h.guild, h.other, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'invalid_channel'}",
                  stream_key(&h, h.other, h.ada));
    ask_stream(h.ada, NULL, h.voice, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'stream_key': 'call:%s:%s'}", h.voice, h.ada->id);
    /* Another session of the account is not in the channel. */
    struct gateway_conn *second = conn_session(h.ada, "v=10", "");
    conn_send(second, "{'op': 18, 'd': {'type': 'guild', 'guild_id': '%s', 'channel_id': '%s'}}",
              h.guild, h.voice);
    for (;;) {
        const struct dom *m = conn_read(second, 60000);

        expect(m);
        if (!str_is(dom_at(m, "t")->text, "STREAM_DELETE"))
            continue;
        expect(str_is(dom_at(m, "d.reason")->text, "invalid_channel"));
        break;
    }
    expect(world_number(w, "select count(*) from streams") == 0);
}

static void deny_permission_in_voice_channel(const struct test_voice *h, const struct client *c,
                                             uint64_t perms)
{
    char overwrite[100];

    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}", (unsigned long long)perms);
    expect_status(client_put(h->ada, overwrite, "/channels/%s/permissions/%s", h->voice, c->id),
                  204);
}

static void streams_require_the_permission_and_no_afk_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    deny_permission_in_voice_channel(&h, h.bob, PERMISSION(STREAM));
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'unauthorized'}");
    deny_permission_in_voice_channel(&h, h.bob, 0);
    world_sql(w, "update guilds set afk_channel_id = %s", h.voice);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'invalid_channel'}");
    world_sql(w, "update guilds set afk_channel_id = null where %d = 1", 1);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

static void creating_a_second_stream_ends_the_first(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_stream(h.ada, h.guild, h.voice, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_CREATE", "{'stream_key': '%s', 'viewer_ids': []}", key);
    expect(world_number(w, "select count(*) from streams") == 1);
    expect_json(client_get(h.bob, "/guilds/%s/voice-states/%s", h.guild, h.ada->id),
                "{'self_stream': true}");
}

/* --- op 20 ---------------------------------------------------------------------------- */

static void watching_a_stream_sends_updates_to_owner_and_viewers(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    ask_about_stream(h.bob, 20, key);
    expect_event(h.bob, "STREAM_CREATE", "{'stream_key': '%s', 'viewer_ids': ['%s']}", key,
                 h.bob->id);
    const struct dom *d = expect_dispatch(h.bob->gate, "STREAM_SERVER_UPDATE", "{}");
    expect(dom_at(d, "token"));
    expect_event(h.bob, "STREAM_UPDATE", "{'stream_key': '%s', 'viewer_ids': ['%s']}", key,
                 h.bob->id);
    expect_stream(h.ada, "STREAM_UPDATE", "{'viewer_ids': ['%s'], 'paused': false}", h.bob->id);
    ask_about_stream(h.bob, 20, key); /* watching again repeats the events to the viewer only */
    expect_stream(h.bob, "STREAM_CREATE", "{'viewer_ids': ['%s']}", h.bob->id);
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_no_stream(h.ada);
    expect_no_stream(cleo);
}

static void stream_tokens_differ_between_participants(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);

    ask_about_stream(h.bob, 20, key);
    const struct dom *first = expect_stream(h.bob, "STREAM_CREATE", "{}");
    first = expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_UPDATE", "{}");
    ask_about_stream(h.ada, 20, key); /* the owner reconnects to its stream */
    expect_stream(h.ada, "STREAM_UPDATE", "{}");
    expect_stream(h.ada, "STREAM_CREATE", "{}");
    const struct dom *second = expect_stream(h.ada, "STREAM_SERVER_UPDATE", "{}");
    expect(!str_eq(dom_at(first, "token")->text, dom_at(second, "token")->text));
}

static void unauthorized_users_cannot_watch_a_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    ask_about_stream(cleo, 20, key);
    expect_stream(cleo, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'unauthorized'}", key);
    ask_about_stream(h.bob, 20, stream_key(&h, h.voice, h.bob));
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    ask_about_stream(h.bob, 20, "guild:1:2");
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': 'guild:1:2', 'reason': 'parse_failed'}");
    ask_about_stream(h.bob, 20, stream_key(&h, h.other, h.ada));
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'unauthorized'}");
    expect_no_stream(h.ada);
}

/* Inserts that many other viewers. */
static void insert_many_stream_viewers(struct world *w, int count)
{
    for (int i = 0; i < count; i++)
        world_sql(w,
                  "insert into stream_sessions (owner_id, user_id, session_id, session_number, "
                  "salt, joined_at) select owner_id, %d, 's', 0, salt, 1 from stream_sessions "
                  "where user_id = owner_id",
                  1000 + i);
}

static void stream_is_limited_to_50_viewers(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    insert_many_stream_viewers(w, 49);
    join_voice(&h, cleo, h.voice, NULL);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_CREATE", "{}");
    ask_about_stream(cleo, 20, key);
    expect_stream(cleo, "STREAM_DELETE", "{'reason': 'stream_full'}");
    ask_about_stream(h.bob, 20, key); /* an existing viewer may reconnect */
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

static void stage_streams_are_limited_to_50_viewers(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.stage, h.ada);

    join_voice(&h, h.ada, h.stage, h.bob, NULL);
    join_voice(&h, h.bob, h.stage, h.ada, NULL);
    ask_stream(h.ada, h.guild, h.stage, "");
    expect_stream(h.ada, "STREAM_CREATE", "{'stream_key': '%s'}", key);
    insert_many_stream_viewers(w, 50);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_full'}");
    world_sql(w, "delete from stream_sessions where user_id = %d", 1000);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

/* --- op 19, 21, 22 -------------------------------------------------------------------- */

static void owner_can_end_the_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_about_stream(h.ada, 19, key);
    expect_event(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'user_requested'}", key);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_stream': false}");
    expect_event(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'self_stream': false}");
    ask_about_stream(h.ada, 19, key); /* a second request has no effect */
    ask_about_stream(h.bob, 19, key);
    expect_quiet(h.ada->gate);
    expect_quiet(h.bob->gate);
    expect(world_number(w, "select count(*) from stream_sessions") == 0);
}

static void viewer_can_leave_without_ending_the_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_about_stream(h.bob, 19, key);
    expect_event(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'user_requested'}", key);
    expect_event(h.ada, "STREAM_UPDATE", "{'viewer_ids': []}");
    expect_quiet(h.bob->gate);
    expect_quiet(h.ada->gate);
    expect(world_number(w, "select count(*) from streams") == 1);
}

static void only_the_owner_can_pause_a_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_pause(h.bob, key, true);
    ask_pause(h.ada, key, true);
    expect_event(h.ada, "STREAM_UPDATE", "{'paused': true, 'viewer_ids': ['%s']}", h.bob->id);
    expect_event(h.bob, "STREAM_UPDATE", "{'paused': true}");
    ask_pause(h.ada, key, true); /* the stream is paused already, but the event is sent again */
    expect_event(h.ada, "STREAM_UPDATE", "{'paused': true}");
    expect_event(h.bob, "STREAM_UPDATE", "{'paused': true}");
    ask_pause(h.ada, key, false);
    expect_event(h.ada, "STREAM_UPDATE", "{'paused': false}");
    expect_event(h.bob, "STREAM_UPDATE", "{'paused': false}");
    ask_about_stream(h.ada, 21, key);
    expect_quiet(h.ada->gate);
    ask_about_stream(h.ada, 21, "test:1");
    expect_event(h.ada, "STREAM_DELETE", "{'reason': 'parse_failed'}");
}

static void stream_can_be_paused_right_after_its_creation(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.voice, h.ada);

    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    ask_stream(h.ada, h.guild, h.voice, "");
    ask_pause(h.ada, key, true);
    expect_stream(h.ada, "STREAM_CREATE", "{'paused': false}");
    expect_stream(h.ada, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(h.ada, "STREAM_UPDATE", "{'paused': true}");
}

/* --- end of a stream ------------------------------------------------------------------ */

static void stream_ends_when_its_owner_leaves_voice(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.ada, h.guild, NULL, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect(world_number(w, "select count(*) from streams") == 0);
}

static void stream_ends_when_its_owner_moves(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.ada, h.guild, h.other, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_json(client_get(h.bob, "/guilds/%s/voice-states/%s", h.guild, h.ada->id),
                "{'channel_id': '%s', 'self_stream': false}", h.other);
}

static void stream_ends_when_its_owner_loses_the_permission(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.voice, h.bob);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    deny_permission_in_voice_channel(&h, h.bob, PERMISSION(STREAM));
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_json(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'channel_id': '%s', 'self_stream': false}", h.voice);
}

static void stream_ends_with_its_owners_session(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    conn_close(h.ada->gate, 1000);
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
}

static void stream_ends_when_another_session_takes_over_voice(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);
    struct gateway_conn *second = conn_session(h.ada, "v=10", "");

    ask_voice_by(h.ada, second, h.guild, h.voice);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
}

static void leaving_voice_ends_watching_a_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.bob, h.guild, NULL, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_stream(h.ada, "STREAM_UPDATE", "{'viewer_ids': []}");
    expect_no_stream(h.ada);
}

static void stream_ends_when_its_channel_is_deleted(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    expect_status(client_delete(h.ada, "/channels/%s", h.voice), 200);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
}

static void streams_do_not_survive_a_restart(struct world *w)
{
    const char *key;

    world_show(w, &key);
    world_restart(w);
    expect(world_number(w, "select count(*) from streams") == 0);
    expect(world_number(w, "select count(*) from stream_sessions") == 0);
}

const struct test streams_tests[] = {
    TEST_WITH(creating_a_stream_sends_its_events_in_order, with_two_regions),
    TEST(creating_a_stream_requires_the_owner_in_the_channel),
    TEST(streams_require_the_permission_and_no_afk_channel),
    TEST(creating_a_second_stream_ends_the_first),
    TEST(watching_a_stream_sends_updates_to_owner_and_viewers),
    TEST(stream_tokens_differ_between_participants),
    TEST(unauthorized_users_cannot_watch_a_stream),
    TEST(stream_is_limited_to_50_viewers),
    TEST(stage_streams_are_limited_to_50_viewers),
    TEST(owner_can_end_the_stream),
    TEST(viewer_can_leave_without_ending_the_stream),
    TEST(only_the_owner_can_pause_a_stream),
    TEST(stream_can_be_paused_right_after_its_creation),
    TEST(stream_ends_when_its_owner_leaves_voice),
    TEST(stream_ends_when_its_owner_moves),
    TEST(stream_ends_when_its_owner_loses_the_permission),
    TEST(stream_ends_with_its_owners_session),
    TEST(stream_ends_when_another_session_takes_over_voice),
    TEST(leaving_voice_ends_watching_a_stream),
    TEST(stream_ends_when_its_channel_is_deleted),
    TEST(streams_do_not_survive_a_restart),
    { 0 },
};
