/* relay_video.c - video in voice rooms: layers, codecs and control packets. */
#include "voice_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MEMBER "/guilds/%s/members/%s"

/* --- cameras -------------------------------------------------------------------------- */

struct cameras {
    struct test_voice voice;
    struct voice_client ada, bob;
};

static const char *write_two_layers(const struct voice_client *p, bool large)
{
    return TEXT(p->client->world,
                "[{'type': 'video', 'rid': '50', 'quality': 50, 'ssrc': %u, 'rtx_ssrc': %u, "
                "'active': true}, {'type': 'video', 'rid': '100', 'quality': 100, 'ssrc': %u, "
                "'rtx_ssrc': %u, 'active': %s}]",
                p->ssrc + 1, p->ssrc + 2, p->ssrc + 3, p->ssrc + 4, large ? "true" : "false");
}

static void set_camera(struct cameras *c, bool on)
{
    ask_voice(c->voice.ada, c->voice.guild, c->voice.voice, on ? ", 'self_video': true" : "");
    expect_voice(c->voice.ada, "VOICE_STATE_UPDATE", "{'self_video': %s}", on ? "true" : "false");
}

/* Ada's camera with two layers is on; bob has not requested it. */
static struct cameras create_cameras(struct world *w)
{
    struct cameras c = { .voice = world_test_voice(w) };

    c.ada = voice_client_join(&c.voice, c.voice.ada, c.voice.voice);
    c.ada.more = ", 'video': true, 'streams': [{'type': 'video', 'rid': '50', 'quality': 50}, "
                 "{'type': 'video', 'rid': '100', 'quality': 100}]";
    voice_client_dial(&c.ada, 8);
    voice_client_connect(&c.ada, VOICE_CLIENT_AES);
    c.bob = voice_client_call(&c.voice, c.voice.bob, c.voice.voice, VOICE_CLIENT_CHACHA);
    while (!str_is(dom_at(next_voice(c.voice.ada), "d.user_id")->text, c.voice.bob->id))
        ;
    set_camera(&c, true);
    voice_client_shows(&c.ada, write_two_layers(&c.ada, true));
    expect(str_is(dom_at(voice_client_await(&c.ada, 15), "d.any")->text, "100"));
    return c;
}

static void hang_up_both_clients(struct cameras *c)
{
    voice_client_hang_up(&c->ada);
    voice_client_hang_up(&c->bob);
}

static void send_both_layers(struct voice_client *p, const char *small, const char *large)
{
    voice_client_show(p, p->ssrc + 1, VOICE_CLIENT_VIDEO, small);
    voice_client_show(p, p->ssrc + 3, VOICE_CLIENT_VIDEO, large);
}

static void voice_ready_contains_the_ssrcs_of_video_layers(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    p.more = ", 'streams': [{'type': 'video', 'rid': 'low', 'quality': 30}, "
             "{'type': 'screen', 'rid': 'high', 'quality': 90}]";
    voice_client_dial(&p, 8);
    const struct dom *streams = dom_at(voice_client_ready(&p), "d.streams");
    expect(streams->count == 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct dom *s = &streams->items[i];

        expect(str_is(dom_at(s, "rid")->text, i ? "high" : "low"));
        expect(str_is(dom_at(s, "quality")->text, i ? "90" : "30"));
        expect(str_is(dom_at(s, "ssrc")->text, TEXT(w, "%u", p.ssrc + 1 + 2 * i)));
        expect(str_is(dom_at(s, "rtx_ssrc")->text, TEXT(w, "%u", p.ssrc + 2 + 2 * i)));
    }
    p.more = ", 'streams': [{}, {}, {}, {}]";
    voice_client_dial(&p, 8);
    expect_close(p.gate, 4020);
    voice_client_hang_up(&p);
}

