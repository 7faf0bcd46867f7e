/* voice_relay.c - the voice gateway: who gets in, what is told, how clients come back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "people.h"
#include "voice_client.h"

static void with_another_host(struct config *config)
{
    with_relay(config);
    config->voice_endpoint = "voice.example";
}

static void with_public_url(struct config *config)
{
    with_relay(config);
    config->public_url = "https://chat.example/app";
}

static void without_the_old_mode(struct config *config)
{
    with_relay(config);
    config->voice_xsalsa20 = false;
}

/* --- where it is ---------------------------------------------------------------------- */

static void the_endpoint_is_this_server(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': '127.0.0.1:%d/voice'}", world_port(w));
}

static void the_endpoint_is_what_the_world_calls_us(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': 'chat.example/voice:443'}");
}

static void another_host_may_carry_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{'endpoint': 'voice.example'}");
}

/* --- who gets in ---------------------------------------------------------------------- */

static void a_client_is_told_where_media_goes(struct world *w)
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

static int code_of_identify(struct client *c, const char *target, const char *d)
{
    struct gateway_conn *g = conn_open_at(c, target);

    expect_op(g, 8);
    conn_send(g, "{'op': 0, 'd': %s}", d);
    while (conn_read(g, 60000))
        ;
    return conn_close_code(g);
}

static void wrong_claims_are_refused(struct world *w)
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

        expect(code_of_identify(h.ada, "/voice/?v=8", d.p) == rows[i].code);
    }
    expect(code_of_identify(h.ada, "/voice?v=8", "{'server_id': '1'}") == 4020);
    expect(code_of_identify(h.ada, "/voice?v=8", "null") == 4020);
    /* Version 9 has to name its channel. */
    struct str d = str_printf(world_arena(w),
                              "{'server_id': '%s', 'user_id': '%s', 'session_id': '%s', "
                              "'token': '%s'}",
                              h.guild, h.ada->id, p.session, p.token);
    expect(code_of_identify(h.ada, "/voice:443/?v=9", d.p) == 4020);
    expect_op(conn_open_at(h.ada, "/voice:443?v=8"), 8);
    /* A token is void with the membership that it was for. */
    ask_voice(h.ada, h.guild, NULL, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    voice_client_dial(&p, 8);
    expect_close(p.gate, 4006);
}

static void messages_are_read_strictly(struct world *w)
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

