/* relay_browsers.c - simulated browsers that connect to a relay at once: ICE and DTLS, no media. */
#include "relay_browsers.h"

#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "relay/media/network_order.h"

enum { STEP_MS = 100, DATAGRAM_MAX = 2048, RECORD_HEADER = 13, MTU = 1200 };

struct relay_browser {
    char ufrag[BROWSER_UFRAG_SIZE], password[BROWSER_PASSWORD_SIZE];
    SSL *ssl;
    BIO *in, *out;
    bool checked, connected;
};

struct relay_browsers {
    size_t count;
    struct relay_browser *each;
    struct pollfd *polls;
    SSL_CTX *context;
    char fingerprint[120];
};

static void make_certificate(struct relay_browsers *b)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;

    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    X509_digest(certificate, EVP_sha256(), digest, &n);
    int at = snprintf(b->fingerprint, sizeof b->fingerprint, "sha-256 ");
    for (unsigned i = 0; i < n; i++)
        at += snprintf(b->fingerprint + at, sizeof b->fingerprint - (size_t)at, "%s%02X",
                       i ? ":" : "", digest[i]);
    b->context = SSL_CTX_new(DTLS_client_method());
    SSL_CTX_use_certificate(b->context, certificate);
    SSL_CTX_use_PrivateKey(b->context, key);
    SSL_CTX_set_tlsext_use_srtp(b->context, "SRTP_AEAD_AES_128_GCM");
    X509_free(certificate);
    EVP_PKEY_free(key);
}

struct relay_browsers *relay_browsers_new(size_t count, struct sockaddr_in server)
{
    struct relay_browsers *b = mem_new(sizeof *b);

    b->count = count;
    b->each = mem_new(count * sizeof *b->each);
    b->polls = mem_new(count * sizeof *b->polls);
    for (size_t i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *)&server, sizeof server) != 0)
            perror("relay: socket of a browser");
        b->polls[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
    }
    make_certificate(b);
    return b;
}

const char *relay_browsers_fingerprint(const struct relay_browsers *b)
{
    return b->fingerprint;
}

void relay_browser_set(struct relay_browsers *b, size_t i, const char ufrag[BROWSER_UFRAG_SIZE],
                       const char password[BROWSER_PASSWORD_SIZE])
{
    memcpy(b->each[i].ufrag, ufrag, BROWSER_UFRAG_SIZE);
    memcpy(b->each[i].password, password, BROWSER_PASSWORD_SIZE);
}

/* --- STUN ----------------------------------------------------------------------------- */

static void put_attribute(unsigned char *out, size_t *at, unsigned type, const void *value,
                          size_t n)
{
    unsigned char *to = write_u16_in_network_byte_order(
        write_u16_in_network_byte_order(out + *at, (uint16_t)type), (uint16_t)n);

    memcpy(to, value, n);
    memset(to + n, 0, -n & 3);
    *at += 4 + ((n + 3) & ~(size_t)3);
}

/* Sends a STUN request that nominates the address of the browser. */
static void send_check(const struct relay_browser *p, int fd)
{
    unsigned char out[200] = { 0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42 }, mac[20];
    char user[BROWSER_UFRAG_SIZE + 5];
    size_t at = 20;

    randombytes_buf(out + 8, 12);
    memcpy(user, p->ufrag, BROWSER_UFRAG_SIZE);
    memcpy(user + BROWSER_UFRAG_SIZE, ":abcd", 5);
    put_attribute(out, &at, 6, user, sizeof user);
    put_attribute(out, &at, 0x25, "", 0);
    write_u16_in_network_byte_order(out + 2, (uint16_t)(at + 24 - 20));
    HMAC(EVP_sha1(), p->password, BROWSER_PASSWORD_SIZE, out, at, mac, NULL);
    put_attribute(out, &at, 8, mac, sizeof mac);
    send(fd, out, at, 0);
}

/* --- DTLS ----------------------------------------------------------------------------- */

static void start_handshake(const struct relay_browsers *b, struct relay_browser *p)
{
    p->checked = true;
    p->ssl = SSL_new(b->context);
    p->in = BIO_new(BIO_s_mem());
    p->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(p->in, -1);
    SSL_set_bio(p->ssl, p->in, p->out);
    SSL_set_options(p->ssl, SSL_OP_NO_QUERY_MTU);
    SSL_set_mtu(p->ssl, MTU);
    SSL_set_connect_state(p->ssl);
}

/* Sends the records of the browser, one per datagram. */
static void send_records(struct relay_browser *p, int fd)
{
    char *bytes;
    size_t left = (size_t)BIO_get_mem_data(p->out, &bytes);

    while (left >= RECORD_HEADER) {
        size_t n = RECORD_HEADER + (size_t)network_read_u16((unsigned char *)bytes + 11);

        send(fd, bytes, n, 0);
        bytes += n;
        left -= n;
    }
    (void)BIO_reset(p->out);
}

static void continue_handshake(struct relay_browser *p, int fd)
{
    p->connected = SSL_do_handshake(p->ssl) == 1;
    send_records(p, fd);
}

static void receive_datagrams(const struct relay_browsers *b, struct relay_browser *p, int fd)
{
    unsigned char in[DATAGRAM_MAX];

    for (ssize_t n; (n = recv(fd, in, sizeof in, 0)) > 0;) {
        if (in[0] == 1 && !p->checked)
            start_handshake(b, p);
        else if (in[0] >= 20 && in[0] < 64 && p->checked && !p->connected)
            BIO_write(p->in, in, (int)n);
        else
            continue;
        continue_handshake(p, fd);
    }
}

/* Sends lost requests and records again. */
static void repeat_lost(struct relay_browsers *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct relay_browser *p = &b->each[i];

        if (!p->checked)
            send_check(p, b->polls[i].fd);
        else if (!p->connected && DTLSv1_handle_timeout(p->ssl) > 0)
            send_records(p, b->polls[i].fd);
    }
}

size_t relay_browsers_connect(struct relay_browsers *b, int timeout_ms)
{
    int64_t now = clock_monotonic_ns(), until = now + timeout_ms * INT64_C(1000000), next = now;
    size_t connected = 0;

    while (connected < b->count && (now = clock_monotonic_ns()) < until) {
        if (now >= next) {
            repeat_lost(b);
            next = now + STEP_MS * INT64_C(1000000);
        }
        poll(b->polls, b->count, STEP_MS);
        connected = 0;
        for (size_t i = 0; i < b->count; i++) {
            if (b->polls[i].revents)
                receive_datagrams(b, &b->each[i], b->polls[i].fd);
            connected += b->each[i].connected;
        }
    }
    return connected;
}
