/* webrtc_client.c - a client of the voice gateway that sends media by WebRTC, like a browser. */
#include "webrtc_client.h"

#include <arpa/inet.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "relay/webrtc/srtp.h"

enum { PATIENCE_MS = 60000, STEP_MS = 100, DATAGRAM_MAX = 2048, OPUS = 111, RECORD_HEADER = 13 };

struct webrtc_tls {
    SSL_CTX *context;
    SSL *ssl;
    EVP_PKEY *key;
    X509 *certificate;
    BIO *in, *out;
    char fingerprint[120];
};

/* --- the gateway ---------------------------------------------------------------------- */

static struct webrtc_tls *tls_new(void)
{
    struct webrtc_tls *t = mem_new(sizeof *t);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;

    t->key = EVP_EC_gen("P-256");
    t->certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(t->certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(t->certificate), 3600);
    X509_set_pubkey(t->certificate, t->key);
    X509_sign(t->certificate, t->key, EVP_sha256());
    X509_digest(t->certificate, EVP_sha256(), digest, &n);
    int at = sprintf(t->fingerprint, "sha-256 ");
    for (unsigned i = 0; i < n; i++)
        at += sprintf(t->fingerprint + at, "%s%02X", i ? ":" : "", digest[i]);
    return t;
}

static void tls_client_connection_new(struct webrtc_tls *t, const char *profiles)
{
    SSL_free(t->ssl); /* an earlier handshake */
    SSL_CTX_free(t->context);
    t->context = SSL_CTX_new(DTLS_client_method());
    SSL_CTX_use_certificate(t->context, t->certificate);
    SSL_CTX_use_PrivateKey(t->context, t->key);
    expect(SSL_CTX_set_tlsext_use_srtp(t->context, profiles) == 0);
    t->ssl = SSL_new(t->context);
    t->in = BIO_new(BIO_s_mem());
    t->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(t->in, -1);
    SSL_set_bio(t->ssl, t->in, t->out);
    SSL_set_options(t->ssl, SSL_OP_NO_QUERY_MTU);
    SSL_set_mtu(t->ssl, 1200);
    SSL_set_connect_state(t->ssl);
}

static void tls_connection_free(struct webrtc_tls *t)
{
    if (!t)
        return;
    SSL_free(t->ssl);
    SSL_CTX_free(t->context);
    X509_free(t->certificate);
    EVP_PKEY_free(t->key);
    mem_free(t);
}

const char *webrtc_client_fingerprint(struct webrtc_client *p)
{
    return p->tls->fingerprint;
}

struct webrtc_client webrtc_client_join(const struct test_voice *h, struct client *c,
                                        const char *channel)
{
    struct webrtc_client p = { .voice = voice_client_join(h, c, channel),
                               .profiles = "SRTP_AEAD_AES_128_GCM",
                               .own_ssrc = 4000000001U,
                               .opus = OPUS };

    p.tls = tls_new();
    voice_client_dial(&p.voice, 8);
    voice_client_ready(&p.voice);
    p.voice.fd = voice_client_socket();
    return p;
}

/* Returns the rest of a line of the SDP. */
static const char *sdp_value(struct world *w, struct str sdp, const char *name)
{
    while (sdp.n) {
        struct str line = str_cut(&sdp, '\n');

        if (str_starts_with(line, str_of(name)))
            return str_dup_cstring(world_arena(w), str_skip_bytes(line, strlen(name)));
    }
    fail_test(__FILE__, __LINE__, "the SDP has no %s", name);
    return NULL;
}

