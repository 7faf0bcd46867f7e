/* relay_streams.c - Go Live streams over the relay: connections and moderation. */
#include "voice_client.h"

#include <stdlib.h>
#include <string.h>

#include "streams.h"

#define MEMBER "/guilds/%s/members/%s"

/* Returns the next stream connection announced to this client; server NULL: read it from
 * STREAM_CREATE. */
static struct voice_client stream_connection(struct client *c, const char *server)
{
    struct voice_client p = { .client = c, .guild = server, .fd = -1, .session = conn_id(c->gate) };

    if (!server)
        p.guild =
            str_dup_cstring(world_arena(c->world),
                            dom_at(expect_stream(c, "STREAM_CREATE", "{}"), "rtc_server_id")->text);
    const struct dom *d =
        expect_stream(c, "STREAM_SERVER_UPDATE",
                      "{'endpoint': '127.0.0.1:%d/voice', 'guild_id': null}", world_port(c->world));
    p.token = str_dup_cstring(world_arena(c->world), dom_at(d, "token")->text);
    return p;
}

struct stream_test {
    struct test_voice voice;
    const char *key;
    struct voice_client ada, bob;
};

/* Ada streams in this channel and bob watches; both are connected. */
static struct stream_test create_stream_in(const struct test_voice *h, const char *channel)
{
    struct stream_test s = { .voice = *h, .key = stream_key(h, channel, h->ada) };

    join_voice(h, h->ada, channel, h->bob, NULL);
    join_voice(h, h->bob, channel, h->ada, NULL);
    ask_stream(h->ada, h->guild, channel, "");
    s.ada = stream_connection(h->ada, NULL);
    s.ada.more = ", 'video': true";
    ask_about_stream(h->bob, 20, s.key);
    s.bob = stream_connection(h->bob, NULL);
    voice_client_dial(&s.ada, 8);
    voice_client_connect(&s.ada, VOICE_CLIENT_AES);
    voice_client_dial(&s.bob, 8);
    voice_client_connect(&s.bob, VOICE_CLIENT_AES);
    voice_client_shows(&s.ada, "[]");
    voice_client_flush(&s.ada);
    voice_client_wants(&s.bob, "{'any': 100}");
    return s;
}

static struct stream_test create_test_stream(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    return create_stream_in(&h, h.voice);
}

static void expect_stream_video_is_received(struct stream_test *s, const char *frame)
{
    voice_client_show(&s->ada, s->ada.ssrc + 1, VOICE_CLIENT_VIDEO, frame);
    expect_seen(&s->bob, s->ada.ssrc + 1, frame);
}

