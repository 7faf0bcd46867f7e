/* webrtc.c - browsers and UDP clients in one voice room. */
#include "webrtc_client.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBER "/guilds/%s/members/%s"

static long read_metric(struct world *w, const char *name)
{
    struct answer a = client_request(world_anonymous(w), "GET", "/metrics", "", STR(""));
    const char *line = strstr(str_dup_cstring(world_arena(w), a.body), TEXT(w, "\n%s ", name));

    expect(line != NULL);
    return strtol(line + strlen(name) + 2, NULL, 10);
}

/* Ada with a browser, bob with a UDP client. */
struct browser_and_client {
    struct test_voice voice;
    struct webrtc_client ada;
    struct voice_client bob;
};

static struct browser_and_client create_browser_and_client(struct world *w)
{
    struct browser_and_client p = { .voice = world_test_voice(w) };

    p.ada = webrtc_client_call(&p.voice, p.voice.ada, p.voice.voice);
    p.bob = voice_client_call(&p.voice, p.voice.bob, p.voice.voice, VOICE_CLIENT_AES);
    webrtc_client_say(&p.ada, "hello");
    expect_audio(&p.bob, &p.ada.voice, "hello");
    voice_client_say(&p.bob, "hi");
    expect_browser_audio(&p.ada, &p.bob, "hi");
    return p;
}

static void hang_up(struct browser_and_client *p)
{
    webrtc_client_hang_up(&p->ada);
    voice_client_hang_up(&p->bob);
}

/* --- media ---------------------------------------------------------------------------- */

static void browsers_and_udp_clients_exchange_audio(struct world *w)
{
    static const char *const profiles[] = { "SRTP_AEAD_AES_128_GCM", "SRTP_AEAD_AES_256_GCM",
                                            "SRTP_AES128_CM_SHA1_80" };
    static const enum voice_client_mode modes[] = { VOICE_CLIENT_AES, VOICE_CLIENT_CHACHA,
                                                    VOICE_CLIENT_SALSA };
    struct test_voice h = world_test_voice(w);

    for (int i = 0; i < 3; i++) {
        struct webrtc_client ada = webrtc_client_join(&h, h.ada, h.voice);

        ada.profiles = profiles[i];
        ada.own_ssrc += (uint32_t)i;
        ada.opus = 109 + (unsigned)i;
        webrtc_client_select(&ada);
        expect(webrtc_client_check(&ada, ada.voice.fd, ada.password, true));
        expect(webrtc_client_handshake(&ada));
        /* Op 5 announces an SSRC, too. */
        conn_send(ada.voice.gate, "{'op': 5, 'd': {'speaking': 1, 'ssrc': %u}}", ada.own_ssrc);
        voice_client_flush(&ada.voice);
        struct voice_client bob = voice_client_call(&h, h.bob, h.voice, modes[i]);
        const struct dom *speaking = voice_client_await(&bob, 5);
        expect(strtoul(dom_at(speaking, "d.ssrc")->text.p, NULL, 10) == ada.voice.ssrc);
        ada.sequence = 65530;
        for (int j = 0; j < 10; j++) {
            webrtc_client_say(&ada, "from the browser");
            struct received_frame f = voice_client_receive(&bob, 60000);
            expect(str_is(f.frame, "from the browser") && f.ssrc == ada.voice.ssrc);
            expect(f.type == 120 && f.sequence == (uint16_t)(65530 + j));
            expect(f.timestamp == (uint32_t)j * 960);
            voice_client_say(&bob, "from the client");
            f = webrtc_client_receive(&ada, 60000);
            expect(str_is(f.frame, "from the client") && f.ssrc == bob.ssrc);
            expect(f.type == ada.opus && f.sequence == j && f.timestamp == (uint32_t)j * 960);
        }
        ask_voice(h.ada, h.guild, NULL, "");
        expect_cut(&ada.voice, 4014);
        ask_voice(h.bob, h.guild, NULL, "");
        expect_cut(&bob, 4014);
        webrtc_client_hang_up(&ada);
        voice_client_hang_up(&bob);
    }
    expect(read_metric(w, "guildhall_voice_handshakes_total") == 3);
}

