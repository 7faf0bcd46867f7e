/* relay.c - the voice gateway: identify, heartbeats, participants and resume. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "people.h"
#include "voice_client.h"

static void configure_other_endpoint(struct config *config)
{
    with_relay(config);
    config->voice_endpoint = "voice.example";
}

static void configure_public_url(struct config *config)
{
    with_relay(config);
    config->public_url = "https://chat.example/app";
}

static void configure_without_xsalsa20_mode(struct config *config)
{
    with_relay(config);
    config->voice_xsalsa20 = false;
}

/* --- endpoint ------------------------------------------------------------------------- */

static void voice_endpoint_is_this_server_by_default(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': '127.0.0.1:%d/voice'}", world_port(w));
}

static void voice_endpoint_follows_the_public_url(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': 'chat.example/voice:443'}");
}

static void voice_endpoint_option_names_another_host(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': 'voice.example'}");
}

/* --- identify ------------------------------------------------------------------------- */

static void voice_ready_contains_address_ssrc_and_modes(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    const struct dom *ready = voice_client_ready(&p);
    const struct dom *modes = dom_at(ready, "d.modes");
    expect(str_is(dom_at(ready, "d.ip")->text, "127.0.0.1") && p.port > 0);
    expect(p.ssrc % 16 == 0 && modes->count == 3);
    expect(str_is(modes->items[0].text, "aead_aes256_gcm_rtpsize"));
    expect(str_is(modes->items[1].text, "aead_xchacha20_poly1305_rtpsize"));
    expect(str_is(modes->items[2].text, "xsalsa20_poly1305"));
    expect(str_is(dom_at(ready, "seq")->text, "1"));
}

static int identify_close_code(struct client *c, const char *target, const char *d)
{
    struct gateway_conn *g = conn_open_at(c, target);

    expect_op(g, 8);
    conn_send(g, "{'op': 0, 'd': %s}", d);
    while (conn_read(g, 60000))
        ;
    return conn_close_code(g);
}

static void voice_identify_with_wrong_data_is_refused(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);
    char other[33];
    const struct {
        const char *server, *user, *session, *token, *more;
        int code;
    } rows[] = {
        { h.guild, h.ada->id, p.session, other, "", 4004 },
        { h.guild, h.ada->id, p.session, "short", "", 4004 },
        { h.guild, h.bob->id, p.session, p.token, "", 4006 },
        { h.guild, h.ada->id, "another", p.token, "", 4006 },
        { "5", h.ada->id, p.session, p.token, "", 4011 },
        { h.voice, h.ada->id, p.session, p.token, "", 4011 },
        { h.guild, h.ada->id, p.session, p.token, ", 'channel_id': '7'", 4006 },
    };

    snprintf(other, sizeof other, "%s", p.token);
    other[31] = other[31] == '0' ? '1' : '0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str d =
            str_printf(world_arena(w),
                       "{'server_id': '%s', 'user_id': '%s', 'session_id': '%s', "
                       "'token': '%s'%s}",
                       rows[i].server, rows[i].user, rows[i].session, rows[i].token, rows[i].more);

        expect(identify_close_code(h.ada, "/voice/?v=8", d.p) == rows[i].code);
    }
    expect(identify_close_code(h.ada, "/voice?v=8", "{'server_id': '1'}") == 4020);
    expect(identify_close_code(h.ada, "/voice?v=8", "null") == 4020);
    /* Version 9 requires the channel id. */
    struct str d = str_printf(world_arena(w),
                              "{'server_id': '%s', 'user_id': '%s', 'session_id': '%s', "
                              "'token': '%s'}",
                              h.guild, h.ada->id, p.session, p.token);
    expect(identify_close_code(h.ada, "/voice:443/?v=9", d.p) == 4020);
    expect_op(conn_open_at(h.ada, "/voice:443?v=8"), 8);
    /* The token is invalid after leaving the channel. */
    ask_voice(h.ada, h.guild, NULL, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    voice_client_dial(&p, 8);
    expect_close(p.gate, 4006);
}