static void stream_has_separate_voice_connections(struct world *w)
{
    struct stream_test s = create_test_stream(w);
    struct test_voice *h = &s.voice;

    expect_stream_video_is_received(&s, "picture");
    voice_client_say(&s.ada, "sound");
    expect_audio(&s.bob, &s.ada, "sound");
    /* A watcher cannot send; its feedback packets go to the streamer. */
    voice_client_say(&s.bob, "comment");
    struct str pli = control_packet(w, 206, 1, s.bob.ssrc, s.ada.ssrc + 1);
    voice_client_control(&s.bob, pli);
    expect(str_eq(voice_client_receive_control(&s.ada, 60000), pli));
    ask_pause(h->ada, s.key, true);
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': false}");
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': true}");
    voice_client_show(&s.ada, s.ada.ssrc + 1, VOICE_CLIENT_VIDEO, "paused");
    voice_client_say(&s.ada, "paused");
    expect_deaf(&s.bob);
    ask_pause(h->ada, s.key, false);
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': false}");
    expect_stream_video_is_received(&s, "goes on");
    ask_about_stream(h->bob, 19, s.key);
    expect_cut(&s.bob, 4014);
    expect(str_is(dom_at(voice_client_await(&s.ada, 13), "d.user_id")->text, h->bob->id));
    voice_client_dial(&s.bob, 8);
    expect_close(s.bob.gate, 4006);
    /* Moving the streamer to another channel ends the stream. */
    ask_voice(h->ada, h->guild, h->other, "");
    expect_cut(&s.ada, 4014);
    voice_client_dial(&s.ada, 8);
    expect_close(s.ada.gate, 4011);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void stream_connection_requires_the_participants_data(struct world *w)
{
    struct stream_test s = create_test_stream(w);
    struct voice_client wrong = s.bob;

    wrong.token = s.ada.token;
    voice_client_dial(&wrong, 8);
    expect_close(wrong.gate, 4004);
    wrong = s.bob;
    wrong.session = "another";
    voice_client_dial(&wrong, 8);
    expect_close(wrong.gate, 4006);
    wrong = s.bob;
    wrong.more = TEXT(w, ", 'channel_id': '%s'", s.voice.voice);
    voice_client_dial(&wrong, 9);
    expect_close(wrong.gate, 4006);
    /* The stream's channel id is its server id plus one. */
    wrong.more = TEXT(w, ", 'channel_id': '%llu'", strtoull(s.bob.guild, NULL, 10) + 1);
    voice_client_dial(&wrong, 9);
    voice_client_ready(&wrong);
    /* A new connection invalidates the previous one. */
    ask_about_stream(s.voice.bob, 20, s.key);
    expect_cut(&wrong, 4014);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

/* --- moderation ----------------------------------------------------------------------- */

static void expect_no_stream_media(struct stream_test *s)
{
    voice_client_show(&s->ada, s->ada.ssrc + 1, VOICE_CLIENT_VIDEO, "hidden");
    voice_client_say(&s->ada, "hidden");
    expect_deaf(&s->bob);
}

static void expect_video_without_sound(struct stream_test *s)
{
    voice_client_say(&s->ada, "silent");
    expect_stream_video_is_received(s, "seen");
    expect_deaf(&s->bob);
}

static void expect_stream_sound_is_received(struct stream_test *s)
{
    voice_client_say(&s->ada, "sound");
    expect_audio(&s->bob, &s->ada, "sound");
}

static void modify_voice_member(const struct test_voice *h, const struct client *c,
                                const char *change)
{
    expect_status(client_patch(h->ada, change, MEMBER, h->guild, c->id), 200);
}

/* Reconnects, so that the stored state is read. */
static void voice_client_reconnect(struct voice_client *p)
{
    voice_client_hang_up(p);
    voice_client_dial(p, 8);
    voice_client_connect(p, VOICE_CLIENT_AES);
    p->counter = p->sequence = 0;
}

static void muted_streamer_is_not_received_in_the_stream(struct world *w)
{
    struct stream_test s = create_test_stream(w);
    struct test_voice *h = &s.voice;

    expect_stream_sound_is_received(&s);
    modify_voice_member(h, h->ada, "{'mute': true}");
    expect_video_without_sound(&s);
    voice_client_reconnect(&s.ada);
    voice_client_shows(&s.ada, "[]");
    voice_client_flush(&s.ada);
    expect_video_without_sound(&s);
    modify_voice_member(h, h->ada, "{'mute': false}");
    expect_stream_sound_is_received(&s);
    /* self_mute does not affect the stream. */
    ask_voice(h->ada, h->guild, h->voice, ", 'self_mute': true");
    await_self_mute(h->bob);
    expect_stream_sound_is_received(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void deafened_members_receive_no_streams(struct world *w)
{
    struct stream_test s = create_test_stream(w);
    struct test_voice *h = &s.voice;

    expect_stream_video_is_received(&s, "before");
    modify_voice_member(h, h->bob, "{'deaf': true}");
    expect_no_stream_media(&s);
    voice_client_reconnect(&s.bob);
    voice_client_wants(&s.bob, "{'any': 100}");
    expect_no_stream_media(&s);
    modify_voice_member(h, h->bob, "{'deaf': false}");
    expect_stream_video_is_received(&s, "after");
    expect_stream_sound_is_received(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void suppressed_members_cannot_stream(struct world *w)
{
    struct stream_test s = create_test_stream(w);
    struct test_voice *h = &s.voice;
    const char *afk = TEXT(w, "{'afk_channel_id': '%s'}", h->voice);

    expect_stream_video_is_received(&s, "before");
    expect_status(client_patch(h->ada, afk, "/guilds/%s", h->guild), 200);
    expect_no_stream_media(&s);
    expect_status(client_patch(h->ada, "{'afk_channel_id': null}", "/guilds/%s", h->guild), 200);
    expect_stream_video_is_received(&s, "after");
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void set_stage_speaker(const struct test_voice *h, struct client *c, bool back)
{
    expect_status(client_patch(c,
                               TEXT(h->world, "{'channel_id': '%s', 'suppress': %s}", h->stage,
                                    back ? "true" : "false"),
                               "/guilds/%s/voice-states/@me", h->guild),
                  204);
}

static void stage_audience_cannot_stream(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct stream_test s = create_stream_in(&h, h.stage);

    expect_no_stream_media(&s);
    set_stage_speaker(&h, h.ada, false);
    expect_stream_video_is_received(&s, "on the stage");
    expect_stream_sound_is_received(&s);
    set_stage_speaker(&h, h.ada, true);
    expect_no_stream_media(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

const struct test voice_relay_streams_tests[] = {
    TEST_WITH(stream_has_separate_voice_connections, with_relay),
    TEST_WITH(stream_connection_requires_the_participants_data, with_relay),
    TEST_WITH(muted_streamer_is_not_received_in_the_stream, with_relay),
    TEST_WITH(deafened_members_receive_no_streams, with_relay),
    TEST_WITH(suppressed_members_cannot_stream, with_relay),
    TEST_WITH(stage_audience_cannot_stream, with_relay),
    { 0 },
};