/* The numbers of extensions differ between clients. */
static void browsers_get_packets_without_header_extensions(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct client *cleo = test_voice_member(&p.voice, "cleo", 0);
    struct webrtc_client third = webrtc_client_call(&p.voice, cleo, p.voice.voice);

    p.bob.extended = true;
    for (int i = 0; i < 3; i++) {
        voice_client_say(&p.bob, "with an extension");
        expect_browser_audio(&p.ada, &p.bob, "with an extension");
        expect_browser_audio(&third, &p.bob, "with an extension");
    }
    webrtc_client_hang_up(&third);
    hang_up(&p);
}

static void two_browsers_with_the_same_ssrc_exchange_audio(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct webrtc_client ada = webrtc_client_call(&h, h.ada, h.voice),
                         bob = webrtc_client_call(&h, h.bob, h.voice);

    bob.opus = ada.opus;
    expect(ada.own_ssrc == bob.own_ssrc && ada.voice.ssrc != bob.voice.ssrc);
    for (int i = 0; i < 5; i++) {
        webrtc_client_say(&ada, "a");
        expect_browser_audio(&bob, &ada.voice, "a");
        webrtc_client_say(&bob, "b");
        expect_browser_audio(&ada, &bob.voice, "b");
    }
    expect(read_metric(w, "guildhall_voice_browsers") == 2);
    webrtc_client_hang_up(&ada);
    webrtc_client_hang_up(&bob);
}

static void packets_with_unannounced_ssrcs_are_dropped(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    long before = read_metric(w, "guildhall_voice_packets_dropped_total");

    webrtc_client_send_rtp(&p.ada, p.ada.own_ssrc + 1, p.ada.opus, "unannounced");
    webrtc_client_send_rtp(&p.ada, p.ada.voice.ssrc, p.ada.opus, "block");
    webrtc_client_send_rtp(&p.ada, p.bob.ssrc, p.ada.opus, "another participant");
    webrtc_client_send_rtp(&p.ada, p.ada.own_ssrc, p.ada.opus + 1, "payload type");
    expect_deaf(&p.bob);
    expect(read_metric(w, "guildhall_voice_packets_dropped_total") == before + 4);
    webrtc_client_say(&p.ada, "announced");
    expect_audio(&p.bob, &p.ada.voice, "announced");
    hang_up(&p);
}

static void audio_continues_after_a_browser_changes_its_ssrc(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    uint16_t last = 0;

    p.ada.sequence = 1000;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            webrtc_client_say(&p.ada, "x");
            struct received_frame f = voice_client_receive(&p.bob, 60000);
            expect(str_is(f.frame, "x") && f.ssrc == p.ada.voice.ssrc);
            expect(round == 0 || f.sequence == (uint16_t)(last + 1));
            last = f.sequence;
        }
        p.ada.own_ssrc += 77;
        p.ada.sequence = 10; /* seems to be old */
        p.ada.timestamp = 0;
        conn_send(p.ada.voice.gate, "{'op': 5, 'd': {'speaking': 1, 'ssrc': %u}}", p.ada.own_ssrc);
        voice_client_flush(&p.ada.voice);
    }
    hang_up(&p);
}

static void mute_and_deafen_apply_to_browsers(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct test_voice *h = &p.voice;

    expect_status(client_patch(h->ada, "{'mute': true}", MEMBER, h->guild, h->ada->id), 200);
    webrtc_client_say(&p.ada, "muted");
    expect_deaf(&p.bob);
    expect_status(
        client_patch(h->ada, "{'mute': false, 'deaf': true}", MEMBER, h->guild, h->ada->id), 200);
    voice_client_say(&p.bob, "secret");
    expect_browser_deaf(&p.ada);
    webrtc_client_say(&p.ada, "free");
    expect_audio(&p.bob, &p.ada.voice, "free");
    expect_status(client_patch(h->ada, "{'deaf': false}", MEMBER, h->guild, h->ada->id), 200);
    voice_client_say(&p.bob, "open");
    expect_browser_audio(&p.ada, &p.bob, "open");
    hang_up(&p);
}

static void forged_and_repeated_packets_of_browsers_are_dropped(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct webrtc_client copy = p.ada;
    int other = voice_client_socket();

    /* From another address, packets of the browser are unknown. */
    copy.voice.fd = other;
    webrtc_client_say(&copy, "from another address");
    expect_deaf(&p.bob);
    close(other);
    char forged[64] = "\x80\x6f\0\x09\0\0\0\0\xee\x6b\x28\x01 forged forged forged forged";
    voice_client_send(&p.ada.voice, str_slice(forged, sizeof forged));
    expect_deaf(&p.bob);
    hang_up(&p);
}

