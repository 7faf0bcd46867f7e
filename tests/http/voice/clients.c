/* clients.c - voice clients of all gateway versions, platforms and address families, and
 * their limits. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "voice_client.h"

/* The announced address is not local, so the relay listens on all addresses. */
static void configure_both_address_families(struct config *config)
{
    with_relay(config);
    config->listen = "[::]:0";
    config->voice_address = "192.0.2.1";
}

/* --- versions ------------------------------------------------------------------------- */

static bool is_number(const struct dom *d, const char *text)
{
    return d && d->kind == JSON_NUMBER && str_is(d->text, text);
}

static void expect_heartbeat_ack(struct voice_client *p)
{
    conn_send(p->gate, p->version < 8 ? "{'op': 3, 'd': 71}" : "{'op': 3, 'd': {'t': 71}}");
    expect(is_number(dom_at(voice_client_await(p, 6), p->version < 8 ? "d" : "d.t"), "71"));
}

/* Opcodes of the server are ignored, and key packages while the call is not encrypted. */
static void expect_voice_opcodes_ignored(struct voice_client *p)
{
    static const int ops[] = { 2, 4, 9, 11, 13, 17, 18, 20, 21, 26, 33, 63 };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        conn_send(p->gate, "{'op': %d, 'd': {'user_id': '1'}}", ops[i]);
    conn_send_bytes(p->gate, 2, str_slice("\x1a\0\1", 3));
    conn_send(p->gate, "{'op': 16, 'd': {}}");
    expect(dom_at(voice_client_await(p, 16), "d.voice"));
}

static void voice_client_connect_again(struct voice_client *p, int version, const char *channel)
{
    voice_client_hang_up(p);
    p->more = TEXT(p->client->world, ", 'channel_id': '%s'", channel);
    voice_client_dial(p, version);
    expect(!!dom_at(voice_client_ready(p), "seq") == (version >= 8));
    p->fd = voice_client_socket();
    char address[64];
    int port;
    expect(voice_client_discover(p->client->world, p->fd, p->port, p->ssrc, address, &port));
    voice_client_select(p, version == 4 ? VOICE_CLIENT_SALSA : VOICE_CLIENT_AES);
    p->counter = p->sequence = 0;
    p->timestamp = 0;
}

