/* relay_media.c - voice media: recipients, moderation and forged packets. */
#include "voice_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define MEMBER "/guilds/%s/members/%s"

static long read_metric(struct world *w, const char *name)
{
    struct answer a = client_request(world_anonymous(w), "GET", "/metrics", "", STR(""));
    const char *line = strstr(str_dup_cstring(world_arena(w), a.body), TEXT(w, "\n%s ", name));

    expect(line != NULL);
    return strtol(line + strlen(name) + 2, NULL, 10);
}

/* --- frames --------------------------------------------------------------------------- */

static void voice_frames_arrive_unchanged_and_in_order(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    struct voice_client phones[] = { voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                                     voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_CHACHA),
                                     voice_client_call(&h, cleo, h.voice, VOICE_CLIENT_SALSA) };
    char frame[16];

    for (int from = 0; from < 3; from++) {
        for (int i = 0; i < 20; i++) {
            snprintf(frame, sizeof frame, "%d says %d", from, i);
            voice_client_say(&phones[from], frame);
        }
        for (int to = 0; to < 3; to++) {
            for (int i = 0; to != from && i < 20; i++) {
                struct received_frame f = voice_client_receive(&phones[to], 60000);

                snprintf(frame, sizeof frame, "%d says %d", from, i);
                expect(str_is(f.frame, frame) && f.ssrc == phones[from].ssrc);
                expect(f.sequence == i && f.timestamp == (uint32_t)i * 960);
            }
        }
    }
    /* Nobody receives own frames, and the first frame announces the speaker. */
    for (int i = 0; i < 3; i++)
        expect_deaf(&phones[i]);
    expect(str_is(dom_at(voice_client_await(&phones[1], 5), "d.user_id")->text, h.ada->id));
    for (int i = 0; i < 3; i++)
        voice_client_hang_up(&phones[i]);
}

static void voice_rooms_are_separate(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.other, VOICE_CLIENT_AES),
                        third = voice_client_call(&h, cleo, h.voice, VOICE_CLIENT_AES);

    voice_client_say(&ada, "here");
    expect_audio(&third, &ada, "here");
    expect_deaf(&bob);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
    voice_client_hang_up(&third);
}

/* --- moderation ----------------------------------------------------------------------- */

struct two_voice_clients {
    struct test_voice voice;
    struct voice_client ada, bob;
};

static struct two_voice_clients create_two_clients(struct world *w)
{
    struct two_voice_clients p = { .voice = world_test_voice(w) };

    p.ada = voice_client_call(&p.voice, p.voice.ada, p.voice.voice, VOICE_CLIENT_AES);
    p.bob = voice_client_call(&p.voice, p.voice.bob, p.voice.voice, VOICE_CLIENT_CHACHA);
    voice_client_say(&p.ada, "a");
    expect_audio(&p.bob, &p.ada, "a");
    voice_client_say(&p.bob, "b");
    expect_audio(&p.ada, &p.bob, "b");
    return p;
}

static void disconnect_both_voice_clients(struct two_voice_clients *p)
{
    voice_client_hang_up(&p->ada);
    voice_client_hang_up(&p->bob);
}

static void muted_members_are_not_received(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;

    expect_status(client_patch(h->ada, "{'mute': true}", MEMBER, h->guild, h->bob->id), 200);
    voice_client_say(&p.bob, "muted");
    expect_deaf(&p.ada);
    expect_status(client_patch(h->ada, "{'mute': false}", MEMBER, h->guild, h->bob->id), 200);
    voice_client_say(&p.bob, "free");
    expect_audio(&p.ada, &p.bob, "free");
    disconnect_both_voice_clients(&p);
}

static void deafened_members_receive_no_media(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;

    expect_status(client_patch(h->ada, "{'deaf': true}", MEMBER, h->guild, h->bob->id), 200);
    voice_client_say(&p.ada, "secret");
    expect_deaf(&p.bob);
    voice_client_say(&p.bob, "audible");
    expect_audio(&p.ada, &p.bob, "audible");
    expect_status(client_patch(h->ada, "{'deaf': false}", MEMBER, h->guild, h->bob->id), 200);
    voice_client_say(&p.ada, "open");
    expect_audio(&p.bob, &p.ada, "open");
    disconnect_both_voice_clients(&p);
}