/* --- ICE and DTLS --------------------------------------------------------------------- */

static void only_stun_requests_with_the_password_are_answered(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct webrtc_client ada = webrtc_client_join(&h, h.ada, h.voice);
    int other = voice_client_socket();

    webrtc_client_select(&ada);
    expect(!webrtc_client_check(&ada, ada.voice.fd, "wrongwrongwrongwrongwron", true));
    const char *ufrag = ada.ufrag;
    ada.ufrag = "unknown1";
    expect(!webrtc_client_check(&ada, ada.voice.fd, ada.password, true));
    ada.ufrag = "short";
    expect(!webrtc_client_check(&ada, ada.voice.fd, ada.password, true));
    ada.ufrag = ufrag;
    expect(read_metric(w, "guildhall_voice_stun_refused_total") == 3);
    /* DTLS of an address without a valid request gets no answer. */
    voice_client_send(&ada.voice, STR("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\0"));
    expect_browser_deaf(&ada);
    expect(webrtc_client_check(&ada, ada.voice.fd, ada.password, true));
    expect(webrtc_client_handshake(&ada));
    conn_send(ada.voice.gate, "{'op': 5, 'd': {'speaking': 1, 'ssrc': %u}}", ada.own_ssrc);
    voice_client_flush(&ada.voice);
    struct voice_client bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    /* A valid request that does not nominate leaves the address; one that nominates moves it. */
    expect(webrtc_client_check(&ada, other, ada.password, false));
    voice_client_say(&bob, "old address");
    expect_browser_audio(&ada, &bob, "old address");
    expect(!webrtc_client_check(&ada, other, "wrongwrongwrongwrongwron", true));
    voice_client_say(&bob, "still the old address");
    expect_browser_audio(&ada, &bob, "still the old address");
    expect(webrtc_client_check(&ada, other, ada.password, true));
    voice_client_say(&bob, "new address");
    expect_browser_deaf(&ada);
    close(ada.voice.fd);
    ada.voice.fd = other;
    expect_browser_audio(&ada, &bob, "new address");
    webrtc_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void address_of_a_browser_cannot_be_taken_by_another(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct webrtc_client ada = webrtc_client_call(&h, h.ada, h.voice),
                         bob = webrtc_client_join(&h, h.bob, h.voice);

    webrtc_client_select(&bob);
    expect(!webrtc_client_check(&bob, ada.voice.fd, bob.password, true));
    webrtc_client_hang_up(&ada);
    webrtc_client_hang_up(&bob);
}

static void media_stops_30_seconds_after_the_last_stun_request(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);

    world_wait(w, 29);
    voice_client_say(&p.bob, "29 seconds");
    expect_browser_audio(&p.ada, &p.bob, "29 seconds");
    world_wait(w, 2);
    /* The relay's thread checks its deadlines every 250 ms. */
    do {
        usleep(20 * 1000); /* a client may send 250 packets per second */
        voice_client_say(&p.bob, "31 seconds");
        voice_clients_settle(w, p.bob.port);
    } while (webrtc_client_receive(&p.ada, 0).frame.p);
    webrtc_client_say(&p.ada, "31 seconds");
    expect_deaf(&p.bob);
    /* The participant is still there: the next request continues. */
    expect(webrtc_client_check(&p.ada, p.ada.voice.fd, p.ada.password, false));
    voice_client_say(&p.bob, "again");
    expect_browser_audio(&p.ada, &p.bob, "again");
    webrtc_client_say(&p.ada, "here");
    expect_audio(&p.bob, &p.ada.voice, "here");
    hang_up(&p);
}

static void browsers_with_another_certificate_are_refused(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct webrtc_client ada = webrtc_client_join(&h, h.ada, h.voice),
                         other = webrtc_client_join(&h, h.bob, h.voice);
    struct webrtc_tls *own = ada.tls;

    webrtc_client_select(&ada);
    expect(webrtc_client_check(&ada, ada.voice.fd, ada.password, true));
    ada.tls = other.tls;
    other.tls = own;
    for (int i = 1; i <= 3; i++) {
        /* The client's handshake ends before the server checks the certificate. */
        webrtc_client_handshake(&ada);
        while (read_metric(w, "guildhall_voice_handshakes_failed_total") < i)
            ;
    }
    expect_cut(&ada.voice, 4012);
    expect(read_metric(w, "guildhall_voice_handshakes_total") == 0);
    ERR_clear_error();
    webrtc_client_hang_up(&ada);
    webrtc_client_hang_up(&other);
}

