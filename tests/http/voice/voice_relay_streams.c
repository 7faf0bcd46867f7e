/* voice_relay_streams.c - streams that are carried: who is connected to them, and who gets what. */
#include "voice_client.h"

#include <stdlib.h>
#include <string.h>

#include "streams.h"

#define MEMBER "/guilds/%s/members/%s"

/* The next connection that is announced to this client; the stream's server, when it was said. */
static struct voice_client stream_part(struct client *c, const char *server)
{
    struct voice_client p = { .client = c, .guild = server, .fd = -1, .session = conn_id(c->gate) };

    if (!server)
        p.guild = str_dupz(world_arena(c->world),
                           dom_at(expect_stream(c, "STREAM_CREATE", "{}"), "rtc_server_id")->text);
    const struct dom *d =
        expect_stream(c, "STREAM_SERVER_UPDATE",
                      "{'endpoint': '127.0.0.1:%d/voice', 'guild_id': null}", world_port(c->world));
    p.token = str_dupz(world_arena(c->world), dom_at(d, "token")->text);
    return p;
}

struct show {
    struct test_voice hall;
    const char *key;
    struct voice_client ada, bob;
};

/* ada streams there and bob watches; both are connected to it. */
static struct show world_stream_in(const struct test_voice *h, const char *channel)
{
    struct show s = { .hall = *h, .key = stream_key(h, channel, h->ada) };

    join_voice(h, h->ada, channel, h->bob, NULL);
    join_voice(h, h->bob, channel, h->ada, NULL);
    ask_stream(h->ada, h->guild, channel, "");
    s.ada = stream_part(h->ada, NULL);
    s.ada.more = ", 'video': true";
    ask_about_stream(h->bob, 20, s.key);
    s.bob = stream_part(h->bob, NULL);
    voice_client_dial(&s.ada, 8);
    voice_client_connect(&s.ada, VOICE_CLIENT_AES);
    voice_client_dial(&s.bob, 8);
    voice_client_connect(&s.bob, VOICE_CLIENT_AES);
    voice_client_shows(&s.ada, "[]");
    voice_client_flush(&s.ada);
    voice_client_wants(&s.bob, "{'any': 100}");
    return s;
}

static struct show world_stream(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    return world_stream_in(&h, h.voice);
}

static void expect_shown(struct show *s, const char *frame)
{
    voice_client_show(&s->ada, s->ada.ssrc + 1, VOICE_CLIENT_VIDEO, frame);
    expect_seen(&s->bob, s->ada.ssrc + 1, frame);
}