static void self_mute_and_self_deaf_stop_media(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;

    ask_voice(h->bob, h->guild, h->voice, ", 'self_mute': true, 'self_deaf': true");
    expect_voice(h->bob, "VOICE_STATE_UPDATE", "{'self_mute': true}");
    voice_client_say(&p.bob, "muted");
    voice_client_say(&p.ada, "deaf");
    expect_deaf(&p.ada);
    expect_deaf(&p.bob);
    disconnect_both_voice_clients(&p);
}

static void losing_the_speak_permission_stops_media(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;
    const char *deny = TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(SPEAK)));

    expect_status(client_put(h->ada, deny, "/channels/%s/permissions/%s", h->voice, h->bob->id),
                  204);
    voice_client_say(&p.bob, "suppressed");
    expect_deaf(&p.ada);
    disconnect_both_voice_clients(&p);
}

static void only_stage_speakers_are_received(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.stage, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.stage, VOICE_CLIENT_AES);

    voice_client_say(&ada, "audience");
    expect_deaf(&bob);
    expect_status(client_patch(h.ada, TEXT(w, "{'channel_id': '%s', 'suppress': false}", h.stage),
                               "/guilds/%s/voice-states/@me", h.guild),
                  204);
    voice_client_say(&ada, "speaker");
    expect_audio(&bob, &ada, "speaker");
    expect_status(client_patch(h.ada, TEXT(w, "{'channel_id': '%s', 'suppress': true}", h.stage),
                               "/guilds/%s/voice-states/@me", h.guild),
                  204);
    voice_client_say(&ada, "audience again");
    expect_deaf(&bob);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void moved_or_disconnected_members_are_cut_off(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;

    expect_status(client_patch(h->ada, TEXT(w, "{'channel_id': '%s'}", h->other), MEMBER, h->guild,
                               h->bob->id),
                  200);
    voice_client_say(&p.bob, "from elsewhere");
    voice_client_say(&p.ada, "to elsewhere");
    expect_deaf(&p.ada);
    expect_deaf(&p.bob);
    for (const struct dom *m; (m = conn_read(p.bob.gate, 60000));)
        ;
    expect(conn_close_code(p.bob.gate) == 4014);
    expect(str_is(dom_at(voice_client_await(&p.ada, 13), "d.user_id")->text, h->bob->id));
    /* The old token is invalid. */
    voice_client_dial(&p.bob, 8);
    expect_close(p.bob.gate, 4004);
    expect_status(client_patch(h->ada, "{'channel_id': null}", MEMBER, h->guild, h->ada->id), 200);
    for (const struct dom *m; (m = conn_read(p.ada.gate, 60000));)
        ;
    expect(conn_close_code(p.ada.gate) == 4014);
    disconnect_both_voice_clients(&p);
}

static void deleting_a_guild_closes_its_voice_connections(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct test_voice *h = &p.voice;

    expect_status(client_delete(h->ada, "/guilds/%s", h->guild), 204);
    for (const struct dom *m; (m = conn_read(p.bob.gate, 60000));)
        ;
    expect(conn_close_code(p.bob.gate) == 4014);
    disconnect_both_voice_clients(&p);
}

/* --- forged packets ------------------------------------------------------------------- */

static struct str flip_bit(struct world *w, struct str packet, size_t at)
{
    char *copy = (char *)(uintptr_t)str_dup(world_arena(w), packet).p;

    copy[at] ^= 1;
    return str_slice(copy, packet.n);
}

static void altered_truncated_or_repeated_packets_are_dropped(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct voice_client *from[] = { &p.ada, &p.bob };

    for (int i = 0; i < 2; i++) {
        struct voice_client *to = from[!i];
        struct str packet = voice_client_seal(from[i], STR("once"));

        for (size_t at = 0; at < packet.n; at++)
            voice_client_send(from[i], flip_bit(w, packet, at));
        for (size_t n = 0; n < packet.n; n++)
            voice_client_send(from[i], str_slice(packet.p, n));
        voice_client_send(from[i], packet);
        voice_client_send(from[i], packet);
        expect_audio(to, from[i], "once");
        voice_client_say(from[i], "next");
        expect_audio(to, from[i], "next");
        voice_client_send(from[i], packet);
        expect_deaf(to);
    }
    disconnect_both_voice_clients(&p);
}