/* --- the gateway ---------------------------------------------------------------------- */

static void malformed_offers_are_refused(struct world *w)
{
#define SDP_START "a=ice-ufrag:abcd\\na=ice-pwd:0123456789012345678901\\n"
    static const char *const rows[] = {
        "{'protocol': 'webrtc'}",
        "{'protocol': 'webrtc', 'data': ''}",
        "{'protocol': 'webrtc', 'data': null, 'sdp': 5}",
        "{'protocol': 'webrtc', 'data': '" SDP_START "a=rtpmap:111 opus/48000/2'}",
        "{'protocol': 'webrtc', 'data': '" SDP_START "a=fingerprint:sha-1 00:11'}",
        "{'protocol': 'webrtc', 'data': '" SDP_START "a=fingerprint:sha-256 00:11'}",
        "{'protocol': 'webrtc', 'data': '" SDP_START
        "a=fingerprint:sha-256 00:11', 'codecs': [{'name': 'opus', 'payload_type': 128}]}",
        ("{'protocol': 'webrtc', 'data': 'a=ice-ufrag:abc\\na=ice-pwd:0123456789012345678901\\n"
         "a=fingerprint:sha-256 00:11\\na=rtpmap:111 opus/48000/2'}"),
    };
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        voice_client_dial(&p, 8);
        voice_client_ready(&p);
        conn_send(p.gate, "{'op': 1, 'd': %s}", rows[i]);
        expect_close(p.gate, 4020);
    }
    /* The text may be in sdp alone, with \r\n, and unknown lines are ignored. */
    voice_client_dial(&p, 8);
    voice_client_ready(&p);
    conn_send(p.gate, "{'op': 1, 'd': {'protocol': 'webrtc', 'data': {'mode': 'x'}, 'sdp': "
                      "'v=0\\r\\na=ice-ufrag:abcd\\r\\na=ice-pwd:0123456789012345678901\\r\\n"
                      "a=fingerprint:sha-256 00:11\\r\\na=rtpmap:111 opus/48000/2\\r\\n'}}");
    voice_client_await(&p, 4);
    voice_client_hang_up(&p);
}

static void browsers_resume_without_a_new_handshake(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct voice_client *ada = &p.ada.voice;

    conn_kill(ada->gate);
    voice_client_say(&p.bob, "while the socket is closed");
    expect_browser_audio(&p.ada, &p.bob, "while the socket is closed");
    ada->gate = conn_open_at(ada->client, "/voice?v=8");
    expect_op(ada->gate, 8);
    conn_send(ada->gate,
              "{'op': 7, 'd': {'server_id': '%s', 'session_id': '%s', 'token': '%s', "
              "'seq_ack': 2}}",
              ada->guild, ada->session, ada->token);
    expect_op(ada->gate, 9);
    webrtc_client_say(&p.ada, "after");
    expect_audio(&p.bob, ada, "after");
    hang_up(&p);
}

static void selecting_udp_after_webrtc_ends_the_browser_transport(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);

    expect(read_metric(w, "guildhall_voice_browsers") == 1);
    voice_client_select(&p.ada.voice, VOICE_CLIENT_AES);
    expect(read_metric(w, "guildhall_voice_browsers") == 0);
    expect(!webrtc_client_check(&p.ada, p.ada.voice.fd, p.ada.password, true));
    voice_client_say(&p.ada.voice, "by UDP");
    expect_audio(&p.bob, &p.ada.voice, "by UDP");
    voice_client_say(&p.bob, "to UDP");
    expect_audio(&p.ada.voice, &p.bob, "to UDP");
    hang_up(&p);
}

/* --- video and RTCP ------------------------------------------------------------------- */

