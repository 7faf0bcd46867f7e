/* streams.c - streams by the gateway: begun, watched, paused, ended; and what ends them. */
#include "streams.h"

#include <stdio.h>
#include <string.h>

#include "model/permissions/permissions.h"

/* --- op 18 ---------------------------------------------------------------------------- */

static void a_stream_begins_in_order(struct world *w)
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

static void a_stream_needs_its_owner_in_the_channel(struct world *w)
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
    /* Another session of the account is not there. */
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

static void deny(const struct test_voice *h, const struct client *c, uint64_t rights)
{
    char overwrite[100];

    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)rights);
    expect_status(client_put(h->ada, overwrite, "/channels/%s/permissions/%s", h->voice, c->id),
                  204);
}

static void a_stream_takes_the_right_and_no_afk_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    deny(&h, h.bob, PERMISSION(STREAM));
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'unauthorized'}");
    deny(&h, h.bob, 0);
    world_sql(w, "update guilds set afk_channel_id = %s", h.voice);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'invalid_channel'}");
    world_sql(w, "update guilds set afk_channel_id = null where %d = 1", 1);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

static void an_owner_has_one_stream(struct world *w)
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

static void watching_tells_owner_and_viewers(struct world *w)
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
    ask_about_stream(h.bob, 20, key); /* again: told again, and nobody else */
    expect_stream(h.bob, "STREAM_CREATE", "{'viewer_ids': ['%s']}", h.bob->id);
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_no_stream(h.ada);
    expect_no_stream(cleo);
}

static void tokens_of_streams_differ(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);

    ask_about_stream(h.bob, 20, key);
    const struct dom *first = expect_stream(h.bob, "STREAM_CREATE", "{}");
    first = expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_UPDATE", "{}");
    ask_about_stream(h.ada, 20, key); /* the owner comes back to its own */
    expect_stream(h.ada, "STREAM_UPDATE", "{}");
    expect_stream(h.ada, "STREAM_CREATE", "{}");
    const struct dom *second = expect_stream(h.ada, "STREAM_SERVER_UPDATE", "{}");
    expect(!str_eq(dom_at(first, "token")->text, dom_at(second, "token")->text));
}

static void not_everybody_may_watch(struct world *w)
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

/* That many more who watch, from nowhere. */
static void fill(struct world *w, int count)
{
    for (int i = 0; i < count; i++)
        world_sql(w,
                  "insert into stream_sessions (owner_id, user_id, session_id, session_number, "
                  "salt, joined_at) select owner_id, %d, 's', 0, salt, 1 from stream_sessions "
                  "where user_id = owner_id",
                  1000 + i);
}

static void fifty_watch_and_no_more(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    fill(w, 49);
    join_voice(&h, cleo, h.voice, NULL);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_CREATE", "{}");
    ask_about_stream(cleo, 20, key);
    expect_stream(cleo, "STREAM_DELETE", "{'reason': 'stream_full'}");
    ask_about_stream(h.bob, 20, key); /* who is in may come back */
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_UPDATE", "{}");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

static void stages_show_streams_too(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.stage, h.ada);

    join_voice(&h, h.ada, h.stage, h.bob, NULL);
    join_voice(&h, h.bob, h.stage, h.ada, NULL);
    ask_stream(h.ada, h.guild, h.stage, "");
    expect_stream(h.ada, "STREAM_CREATE", "{'stream_key': '%s'}", key);
    fill(w, 50);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_full'}");
    world_sql(w, "delete from stream_sessions where user_id = %d", 1000);
    ask_about_stream(h.bob, 20, key);
    expect_stream(h.bob, "STREAM_CREATE", "{}");
}

/* --- op 19, 21, 22 -------------------------------------------------------------------- */

static void an_owner_ends_its_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_about_stream(h.ada, 19, key);
    expect_event(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'user_requested'}", key);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_stream': false}");
    expect_event(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'self_stream': false}");
    ask_about_stream(h.ada, 19, key); /* once more does nothing */
    ask_about_stream(h.bob, 19, key);
    expect_quiet(h.ada->gate);
    expect_quiet(h.bob->gate);
    expect(world_number(w, "select count(*) from stream_sessions") == 0);
}