static void malformed_voice_payloads_close_the_connection(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    static const struct {
        const char *message;
        int code;
    } rows[] = {
        { "{'op': 5, 'd': {'speaking': 1}}", 4003 },
        { "{'op': 1, 'd': {}}", 4003 },
        { "{'op': 64, 'd': {}}", 4001 },
        { "{'op': -1, 'd': {}}", 4001 },
        { "{'d': {}}", 4001 },
        { "[]", 4002 },
    };
    struct gateway_conn *g;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        g = conn_open_at(h.ada, "/voice?v=8");
        expect_op(g, 8);
        conn_send(g, "%s", rows[i].message);
        expect_close(g, rows[i].code);
    }
    static const char *const versions[] = { "/voice?v=", "/voice?v=3", "/voice?v=10",
                                            "/voice?v=x" };
    for (size_t i = 0; i < 4; i++)
        expect_close(conn_open_at(h.ada, versions[i]), 4020);
}

static void unknown_voice_protocols_and_modes_are_refused(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    static const struct {
        const char *d;
        int code;
    } rows[] = {
        { "{'protocol': 'webrtc', 'data': {'mode': 'x'}}", 4020 },
        { "{'protocol': 'webtransport', 'data': {'mode': 'x'}}", 4012 },
        { "{'protocol': 'udp', 'data': {'mode': 'plain'}}", 4016 },
        { "{'protocol': 'udp'}", 4016 },
        { "{'protocol': 5}", 4020 },
    };

    struct voice_client p = voice_client_join(&h, h.ada, h.voice);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        voice_client_dial(&p, 8);
        voice_client_ready(&p);
        conn_send(p.gate, "{'op': 1, 'd': %s}", rows[i].d);
        expect_close(p.gate, rows[i].code);
    }
    voice_client_dial(&p, 8);
    voice_client_ready(&p);
    conn_send(p.gate, "{'op': 0, 'd': {}}");
    expect_close(p.gate, 4005);
}

static void xsalsa20_mode_can_be_disabled(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    expect(dom_at(voice_client_ready(&p), "d.modes")->count == 2);
    conn_send(p.gate, "{'op': 1, 'd': {'protocol': 'udp', 'data': {'mode': 'xsalsa20_poly1305'}}}");
    expect_close(p.gate, 4016);
}

/* All payloads have a sequence number except heartbeat ACK, HELLO and RESUMED. */
static void voice_version_reply_has_a_sequence_number(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    voice_client_ready(&p);
    conn_send(p.gate, "{'op': 32, 'd': {}}"); /* no reply */
    conn_send(p.gate, "{'op': 16, 'd': {}}");
    const struct dom *m = expect_op(p.gate, 16);
    expect(str_is(dom_at(m, "d.voice")->text, "guildhall"));
    expect(str_is(dom_at(m, "seq")->text, "2"));
}

/* --- heartbeats ----------------------------------------------------------------------- */

static void voice_heartbeat_ack_has_the_form_of_its_version(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct gateway_conn *g = conn_open_at(h.ada, "/voice?v=4");
    struct voice_client p = { .client = h.ada };

    expect_op(g, 8);
    conn_send(g, "{'op': 3, 'd': 1234567890123}");
    expect(str_is(dom_at(expect_op(g, 6), "d")->text, "1234567890123"));
    p.gate = conn_open_at(h.ada, "/voice?v=8");
    expect(str_is(dom_at(expect_op(p.gate, 8), "d.heartbeat_interval")->text, "13750"));
    conn_send(p.gate, "{'op': 3, 'd': {'t': 77, 'seq_ack': -1}}");
    expect(str_is(dom_at(expect_op(p.gate, 6), "d.t")->text, "77"));
}

static void voice_connection_without_heartbeats_closes_with_4009(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);

    world_wait(w, 30);
    conn_send(p.gate, "{'op': 3, 'd': {'t': 1}}");
    voice_client_await(&p, 6);
    world_wait(w, 30);
    voice_client_expect_none(&p, 99);
    world_wait(w, 33);
    expect_close(p.gate, 4009);
    voice_client_hang_up(&p);
}

/* --- other participants --------------------------------------------------------------- */

static bool lists_only(const struct dom *ids, const struct client *c)
{
    return ids->count == 1 && str_is(ids->items[0].text, c->id);
}