static uint32_t word_at(struct str packet, size_t at)
{
    const unsigned char *b = (const unsigned char *)packet.p + at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The browser turns on its camera and the UDP client wants to see it. */
static void start_video(struct browser_and_client *p)
{
    while (!str_is(dom_at(next_voice(p->voice.ada), "d.user_id")->text, p->voice.bob->id))
        ;
    ask_voice(p->voice.ada, p->voice.guild, p->voice.voice, ", 'self_video': true");
    expect_voice(p->voice.ada, "VOICE_STATE_UPDATE", "{'self_video': true}");
    conn_send(p->bob.gate, "{'op': 14, 'd': {'codecs': [{'name': 'H264', 'type': 'video', "
                           "'payload_type': 101, 'rtx_payload_type': 102}]}}");
    voice_client_wants(&p->bob, "{'any': 100}");
}

static void announce_video(struct browser_and_client *p, uint32_t video, uint32_t rtx)
{
    conn_send(p->ada.voice.gate,
              "{'op': 12, 'd': {'audio_ssrc': %u, 'video_ssrc': %u, 'rtx_ssrc': %u, 'streams': "
              "[{'type': 'video', 'rid': '100', 'ssrc': %u, 'rtx_ssrc': %u, 'active': true, "
              "'quality': 100}]}}",
              p->ada.own_ssrc, video, rtx, video, rtx);
}

static void video_of_browsers_gets_the_ssrcs_and_types_of_the_room(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    uint32_t video = 700000, rtx = 700001;

    start_video(&p);
    announce_video(&p, video, rtx);
    const struct dom *m = voice_client_await(&p.bob, 12);
    while (str_is(dom_at(m, "d.video_ssrc")->text, "0"))
        m = voice_client_await(&p.bob, 12);
    expect(strtoul(dom_at(m, "d.streams.0.ssrc")->text.p, NULL, 10) == p.ada.voice.ssrc + 1);
    expect(strtoul(dom_at(m, "d.streams.0.rtx_ssrc")->text.p, NULL, 10) == p.ada.voice.ssrc + 2);
    expect(strtoul(dom_at(m, "d.video_ssrc")->text.p, NULL, 10) == p.ada.voice.ssrc + 1);
    webrtc_client_send_rtp(&p.ada, video, 103, "picture");
    expect_seen(&p.bob, p.ada.voice.ssrc + 1, "picture");
    webrtc_client_send_rtp(&p.ada, rtx, 104, "again");
    struct received_frame f = voice_client_receive(&p.bob, 60000);
    expect(f.type == 102 && f.ssrc == p.ada.voice.ssrc + 2 && str_is(f.frame, "again"));
    /* Browsers measure their bandwidth with padding, which is useless for UDP clients. */
    webrtc_client_send_rtp(&p.ada, rtx, 104, "");
    expect_deaf(&p.bob);
    /* The viewer's request for a key frame names the browser's own SSRC. */
    voice_client_control(&p.bob, control_packet(w, 206, 1, p.bob.ssrc, p.ada.voice.ssrc + 1));
    struct str request = webrtc_client_receive_control(&p.ada, 60000);
    expect(request.n == 12 && word_at(request, 4) == p.bob.ssrc && word_at(request, 8) == video);
    /* The sender of a browser's report becomes the SSRC of the room. */
    webrtc_client_send_control(&p.ada, control_packet(w, 200, 0, video, 5));
    struct str report = voice_client_receive_control(&p.bob, 60000);
    expect(report.n == 12 && word_at(report, 4) == p.ada.voice.ssrc + 1);
    hang_up(&p);
}

/* Firefox numbers VP8 as other clients number Opus. */
static void video_with_the_payload_type_of_opus_is_translated(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);

    start_video(&p);
    conn_send(p.ada.voice.gate, "{'op': 14, 'd': {'codecs': [{'name': 'H264', 'type': 'video', "
                                "'payload_type': 120, 'rtx_payload_type': 124}]}}");
    announce_video(&p, 700000, 700001);
    while (str_is(dom_at(voice_client_await(&p.bob, 12), "d.video_ssrc")->text, "0"))
        ;
    webrtc_client_send_rtp(&p.ada, 700000, 120, "picture");
    struct received_frame f = voice_client_receive(&p.bob, 60000);
    expect(f.type == 101 && f.ssrc == p.ada.voice.ssrc + 1 && str_is(f.frame, "picture"));
    /* Op 14 named no codec of audio, which stays as it was. */
    webrtc_client_say(&p.ada, "still heard");
    expect_audio(&p.bob, &p.ada.voice, "still heard");
    voice_client_say(&p.bob, "still hears");
    expect_browser_audio(&p.ada, &p.bob, "still hears");
    hang_up(&p);
}

