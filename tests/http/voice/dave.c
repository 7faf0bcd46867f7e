/* dave.c - end-to-end encryption of voice (DAVE): versions, binary messages, refusals, resume. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "relay/dave/group.h"
#include "streams.h"
#include "support/dave.h"
#include "voice_client.h"

enum { BINARY = 2, PROPOSALS_MAX = 8 };

static void configure_required_e2ee(struct config *config)
{
    with_relay(config);
    config->voice_e2ee = "require";
}

static void configure_disabled_e2ee(struct config *config)
{
    with_relay(config);
    config->voice_e2ee = "off";
}

static long read_metric(struct world *w, const char *name)
{
    struct answer a = client_request(world_anonymous(w), "GET", "/metrics", "", STR(""));
    const char *text = str_dup_cstring(world_arena(w), a.body),
               *line = strstr(text, TEXT(w, "\nguildhall_voice_%s ", name));

    expect(line);
    return atol(strchr(line, ' '));
}

static long number_at(const struct dom *m, const char *path)
{
    expect(dom_at(m, path));
    return strtol(dom_at(m, path)->text.p, NULL, 10);
}

/* --- clients with DAVE ---------------------------------------------------------------- */

static uint64_t user_id(const struct voice_client *p)
{
    return strtoull(p->client->id, NULL, 10);
}

static struct voice_client identify(const struct test_voice *h, struct client *c,
                                    const char *channel, int version, unsigned dave)
{
    struct voice_client p = voice_client_join(h, c, channel);

    p.dave = dave;
    voice_client_dial(&p, version);
    return p;
}

static struct voice_client connect_with_dave_version(const struct test_voice *h, struct client *c,
                                                     const char *channel, unsigned dave)
{
    struct voice_client p = identify(h, c, channel, 8, dave);

    voice_client_connect(&p, VOICE_CLIENT_AES);
    return p;
}

static void send_binary(struct voice_client *p, int op, struct str payload)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_char(&b, (char)op);
    buf_add_str(&b, payload);
    conn_send_bytes(p->gate, BINARY, buf_as_str(&b));
    buf_clear(&b);
}

static void send_key_package(struct voice_client *p, enum dave_fault fault)
{
    struct dave_identity id;
    struct buf b;

    identity_init(&id, user_id(p));
    buf_init(&b, 4096);
    dave_write_package(&b, &id, fault);
    send_binary(p, DAVE_KEY_PACKAGE, buf_as_str(&b));
    buf_clear(&b);
    identity_clear(&id);
}

/* Answers opcode 25 with a key package. */
static struct voice_client join_with_key_package(const struct test_voice *h, struct client *c,
                                                 const char *channel)
{
    struct voice_client p = connect_with_dave_version(h, c, channel, 1);

    expect(p.described == 1);
    voice_client_await(&p, DAVE_EXTERNAL_SENDER);
    send_key_package(&p, FAULT_NONE);
    return p;
}

/* Commits the proposals of opcode 27, which was read last. */
static void commit(struct voice_client *p, snowflake group, uint64_t epoch, uint32_t leaf)
{
    struct mls_reader r = { .rest = conn_frame(p->gate) };
    unsigned char refs[PROPOSALS_MAX][MLS_HASH], added[PROPOSALS_MAX][MLS_HASH];
    size_t count = 0, adds = 0;
    struct dave_received received;
    struct buf b;

    expect(mls_read_number(&r, 1) == 0);
    struct mls_reader list = { .rest = mls_read_vector(&r) };
    while (list.rest.n && !list.failed && count < PROPOSALS_MAX) {
        dave_read_proposal(&list, STR(""), &received);
        memcpy(refs[count++], received.ref, MLS_HASH);
        if (received.adds)
            memcpy(added[adds++], received.package_ref, MLS_HASH);
    }
    expect(!list.failed && count);
    struct dave_commit c = { group, epoch, leaf, refs, count, NULL };
    buf_init(&b, 1 << 16);
    dave_write_commit(&b, &c, FAULT_NONE);
    if (adds)
        dave_write_welcome(&b, added, adds);
    send_binary(p, DAVE_COMMIT_WELCOME, buf_as_str(&b));
    buf_clear(&b);
}