static void participants_get_join_speaking_and_leave_payloads(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);

    conn_send(ada.gate, "{'op': 5, 'd': {'speaking': 1, 'delay': 0, 'ssrc': 1}}");
    struct voice_client bob = voice_client_join(&h, h.bob, h.voice);
    voice_client_dial(&bob, 8);
    voice_client_ready(&bob);
    expect(lists_only(dom_at(voice_client_await(&bob, 11), "d.user_ids"), h.ada));
    expect(lists_only(dom_at(voice_client_await(&ada, 11), "d.user_ids"), h.bob));
    /* A late participant gets the current speakers once media can flow. */
    voice_client_select(&bob, VOICE_CLIENT_CHACHA);
    const struct dom *m = voice_client_await(&bob, 5);
    expect(str_is(dom_at(m, "d.user_id")->text, h.ada->id));
    expect(strtoul(dom_at(m, "d.ssrc")->text.p, NULL, 10) == ada.ssrc);
    expect(str_is(dom_at(m, "d.speaking")->text, "1"));
    /* Priority requires permission; soundshare is allowed. */
    conn_send(bob.gate, "{'op': 5, 'd': {'speaking': 6, 'delay': 0, 'ssrc': %u}}", ada.ssrc);
    m = voice_client_await(&ada, 5);
    expect(str_is(dom_at(m, "d.user_id")->text, h.bob->id));
    expect(strtoul(dom_at(m, "d.ssrc")->text.p, NULL, 10) == bob.ssrc);
    expect(str_is(dom_at(m, "d.speaking")->text, "2"));
    conn_send(bob.gate,
              "{'op': 12, 'd': {'audio_ssrc': %u, 'video_ssrc': %u, 'user_id': '1', "
              "'streams': [{'rid': '100'}]}}",
              bob.ssrc, bob.ssrc + 1);
    m = voice_client_await(&ada, 12);
    expect(str_is(dom_at(m, "d.user_id")->text, h.bob->id));
    expect(strtoul(dom_at(m, "d.video_ssrc")->text.p, NULL, 10) == bob.ssrc + 1);
    expect(str_is(dom_at(m, "d.streams.0.rid")->text, "100"));
    voice_client_await(&bob, 15);
    /* Another participant's SSRC is not announced. */
    conn_send(bob.gate, "{'op': 12, 'd': {'audio_ssrc': 1, 'video_ssrc': %u}}", ada.ssrc);
    leave_voice(&h, h.bob, NULL);
    expect_close(bob.gate, 4014);
    expect(str_is(dom_at(voice_client_await(&ada, 13), "d.user_id")->text, h.bob->id));
    voice_client_expect_none(&ada, 12);
    voice_client_hang_up(&ada);
}

static const char *read_speaking(struct voice_client *p)
{
    return str_dup_cstring(world_arena(p->client->world),
                           dom_at(voice_client_await(p, 5), "d.speaking")->text);
}