static struct received_frame expect_picture(struct browser_and_client *p, uint32_t ssrc)
{
    webrtc_client_send_rtp(&p->ada, ssrc, 103, "picture");
    struct received_frame f = voice_client_receive(&p->bob, 60000);
    expect(f.ssrc == p->ada.voice.ssrc + 1 && str_is(f.frame, "picture"));
    return f;
}

/* A browser that replaces its track sends with another SSRC and other numbers. Viewers see one
 * stream, so numbers continue, and requests for missing packets get the browser's numbers. */
static void video_continues_after_a_browser_changes_its_ssrc(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);

    start_video(&p);
    announce_video(&p, 700000, 700001);
    while (str_is(dom_at(voice_client_await(&p.bob, 12), "d.video_ssrc")->text, "0"))
        ;
    p.ada.sequence = 1000;
    struct received_frame before = expect_picture(&p, 700000);
    announce_video(&p, 800000, 800001);
    voice_client_await(&p.bob, 12);
    p.ada.sequence = 60000;
    p.ada.timestamp += 123456789;
    struct received_frame f = expect_picture(&p, 800000), next = expect_picture(&p, 800000);
    expect(f.sequence == (uint16_t)(before.sequence + 1) && f.timestamp - before.timestamp < 90000);
    expect(next.sequence == (uint16_t)(f.sequence + 1));
    unsigned char nack[16] = { 0x81, 205, 0, 3 };
    const uint32_t words[] = { htonl(p.bob.ssrc), htonl(p.ada.voice.ssrc + 1),
                               htonl((uint32_t)f.sequence << 16) };
    memcpy(nack + 4, words, sizeof words);
    voice_client_control(&p.bob, str_slice((const char *)nack, sizeof nack));
    struct str request = webrtc_client_receive_control(&p.ada, 60000);
    expect(request.n == 16 && word_at(request, 8) == 800000);
    expect(word_at(request, 12) >> 16 == 60000);
    hang_up(&p);
}

/* After 40,000 packets that the browser did not get, a sequence number seems to be old, so those
 * that it gets must continue. */
static void browser_receives_audio_again_after_a_long_deafening(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct test_voice *h = &p.voice;

    voice_client_say(&p.bob, "before");
    struct received_frame before = webrtc_client_receive(&p.ada, 60000);
    expect(str_is(before.frame, "before"));
    expect_status(client_patch(h->ada, "{'deaf': true}", MEMBER, h->guild, h->ada->id), 200);
    p.bob.sequence = (uint16_t)(p.bob.sequence + 40000);
    p.bob.timestamp += 40000 * 960;
    voice_client_say(&p.bob, "secret");
    expect_browser_deaf(&p.ada);
    expect_status(client_patch(h->ada, "{'deaf': false}", MEMBER, h->guild, h->ada->id), 200);
    for (int i = 1; i <= 2; i++) {
        voice_client_say(&p.bob, "after");
        struct received_frame f = webrtc_client_receive(&p.ada, 60000);
        expect(str_is(f.frame, "after") && f.ssrc == p.bob.ssrc);
        expect(f.sequence == (uint16_t)(before.sequence + i));
        expect(f.timestamp == before.timestamp + (uint32_t)(40001 + i) * 960);
    }
    hang_up(&p);
}

static struct str control_with_three_words(struct world *w, unsigned type, unsigned format,
                                           const uint32_t words[3])
{
    unsigned char bytes[16] = { (unsigned char)(0x80 | format), (unsigned char)type, 0, 3 };

    for (int i = 0; i < 3; i++) {
        uint32_t word = htonl(words[i]);
        memcpy(bytes + 4 + 4 * i, &word, sizeof word);
    }
    return str_dup(world_arena(w), str_slice((const char *)bytes, sizeof bytes));
}

/* A viewer whose packets are renumbered requests a lost one with the number that it got, and gets
 * it again with that number. A request for a key frame (FIR) names the sender's SSRC in its entry.
 */