static void participants_receive_the_video_layer_they_request(struct world *w)
{
    struct cameras c = create_cameras(w);
    uint32_t small = c.ada.ssrc + 1, large = c.ada.ssrc + 3;

    expect(
        str_is(dom_at(voice_client_await(&c.bob, 12), "d.video_ssrc")->text, TEXT(w, "%u", small)));
    send_both_layers(&c.ada, "nobody", "asked");
    expect_deaf(&c.bob);
    voice_client_wants(&c.bob, "{'any': 100, 'pixelCounts': {}}");
    send_both_layers(&c.ada, "small", "large");
    expect_seen(&c.bob, large, "large");
    voice_client_show(&c.ada, large + 1, VOICE_CLIENT_VIDEO, "again");
    expect_seen(&c.bob, large + 1, "again");
    voice_client_wants(&c.bob, TEXT(w, "{'any': 100, '%u': 50}", large));
    send_both_layers(&c.ada, "small", "large");
    expect_seen(&c.bob, small, "small");
    expect_deaf(&c.bob); /* the other layer was not requested */
    voice_client_wants(&c.bob, TEXT(w, "{'%u': 0, '%u': 100}", small, large));
    send_both_layers(&c.ada, "small", "large");
    expect_seen(&c.bob, large, "large");
    /* The sender has turned the layer off. */
    voice_client_shows(&c.ada, write_two_layers(&c.ada, false));
    voice_client_flush(&c.ada);
    voice_client_wants(&c.bob, "{'any': 100}");
    send_both_layers(&c.ada, "small", "large");
    expect_seen(&c.bob, small, "small");
    voice_client_wants(&c.bob, "{'any': 0}");
    send_both_layers(&c.ada, "small", "large");
    expect_deaf(&c.bob);
    hang_up_both_clients(&c);
}

static void video_is_forwarded_only_while_the_camera_is_on(struct world *w)
{
    struct cameras c = create_cameras(w);
    struct test_voice *h = &c.voice;
    uint32_t ssrc = c.ada.ssrc + 3;

    voice_client_wants(&c.bob, "{'any': 100}");
    voice_client_show(&c.ada, ssrc, 120, "audio's type");
    voice_client_show(&c.ada, c.ada.ssrc + 7, VOICE_CLIENT_VIDEO, "a fourth layer");
    voice_client_show(&c.ada, c.ada.ssrc + 15, VOICE_CLIENT_VIDEO, "no layer");
    expect_deaf(&c.bob);
    /* A muted member's video is still forwarded. */
    expect_status(client_patch(h->ada, "{'mute': true}", MEMBER, h->guild, h->ada->id), 200);
    voice_client_show(&c.ada, ssrc, VOICE_CLIENT_VIDEO, "mute");
    expect_seen(&c.bob, ssrc, "mute");
    expect_voice(h->ada, "VOICE_STATE_UPDATE", "{'mute': true}");
    set_camera(&c, false);
    voice_client_show(&c.ada, ssrc, VOICE_CLIENT_VIDEO, "off");
    expect_deaf(&c.bob);
    set_camera(&c, true);
    voice_client_show(&c.ada, ssrc, VOICE_CLIENT_VIDEO, "on");
    expect_seen(&c.bob, ssrc, "on");
    expect_status(client_patch(h->ada, "{'deaf': true}", MEMBER, h->guild, h->bob->id), 200);
    voice_client_show(&c.ada, ssrc, VOICE_CLIENT_VIDEO, "deaf");
    expect_deaf(&c.bob);
    hang_up_both_clients(&c);
}