static void a_viewer_leaves_and_the_stream_goes_on(struct world *w)
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

static void a_pause_is_told_and_only_the_owners(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_pause(h.bob, key, true);
    ask_pause(h.ada, key, true);
    expect_event(h.ada, "STREAM_UPDATE", "{'paused': true, 'viewer_ids': ['%s']}", h.bob->id);
    expect_event(h.bob, "STREAM_UPDATE", "{'paused': true}");
    ask_pause(h.ada, key, true); /* nothing new: an answer all the same */
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

static void a_pause_may_follow_at_once(struct world *w)
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

/* --- what ends it --------------------------------------------------------------------- */

static void a_stream_ends_when_its_owner_goes(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.ada, h.guild, NULL, "");
    expect_stream(h.ada, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect(world_number(w, "select count(*) from streams") == 0);
}

static void a_stream_ends_when_its_owner_moves(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.ada, h.guild, h.other, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_json(client_get(h.bob, "/guilds/%s/voice-states/%s", h.guild, h.ada->id),
                "{'channel_id': '%s', 'self_stream': false}", h.other);
}

static void a_stream_ends_when_its_owner_may_no_longer(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *key = stream_key(&h, h.voice, h.bob);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    ask_stream(h.bob, h.guild, h.voice, "");
    expect_stream(h.bob, "STREAM_CREATE", "{}");
    expect_stream(h.bob, "STREAM_SERVER_UPDATE", "{}");
    deny(&h, h.bob, PERMISSION(STREAM));
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_json(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'channel_id': '%s', 'self_stream': false}", h.voice);
}

static void a_stream_ends_with_its_session(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    conn_close(h.ada->gate, 1000);
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
}

static void a_stream_ends_when_another_session_takes_over(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);
    struct gateway_conn *second = conn_session(h.ada, "v=10", "");

    ask_voice_by(h.ada, second, h.guild, h.voice);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
}

static void a_viewer_who_leaves_voice_watches_no_more(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    ask_voice(h.bob, h.guild, NULL, "");
    expect_stream(h.bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
    expect_stream(h.ada, "STREAM_UPDATE", "{'viewer_ids': []}");
    expect_no_stream(h.ada);
}

static void a_stream_ends_with_its_channel(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    expect_status(client_delete(h.ada, "/channels/%s", h.voice), 200);
    expect_stream(h.bob, "STREAM_DELETE", "{'reason': 'stream_ended'}");
    expect_stream(h.ada, "STREAM_DELETE", "{'reason': 'stream_ended'}");
}

static void no_stream_outlives_the_process(struct world *w)
{
    const char *key;

    world_show(w, &key);
    world_restart(w);
    expect(world_number(w, "select count(*) from streams") == 0);
    expect(world_number(w, "select count(*) from stream_sessions") == 0);
}

const struct test streams_tests[] = {
    TEST_WITH(a_stream_begins_in_order, with_two_regions),
    TEST(a_stream_needs_its_owner_in_the_channel),
    TEST(a_stream_takes_the_right_and_no_afk_channel),
    TEST(an_owner_has_one_stream),
    TEST(watching_tells_owner_and_viewers),
    TEST(tokens_of_streams_differ),
    TEST(not_everybody_may_watch),
    TEST(fifty_watch_and_no_more),
    TEST(stages_show_streams_too),
    TEST(an_owner_ends_its_stream),
    TEST(a_viewer_leaves_and_the_stream_goes_on),
    TEST(a_pause_is_told_and_only_the_owners),
    TEST(a_pause_may_follow_at_once),
    TEST(a_stream_ends_when_its_owner_goes),
    TEST(a_stream_ends_when_its_owner_moves),
    TEST(a_stream_ends_when_its_owner_may_no_longer),
    TEST(a_stream_ends_with_its_session),
    TEST(a_stream_ends_when_another_session_takes_over),
    TEST(a_viewer_who_leaves_voice_watches_no_more),
    TEST(a_stream_ends_with_its_channel),
    TEST(no_stream_outlives_the_process),
    { 0 },
};