/* Reads the transition of opcode 29 or 30. */
static unsigned await_commit(struct voice_client *p, enum dave_opcode op)
{
    voice_client_await(p, (int)op);
    struct mls_reader r = { .rest = conn_frame(p->gate) };
    return (unsigned)mls_read_number(&r, 2);
}

static void expect_no_dave_message(struct voice_client *p)
{
    conn_send(p->gate, "{'op': 3, 'd': {'t': 1}}");
    for (;;) {
        const struct dom *m = conn_read(p->gate, 60000);

        expect(m);
        if (number_at(m, "op") == 6)
            return;
        expect(number_at(m, "op") < 21 || number_at(m, "op") > 30);
    }
}

/* Ada and bob form a group: ada has leaf 0, bob leaf 1, the epoch is 1. */
static void form_group(const struct test_voice *h, struct voice_client *ada,
                       struct voice_client *bob)
{
    *ada = join_with_key_package(h, h->ada, h->voice);
    voice_client_flush(ada);
    *bob = join_with_key_package(h, h->bob, h->voice);
    voice_client_await(bob, DAVE_PROPOSALS);
    voice_client_await(ada, DAVE_PROPOSALS);
    commit(ada, strtoull(h->voice, NULL, 10), 0, 0);
    expect(await_commit(ada, DAVE_ANNOUNCE_COMMIT) == 0);
    expect(await_commit(bob, DAVE_WELCOME) == 0);
}

/* --- negotiation ---------------------------------------------------------------------- */

static void clients_with_dave_form_a_group(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada, bob;

    form_group(&h, &ada, &bob);
    expect(read_metric(w, "encrypted_rooms") == 1 && read_metric(w, "rooms") == 1);
    expect(read_metric(w, "dave_epochs_total") == 1);
    expect(read_metric(w, "dave_transitions_total") == 0);
    voice_client_say(&ada, "sealed\xfa\xfa");
    expect_audio(&bob, &ada, "sealed\xfa\xfa");
    /* The last member starts again. */
    leave_voice(&h, h.bob, NULL);
    expect_cut(&bob, 4014);
    voice_client_await(&ada, 13);
    const struct dom *m = voice_client_await(&ada, DAVE_PREPARE_EPOCH);
    expect(number_at(m, "d.protocol_version") == 1 && number_at(m, "d.epoch") == 1);
    m = voice_client_await(&ada, DAVE_PREPARE_TRANSITION);
    expect(number_at(m, "d.transition_id") == 0);
    voice_client_await(&ada, DAVE_EXTERNAL_SENDER);
    voice_client_hang_up(&ada);
    ask_voice(h.ada, h.guild, NULL, "");
    expect_cut(&ada, 4014);
    expect(read_metric(w, "encrypted_rooms") == 0);
}

static void binary_messages_have_sequence_numbers_from_version_8_on(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = identify(&h, h.ada, h.voice, 8, 1);

    voice_client_connect(&p, VOICE_CLIENT_AES);
    /* READY is 1, session description 2. */
    expect(number_at(voice_client_await(&p, DAVE_EXTERNAL_SENDER), "seq") == 3);
    struct mls_reader r = { .rest = conn_frame(p.gate) };
    expect(mls_read_vector(&r).n == MLS_PUBLIC_KEY && mls_read_number(&r, 2) == 1);
    mls_read_vector(&r);
    expect(!r.failed && !r.rest.n);
    voice_client_hang_up(&p);
    struct voice_client old = identify(&h, h.bob, h.voice, 7, 1);
    voice_client_connect(&old, VOICE_CLIENT_AES);
    voice_client_await(&old, DAVE_EXTERNAL_SENDER);
    r = (struct mls_reader){ .rest = conn_frame(old.gate) };
    expect(mls_read_vector(&r).n == MLS_PUBLIC_KEY && mls_read_number(&r, 2) == 1);
    /* Without sequence numbers nothing is stored, so a resumed client starts again. */
    conn_kill(old.gate);
    old.gate = conn_open_at(h.bob, "/voice?v=7");
    expect_op(old.gate, 8);
    conn_send(old.gate, "{'op': 7, 'd': {'server_id': '%s', 'session_id': '%s', 'token': '%s'}}",
              old.guild, old.session, old.token);
    voice_client_await(&old, 9);
    voice_client_await(&old, DAVE_PREPARE_EPOCH);
    voice_client_await(&old, DAVE_EXTERNAL_SENDER);
    voice_client_hang_up(&old);
}