static void video_with_another_participants_ssrc_closes_with_4020(struct world *w)
{
    struct cameras c = create_cameras(w);

    voice_client_await(&c.bob, 12);
    conn_send(c.bob.gate, "{'op': 12, 'd': {'video_ssrc': %u, 'streams': []}}", c.ada.ssrc + 1);
    conn_send(c.bob.gate,
              "{'op': 12, 'd': {'video_ssrc': %u, 'streams': [{'ssrc': %u, 'active': true}]}}",
              c.bob.ssrc + 1, c.ada.ssrc + 1);
    conn_send(c.bob.gate,
              "{'op': 12, 'd': {'video_ssrc': %u, 'streams': [{'ssrc': %u, 'rtx_ssrc': %u}]}}",
              c.bob.ssrc + 1, c.bob.ssrc + 1, c.ada.ssrc + 1);
    conn_send(c.bob.gate, "{'op': 12, 'd': {'video_ssrc': %u, 'streams': [{'rtx_ssrc': %u}]}}",
              c.bob.ssrc + 1, c.ada.ssrc + 1);
    voice_client_flush(&c.bob);
    voice_client_expect_none(&c.ada, 12);
    const struct {
        const char *message;
    } rows[] = {
        { "{'op': 12, 'd': {'video_ssrc': 0, 'streams': [{'ssrc': 'x'}]}}" },
        { "{'op': 12, 'd': {'video_ssrc': -9223372036854775808, 'streams': []}}" },
        { "{'op': 12, 'd': {'video_ssrc': 4294967296, 'streams': []}}" },
        { "{'op': 15, 'd': {'any': 101}}" },
        { "{'op': 15, 'd': {'any': -1}}" },
        { "{'op': 15, 'd': {'x': 1}}" },
        { "{'op': 15, 'd': {'4294967296': 1}}" },
        { "{'op': 15, 'd': []}" },
        { "{'op': 14, 'd': {'codecs': [{'payload_type': 128}]}}" },
        { TEXT(w, "{'op': 12, 'd': {'video_ssrc': 0, 'streams': [{'rid': '%02048d'}]}}", 0) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        voice_client_dial(&c.bob, 8);
        voice_client_ready(&c.bob);
        voice_client_await(&c.bob, 11);
        conn_send(c.bob.gate, "%s", rows[i].message);
        expect_close(c.bob.gate, 4020);
    }
    hang_up_both_clients(&c);
}

static void video_announcements_are_rate_limited(struct world *w)
{
    struct cameras c = create_cameras(w);

    for (int i = 1; i <= 60; i++)
        voice_client_shows(&c.ada, "[]");
    for (const struct dom *m; (m = conn_read(c.ada.gate, 60000));)
        ;
    expect(conn_close_code(c.ada.gate) == 4021);
    hang_up_both_clients(&c);
}

/* A list can change the codec of the room, which is sent to all participants. */
static void codec_lists_are_rate_limited(struct world *w)
{
    struct cameras c = create_cameras(w);

    for (int i = 0; i <= 60; i++)
        conn_send(c.ada.gate, "{'op': 14, 'd': {'codecs': []}}");
    for (const struct dom *m; (m = conn_read(c.ada.gate, 60000));)
        ;
    expect(conn_close_code(c.ada.gate) == 4021);
    hang_up_both_clients(&c);
}

static void video_payload_types_must_be_negotiated(struct world *w)
{
    struct cameras c = create_cameras(w);
    uint32_t ssrc = c.ada.ssrc + 1;

    voice_client_wants(&c.bob, TEXT(w, "{'%u': 50}", ssrc));
    conn_send(c.ada.gate,
              "{'op': 1, 'd': {'protocol': 'udp', 'data': {'mode': 'aead_aes256_gcm_rtpsize'}, "
              "'codecs': [{'name': 'opus', 'type': 'audio', 'payload_type': 120}, {'name': 'H264', "
              "'type': 'video', 'priority': 1, 'payload_type': 101, 'rtx_payload_type': 102}]}}");
    const struct dom *key = dom_at(voice_client_await(&c.ada, 4), "d.secret_key");
    for (size_t i = 0; i < sizeof c.ada.key; i++)
        c.ada.key[i] = (unsigned char)atoi(key->items[i].text.p);
    voice_client_show(&c.ada, ssrc, 103, "another codec");
    voice_client_show(&c.ada, ssrc, VOICE_CLIENT_VIDEO, "this one");
    expect_seen(&c.bob, ssrc, "this one");
    expect_deaf(&c.bob);
    hang_up_both_clients(&c);
}

/* --- codecs --------------------------------------------------------------------------- */

static const char *read_video_codec(struct voice_client *p, int op)
{
    return str_dup_cstring(world_arena(p->client->world),
                           dom_at(voice_client_await(p, op), "d.video_codec")->text);
}

static void select_with_codecs(struct voice_client *p, const char *codecs)
{
    conn_send(p->gate,
              "{'op': 1, 'd': {'protocol': 'udp', 'data': {'mode': 'aead_aes256_gcm_rtpsize'}, "
              "'codecs': [{'name': 'opus', 'type': 'audio', 'priority': 1000}, %s]}}",
              codecs);
}

static void room_uses_a_video_codec_that_all_participants_support(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);

    select_with_codecs(&ada, "{'name': 'VP8', 'type': 'video', 'priority': 1000}, "
                             "{'name': 'H264', 'type': 'video', 'priority': 2000}");
    expect(strcmp(read_video_codec(&ada, 4), "VP8") == 0);
    /* Participants with fewer codecs change the room's codec; it changes back when they leave. */
    select_with_codecs(&bob, "{'name': 'H264', 'type': 'video', 'priority': 1000}, "
                             "{'name': 'VP8', 'type': 'video', 'priority': 900, 'decode': false}");
    expect(strcmp(read_video_codec(&bob, 4), "H264") == 0);
    expect(strcmp(read_video_codec(&ada, 14), "H264") == 0);
    conn_send(bob.gate, "{'op': 14, 'd': {'codecs': [{'name': 'VP8', 'type': 'video', "
                        "'priority': 1}, {'name': 'AV1', 'type': 'video', 'priority': 0}]}}");
    expect(strcmp(read_video_codec(&ada, 14), "VP8") == 0 &&
           strcmp(read_video_codec(&bob, 14), "VP8") == 0);
    conn_send(bob.gate, "{'op': 14, 'd': {'codecs': [{'name': 'AV1', 'type': 'video'}]}}");
    expect(strcmp(read_video_codec(&ada, 14), "H264") == 0);
    leave_voice(&h, h.bob, NULL);
    expect(strcmp(read_video_codec(&ada, 14), "VP8") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- control packets ------------------------------------------------------------------ */

static void rtcp_feedback_reaches_the_sender_it_names(struct world *w)
{
    struct cameras c = create_cameras(w);
    struct str pli = control_packet(w, 206, 1, c.bob.ssrc, c.ada.ssrc + 3),
               report = control_packet(w, 200, 0, c.ada.ssrc + 3, 7);

    voice_client_control(&c.bob,
                         control_packet(w, 206, 1, c.ada.ssrc, c.ada.ssrc + 1)); /* forged */
    voice_client_control(&c.bob, control_packet(w, 206, 1, c.bob.ssrc, 0));
    /* A participant who watches nothing may not send or receive feedback. */
    voice_client_control(&c.bob, pli);
    expect_deaf(&c.ada);
    voice_client_control(&c.ada, report);
    expect_deaf(&c.bob);
    voice_client_wants(&c.bob, "{'any': 100}");
    voice_client_control(&c.bob, pli);
    expect(str_eq(voice_client_receive_control(&c.ada, 60000), pli));
    /* A sender report goes to the receivers of its layer. */
    voice_client_control(&c.ada, report);
    expect(str_eq(voice_client_receive_control(&c.bob, 60000), report));
    voice_client_control(&c.ada, control_packet(w, 200, 0, c.ada.ssrc + 1, 7));
    voice_client_control(&c.ada, control_packet(w, 204, 0, c.ada.ssrc + 3, 7));
    expect_deaf(&c.bob);
    expect_deaf(&c.ada);
    hang_up_both_clients(&c);
}

static void rtcp_feedback_to_one_sender_is_limited_per_second(struct world *w)
{
    enum { PIECES = 10, PIECE = 200, MOST_A_SECOND = 50 }; /* per requesting participant */
    struct cameras c = create_cameras(w);
    struct str pli = control_packet(w, 206, 1, c.bob.ssrc, c.ada.ssrc + 3);
    int64_t received = 0;

    voice_client_wants(&c.bob, "{'any': 100}");
    int64_t began = clock_monotonic_ns();
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < PIECE; k++)
            voice_client_control(&c.bob, pli);
        voice_clients_settle(w, c.bob.port);
        while (voice_client_receive_control(&c.ada, 0).p)
            received++;
    }
    int64_t seconds = (clock_monotonic_ns() - began) / 1000000000 + 3;
    expect(received >= MOST_A_SECOND && received <= seconds * MOST_A_SECOND);
    hang_up_both_clients(&c);
}