void webrtc_client_select(struct webrtc_client *p)
{
    struct world *w = p->voice.client->world;

    conn_send(
        p->voice.gate,
        "{'op': 1, 'd': {'protocol': 'webrtc', 'data': 'a=extmap-allow-mixed\\na=ice-ufrag:abcd"
        "\\na=ice-pwd:0123456789012345678901\\na=fingerprint:%s\\na=rtpmap:%u opus/48000/2', "
        "'codecs': [{'name': 'opus', 'type': 'audio', 'priority': 1000, 'payload_type': %u}, "
        "{'name': 'H264', 'type': 'video', 'priority': 1000, 'payload_type': 103, "
        "'rtx_payload_type': 104}]}}",
        p->tls->fingerprint, p->opus, p->opus);
    const struct dom *d = voice_client_await(&p->voice, 4);
    struct str sdp = dom_at(d, "d.sdp")->text;
    expect(str_is(dom_at(d, "d.audio_codec")->text, "opus"));
    expect(dom_at(d, "d.media_session_id") && !dom_at(d, "d.secret_key") && !dom_at(d, "d.mode"));
    expect(str_is(dom_at(d, "d.dave_protocol_version")->text, "0"));
    p->ufrag = sdp_value(w, sdp, "a=ice-ufrag:");
    p->password = sdp_value(w, sdp, "a=ice-pwd:");
    sdp_value(w, sdp, "a=candidate:1 1 UDP ");
    sdp_value(w, sdp, "c=IN IP4 127.0.0.1");
}

/* --- STUN ----------------------------------------------------------------------------- */

static void put(unsigned char *out, size_t *at, unsigned type, const void *value, size_t n)
{
    out[(*at)++] = (unsigned char)(type >> 8);
    out[(*at)++] = (unsigned char)type;
    out[(*at)++] = (unsigned char)(n >> 8);
    out[(*at)++] = (unsigned char)n;
    memcpy(out + *at, value, n);
    memset(out + *at + n, 0, -n & 3);
    *at += (n + 3) & ~(size_t)3;
}

static void put_length(unsigned char *out, size_t n)
{
    out[2] = (unsigned char)((n - 20) >> 8);
    out[3] = (unsigned char)(n - 20);
}

bool webrtc_client_check(struct webrtc_client *p, int fd, const char *password, bool nominates)
{
    unsigned char out[300] = { 0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42 }, mac[20], check[4], in[300];
    size_t at = 20;
    char user[64];
    int own = p->voice.fd;

    randombytes_buf(out + 8, 12);
    int n = snprintf(user, sizeof user, "%s:abcd", p->ufrag);
    put(out, &at, 6, user, (size_t)n);
    put(out, &at, 0x24, "\x6e\0\0\xff", 4);
    put(out, &at, 0x802a, "12345678", 8);
    if (nominates)
        put(out, &at, 0x25, "", 0);
    put_length(out, at + 24);
    HMAC(EVP_sha1(), password, (int)strlen(password), out, at, mac, NULL);
    put(out, &at, 8, mac, sizeof mac);
    put_length(out, at + 8);
    uint32_t crc = htonl((uint32_t)crc32(0, out, (unsigned)at) ^ 0x5354554e);
    memcpy(check, &crc, 4);
    put(out, &at, 0x8028, check, 4);
    p->voice.fd = fd;
    voice_client_send(&p->voice, str_slice((const char *)out, at));
    p->voice.fd = own;
    voice_clients_settle(p->voice.client->world, p->voice.port);
    struct pollfd poller = { .fd = fd, .events = POLLIN };
    if (poll(&poller, 1, 0) <= 0)
        return false;
    ssize_t got = recv(fd, in, sizeof in, 0);
    expect(got == 64 && in[0] == 1 && in[1] == 1 && memcmp(in + 8, out + 8, 12) == 0);
    return true;
}

/* --- DTLS ----------------------------------------------------------------------------- */

/* Sends the client's records, one per datagram. */
static void send_records(struct webrtc_client *p)
{
    char *bytes;
    long left = BIO_get_mem_data(p->tls->out, &bytes);
    struct str rest = str_dup(world_arena(p->voice.client->world), str_slice(bytes, (size_t)left));

    (void)BIO_reset(p->tls->out);
    while (rest.n >= RECORD_HEADER) {
        size_t n =
            RECORD_HEADER + ((size_t)(unsigned char)rest.p[11] << 8 | (unsigned char)rest.p[12]);

        voice_client_send(&p->voice, str_slice(rest.p, n));
        rest = str_skip_bytes(rest, n);
    }
}