static void client_without_dave_downgrades_the_call_until_it_leaves(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada, bob;
    struct client *carol = test_voice_member(&h, "carol", 0);

    form_group(&h, &ada, &bob);
    struct voice_client plain = connect_with_dave_version(&h, carol, h.voice, 0);
    expect(plain.described == 0);
    const struct dom *m = voice_client_await(&ada, DAVE_PREPARE_TRANSITION);
    long transition = number_at(m, "d.transition_id");
    expect(transition > 0 && number_at(m, "d.protocol_version") == 0);
    voice_client_await(&bob, DAVE_PREPARE_TRANSITION);
    /* Encrypted frames are not sent to clients that cannot decode them. */
    voice_client_say(&ada, "sealed\xfa\xfa");
    voice_client_say(&ada, "plain");
    expect_audio(&plain, &ada, "plain");
    expect_audio(&bob, &ada, "sealed\xfa\xfa");
    expect_audio(&bob, &ada, "plain");
    conn_send(ada.gate, "{'op': 23, 'd': {'transition_id': %ld}}", transition);
    conn_send(bob.gate, "{'op': 23, 'd': {'transition_id': %ld}}", transition);
    expect(number_at(voice_client_await(&ada, DAVE_EXECUTE_TRANSITION), "d.transition_id") ==
           transition);
    voice_client_await(&bob, DAVE_EXECUTE_TRANSITION);
    expect(read_metric(w, "encrypted_rooms") == 0);
    expect(read_metric(w, "dave_downgrades_total") == 1);
    /* Frames of a client without DAVE are never held back. */
    voice_client_say(&plain, "mine\xfa\xfa");
    expect_audio(&ada, &plain, "mine\xfa\xfa");
    expect_no_dave_message(&plain);
    leave_voice(&h, carol, NULL);
    expect_close(plain.gate, 4014);
    voice_client_await(&ada, DAVE_PREPARE_EPOCH);
    voice_client_await(&ada, DAVE_EXTERNAL_SENDER);
    voice_client_await(&bob, DAVE_PREPARE_EPOCH);
    expect(read_metric(w, "encrypted_rooms") == 1);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
    voice_client_hang_up(&plain);
}

static void transition_is_executed_after_two_seconds_without_answers(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = join_with_key_package(&h, h.ada, h.voice),
                        plain = connect_with_dave_version(&h, h.bob, h.voice, 0);

    voice_client_await(&ada, DAVE_PREPARE_TRANSITION);
    voice_client_await(&ada, DAVE_EXECUTE_TRANSITION);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&plain);
}

static void udp_client_without_media_is_not_in_the_dave_group(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = join_with_key_package(&h, h.ada, h.voice),
                        observer = identify(&h, h.bob, h.voice, 8, 0);

    voice_client_ready(&observer);
    voice_client_select(&observer, VOICE_CLIENT_AES);
    expect(observer.described == 0);
    expect_no_dave_message(&observer);
    expect_no_dave_message(&ada);
    expect(read_metric(w, "encrypted_rooms") == 1);
    /* The client counts once it sends media. */
    observer.fd = voice_client_socket();
    voice_client_say(&observer, "hello");
    expect_audio(&ada, &observer, "hello");
    voice_client_await(&ada, DAVE_PREPARE_TRANSITION);
    expect(read_metric(w, "encrypted_rooms") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&observer);
}

