/* voice_client.c - clients of the voice gateway and the relay. */
#include "voice_client.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    PATIENCE_MS = 120000,
    HEADER = 12,
    CONTROL_HEADER = 8,
    TAG = 16,
    MAX_PAYLOAD_FORM_BYTES = 2048,
    AUDIO = 120
};

static const char *const mode_names[] = { "aead_aes256_gcm_rtpsize",
                                          "aead_xchacha20_poly1305_rtpsize", "xsalsa20_poly1305" };

static int64_t datagrams_sent; /* to the server of the current test */

void with_relay(struct config *config)
{
    datagrams_sent = 0;
    config->voice_port = "0";
}

static long number_in(const struct dom *d, const char *path)
{
    const struct dom *n = dom_at(d, path);

    expect(n && n->kind == JSON_NUMBER);
    return strtol(n->text.p, NULL, 10);
}

static const char *text_in(struct world *w, const struct dom *d, const char *path)
{
    const struct dom *t = dom_at(d, path);

    expect(t && t->kind == JSON_STRING);
    return str_dup_cstring(world_arena(w), t->text);
}

/* --- the voice gateway ---------------------------------------------------------------- */

struct voice_client voice_client_join(const struct test_voice *h, struct client *c,
                                      const char *channel)
{
    return voice_client_join_with(h, c, channel, "");
}