/* Creates SRTP with the keys of the handshake; the client's keys are those with which it sends. */
static void take_keys(struct webrtc_client *p)
{
    unsigned char material[SRTP_MATERIAL_MAX], swapped[SRTP_MATERIAL_MAX];
    enum srtp_profile profile = (enum srtp_profile)SSL_get_selected_srtp_profile(p->tls->ssl)->id;
    size_t n = srtp_keying_material_size(profile), salt = n == 60 ? 14 : 12, key = n / 2 - salt;

    expect(SSL_export_keying_material(p->tls->ssl, material, n, "EXTRACTOR-dtls_srtp", 19, NULL, 0,
                                      0) == 1);
    memcpy(swapped, material + key, key);
    memcpy(swapped + key, material, key);
    memcpy(swapped + 2 * key, material + 2 * key + salt, salt);
    memcpy(swapped + 2 * key + salt, material + 2 * key, salt);
    srtp_free(p->srtp);
    p->srtp = srtp_new(profile, swapped);
}

bool webrtc_client_handshake(struct webrtc_client *p)
{
    struct pollfd poller = { .fd = p->voice.fd, .events = POLLIN };
    int64_t until = clock_monotonic_ns() + PATIENCE_MS * INT64_C(1000000);
    unsigned char in[DATAGRAM_MAX];
    int done = 0;

    tls_client_connection_new(p->tls, p->profiles);
    while (done != 1 && clock_monotonic_ns() < until) {
        done = SSL_do_handshake(p->tls->ssl);
        if (done != 1 && SSL_get_error(p->tls->ssl, done) != SSL_ERROR_WANT_READ)
            return false;
        send_records(p);
        if (done == 1)
            break;
        if (poll(&poller, 1, STEP_MS) <= 0) {
            DTLSv1_handle_timeout(p->tls->ssl);
            continue;
        }
        ssize_t n = recv(p->voice.fd, in, sizeof in, 0);
        expect(n > 0);
        BIO_write(p->tls->in, in, (int)n);
    }
    if (done == 1)
        take_keys(p);
    return done == 1;
}

struct webrtc_client webrtc_client_call(const struct test_voice *h, struct client *c,
                                        const char *channel)
{
    struct webrtc_client p = webrtc_client_join(h, c, channel);

    webrtc_client_select(&p);
    expect(webrtc_client_check(&p, p.voice.fd, p.password, true));
    expect(webrtc_client_handshake(&p));
    conn_send(p.voice.gate,
              "{'op': 12, 'd': {'audio_ssrc': %u, 'video_ssrc': 0, 'rtx_ssrc': 0, 'streams': []}}",
              p.own_ssrc);
    voice_client_flush(&p.voice);
    return p;
}

void webrtc_client_hang_up(struct webrtc_client *p)
{
    voice_client_hang_up(&p->voice);
    srtp_free(p->srtp);
    tls_connection_free(p->tls);
    p->srtp = NULL;
    p->tls = NULL;
}

/* --- media ---------------------------------------------------------------------------- */

void webrtc_client_send_rtp(struct webrtc_client *p, uint32_t ssrc, unsigned type,
                            const char *frame)
{
    static const unsigned char extension[] = { 0xbe, 0xde, 0, 1, 0x10, 0x7f, 0, 0 };
    struct decrypted_rtp_packet packet = { .header = { 0x90, (unsigned char)type },
                                           .extended = true };
    unsigned char out[SRTP_MAX];

    packet.header[2] = (unsigned char)(p->sequence >> 8);
    packet.header[3] = (unsigned char)p->sequence;
    for (int i = 0; i < 4; i++) {
        packet.header[4 + i] = (unsigned char)(p->timestamp >> (24 - 8 * i));
        packet.header[8 + i] = (unsigned char)(ssrc >> (24 - 8 * i));
    }
    p->sequence++;
    p->timestamp += 960;
    memcpy(packet.bytes, extension, sizeof extension);
    memcpy(packet.bytes + sizeof extension, frame, strlen(frame));
    packet.n = sizeof extension + strlen(frame);
    if (!*frame) { /* a packet with padding alone */
        packet.header[0] |= 0x20;
        packet.n += 4;
        packet.bytes[packet.n - 1] = 4;
    }
    size_t n = srtp_encrypt(p->srtp, &packet, out);
    expect(n);
    voice_client_send(&p->voice, str_slice((const char *)out, n));
}