static void late_media_of_a_client_with_dave_starts_encryption(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = identify(&h, h.ada, h.voice, 8, 1);

    voice_client_ready(&p);
    voice_client_select(&p, VOICE_CLIENT_AES);
    expect(p.described == 0);
    p.fd = voice_client_socket();
    voice_client_say(&p, "hello");
    voice_client_await(&p, DAVE_PREPARE_EPOCH);
    voice_client_await(&p, DAVE_EXTERNAL_SENDER);
    voice_client_hang_up(&p);
}

static void stages_are_never_encrypted(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = connect_with_dave_version(&h, h.ada, h.stage, 1),
                        bob = connect_with_dave_version(&h, h.bob, h.stage, 0);

    expect(ada.described == 0 && bob.described == 0);
    expect_no_dave_message(&ada);
    expect_no_dave_message(&bob);
    expect(read_metric(w, "encrypted_rooms") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void voice_e2ee_option_off_disables_dave(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = connect_with_dave_version(&h, h.ada, h.voice, 1);

    expect(ada.described == 0);
    send_key_package(&ada, FAULT_NONE);
    expect_no_dave_message(&ada);
    voice_client_hang_up(&ada);
}

static void voice_e2ee_option_require_refuses_clients_without_dave(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = join_with_key_package(&h, h.ada, h.voice),
                        bob = identify(&h, h.bob, h.voice, 8, 0);
    char address[64];
    int port;

    voice_client_ready(&bob);
    bob.fd = voice_client_socket();
    expect(voice_client_discover(w, bob.fd, bob.port, bob.ssrc, address, &port));
    conn_send(bob.gate, "{'op': 1, 'd': {'protocol': 'udp', 'data': {'address': '127.0.0.1', "
                        "'port': 1, 'mode': 'aead_aes256_gcm_rtpsize'}}}");
    expect_cut(&bob, 4017);
    voice_client_await(&ada, 13);
    expect_no_dave_message(&ada);
    /* An observer may stay, but its media is dropped. */
    voice_client_dial(&bob, 8);
    voice_client_ready(&bob);
    voice_client_select(&bob, VOICE_CLIENT_AES);
    voice_client_say(&bob, "hello");
    expect_deaf(&ada);
    expect_no_dave_message(&ada);
    voice_client_hang_up(&bob);
    voice_client_hang_up(&ada);
    bob = connect_with_dave_version(&h, h.bob, h.stage, 0);
    expect(bob.described == 0);
    voice_client_hang_up(&bob);
}

/* --- streams -------------------------------------------------------------------------- */

static struct voice_client connect_to_stream(struct client *c)
{
    struct arena *arena = world_arena(c->world);
    struct voice_client p = { .client = c, .fd = -1, .session = conn_id(c->gate), .dave = 1 };

    p.guild = str_dup_cstring(
        arena, dom_at(expect_stream(c, "STREAM_CREATE", "{}"), "rtc_server_id")->text);
    p.token = str_dup_cstring(
        arena, dom_at(expect_stream(c, "STREAM_SERVER_UPDATE", "{}"), "token")->text);
    voice_client_dial(&p, 8);
    voice_client_connect(&p, VOICE_CLIENT_AES);
    expect(p.described == 1);
    voice_client_await(&p, DAVE_EXTERNAL_SENDER);
    send_key_package(&p, FAULT_NONE);
    return p;
}

static void each_stream_has_a_separate_dave_group(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    ask_stream(h.ada, h.guild, h.voice, "");
    struct voice_client ada = connect_to_stream(h.ada);
    ask_about_stream(h.bob, 20, stream_key(&h, h.voice, h.ada));
    struct voice_client bob = connect_to_stream(h.bob);
    voice_client_await(&bob, DAVE_PROPOSALS);
    voice_client_await(&ada, DAVE_PROPOSALS);
    commit(&ada, strtoull(ada.guild, NULL, 10) - 1, 0, 0);
    await_commit(&ada, DAVE_ANNOUNCE_COMMIT);
    await_commit(&bob, DAVE_WELCOME);
    expect(read_metric(w, "encrypted_rooms") == 1);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- refusals ------------------------------------------------------------------------- */

static void malformed_binary_messages_close_the_connection(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    size_t limit = 1 + (size_t)DAVE_COMMIT_BYTES;
    char *large = arena_alloc(world_arena(w), limit + 1);
    const struct {
        struct str message;
        int code;
    } rows[] = {
        { STR(""), 4002 },
        { STR("\x1b"), 4001 },
        { STR("\0"), 4001 },
        { STR("\x1a"
              "garbage"),
          4020 },
        { str_slice(large, limit + 1), 4002 },
    };

    large[0] = DAVE_COMMIT_WELCOME;
    struct gateway_conn *g = conn_open_at(h.ada, "/voice?v=8");
    expect_op(g, 8);
    conn_send_bytes(g, BINARY, STR("\x1a"));
    expect_close(g, 4003);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct voice_client p = connect_with_dave_version(&h, h.ada, h.voice, 1);

        conn_send_bytes(p.gate, BINARY, rows[i].message);
        expect_cut(&p, rows[i].code);
        voice_client_hang_up(&p);
    }
    expect(read_metric(w, "dave_refused_key_packages_total") == 1);
    /* An invalid commit is counted and ignored. */
    struct voice_client p = connect_with_dave_version(&h, h.ada, h.voice, 1);
    conn_send_bytes(p.gate, BINARY, str_slice(large, limit));
    voice_client_flush(&p);
    expect(read_metric(w, "dave_refused_commits_total") == 1);
    conn_send(p.gate, "{'op': 31, 'd': {'transition_id': 0}}");
    conn_send(p.gate, "{'op': 23, 'd': {'transition_id': 7}}");
    voice_client_flush(&p);
    conn_send(p.gate, "{'op': 23, 'd': {'transition_id': 65536}}");
    expect_cut(&p, 4020);
    voice_client_hang_up(&p);
}

static void key_packages_are_verified_and_limited(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = connect_with_dave_version(&h, h.ada, h.voice, 1);

    send_key_package(&p, FAULT_IDENTITY);
    expect_cut(&p, 4020);
    voice_client_hang_up(&p);
    p = join_with_key_package(&h, h.ada, h.voice);
    for (int i = 0; i < DAVE_KEY_PACKAGES; i++)
        send_key_package(&p, FAULT_NONE);
    voice_client_flush(&p);
    send_key_package(&p, FAULT_NONE);
    expect_cut(&p, 4021);
    expect(read_metric(w, "dave_refused_key_packages_total") == 2);
    voice_client_hang_up(&p);
}

static void voice_protocol_selections_are_rate_limited(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client p = connect_with_dave_version(&h, h.ada, h.voice, 1);

    /* Each selection starts encryption again. */
    for (int i = 1; i < 30; i++) {
        voice_client_select(&p, VOICE_CLIENT_AES);
        expect(p.described == 1);
        voice_client_await(&p, DAVE_EXTERNAL_SENDER);
    }
    conn_send(p.gate, "{'op': 1, 'd': {'protocol': 'udp', 'data': {'address': '127.0.0.1', "
                      "'port': 1, 'mode': 'aead_aes256_gcm_rtpsize'}}}");
    expect_cut(&p, 4021);
    voice_client_hang_up(&p);
}

/* --- resume --------------------------------------------------------------------------- */

static void resumed_client_gets_the_messages_of_a_new_epoch(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada, bob;
    struct client *user = test_voice_member(&h, "carol", 0);

    form_group(&h, &ada, &bob);
    conn_send(ada.gate, "{'op': 16, 'd': {}}");
    long seq = number_at(voice_client_await(&ada, 16), "seq");
    conn_kill(ada.gate);
    struct voice_client carol = join_with_key_package(&h, user, h.voice);
    voice_client_await(&bob, DAVE_PROPOSALS);
    commit(&bob, strtoull(h.voice, NULL, 10), 1, 1);
    unsigned transition = await_commit(&bob, DAVE_ANNOUNCE_COMMIT);
    expect(transition > 0 && await_commit(&carol, DAVE_WELCOME) == transition);
    /* The disconnected client is still a member, and no Remove is proposed. */
    voice_client_await(&bob, DAVE_EXECUTE_TRANSITION);
    expect_no_dave_message(&bob);
    ada.gate = conn_open_at(h.ada, "/voice?v=8");
    expect_op(ada.gate, 8);
    conn_send(ada.gate,
              "{'op': 7, 'd': {'server_id': '%s', 'session_id': '%s', 'token': '%s', "
              "'seq_ack': %ld}}",
              ada.guild, ada.session, ada.token, seq);
    expect_op(ada.gate, 9);
    expect(number_at(expect_op(ada.gate, 11), "seq") == seq + 1);
    expect(number_at(expect_op(ada.gate, DAVE_PROPOSALS), "seq") == seq + 2);
    expect(number_at(expect_op(ada.gate, DAVE_ANNOUNCE_COMMIT), "seq") == seq + 3);
    expect(number_at(expect_op(ada.gate, DAVE_EXECUTE_TRANSITION), "seq") == seq + 4);
    /* The client takes part in the next epoch. */
    leave_voice(&h, user, NULL);
    voice_client_await(&ada, DAVE_PROPOSALS);
    commit(&ada, strtoull(h.voice, NULL, 10), 2, 0);
    expect(await_commit(&bob, DAVE_ANNOUNCE_COMMIT) == transition + 1);
    expect(read_metric(w, "dave_epochs_total") == 3);
    expect(read_metric(w, "dave_refused_commits_total") == 0);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
    voice_client_hang_up(&carol);
}

/* The new transport has no address until the first STUN request. Until then the client is no
 * member, because its session description says that the call is not encrypted. */
static void selecting_webrtc_in_an_encrypted_call_leaves_the_group(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada, bob;

    form_group(&h, &ada, &bob);
    conn_send(bob.gate, "{'op': 1, 'd': {'protocol': 'webrtc', 'data': "
                        "'a=ice-ufrag:abcd\\na=ice-pwd:0123456789012345678901\\n"
                        "a=fingerprint:sha-256 00:11\\na=rtpmap:111 opus/48000/2'}}");
    expect(number_at(voice_client_await(&bob, 4), "d.dave_protocol_version") == 0);
    voice_client_await(&ada, DAVE_PREPARE_EPOCH); /* the only member */
    voice_client_await(&ada, DAVE_EXTERNAL_SENDER);
    send_key_package(&ada, FAULT_NONE);
    /* With an address, the client is a member again. */
    voice_client_select(&bob, VOICE_CLIENT_AES);
    expect(bob.described == 1);
    voice_client_await(&bob, DAVE_EXTERNAL_SENDER);
    send_key_package(&bob, FAULT_NONE);
    voice_client_await(&ada, DAVE_PROPOSALS);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

const struct test voice_dave_tests[] = {
    TEST_WITH(clients_with_dave_form_a_group, with_relay),
    TEST_WITH(binary_messages_have_sequence_numbers_from_version_8_on, with_relay),
    TEST_WITH(client_without_dave_downgrades_the_call_until_it_leaves, with_relay),
    TEST_WITH(transition_is_executed_after_two_seconds_without_answers, with_relay),
    TEST_WITH(udp_client_without_media_is_not_in_the_dave_group, with_relay),
    TEST_WITH(late_media_of_a_client_with_dave_starts_encryption, with_relay),
    TEST_WITH(stages_are_never_encrypted, configure_required_e2ee),
    TEST_WITH(voice_e2ee_option_off_disables_dave, configure_disabled_e2ee),
    TEST_WITH(voice_e2ee_option_require_refuses_clients_without_dave, configure_required_e2ee),
    TEST_WITH(each_stream_has_a_separate_dave_group, with_relay),
    TEST_WITH(malformed_binary_messages_close_the_connection, with_relay),
    TEST_WITH(key_packages_are_verified_and_limited, with_relay),
    TEST_WITH(voice_protocol_selections_are_rate_limited, with_relay),
    TEST_WITH(resumed_client_gets_the_messages_of_a_new_epoch, with_relay),
    TEST_WITH(selecting_webrtc_in_an_encrypted_call_leaves_the_group, with_relay),
    { 0 },
};
