/* relay_nonces.c - nonces as libraries write them: every frame arrives exactly once. */
#include "voice_client.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { PIECE = 100 }; /* frames that fit a socket buffer, and the limit of one second */

struct nonce_pair {
    struct test_voice voice;
    struct voice_client from, to;
};

static struct nonce_pair create_nonce_pair(struct world *w, enum voice_client_mode mode)
{
    struct nonce_pair p = { .voice = world_test_voice(w) };

    p.from = voice_client_call(&p.voice, p.voice.ada, p.voice.voice, mode);
    p.to = voice_client_call(&p.voice, p.voice.bob, p.voice.voice, VOICE_CLIENT_CHACHA);
    return p;
}

static void disconnect_both_voice_clients(struct nonce_pair *p)
{
    voice_client_hang_up(&p->from);
    voice_client_hang_up(&p->to);
}

/* Counts how many of so many frames arrive, in pieces of half a second's limit. */
static int count_received_frames(struct nonce_pair *p, int count)
{
    int received = 0;

    for (int i = 0; i < count; i++) {
        voice_client_say(&p->from, "frame");
        if ((i + 1) % PIECE && i + 1 < count)
            continue;
        voice_clients_settle(p->voice.world, p->to.port);
        while (voice_client_receive(&p->to, 0).frame.p)
            received++;
        usleep(500 * 1000);
    }
    return received;
}

/* discordgo and disgo start at 0, koe at 1 to 418, its older versions at 0x80000000. */
static void little_endian_nonces_are_accepted(struct world *w)
{
    static const uint32_t starts[] = { 0, 418, 0x80000000 };

    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_AES);

    p.from.little_endian = true;
    for (unsigned i = 0; i < COUNT_OF(starts); i++) {
        voice_client_select(&p.from,
                            i % 2 ? VOICE_CLIENT_CHACHA : VOICE_CLIENT_AES); /* with another key */
        p.from.counter = starts[i];
        expect(count_received_frames(&p, 500) == 500);
    }
    disconnect_both_voice_clients(&p);
}

/* songbird starts at a random nonce. */
static void nonces_may_start_at_any_value(struct world *w)
{
    static const uint32_t starts[] = { 0x80000000, 0xfffffff0, 0x7ffffff0, 0x5a5a5a5a };

    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_AES);

    for (unsigned i = 0; i < COUNT_OF(starts); i++) {
        voice_client_select(&p.from, i % 2 ? VOICE_CLIENT_CHACHA : VOICE_CLIENT_AES);
        p.from.counter = starts[i];
        expect(count_received_frames(&p, 100) == 100);
    }
    disconnect_both_voice_clients(&p);
}

/* discord.js-selfbot-v13 restarts sequence, timestamp and nonce for each track. */
static void nonces_may_restart_with_each_track(struct world *w)
{
    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_AES);
    struct client *cleo = test_voice_member(&p.voice, "cleo", 0);
    struct voice_client by_header =
        voice_client_call(&p.voice, cleo, p.voice.voice, VOICE_CLIENT_SALSA);
    int received = 0;

    for (int track = 0; track < 3; track++) {
        p.from.counter = 1;
        p.from.sequence = 0;
        p.from.timestamp = 0;
        for (int i = 0; i < PIECE; i++)
            voice_client_say(&p.from, TEXT(w, "%d of %d", i, track));
        voice_clients_settle(w, p.to.port);
        for (int i = 0; i < PIECE; i++) {
            struct received_frame f = voice_client_receive(&p.to, 0);

            expect(f.frame.p && str_is(f.frame, TEXT(w, "%d of %d", i, track)));
            expect(f.sequence == track * PIECE + i);
            expect(f.timestamp == (uint32_t)(track * PIECE + i) * 960);
        }
        while (voice_client_receive(&by_header, 0).frame.p)
            received++;
        usleep(500 * 1000);
    }
    expect(received == 3 * PIECE); /* its nonces are headers, so no frame came twice */
    voice_client_hang_up(&by_header);
    disconnect_both_voice_clients(&p);
}

static void rtp_sequence_may_be_set_back(struct world *w)
{
    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_CHACHA);

    p.from.sequence = 30000;
    expect(count_received_frames(&p, 200) == 200);
    p.from.sequence = 7;
    expect(count_received_frames(&p, 200) == 200);
    disconnect_both_voice_clients(&p);
}

/* Replayed packets are dropped and do not change an address, whatever their nonces. */
static void replayed_packets_are_dropped(struct world *w)
{
    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_AES);
    struct str first = voice_client_seal(&p.from, STR("first")),
               second = voice_client_seal(&p.from, STR("2nd"));
    struct str lost = voice_client_seal(&p.from, STR("lost")), old = { 0 };
    struct voice_client attacker = p.from;

    attacker.fd = voice_client_socket();
    voice_client_send(&p.from, first);
    voice_client_send(&p.from, second);
    for (int i = 0; i < 150; i++) {
        struct str packet = voice_client_seal(&p.from, STR("frame"));

        old = i == 20 ? packet : old;
        voice_client_send(&p.from, packet);
    }
    voice_clients_settle(w, p.to.port);
    for (int i = 0; i < 152; i++)
        expect(voice_client_receive(&p.to, 0).frame.p);
    for (int i = 0; i < 2; i++) {
        const struct str again[] = { first, second, lost, old };

        for (unsigned k = 0; k < COUNT_OF(again); k++)
            voice_client_send(&attacker, again[k]);
    }
    expect_deaf(&p.to);
    voice_client_say(&p.to, "for ada");
    expect_audio(&p.from, &p.to, "for ada");
    close(attacker.fd);
    disconnect_both_voice_clients(&p);
}

/* A nonce must not be used by both sides with one key: the client must reconnect with another
 * key. */
static void client_reusing_a_server_nonce_must_reconnect(struct world *w)
{
    struct nonce_pair p = create_nonce_pair(w, VOICE_CLIENT_AES);
    unsigned char key[32];

    memcpy(key, p.to.key, sizeof key);
    voice_client_say(&p.from, "one");
    expect_audio(&p.to, &p.from, "one");
    p.to.counter = (uint32_t)p.to.last[0] << 24 | (uint32_t)p.to.last[1] << 16 |
                   (uint32_t)p.to.last[2] << 8 | p.to.last[3];
    voice_client_say(&p.to, "the same nonce");
    expect_audio(&p.from, &p.to, "the same nonce");
    expect_cut(&p.to, 4006);
    voice_client_hang_up(&p.to);
    uint32_t ssrc = p.to.ssrc;
    voice_client_dial(&p.to, 8);
    voice_client_connect(&p.to, VOICE_CLIENT_CHACHA);
    expect(p.to.ssrc != ssrc && memcmp(key, p.to.key, sizeof key) != 0);
    voice_client_say(&p.to, "again");
    expect_audio(&p.from, &p.to, "again");
    disconnect_both_voice_clients(&p);
}

const struct test voice_relay_nonces_tests[] = {
    TEST_WITH(little_endian_nonces_are_accepted, with_relay),
    TEST_WITH(nonces_may_start_at_any_value, with_relay),
    TEST_WITH(nonces_may_restart_with_each_track, with_relay),
    TEST_WITH(rtp_sequence_may_be_set_back, with_relay),
    TEST_WITH(replayed_packets_are_dropped, with_relay),
    TEST_WITH(client_reusing_a_server_nonce_must_reconnect, with_relay),
    { 0 },
};