struct voice_client voice_client_join_with(const struct test_voice *h, struct client *c,
                                           const char *channel, const char *more)
{
    struct voice_client p = { .client = c, .guild = h->guild, .fd = -1 };

    ask_voice(c, h->guild, channel, more);
    for (;;) {
        const struct dom *m = next_voice(c);

        expect(m);
        if (!str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"))
            continue;
        p.session = conn_id(c->gate);
        p.token = text_in(h->world, m, "d.token");
        return p;
    }
}

void voice_client_dial(struct voice_client *p, int version)
{
    char target[32];

    snprintf(target, sizeof target, "/voice?v=%d", version);
    p->version = version;
    p->gate = conn_open_at(p->client, target);
    expect_op(p->gate, 8);
    conn_send(p->gate,
              "{'op': 0, 'd': {'server_id': '%s', 'user_id': '%s', 'session_id': '%s', "
              "'token': '%s', 'max_dave_protocol_version': %u%s}}",
              p->guild, p->client->id, p->session, p->token, p->dave, p->more ? p->more : "");
}

const struct dom *voice_client_await(struct voice_client *p, int op)
{
    for (;;) {
        const struct dom *m = conn_read(p->gate, PATIENCE_MS);

        if (!m)
            fail_test(__FILE__, __LINE__, "opcode %d did not arrive; closed with %d", op,
                      conn_close_code(p->gate));
        if (number_in(m, "op") == op)
            return m;
    }
}

void voice_client_expect_none(struct voice_client *p, int op)
{
    conn_send(p->gate, "{'op': 3, 'd': {'t': 1}}");
    for (;;) {
        const struct dom *m = conn_read(p->gate, PATIENCE_MS);

        expect(m);
        if (number_in(m, "op") == 6)
            return;
        expect(number_in(m, "op") != op);
    }
}

int voice_client_socket(void)
{
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    expect(fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0);
    return fd;
}

static bool is_six(int fd)
{
    struct sockaddr_in6 own = { 0 };
    socklen_t n = sizeof own;

    return getsockname(fd, (struct sockaddr *)&own, &n) == 0 && own.sin6_family == AF_INET6;
}

/* Sends to IPv4 or IPv6, depending on the socket. */
static void send_to(int fd, int port, struct str bytes)
{
    const struct sockaddr_in four = { .sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 six = { .sin6_family = AF_INET6,
                                      .sin6_port = htons((uint16_t)port),
                                      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    ssize_t sent =
        is_six(fd) ? sendto(fd, bytes.p, bytes.n, 0, (const struct sockaddr *)&six, sizeof six)
                   : sendto(fd, bytes.p, bytes.n, 0, (const struct sockaddr *)&four, sizeof four);

    expect(sent == (ssize_t)bytes.n);
    datagrams_sent++;
}

static int64_t datagrams_received(struct client *c)
{
    static const char name[] = "\nguildhall_voice_packets_received_total ";
    struct answer a = client_request(c, "GET", "/metrics", NULL, (struct str){ 0 });
    const char *line = strstr(str_dup_cstring(world_arena(c->world), a.body), name);

    expect(line != NULL);
    return atoll(line + strlen(name));
}

static void wait_until_datagrams_are_counted(struct client *c)
{
    int64_t until = clock_monotonic_ns() + PATIENCE_MS * INT64_C(1000000);

    while (datagrams_received(c) < datagrams_sent)
        expect(clock_monotonic_ns() < until); /* none is lost: they fit into the socket's buffer */
}

/* Datagrams are counted when they are processed, and their results are sent before the next ones
 * are received. */
void voice_clients_settle(struct world *w, int port)
{
    struct client *c = world_anonymous(w);
    int fd = voice_client_socket();

    wait_until_datagrams_are_counted(c);
    send_to(fd, port, STR("x"));
    wait_until_datagrams_are_counted(c);
    close(fd);
}

bool voice_client_discover(struct world *w, int fd, int port, uint32_t ssrc, char address[64],
                           int *ret_port)
{
    unsigned char ask[74] = { 0, 1, 0, 70 }, answer[MAX_PAYLOAD_FORM_BYTES];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    uint32_t wire = htonl(ssrc);

    memcpy(ask + 4, &wire, 4);
    send_to(fd, port, str_slice((const char *)ask, sizeof ask));
    voice_clients_settle(w, port);
    if (poll(&p, 1, 0) <= 0)
        return false;
    ssize_t n = recv(fd, answer, sizeof answer, 0);
    expect(n == 74 && memcmp(answer, "\0\2\0\106", 4) == 0 && memcmp(answer + 4, &wire, 4) == 0);
    memcpy(address, answer + 8, 64);
    *ret_port = answer[72] << 8 | answer[73];
    return true;
}

const struct dom *voice_client_ready(struct voice_client *p)
{
    const struct dom *ready = voice_client_await(p, 2);

    p->ssrc = (uint32_t)number_in(ready, "d.ssrc");
    p->port = (int)number_in(ready, "d.port");
    return ready;
}

void voice_client_select(struct voice_client *p, enum voice_client_mode mode)
{
    p->mode = mode;
    conn_send(p->gate,
              "{'op': 1, 'd': {'protocol': 'udp', 'data': {'address': '127.0.0.1', 'port': 1, "
              "'mode': '%s'}}}",
              mode_names[mode]);
    const struct dom *d = voice_client_await(p, 4), *key = dom_at(d, "d.secret_key");
    expect(str_is(dom_at(d, "d.mode")->text, mode_names[mode]));
    p->described = (unsigned)number_in(d, "d.dave_protocol_version");
    expect(p->described <= p->dave);
    expect(key && key->count == sizeof p->key);
    for (size_t i = 0; i < sizeof p->key; i++)
        p->key[i] = (unsigned char)strtol(key->items[i].text.p, NULL, 10);
}

void voice_client_connect(struct voice_client *p, enum voice_client_mode mode)
{
    char address[64];
    int port;

    voice_client_ready(p);
    p->fd = voice_client_socket();
    expect(voice_client_discover(p->client->world, p->fd, p->port, p->ssrc, address, &port));
    expect(strcmp(address, "127.0.0.1") == 0);
    voice_client_select(p, mode);
}

struct voice_client voice_client_call(const struct test_voice *h, struct client *c,
                                      const char *channel, enum voice_client_mode mode)
{
    struct voice_client p = voice_client_join(h, c, channel);

    voice_client_dial(&p, 8);
    voice_client_connect(&p, mode);
    return p;
}

void expect_cut_at(const char *file, int line, struct voice_client *p, int code)
{
    while (conn_read(p->gate, PATIENCE_MS))
        ;
    if (conn_close_code(p->gate) != code)
        fail_test(file, line, "closed with %d, not %d", conn_close_code(p->gate), code);
}

void voice_client_hang_up(struct voice_client *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* --- media ---------------------------------------------------------------------------- */

static void put_u32(unsigned char *at, uint32_t v)
{
    v = htonl(v);
    memcpy(at, &v, 4);
}

static size_t aes(const struct voice_client *p, bool seals, const unsigned char *nonce,
                  const unsigned char *in, size_t n, struct str head, unsigned char *out)
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    size_t text = seals ? n : n - TAG;
    int used;
    bool good = EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, p->key, nonce, seals) == 1 &&
                EVP_CipherUpdate(c, NULL, &used, (const unsigned char *)head.p, (int)head.n) == 1 &&
                EVP_CipherUpdate(c, out, &used, in, (int)text) == 1;

    if (good && !seals)
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG, (void *)(uintptr_t)(in + text));
    good = good && EVP_CipherFinal_ex(c, out + used, &used) == 1;
    if (good && seals)
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG, out + text);
    EVP_CIPHER_CTX_free(c);
    return good ? (seals ? n + TAG : text) : 0;
}