static void priority_speaking_requires_priority_speaker_permission(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    const char *allow = TEXT(w, "{'type': 1, 'allow': '%llu'}", BITS(PERMISSION(PRIORITY_SPEAKER))),
               *deny = "{'type': 1, 'allow': '0'}";

    /* The owner has all permissions. */
    conn_send(ada.gate, "{'op': 5, 'd': {'speaking': 5}}");
    expect(strcmp(read_speaking(&bob), "5") == 0);
    conn_send(bob.gate, "{'op': 5, 'd': {'speaking': 5}}");
    expect(strcmp(read_speaking(&ada), "1") == 0);
    /* The permission can change while a member speaks; no voice state is sent. */
    expect_status(client_put(h.ada, allow, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
    expect(strcmp(read_speaking(&ada), "5") == 0);
    expect_status(client_put(h.ada, deny, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
    expect(strcmp(read_speaking(&ada), "1") == 0);
    conn_send(bob.gate, "{'op': 5, 'd': {'speaking': 4}}");
    expect(strcmp(read_speaking(&ada), "0") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void private_calls_are_identified_by_their_channel_id(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    make_friends(h.ada, h.bob);
    const char *dm = answer_text(
        client_post(h.ada, TEXT(w, "{'recipient_id': '%s'}", h.bob->id), "/users/@me/channels"),
        "id");
    struct test_voice call = { .world = w, .guild = NULL };
    struct voice_client p = voice_client_join(&call, h.ada, dm);
    p.guild = h.guild;
    voice_client_dial(&p, 8);
    expect_close(p.gate, 4006);
    p.guild = dm;
    voice_client_dial(&p, 8);
    voice_client_connect(&p, VOICE_CLIENT_AES);
    voice_client_hang_up(&p);
}

/* --- resume --------------------------------------------------------------------------- */

static void voice_client_resume_in(struct voice_client *p, int version, long seq_ack,
                                   const char *more)
{
    char target[32];

    snprintf(target, sizeof target, "/voice?v=%d", version);
    p->gate = conn_open_at(p->client, target);
    expect_op(p->gate, 8);
    conn_send(p->gate,
              "{'op': 7, 'd': {'server_id': '%s', 'session_id': '%s', 'token': '%s', "
              "'seq_ack': %ld%s}}",
              p->guild, p->session, p->token, seq_ack, more);
}

static void voice_client_resume(struct voice_client *p, int version, long seq_ack)
{
    voice_client_resume_in(p, version, seq_ack, "");
}

static void resumed_voice_connection_gets_missed_payloads(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);
    struct voice_client bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_CHACHA);

    /* READY is 1, session description 2, clients 3. */
    expect(str_is(dom_at(voice_client_await(&ada, 11), "seq")->text, "3"));
    conn_kill(ada.gate);
    voice_client_say(&bob, "before");
    expect_audio(&ada, &bob, "before");
    voice_client_resume(&ada, 8, 3);
    expect_op(ada.gate, 9);
    const struct dom *m = expect_op(ada.gate, 5);
    expect(str_is(dom_at(m, "seq")->text, "4"));
    expect(str_is(dom_at(m, "d.user_id")->text, h.bob->id));
    /* Media continues unchanged. */
    voice_client_say(&ada, "again");
    expect_audio(&bob, &ada, "again");
    /* A second connection takes over and may request all payloads. */
    struct gateway_conn *old = ada.gate;
    voice_client_resume(&ada, 8, -1);
    expect_op(ada.gate, 9);
    expect(str_is(dom_at(expect_op(ada.gate, 2), "seq")->text, "1"));
    expect_close(old, 4014);
    /* The client list is written again with its number. */
    conn_kill(bob.gate);
    voice_client_resume(&bob, 8, 1);
    expect_op(bob.gate, 9);
    const struct dom *list = expect_op(bob.gate, 11);
    expect(str_is(dom_at(list, "seq")->text, "2"));
    expect(lists_only(dom_at(list, "d.user_ids"), h.ada));
    expect(str_is(dom_at(expect_op(bob.gate, 4), "seq")->text, "3"));
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static int read_seat_count(struct world *w)
{
    static const char name[] = "\nguildhall_voice_seats ";
    struct answer a = client_request(world_anonymous(w), "GET", "/metrics", "", STR(""));
    const char *at = memmem(a.body.p, a.body.n, name, sizeof name - 1);

    expect(at);
    return atoi(at + sizeof name - 1);
}

static void invalid_voice_resumes_close_with_4006(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES), wrong = ada;

    /* A wrong session, a future sequence number and an acknowledged one are refused. */
    wrong.session = "another";
    voice_client_resume(&wrong, 8, 2);
    expect_close(wrong.gate, 4006);
    wrong = ada;
    voice_client_resume(&wrong, 8, 99);
    expect_close(wrong.gate, 4006);
    conn_send(ada.gate, "{'op': 3, 'd': {'t': 1, 'seq_ack': 2}}");
    voice_client_await(&ada, 6);
    wrong = ada;
    voice_client_resume(&wrong, 8, 1);
    expect_close(wrong.gate, 4006);
    voice_client_resume(&wrong, 8, 2);
    expect_op(wrong.gate, 9);
    /* A wrong channel is refused; version 9 requires a channel. */
    voice_client_resume_in(&wrong, 9, 2, TEXT(w, ", 'channel_id': '%s'", h.other));
    expect_close(wrong.gate, 4006);
    voice_client_resume_in(&wrong, 9, 2, "");
    expect_close(wrong.gate, 4020);
    voice_client_resume_in(&wrong, 9, 2, TEXT(w, ", 'channel_id': '%s'", h.voice));
    expect_op(wrong.gate, 9);
    /* After a minute without a connection the session has expired. */
    conn_kill(wrong.gate);
    while (read_seat_count(w) != 0)
        world_wait(w, 61);
    voice_client_resume(&wrong, 8, 2);
    expect_close(wrong.gate, 4006);
    voice_client_hang_up(&ada);
}

static void voice_versions_below_8_have_no_sequence_numbers(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 4);
    expect(!dom_at(voice_client_ready(&p), "seq"));
    conn_kill(p.gate);
    voice_client_resume(&p, 4, -1);
    expect_op(p.gate, 9);
}

/* Waits until the voice states' rows show this number of connections. */
static void wait_until_voice_states_are_connected(struct world *w, int64_t count)
{
    for (int i = 0; i < 3000; i++) {
        if (world_number(w, "select count(*) from voice_states where live = 1") == count)
            return;
        usleep(10 * 1000);
    }
    fail_test(__FILE__, __LINE__, "no state says that %lld sockets are open", (long long)count);
}

static void connected_voice_client_gets_no_second_server_update(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    voice_client_connect(&p, VOICE_CLIENT_AES);
    wait_until_voice_states_are_connected(w, 1);
    world_wait(w, 2);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_mute': true");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': true}");
    expect_no_voice(h.ada, 300);
    conn_close(p.gate, 4000);
    wait_until_voice_states_are_connected(w, 0);
    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': false}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{}");
    voice_client_hang_up(&p);
}

/* discordgo sends no version and reads the heartbeat interval from READY. */
static void voice_client_without_version_gets_version_4(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    p.gate = conn_open_at(h.ada, "/voice");
    const struct dom *hello = voice_client_await(&p, 8), *ready;
    expect(str_is(dom_at(hello, "d.v")->text, "4"));
    conn_send(p.gate,
              "{'op': 0, 'd': {'server_id': '%s', 'user_id': '%s', 'session_id': '%s', "
              "'token': '%s'}}",
              p.guild, h.ada->id, p.session, p.token);
    ready = voice_client_await(&p, 2);
    expect(str_eq(dom_at(ready, "d.heartbeat_interval")->text,
                  dom_at(hello, "d.heartbeat_interval")->text));
    conn_send(p.gate, "{'op': 3, 'd': 1794964992}");
    expect(str_is(dom_at(voice_client_await(&p, 6), "d")->text, "1794964992"));
}

/* The request may be processed before the closed connection is noticed: then the update follows. */
static void rejoining_after_a_lost_voice_connection_sends_server_update(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    for (int i = 0; i < 6; i++) {
        const struct dom *m;

        voice_client_dial(&p, 8);
        voice_client_await(&p, 2);
        if (i % 2)
            conn_kill(p.gate);
        ask_voice(h.ada, h.guild, h.voice, "");
        if (i % 2 == 0)
            conn_kill(p.gate);
        do {
            m = next_voice(h.ada);
            expect(m);
        } while (!str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"));
    }
}

const struct test voice_relay_tests[] = {
    TEST_WITH(rejoining_after_a_lost_voice_connection_sends_server_update, with_relay),
    TEST_WITH(voice_client_without_version_gets_version_4, with_relay),
    TEST_WITH(voice_endpoint_is_this_server_by_default, with_relay),
    TEST_WITH(voice_endpoint_follows_the_public_url, configure_public_url),
    TEST_WITH(voice_endpoint_option_names_another_host, configure_other_endpoint),
    TEST_WITH(voice_ready_contains_address_ssrc_and_modes, with_relay),
    TEST_WITH(voice_identify_with_wrong_data_is_refused, with_relay),
    TEST_WITH(malformed_voice_payloads_close_the_connection, with_relay),
    TEST_WITH(unknown_voice_protocols_and_modes_are_refused, with_relay),
    TEST_WITH(xsalsa20_mode_can_be_disabled, configure_without_xsalsa20_mode),
    TEST_WITH(voice_version_reply_has_a_sequence_number, with_relay),
    TEST_WITH(voice_heartbeat_ack_has_the_form_of_its_version, with_relay),
    TEST_WITH(voice_connection_without_heartbeats_closes_with_4009, with_relay),
    TEST_WITH(participants_get_join_speaking_and_leave_payloads, with_relay),
    TEST_WITH(priority_speaking_requires_priority_speaker_permission, with_relay),
    TEST_WITH(private_calls_are_identified_by_their_channel_id, with_relay),
    TEST_WITH(resumed_voice_connection_gets_missed_payloads, with_relay),
    TEST_WITH(invalid_voice_resumes_close_with_4006, with_relay),
    TEST_WITH(voice_versions_below_8_have_no_sequence_numbers, with_relay),
    TEST_WITH(connected_voice_client_gets_no_second_server_update, with_relay),
    { 0 },
};