static void protocols_and_modes_are_checked(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    static const struct {
        const char *d;
        int code;
    } rows[] = {
        { "{'protocol': 'webrtc', 'data': {'mode': 'x'}}", 4012 },
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

static void the_old_mode_can_be_turned_off(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    expect(dom_at(voice_client_ready(&p), "d.modes")->count == 2);
    conn_send(p.gate, "{'op': 1, 'd': {'protocol': 'udp', 'data': {'mode': 'xsalsa20_poly1305'}}}");
    expect_close(p.gate, 4016);
}

/* Every message has one but heartbeats' answers, hello and resumed. */
static void the_answer_to_which_version_has_a_number(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    voice_client_ready(&p);
    conn_send(p.gate, "{'op': 32, 'd': {}}"); /* it has no route: nothing is answered */
    conn_send(p.gate, "{'op': 16, 'd': {}}");
    const struct dom *m = expect_op(p.gate, 16);
    expect(str_is(dom_at(m, "d.voice")->text, "guildhall"));
    expect(str_is(dom_at(m, "seq")->text, "2"));
}

/* --- heartbeats ----------------------------------------------------------------------- */

static void heartbeats_are_answered_as_the_version_asks(struct world *w)
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

static void who_does_not_beat_is_closed(struct world *w)
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

/* --- others --------------------------------------------------------------------------- */

static bool lists(const struct dom *ids, const struct client *c)
{
    return ids->count == 1 && str_is(ids->items[0].text, c->id);
}

static void people_hear_who_comes_speaks_and_goes(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);

    conn_send(ada.gate, "{'op': 5, 'd': {'speaking': 1, 'delay': 0, 'ssrc': 1}}");
    struct voice_client bob = voice_client_join(&h, h.bob, h.voice);
    voice_client_dial(&bob, 8);
    voice_client_ready(&bob);
    expect(lists(dom_at(voice_client_await(&bob, 11), "d.user_ids"), h.ada));
    expect(lists(dom_at(voice_client_await(&ada, 11), "d.user_ids"), h.bob));
    /* Who comes late hears who speaks already, once media may flow. */
    voice_client_select(&bob, VOICE_CLIENT_CHACHA);
    const struct dom *m = voice_client_await(&bob, 5);
    expect(str_is(dom_at(m, "d.user_id")->text, h.ada->id));
    expect(strtoul(dom_at(m, "d.ssrc")->text.p, NULL, 10) == ada.ssrc);
    expect(str_is(dom_at(m, "d.speaking")->text, "1"));
    /* Priority is not for everybody; sound of a stream may be shared. */
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
    /* Somebody else's SSRC is not announced. */
    conn_send(bob.gate, "{'op': 12, 'd': {'audio_ssrc': 1, 'video_ssrc': %u}}", ada.ssrc);
    leave_voice(&h, h.bob, NULL);
    expect_close(bob.gate, 4014);
    expect(str_is(dom_at(voice_client_await(&ada, 13), "d.user_id")->text, h.bob->id));
    voice_client_expect_none(&ada, 12);
    voice_client_hang_up(&ada);
}

static const char *speaking_of(struct voice_client *p)
{
    return str_dupz(world_arena(p->client->world),
                    dom_at(voice_client_await(p, 5), "d.speaking")->text);
}

static void priority_is_for_who_has_the_right(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    const char *allow = TEXT(w, "{'type': 1, 'allow': '%llu'}", BITS(PERMISSION(PRIORITY_SPEAKER))),
               *deny = "{'type': 1, 'allow': '0'}";

    /* The owner has all rights. */
    conn_send(ada.gate, "{'op': 5, 'd': {'speaking': 5}}");
    expect(strcmp(speaking_of(&bob), "5") == 0);
    conn_send(bob.gate, "{'op': 5, 'd': {'speaking': 5}}");
    expect(strcmp(speaking_of(&ada), "1") == 0);
    /* The right comes and goes while it speaks, and nobody else is told of its state. */
    expect_status(client_put(h.ada, allow, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
    expect(strcmp(speaking_of(&ada), "5") == 0);
    expect_status(client_put(h.ada, deny, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
    expect(strcmp(speaking_of(&ada), "1") == 0);
    conn_send(bob.gate, "{'op': 5, 'd': {'speaking': 4}}");
    expect(strcmp(speaking_of(&ada), "0") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void private_calls_are_named_by_their_channel(struct world *w)
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

/* --- coming back ---------------------------------------------------------------------- */

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

static void who_comes_back_is_told_what_it_missed(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);
    struct voice_client bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_CHACHA);

    /* Ready 1, description 2, clients 3. */
    expect(str_is(dom_at(voice_client_await(&ada, 11), "seq")->text, "3"));
    conn_kill(ada.gate);
    voice_client_say(&bob, "before");
    expect_heard(&ada, &bob, "before");
    voice_client_resume(&ada, 8, 3);
    expect_op(ada.gate, 9);
    const struct dom *m = expect_op(ada.gate, 5);
    expect(str_is(dom_at(m, "seq")->text, "4"));
    expect(str_is(dom_at(m, "d.user_id")->text, h.bob->id));
    /* Nothing has changed for media. */
    voice_client_say(&ada, "again");
    expect_heard(&bob, &ada, "again");
    /* A second one takes its place, and may ask for all. */
    struct gateway_conn *old = ada.gate;
    voice_client_resume(&ada, 8, -1);
    expect_op(ada.gate, 9);
    expect(str_is(dom_at(expect_op(ada.gate, 2), "seq")->text, "1"));
    expect_close(old, 4014);
    /* A list of those who are there is made anew, under its number. */
    conn_kill(bob.gate);
    voice_client_resume(&bob, 8, 1);
    expect_op(bob.gate, 9);
    const struct dom *list = expect_op(bob.gate, 11);
    expect(str_is(dom_at(list, "seq")->text, "2"));
    expect(lists(dom_at(list, "d.user_ids"), h.ada));
    expect(str_is(dom_at(expect_op(bob.gate, 4), "seq")->text, "3"));
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static int seats_of(struct world *w)
{
    static const char name[] = "\nguildhall_voice_seats ";
    struct answer a = client_request(world_stranger(w), "GET", "/metrics", "", STR(""));
    const char *at = memmem(a.body.p, a.body.n, name, sizeof name - 1);

    expect(at);
    return atoi(at + sizeof name - 1);
}

static void a_session_is_not_resumed(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES), wrong = ada;

    /* With another's number, from the future, with what was acknowledged already. */
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
    /* Of another channel than it is in; version 9 has to say one. */
    voice_client_resume_in(&wrong, 9, 2, TEXT(w, ", 'channel_id': '%s'", h.other));
    expect_close(wrong.gate, 4006);
    voice_client_resume_in(&wrong, 9, 2, "");
    expect_close(wrong.gate, 4020);
    voice_client_resume_in(&wrong, 9, 2, TEXT(w, ", 'channel_id': '%s'", h.voice));
    expect_op(wrong.gate, 9);
    /* After a minute without a socket it is over. */
    conn_kill(wrong.gate);
    while (seats_of(w) != 0)
        world_wait(w, 61);
    voice_client_resume(&wrong, 8, 2);
    expect_close(wrong.gate, 4006);
    voice_client_hang_up(&ada);
}

static void old_versions_have_no_numbers(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 4);
    expect(!dom_at(voice_client_ready(&p), "seq"));
    conn_kill(p.gate);
    voice_client_resume(&p, 4, -1);
    expect_op(p.gate, 9);
}

/* The row of a state says a moment later what has become of its socket. */
static void await_sockets(struct world *w, int64_t count)
{
    for (int i = 0; i < 3000; i++) {
        if (world_number(w, "select count(*) from voice_states where live = 1") == count)
            return;
        usleep(10 * 1000);
    }
    fail_test(__FILE__, __LINE__, "no state says that %lld sockets are open", (long long)count);
}

static void who_has_a_socket_is_not_told_again_where_it_is(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = voice_client_join(&h, h.ada, h.voice);

    voice_client_dial(&p, 8);
    voice_client_connect(&p, VOICE_CLIENT_AES);
    await_sockets(w, 1);
    world_wait(w, 2);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_mute': true");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': true}");
    expect_no_voice(h.ada, 300);
    conn_close(p.gate, 4000);
    await_sockets(w, 0);
    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'self_mute': false}");
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{}");
    voice_client_hang_up(&p);
}

/* discordgo names no version, and reads the interval of its heartbeats in Ready. */
static void a_client_that_names_no_version_is_served_the_oldest(struct world *w)
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

/* The request may be read before the end of the socket is known: then the update follows. */
static void who_closes_its_socket_and_asks_again_is_always_answered(struct world *w)
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
    TEST_WITH(who_closes_its_socket_and_asks_again_is_always_answered, with_relay),
    TEST_WITH(a_client_that_names_no_version_is_served_the_oldest, with_relay),
    TEST_WITH(the_endpoint_is_this_server, with_relay),
    TEST_WITH(the_endpoint_is_what_the_world_calls_us, with_public_url),
    TEST_WITH(another_host_may_carry_voice, with_another_host),
    TEST_WITH(a_client_is_told_where_media_goes, with_relay),
    TEST_WITH(wrong_claims_are_refused, with_relay),
    TEST_WITH(messages_are_read_strictly, with_relay),
    TEST_WITH(protocols_and_modes_are_checked, with_relay),
    TEST_WITH(the_old_mode_can_be_turned_off, without_the_old_mode),
    TEST_WITH(the_answer_to_which_version_has_a_number, with_relay),
    TEST_WITH(heartbeats_are_answered_as_the_version_asks, with_relay),
    TEST_WITH(who_does_not_beat_is_closed, with_relay),
    TEST_WITH(people_hear_who_comes_speaks_and_goes, with_relay),
    TEST_WITH(priority_is_for_who_has_the_right, with_relay),
    TEST_WITH(private_calls_are_named_by_their_channel, with_relay),
    TEST_WITH(who_comes_back_is_told_what_it_missed, with_relay),
    TEST_WITH(a_session_is_not_resumed, with_relay),
    TEST_WITH(old_versions_have_no_numbers, with_relay),
    TEST_WITH(who_has_a_socket_is_not_told_again_where_it_is, with_relay),
    { 0 },
};