static void voice_gateway_versions_4_to_9_are_supported(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_join(&h, h.ada, h.voice),
                        bob = voice_client_join(&h, h.bob, h.voice);

    for (int version = 4; version <= 9; version++) {
        voice_client_connect_again(&ada, version, h.voice);
        voice_client_connect_again(&bob, version, h.voice);
        expect_heartbeat_ack(&bob);
        expect_voice_opcodes_ignored(&bob);
        conn_send(ada.gate, "{'op': 5, 'd': {'speaking': 1, 'delay': 0, 'ssrc': %u}}", ada.ssrc);
        const struct dom *m = voice_client_await(&bob, 5);
        expect(str_is(dom_at(m, "d.user_id")->text, h.ada->id));
        expect(!!dom_at(m, "seq") == (version >= 8));
        voice_client_say(&ada, "hello");
        expect_audio(&bob, &ada, "hello");
    }
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- client properties ---------------------------------------------------------------- */

static void connect_with_browser(struct client *c, const char *browser)
{
    c->gate = conn_session(
        c, "v=10", TEXT(c->world, "'properties': {'os': 'test', 'browser': '%s'}", browser));
}

static void expect_value_about_participant(struct voice_client *p, int op,
                                           const struct client *about, const char *name,
                                           const char *value)
{
    const struct dom *m = voice_client_await(p, op), *v = dom_at(m, name);

    expect(str_is(dom_at(m, "d.user_id")->text, about->id));
    expect(v && (value ? is_number(v, value) : v->kind == JSON_NULL));
}

/* Only known flags are forwarded. */
static void voice_client_flags_are_sent_to_other_participants(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_join_with(&h, h.ada, h.voice, ", 'flags': 11"), bob;

    voice_client_dial(&ada, 8);
    voice_client_connect(&ada, VOICE_CLIENT_AES);
    bob = voice_client_join_with(&h, h.bob, h.voice, ", 'flags': 4");
    voice_client_dial(&bob, 8);
    voice_client_ready(&bob);
    voice_client_await(&bob, 11);
    expect_value_about_participant(&bob, 18, h.ada, "d.flags", "3");
    voice_client_await(&ada, 11);
    expect_value_about_participant(&ada, 18, h.bob, "d.flags", "4");
    /* Unchanged flags are not sent again. */
    ask_voice(h.ada, h.guild, h.voice, ", 'flags': 3, 'self_mute': true");
    await_self_mute(h.bob);
    voice_client_expect_none(&bob, 18);
    ask_voice(h.ada, h.guild, h.voice, ", 'flags': 1");
    expect_value_about_participant(&bob, 18, h.ada, "d.flags", "1");
    ask_voice(h.ada, h.guild, h.voice, "");
    expect_value_about_participant(&bob, 18, h.ada, "d.flags", NULL);
    voice_client_expect_none(&ada, 18);
    voice_client_hang_up(&ada);
}

static void voice_client_platform_is_sent_to_other_participants(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *carl = test_voice_member(&h, "carl", 0), *robot = test_voice_bot(&h, "robot");

    connect_with_browser(h.ada, "Chat Client");
    connect_with_browser(h.bob, "Chat Android");
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES), bob, third,
                        bot;
    bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    expect_value_about_participant(&ada, 20, h.bob, "d.platform", "1");
    /* A browser client and a bot get the others' platforms; theirs are not sent. */
    third = voice_client_join(&h, carl, h.voice);
    voice_client_dial(&third, 8);
    voice_client_ready(&third);
    voice_client_await(&third, 11);
    expect_value_about_participant(&third, 20, h.ada, "d.platform", "0");
    expect_value_about_participant(&third, 20, h.bob, "d.platform", "1");
    bot = voice_client_join(&h, robot, h.voice);
    voice_client_dial(&bot, 8);
    voice_client_ready(&bot);
    expect_value_about_participant(&bot, 20, h.ada, "d.platform", "0");
    voice_client_expect_none(&ada, 20);
    voice_client_expect_none(&bob, 18);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- limits --------------------------------------------------------------------------- */

static void voice_gateway_limits_payload_rate_and_size(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct gateway_conn *g = conn_open_at(h.ada, "/voice?v=8");
    char *large = arena_alloc(world_arena(w), 16 * 1024 + 1);

    expect_op(g, 8);
    for (int i = 0; i < 600; i++)
        conn_send(g, "{'op': 3, 'd': {'t': 1}}");
    for (int i = 0; i < 600; i++)
        expect_op(g, 6);
    conn_send(g, "{'op': 3, 'd': {'t': 1}}");
    expect_close(g, 4021);
    g = conn_open_at(h.ada, "/voice?v=8");
    expect_op(g, 8);
    memset(large, ' ', 16 * 1024 + 1);
    memcpy(large, "{\"op\":3,\"d\":{}}", 15);
    conn_send_bytes(g, 1, str_slice(large, 16 * 1024));
    expect_op(g, 6);
    conn_send_bytes(g, 1, str_slice(large, 16 * 1024 + 1));
    expect_close(g, 4002);
}

static void address_is_limited_to_64_unidentified_voice_connections(struct world *w)
{
    struct client *c = world_client(w, "ada");
    struct gateway_conn *first = conn_open_at(c, "/voice?v=8"), *g = NULL;

    expect_op(first, 8);
    for (int i = 1; i < 64; i++)
        expect_op(g = conn_open_at(c, "/voice?v=8"), 8);
    expect_close(conn_open_at(c, "/voice?v=8"), 4021);
    /* A closed connection makes room for another. */
    conn_close(g, 1000);
    bool taken = false;
    for (int i = 0; i < 1000 && !taken; i++)
        taken = conn_read(conn_open_at(c, "/voice?v=8"), 60000);
    expect(taken);
    /* An unidentified connection is closed after 30 seconds. */
    world_wait(w, 31);
    expect_close(first, 4003);
}

/* --- addresses ------------------------------------------------------------------------ */

static int open_ipv6_socket(void)
{
    struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The relay returns the client's address in its own family: IPv4 in dotted form. */
static void voice_media_works_over_ipv4_and_ipv6(struct world *w)
{
    int six = open_ipv6_socket();
    char address[64];
    int port;

    if (six < 0)
        return; /* a machine without IPv6 */
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice,
                                                VOICE_CLIENT_AES), /* discovers its address */
        bob = voice_client_join(&h, h.bob, h.voice);
    voice_client_dial(&bob, 8);
    expect(str_is(dom_at(voice_client_ready(&bob), "d.ip")->text, "192.0.2.1"));
    bob.fd = six;
    expect(voice_client_discover(w, bob.fd, bob.port, bob.ssrc, address, &port));
    expect(strcmp(address, "::1") == 0);
    voice_client_select(&bob, VOICE_CLIENT_CHACHA);
    voice_client_say(&ada, "to six");
    expect_audio(&bob, &ada, "to six");
    voice_client_say(&bob, "to four");
    expect_audio(&ada, &bob, "to four");
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

const struct test voice_clients_tests[] = {
    TEST_WITH(voice_gateway_versions_4_to_9_are_supported, with_relay),
    TEST_WITH(voice_client_flags_are_sent_to_other_participants, with_relay),
    TEST_WITH(voice_client_platform_is_sent_to_other_participants, with_relay),
    TEST_WITH(voice_gateway_limits_payload_rate_and_size, with_relay),
    TEST_WITH(address_is_limited_to_64_unidentified_voice_connections, with_relay),
    TEST_WITH(voice_media_works_over_ipv4_and_ipv6, configure_both_address_families),
    { 0 },
};