static void video_continues_after_a_pause_of_the_viewer(struct world *w)
{
    struct browser_and_client p = create_browser_and_client(w);
    struct client *cleo = test_voice_member(&p.voice, "cleo", 0);
    uint32_t ssrc = p.ada.voice.ssrc + 1;

    start_video(&p);
    struct webrtc_client viewer = webrtc_client_call(&p.voice, cleo, p.voice.voice);
    announce_video(&p, 700000, 700001);
    voice_client_wants(&viewer.voice, "{'any': 100}");
    while (str_is(dom_at(voice_client_await(&p.bob, 12), "d.video_ssrc")->text, "0"))
        ;
    p.ada.sequence = 1000;
    expect_picture(&p, 700000);
    struct received_frame f = webrtc_client_receive(&viewer, 60000);
    expect(f.sequence == 1000 && f.ssrc == ssrc);
    voice_client_wants(&viewer.voice, "{'any': 0}");
    for (int i = 0; i < 2; i++) { /* no sender skips so many numbers at once */
        p.ada.sequence += 20000;
        expect_picture(&p, 700000);
    }
    voice_client_wants(&viewer.voice, "{'any': 100}");
    expect(expect_picture(&p, 700000).sequence == 41003);
    f = webrtc_client_receive(&viewer, 60000);
    expect(str_is(f.frame, "picture") && f.sequence == 1000 + 2048);
    webrtc_client_send_control(
        &viewer,
        control_with_three_words(w, 205, 1, (uint32_t[]){ 1, ssrc, (uint32_t)f.sequence << 16 }));
    struct str request = webrtc_client_receive_control(&p.ada, 60000);
    expect(request.n == 16 && word_at(request, 8) == 700000);
    expect(word_at(request, 12) >> 16 == 41003);
    webrtc_client_send_rtp(&p.ada, 700001, 104, "\xa0\x2brepeated");
    f = webrtc_client_receive(&viewer, 60000);
    expect(f.ssrc == ssrc + 1 && str_is(f.frame, "\x0b\xe8repeated"));
    f = voice_client_receive(&p.bob, 60000);
    expect(f.ssrc == ssrc + 1 && str_is(f.frame, "\xa0\x2brepeated"));
    webrtc_client_send_control(&viewer,
                               control_with_three_words(w, 206, 4, (uint32_t[]){ 1, 0, ssrc }));
    request = webrtc_client_receive_control(&p.ada, 60000);
    expect(request.n == 16 && word_at(request, 4) == viewer.voice.ssrc);
    expect(word_at(request, 12) == 700000);
    webrtc_client_hang_up(&viewer);
    hang_up(&p);
}

const struct test voice_webrtc_tests[] = {
    TEST_WITH(browsers_and_udp_clients_exchange_audio, with_relay),
    TEST_WITH(browsers_get_packets_without_header_extensions, with_relay),
    TEST_WITH(two_browsers_with_the_same_ssrc_exchange_audio, with_relay),
    TEST_WITH(packets_with_unannounced_ssrcs_are_dropped, with_relay),
    TEST_WITH(audio_continues_after_a_browser_changes_its_ssrc, with_relay),
    TEST_WITH(mute_and_deafen_apply_to_browsers, with_relay),
    TEST_WITH(forged_and_repeated_packets_of_browsers_are_dropped, with_relay),
    TEST_WITH(only_stun_requests_with_the_password_are_answered, with_relay),
    TEST_WITH(address_of_a_browser_cannot_be_taken_by_another, with_relay),
    TEST_WITH(media_stops_30_seconds_after_the_last_stun_request, with_relay),
    TEST_WITH(browsers_with_another_certificate_are_refused, with_relay),
    TEST_WITH(malformed_offers_are_refused, with_relay),
    TEST_WITH(browsers_resume_without_a_new_handshake, with_relay),
    TEST_WITH(selecting_udp_after_webrtc_ends_the_browser_transport, with_relay),
    TEST_WITH(video_of_browsers_gets_the_ssrcs_and_types_of_the_room, with_relay),
    TEST_WITH(video_with_the_payload_type_of_opus_is_translated, with_relay),
    TEST_WITH(video_continues_after_a_browser_changes_its_ssrc, with_relay),
    TEST_WITH(browser_receives_audio_again_after_a_long_deafening, with_relay),
    TEST_WITH(video_continues_after_a_pause_of_the_viewer, with_relay),
    { 0 },
};