static void rooms_without_video_forward_no_rtcp(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_SALSA);

    voice_client_wants(&bob, "{'any': 100}");
    voice_client_control(&ada, control_packet(w, 206, 1, ada.ssrc, bob.ssrc));
    voice_client_control(&ada, control_packet(w, 200, 0, ada.ssrc, 7));
    voice_client_control(&bob, control_packet(w, 206, 1, bob.ssrc, ada.ssrc));
    expect_deaf(&ada);
    expect_deaf(&bob);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

const struct test voice_relay_video_tests[] = {
    TEST_WITH(voice_ready_contains_the_ssrcs_of_video_layers, with_relay),
    TEST_WITH(participants_receive_the_video_layer_they_request, with_relay),
    TEST_WITH(video_is_forwarded_only_while_the_camera_is_on, with_relay),
    TEST_WITH(video_with_another_participants_ssrc_closes_with_4020, with_relay),
    TEST_WITH(video_announcements_are_rate_limited, with_relay),
    TEST_WITH(codec_lists_are_rate_limited, with_relay),
    TEST_WITH(video_payload_types_must_be_negotiated, with_relay),
    TEST_WITH(room_uses_a_video_codec_that_all_participants_support, with_relay),
    TEST_WITH(rtcp_feedback_to_one_sender_is_limited_per_second, with_relay),
    TEST_WITH(rtcp_feedback_reaches_the_sender_it_names, with_relay),
    TEST_WITH(rooms_without_video_forward_no_rtcp, with_relay),
    { 0 },
};