void webrtc_client_say(struct webrtc_client *p, const char *frame)
{
    webrtc_client_send_rtp(p, p->own_ssrc, p->opus, frame);
}

void webrtc_client_send_control(struct webrtc_client *p, struct str packet)
{
    unsigned char out[SRTP_MAX];
    size_t n = srtcp_encrypt(p->srtp, packet, out);

    expect(n);
    voice_client_send(&p->voice, str_slice((const char *)out, n));
}

/* Receives the next datagram of SRTP; DTLS that was sent again is skipped. */
static ssize_t receive_datagram(struct webrtc_client *p, unsigned char in[DATAGRAM_MAX],
                                int wait_ms)
{
    struct pollfd poller = { .fd = p->voice.fd, .events = POLLIN };

    while (poll(&poller, 1, wait_ms) > 0) {
        ssize_t n = recv(p->voice.fd, in, DATAGRAM_MAX, 0);

        if (n > 0 && in[0] >= 128)
            return n;
    }
    return 0;
}

struct received_frame webrtc_client_receive(struct webrtc_client *p, int wait_ms)
{
    unsigned char in[DATAGRAM_MAX];
    struct decrypted_rtp_packet packet;
    ssize_t n = receive_datagram(p, in, wait_ms);

    if (!n)
        return (struct received_frame){ 0 };
    expect(srtp_decrypt(p->srtp, str_slice((const char *)in, (size_t)n), &packet));
    expect(packet.header[0] == 0x80);
    const unsigned char *h = packet.header;
    return (struct received_frame){
        .frame = str_dup(world_arena(p->voice.client->world),
                         str_slice((const char *)packet.bytes, packet.n)),
        .type = h[1],
        .sequence = (uint16_t)(h[2] << 8 | h[3]),
        .timestamp = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7],
        .ssrc = (uint32_t)h[8] << 24 | (uint32_t)h[9] << 16 | (uint32_t)h[10] << 8 | h[11],
    };
}

struct str webrtc_client_receive_control(struct webrtc_client *p, int wait_ms)
{
    unsigned char in[DATAGRAM_MAX], out[PACKET_MAX];
    ssize_t got = receive_datagram(p, in, wait_ms);
    size_t n;

    if (!got)
        return (struct str){ 0 };
    expect(srtcp_decrypt(p->srtp, str_slice((const char *)in, (size_t)got), out, &n));
    return str_dup(world_arena(p->voice.client->world), str_slice((const char *)out, n));
}

void expect_browser_audio_at(const char *file, int line, struct webrtc_client *p,
                             const struct voice_client *from, const char *frame)
{
    struct received_frame f = webrtc_client_receive(p, PATIENCE_MS);

    if (!f.frame.p || !str_is(f.frame, frame) || f.ssrc != from->ssrc || f.type != p->opus)
        fail_test(file, line, "received audio '%.*s' of %u with type %u instead of '%s'",
                  STR_ARGS(f.frame), f.ssrc, f.type, frame);
}

void expect_browser_deaf_at(const char *file, int line, struct webrtc_client *p)
{
    voice_clients_settle(p->voice.client->world, p->voice.port);
    struct received_frame f = webrtc_client_receive(p, 0);

    if (f.frame.p)
        fail_test(file, line, "received unexpected audio '%.*s'", STR_ARGS(f.frame));
}