/* Returns the bytes after the header, without the counter; 0: not authentic. */
static size_t voice_client_crypt(const struct voice_client *p, bool seals,
                                 const unsigned char *nonce, const unsigned char *in, size_t n,
                                 struct str head, unsigned char *out)
{
    const unsigned char *clear = (const unsigned char *)head.p;
    unsigned long long made = 0;
    bool good;

    if (p->mode == VOICE_CLIENT_AES)
        return aes(p, seals, nonce, in, n, head, out);
    if (p->mode == VOICE_CLIENT_SALSA) {
        good = (seals ? crypto_secretbox_easy(out, in, n, nonce, p->key)
                      : crypto_secretbox_open_easy(out, in, n, nonce, p->key)) == 0;
        return good ? (seals ? n + TAG : n - TAG) : 0;
    }
    good = (seals ? crypto_aead_xchacha20poly1305_ietf_encrypt(out, &made, in, n, clear, head.n,
                                                               NULL, nonce, p->key)
                  : crypto_aead_xchacha20poly1305_ietf_decrypt(out, &made, NULL, in, n, clear,
                                                               head.n, nonce, p->key)) == 0;
    return good ? (size_t)made : 0;
}

/* Encrypts after `clear` unencrypted bytes, which are already in `out`. */
static struct str seal_behind(struct voice_client *p, unsigned char *out, size_t clear,
                              struct str plain)
{
    unsigned char nonce[24] = { 0 };
    bool counted = p->mode != VOICE_CLIENT_SALSA;

    if (counted)
        put_u32(nonce, p->little_endian ? __builtin_bswap32(p->counter) : p->counter);
    else
        memcpy(nonce, out, HEADER);
    size_t n = clear + voice_client_crypt(p, true, nonce, (const unsigned char *)plain.p, plain.n,
                                          str_slice((const char *)out, clear), out + clear);
    if (counted) {
        memcpy(out + n, nonce, 4);
        n += 4;
        p->counter++;
    }
    return str_dup(world_arena(p->client->world), str_slice((const char *)out, n));
}

static struct str seal_media(struct voice_client *p, uint32_t ssrc, unsigned type, struct str frame)
{
    unsigned char out[MAX_PAYLOAD_FORM_BYTES] = { 0x80, (unsigned char)type };

    out[2] = (unsigned char)(p->sequence >> 8);
    out[3] = (unsigned char)p->sequence;
    put_u32(out + 4, p->timestamp);
    put_u32(out + 8, ssrc);
    p->sequence++;
    p->timestamp += 960;
    if (!p->extended)
        return seal_behind(p, out, HEADER, frame);
    out[0] |= 0x10;
    memcpy(out + HEADER, "\xbe\xde\0\1", 4);
    return seal_behind(
        p, out, HEADER + 4,
        str_printf(world_arena(p->client->world), "\x10\x7f\x20\x01%.*s", STR_ARGS(frame)));
}

struct str voice_client_seal(struct voice_client *p, struct str frame)
{
    return seal_media(p, p->ssrc, AUDIO, frame);
}

void voice_client_show(struct voice_client *p, uint32_t ssrc, unsigned type, const char *frame)
{
    voice_client_send(p, seal_media(p, ssrc, type, str_of(frame)));
}

void voice_client_control(struct voice_client *p, struct str packet)
{
    unsigned char out[MAX_PAYLOAD_FORM_BYTES];

    memcpy(out, packet.p, CONTROL_HEADER);
    voice_client_send(p,
                      seal_behind(p, out, CONTROL_HEADER, str_skip_bytes(packet, CONTROL_HEADER)));
}

void voice_client_shows(struct voice_client *p, const char *streams)
{
    conn_send(p->gate,
              "{'op': 12, 'd': {'audio_ssrc': %u, 'video_ssrc': %u, 'rtx_ssrc': %u, "
              "'streams': %s}}",
              p->ssrc, p->ssrc + 1, p->ssrc + 2, streams);
}

void voice_client_wants(struct voice_client *p, const char *wants)
{
    conn_send(p->gate, "{'op': 15, 'd': %s}", wants);
    voice_client_flush(p);
}