static void late_packets_are_accepted_within_a_window(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    struct str late = voice_client_seal(&p.ada, STR("late")),
               lost = voice_client_seal(&p.ada, STR("lost"));

    for (int i = 0; i < 126; i++)
        voice_client_seal(&p.ada, STR("unsent"));
    voice_client_say(&p.ada, "new");
    voice_client_send(&p.ada, lost);
    voice_client_send(&p.ada, late);
    expect_audio(&p.bob, &p.ada, "new");
    expect_audio(&p.bob, &p.ada, "lost");
    expect_deaf(&p.bob);
    expect(read_metric(w, "guildhall_voice_packets_missing_total") == 128);
    expect(read_metric(w, "guildhall_voice_packets_late_total") == 1);
    expect(read_metric(w, "guildhall_voice_rooms") == 1);
    disconnect_both_voice_clients(&p);
}

static void only_packets_with_the_key_change_a_clients_address(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    int attacker = voice_client_socket(), own = p.bob.fd, port;
    struct pollfd steals = { .fd = attacker, .events = POLLIN };
    char address[64];

    /* Another participant knows the SSRC, but cannot use it to receive or send. */
    expect(voice_client_discover(w, attacker, p.bob.port, p.bob.ssrc, address, &port));
    struct voice_client fake = p.bob;
    memset(fake.key, 7, sizeof fake.key);
    fake.fd = attacker;
    voice_client_say(&fake, "forged");
    /* Replayed packets have no effect either. */
    struct str packet = voice_client_seal(&p.bob, STR("mine"));
    voice_client_send(&p.bob, packet);
    expect_audio(&p.ada, &p.bob, "mine");
    voice_client_send(&fake, packet);
    voice_client_say(&p.ada, "for bob");
    expect_audio(&p.bob, &p.ada, "for bob");
    expect(poll(&steals, 1, 100) == 0);
    /* The client itself may change its address. */
    p.bob.fd = voice_client_socket();
    voice_client_say(&p.bob, "moved");
    expect_audio(&p.ada, &p.bob, "moved");
    voice_client_say(&p.ada, "follows");
    expect_audio(&p.bob, &p.ada, "follows");
    close(attacker);
    close(own);
    disconnect_both_voice_clients(&p);
}

static void ip_discovery_of_others_does_not_disturb_a_client(struct world *w)
{
    struct two_voice_clients p = create_two_clients(w);
    int attacker = voice_client_socket(), answers = 0;
    struct pollfd answered = { .fd = attacker, .events = POLLIN };
    struct voice_client fake = { .fd = attacker, .port = p.bob.port, .client = p.voice.ada };
    unsigned char ask[74] = { 0, 1, 0, 70 };
    uint32_t ssrc = htonl(p.bob.ssrc);
    char answer[128];

    memcpy(ask + 4, &ssrc, 4);
    for (int i = 0; i < 500; i++)
        voice_client_send(&fake, str_slice((const char *)ask, sizeof ask));
    voice_client_say(&p.bob, "still here");
    expect_audio(&p.ada, &p.bob, "still here");
    for (; poll(&answered, 1, 0) == 1; answers++)
        expect(recv(attacker, answer, sizeof answer, 0) == 74);
    expect(answers > 0 && answers < 250);
    /* A new SELECT does not send media to an unknown address either. */
    voice_client_select(&p.bob, VOICE_CLIENT_AES);
    p.bob.counter = 0;
    voice_client_say(&p.ada, "for bob");
    expect_audio(&p.bob, &p.ada, "for bob");
    expect(poll(&answered, 1, 0) == 0);
    close(attacker);
    disconnect_both_voice_clients(&p);
}

/* All participants know each other's SSRCs. */
static void ip_discovery_does_not_use_up_the_ping_limit(struct world *w)
{
    enum { QUESTIONS = 60, PINGS = 10 };
    struct two_voice_clients p = create_two_clients(w);
    int unknown_socket = voice_client_socket();
    struct voice_client elsewhere = { .fd = unknown_socket,
                                      .port = p.bob.port,
                                      .client = p.ada.client };
    char question[74] = { 0, 1, 0, 70 }, pong[16];
    struct pollfd poller = { .fd = p.bob.fd, .events = POLLIN };

    for (int i = 0; i < 4; i++)
        question[4 + i] = (char)(p.bob.ssrc >> (24 - 8 * i));
    for (int i = 0; i < QUESTIONS; i++) {
        voice_client_send(&p.ada, str_slice(question, sizeof question));
        voice_client_send(&elsewhere, str_slice(question, sizeof question));
    }
    for (int i = 0; i < PINGS; i++)
        voice_client_send(&p.bob, str_slice("\x13\x37\xca\xfe\0\0\0\7", 8));
    for (int i = 0; i < PINGS; i++)
        expect(poll(&poller, 1, 10000) == 1 && recv(p.bob.fd, pong, sizeof pong, 0) == 8);
    close(unknown_socket);
    disconnect_both_voice_clients(&p);
}