static void a_stream_has_connections_of_its_own(struct world *w)
{
    struct show s = world_stream(w);
    struct test_voice *h = &s.hall;

    expect_shown(&s, "picture");
    voice_client_say(&s.ada, "sound");
    expect_heard(&s.bob, &s.ada, "sound");
    /* Who watches shows nothing; what it wants of the stream is told to its owner. */
    voice_client_say(&s.bob, "comment");
    struct str pli = control_packet(w, 206, 1, s.bob.ssrc, s.ada.ssrc + 1);
    voice_client_control(&s.bob, pli);
    expect(str_eq(voice_client_hear_control(&s.ada, 60000), pli));
    ask_pause(h->ada, s.key, true);
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': false}");
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': true}");
    voice_client_show(&s.ada, s.ada.ssrc + 1, VOICE_CLIENT_VIDEO, "paused");
    voice_client_say(&s.ada, "paused");
    expect_deaf(&s.bob);
    ask_pause(h->ada, s.key, false);
    expect_stream(h->bob, "STREAM_UPDATE", "{'paused': false}");
    expect_shown(&s, "goes on");
    ask_about_stream(h->bob, 19, s.key);
    expect_cut(&s.bob, 4014);
    expect(str_is(dom_at(voice_client_await(&s.ada, 13), "d.user_id")->text, h->bob->id));
    voice_client_dial(&s.bob, 8);
    expect_close(s.bob.gate, 4006);
    /* The owner goes to another channel, and the stream is over. */
    ask_voice(h->ada, h->guild, h->other, "");
    expect_cut(&s.ada, 4014);
    voice_client_dial(&s.ada, 8);
    expect_close(s.ada.gate, 4011);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void a_stream_lets_in_who_takes_part(struct world *w)
{
    struct show s = world_stream(w);
    struct voice_client wrong = s.bob;

    wrong.token = s.ada.token;
    voice_client_dial(&wrong, 8);
    expect_close(wrong.gate, 4004);
    wrong = s.bob;
    wrong.session = "another";
    voice_client_dial(&wrong, 8);
    expect_close(wrong.gate, 4006);
    wrong = s.bob;
    wrong.more = TEXT(w, ", 'channel_id': '%s'", s.hall.voice);
    voice_client_dial(&wrong, 9);
    expect_close(wrong.gate, 4006);
    /* Its channel is one behind its server. */
    wrong.more = TEXT(w, ", 'channel_id': '%llu'", strtoull(s.bob.guild, NULL, 10) + 1);
    voice_client_dial(&wrong, 9);
    voice_client_ready(&wrong);
    /* A new connection voids the one before. */
    ask_about_stream(s.hall.bob, 20, s.key);
    expect_cut(&wrong, 4014);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

/* --- moderation ----------------------------------------------------------------------- */

static void expect_not_shown(struct show *s)
{
    voice_client_show(&s->ada, s->ada.ssrc + 1, VOICE_CLIENT_VIDEO, "hidden");
    voice_client_say(&s->ada, "hidden");
    expect_deaf(&s->bob);
}

static void expect_silent(struct show *s)
{
    voice_client_say(&s->ada, "silent");
    expect_shown(s, "seen");
    expect_deaf(&s->bob);
}

static void expect_sound(struct show *s)
{
    voice_client_say(&s->ada, "sound");
    expect_heard(&s->bob, &s->ada, "sound");
}

static void change_member(const struct test_voice *h, const struct client *c, const char *change)
{
    expect_status(client_patch(h->ada, change, MEMBER, h->guild, c->id), 200);
}

/* Its connection is made anew, with what the store says. */
static void voice_client_again(struct voice_client *p)
{
    voice_client_hang_up(p);
    voice_client_dial(p, 8);
    voice_client_connect(p, VOICE_CLIENT_AES);
    p->counter = p->sequence = 0;
}

static void who_is_muted_is_not_heard_in_its_stream(struct world *w)
{
    struct show s = world_stream(w);
    struct test_voice *h = &s.hall;

    expect_sound(&s);
    change_member(h, h->ada, "{'mute': true}");
    expect_silent(&s);
    voice_client_again(&s.ada);
    voice_client_shows(&s.ada, "[]");
    voice_client_flush(&s.ada);
    expect_silent(&s);
    change_member(h, h->ada, "{'mute': false}");
    expect_sound(&s);
    /* Its own microphone is something else. */
    ask_voice(h->ada, h->guild, h->voice, ", 'self_mute': true");
    await_self_mute(h->bob);
    expect_sound(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void who_is_deafened_gets_nothing_of_streams(struct world *w)
{
    struct show s = world_stream(w);
    struct test_voice *h = &s.hall;

    expect_shown(&s, "before");
    change_member(h, h->bob, "{'deaf': true}");
    expect_not_shown(&s);
    voice_client_again(&s.bob);
    voice_client_wants(&s.bob, "{'any': 100}");
    expect_not_shown(&s);
    change_member(h, h->bob, "{'deaf': false}");
    expect_shown(&s, "after");
    expect_sound(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void who_may_not_speak_shows_no_stream(struct world *w)
{
    struct show s = world_stream(w);
    struct test_voice *h = &s.hall;
    const char *afk = TEXT(w, "{'afk_channel_id': '%s'}", h->voice);

    expect_shown(&s, "before");
    expect_status(client_patch(h->ada, afk, "/guilds/%s", h->guild), 200);
    expect_not_shown(&s);
    expect_status(client_patch(h->ada, "{'afk_channel_id': null}", "/guilds/%s", h->guild), 200);
    expect_shown(&s, "after");
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

static void step(const struct test_voice *h, struct client *c, bool back)
{
    expect_status(client_patch(c,
                               TEXT(h->world, "{'channel_id': '%s', 'suppress': %s}", h->stage,
                                    back ? "true" : "false"),
                               "/guilds/%s/voice-states/@me", h->guild),
                  204);
}

static void the_audience_of_a_stage_shows_no_stream(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct show s = world_stream_in(&h, h.stage);

    expect_not_shown(&s);
    step(&h, h.ada, false);
    expect_shown(&s, "on the stage");
    expect_sound(&s);
    step(&h, h.ada, true);
    expect_not_shown(&s);
    voice_client_hang_up(&s.ada);
    voice_client_hang_up(&s.bob);
}

const struct test voice_relay_streams_tests[] = {
    TEST_WITH(a_stream_has_connections_of_its_own, with_relay),
    TEST_WITH(a_stream_lets_in_who_takes_part, with_relay),
    TEST_WITH(who_is_muted_is_not_heard_in_its_stream, with_relay),
    TEST_WITH(who_is_deafened_gets_nothing_of_streams, with_relay),
    TEST_WITH(who_may_not_speak_shows_no_stream, with_relay),
    TEST_WITH(the_audience_of_a_stage_shows_no_stream, with_relay),
    { 0 },
};