struct str control_packet(struct world *w, unsigned type, unsigned format, uint32_t sender,
                          uint32_t about)
{
    unsigned char *b = arena_alloc(world_arena(w), 12);
    const uint32_t words[] = { sender, about };

    b[0] = (unsigned char)(0x80 | format);
    b[1] = (unsigned char)type;
    b[2] = 0;
    b[3] = 2;
    for (int i = 0; i < 8; i++)
        b[4 + i] = (unsigned char)(words[i / 4] >> (8 * (3 - i % 4)));
    return str_slice((const char *)b, 12);
}

void voice_client_flush(struct voice_client *p)
{
    /* The thread that reads the video wishes sends this reply after them. */
    conn_send(p->gate, "{'op': 16, 'd': {}}");
    voice_client_await(p, 16);
}

void voice_client_send(struct voice_client *p, struct str datagram)
{
    send_to(p->fd, p->port, datagram);
}

void voice_client_say(struct voice_client *p, const char *frame)
{
    voice_client_send(p, voice_client_seal(p, str_of(frame)));
}

/* Receives the next datagram, whose first bytes are unencrypted; returns their length plus that
 * of the decrypted data, or 0. */
static size_t receive_after_clear_bytes(struct voice_client *p,
                                        unsigned char out[MAX_PAYLOAD_FORM_BYTES], size_t clear,
                                        int wait_ms)
{
    unsigned char in[MAX_PAYLOAD_FORM_BYTES], nonce[24] = { 0 };
    struct pollfd poller = { .fd = p->fd, .events = POLLIN };
    size_t suffix = p->mode == VOICE_CLIENT_SALSA ? 0 : 4;

    if (poll(&poller, 1, wait_ms) <= 0)
        return 0;
    ssize_t got = recv(p->fd, in, sizeof in, 0);
    expect(got > (ssize_t)(clear + TAG + suffix));
    size_t n = (size_t)got;
    if (suffix)
        memcpy(nonce, in + n - suffix, suffix);
    else
        memcpy(nonce, in, HEADER);
    memcpy(p->last, nonce, sizeof p->last);
    memcpy(out, in, clear);
    size_t made = voice_client_crypt(p, false, nonce, in + clear, n - clear - suffix,
                                     str_slice((const char *)in, clear), out + clear);
    expect(made);
    return clear + made;
}

struct str voice_client_receive_control(struct voice_client *p, int wait_ms)
{
    unsigned char in[MAX_PAYLOAD_FORM_BYTES];
    size_t n = receive_after_clear_bytes(p, in, CONTROL_HEADER, wait_ms);

    return n ? str_dup(world_arena(p->client->world), str_slice((const char *)in, n))
             : (struct str){ 0 };
}

struct received_frame voice_client_receive(struct voice_client *p, int wait_ms)
{
    unsigned char in[MAX_PAYLOAD_FORM_BYTES];
    size_t n = receive_after_clear_bytes(p, in, HEADER, wait_ms);
    uint32_t word;

    if (!n)
        return (struct received_frame){ 0 };
    struct received_frame f = { .frame = str_dup(world_arena(p->client->world),
                                                 str_slice((const char *)in + HEADER, n - HEADER)),
                                .sequence = (uint16_t)(in[2] << 8 | in[3]),
                                .type = in[1] };
    memcpy(&word, in + 4, 4);
    f.timestamp = ntohl(word);
    memcpy(&word, in + 8, 4);
    f.ssrc = ntohl(word);
    expect(in[0] == 0x80);
    return f;
}

void expect_audio_at(const char *file, int line, struct voice_client *p,
                     const struct voice_client *from, const char *frame)
{
    struct received_frame f = voice_client_receive(p, PATIENCE_MS);

    if (!f.frame.p || !str_is(f.frame, frame) || f.ssrc != from->ssrc || f.type != AUDIO)
        fail_test(file, line, "received audio '%.*s' of %u instead of '%s'", STR_ARGS(f.frame),
                  f.ssrc, frame);
}

void expect_seen_at(const char *file, int line, struct voice_client *p, uint32_t ssrc,
                    const char *frame)
{
    struct received_frame f = voice_client_receive(p, PATIENCE_MS);

    if (!f.frame.p || !str_is(f.frame, frame) || f.ssrc != ssrc || f.type != VOICE_CLIENT_VIDEO)
        fail_test(file, line, "received video '%.*s' of %u instead of '%s'", STR_ARGS(f.frame),
                  f.ssrc, frame);
}

void expect_deaf_at(const char *file, int line, struct voice_client *p)
{
    voice_clients_settle(p->client->world, p->port);
    struct received_frame f = voice_client_receive(p, 0);

    if (f.frame.p)
        fail_test(file, line, "received unexpected audio '%.*s'", STR_ARGS(f.frame));
}