static void unknown_addresses_get_no_ping_reply(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);
    char address[64];
    int port, unknown_socket = voice_client_socket();
    struct pollfd answered = { .fd = unknown_socket, .events = POLLIN };

    voice_client_dial(&p, 8);
    voice_client_ready(&p);
    expect(!voice_client_discover(w, unknown_socket, p.port, p.ssrc ^ 0x1000, address, &port));
    struct voice_client ping = { .fd = unknown_socket, .port = p.port, .client = h.ada };
    voice_client_send(&ping, str_slice("\x13\x37\xca\xfe\0\0\0\1", 8));
    voice_client_send(&ping, str_slice("\x80\xc8\0\0", 4));
    voice_client_send(&ping, str_slice("\0\0\0\0\0\0\0\0", 8));
    for (size_t n = 0; n < 100; n++) {
        char bytes[100];

        memset(bytes, 0x80, sizeof bytes);
        voice_client_send(&ping, str_slice(bytes, n));
    }
    voice_clients_settle(w, p.port);
    expect(poll(&answered, 1, 0) == 0);
    /* A known address may ping; before it has a key nothing else is accepted. */
    p.fd = voice_client_socket();
    expect(voice_client_discover(w, p.fd, p.port, p.ssrc, address, &port));
    voice_client_select(&p, VOICE_CLIENT_AES);
    voice_client_send(&p, str_slice("\x13\x37\xca\xfe\0\0\0\7", 8));
    char pong[16];
    struct pollfd poller = { .fd = p.fd, .events = POLLIN };
    expect(poll(&poller, 1, 60000) == 1 && recv(p.fd, pong, sizeof pong, 0) == 8);
    expect(memcmp(pong, "\x13\x37\xf0\x0d\0\0\0\7", 8) == 0);
    close(unknown_socket);
    voice_client_hang_up(&p);
}

/* In pieces that fit a socket buffer: 250 packets per second are forwarded. */
static void senders_are_limited_to_250_packets_per_second(struct world *w)
{
    enum { PIECES = 10, PIECE = 200, MOST_A_SECOND = 250 };
    struct two_voice_clients p = create_two_clients(w);
    int64_t began = clock_monotonic_ns(), received = 0;

    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < PIECE; k++)
            voice_client_say(&p.ada, "flood");
        voice_clients_settle(w, p.bob.port);
        while (voice_client_receive(&p.bob, 0).frame.p)
            received++;
    }
    /* The started second, the elapsed seconds, and some reserve. */
    int64_t seconds = (clock_monotonic_ns() - began) / 1000000000 + 3;
    expect(received >= 200 && received <= seconds * MOST_A_SECOND);
    disconnect_both_voice_clients(&p);
}

const struct test voice_relay_media_tests[] = {
    TEST_WITH(voice_frames_arrive_unchanged_and_in_order, with_relay),
    TEST_WITH(voice_rooms_are_separate, with_relay),
    TEST_WITH(muted_members_are_not_received, with_relay),
    TEST_WITH(deafened_members_receive_no_media, with_relay),
    TEST_WITH(self_mute_and_self_deaf_stop_media, with_relay),
    TEST_WITH(losing_the_speak_permission_stops_media, with_relay),
    TEST_WITH(only_stage_speakers_are_received, with_relay),
    TEST_WITH(moved_or_disconnected_members_are_cut_off, with_relay),
    TEST_WITH(deleting_a_guild_closes_its_voice_connections, with_relay),
    TEST_WITH(altered_truncated_or_repeated_packets_are_dropped, with_relay),
    TEST_WITH(late_packets_are_accepted_within_a_window, with_relay),
    TEST_WITH(only_packets_with_the_key_change_a_clients_address, with_relay),
    TEST_WITH(ip_discovery_of_others_does_not_disturb_a_client, with_relay),
    TEST_WITH(ip_discovery_does_not_use_up_the_ping_limit, with_relay),
    TEST_WITH(unknown_addresses_get_no_ping_reply, with_relay),
    TEST_WITH(senders_are_limited_to_250_packets_per_second, with_relay),
    { 0 },
};
