/* dtls.c - the DTLS handshake of a browser, which yields the keys of SRTP. */
#include "relay/webrtc/dtls.h"

#include <stdio.h>
#include <sys/time.h>

#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sodium.h>

#include "base/log.h"
#include "base/mem.h"

enum {
    CERTIFICATE_DAYS = 3650, /* a process may run for years */
    SOCKET_UNSENT_MAX = 8,   /* datagrams of one flight */
    RECORD_HEADER = 13,
    FIRST_TIMEOUT_US = 200 * 1000,
    LAST_TIMEOUT_US = 2 * 1000 * 1000,
};

struct dtls_identity {
    SSL_CTX *context;
    X509 *certificate;
    EVP_PKEY *key;
    BIO_METHOD *method;
    char fingerprint[DTLS_FINGERPRINT];
};

struct dtls {
    SSL *ssl;
    enum dtls_state state;
    /* The received datagram that OpenSSL reads next; empty when it was read. */
    struct str arrived;
    struct str fingerprints; /* fingerprints in the browser's offer */
    unsigned queued;
    size_t sizes[SOCKET_UNSENT_MAX];
    unsigned char queue[SOCKET_UNSENT_MAX][DTLS_MAX_DATAGRAM];
    unsigned char material[SRTP_MATERIAL_MAX];
    enum srtp_profile profile;
};

bool dtls_is_record(struct str datagram)
{
    const unsigned char *b = (const unsigned char *)datagram.p;

    return datagram.n >= RECORD_HEADER && b[0] >= 20 && b[0] <= 63 && b[1] == 0xfe &&
           (b[2] == 0xfd || b[2] == 0xff);
}

/* --- datagrams in memory: a BIO that preserves their boundaries ------------------------ */

static int bio_write_datagram(BIO *bio, const char *p, int n)
{
    struct dtls *d = BIO_get_data(bio);

    if (n <= 0 || n > DTLS_MAX_DATAGRAM || d->queued == SOCKET_UNSENT_MAX)
        /* Drop the datagram, as a network may do; DTLS sends it again after a timeout. */
        return n;
    memcpy(d->queue[d->queued], p, (size_t)n);
    d->sizes[d->queued++] = (size_t)n;
    return n;
}

static int bio_read_datagram(BIO *bio, char *out, int max)
{
    struct dtls *d = BIO_get_data(bio);
    size_t n = d->arrived.n < (size_t)max ? d->arrived.n : (size_t)max;

    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(out, d->arrived.p, n);
    d->arrived = (struct str){ 0 };
    return (int)n;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU:
        return DTLS_MTU;
    default:
        return 0;
    }
}

static BIO_METHOD *new_bio_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");

    if (m) {
        BIO_meth_set_write(m, bio_write_datagram);
        BIO_meth_set_read(m, bio_read_datagram);
        BIO_meth_set_ctrl(m, bio_control);
    }
    return m;
}

/* --- certificates --------------------------------------------------------------------- */

/* Writes the fingerprint of a certificate, such as "sha-256 4A:79:…". Returns false if OpenSSL has
 * no such hash or fails. */
static bool write_fingerprint(X509 *certificate, const char *name, const EVP_MD *hash,
                              char out[4 * EVP_MAX_MD_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;

    if (X509_digest(certificate, hash, digest, &n) != 1)
        return false;
    int at = sprintf(out, "%s", name);
    for (unsigned i = 0; i < n; i++)
        at += sprintf(out + at, "%c%02X", i ? ':' : ' ', digest[i]);
    return true;
}

static bool fingerprint_is_offered(const struct dtls *d, X509 *certificate)
{
    static const struct {
        const char *name;
        const EVP_MD *(*hash)(void);
    } hashes[] = { { "sha-256", EVP_sha256 },
                   { "sha-384", EVP_sha384 },
                   { "sha-512", EVP_sha512 } };
    char expected[4 * EVP_MAX_MD_SIZE];

    for (unsigned i = 0; i < COUNT_OF(hashes); i++) {
        struct str rest = d->fingerprints;

        if (!write_fingerprint(certificate, hashes[i].name, hashes[i].hash(), expected))
            return false;
        while (rest.n)
            if (str_eq_nocase(str_trim(str_cut(&rest, '\n')), str_of(expected)))
                return true;
    }
    return false;
}

/* Accepts every certificate chain, because browsers have self-signed certificates. Their
 * fingerprint is checked instead. */
static int accept_certificate_chain(int ok, X509_STORE_CTX *store)
{
    (void)ok;
    (void)store;
    return 1;
}

static X509 *new_certificate(EVP_PKEY *key)
{
    X509 *x = X509_new();
    unsigned char serial[8];

    if (!x || RAND_bytes(serial, sizeof serial) != 1)
        goto failed;
    serial[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    bool numbered = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
    BN_free(number);
    X509_NAME *name = X509_get_subject_name(x);
    if (numbered && X509_set_version(x, X509_VERSION_3) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(x), -24L * 3600) &&
        X509_gmtime_adj(X509_getm_notAfter(x), CERTIFICATE_DAYS * 24L * 3600) &&
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"guildhall", -1,
                                   -1, 0) == 1 &&
        X509_set_issuer_name(x, name) == 1 && X509_set_pubkey(x, key) == 1 &&
        X509_sign(x, key, EVP_sha256()) > 0)
        return x;
failed:
    X509_free(x);
    return NULL;
}

static bool configure_dtls_context(struct dtls_identity *identity)
{
    SSL_CTX *c = identity->context;

    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       accept_certificate_chain);
    SSL_CTX_set_options(c, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    return SSL_CTX_set_min_proto_version(c, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_use_certificate(c, identity->certificate) == 1 &&
           SSL_CTX_use_PrivateKey(c, identity->key) == 1 &&
           SSL_CTX_set_tlsext_use_srtp(c, "SRTP_AEAD_AES_128_GCM:SRTP_AEAD_AES_256_GCM:"
                                          "SRTP_AES128_CM_SHA1_80") == 0;
}

struct dtls_identity *dtls_identity_new(void)
{
    struct dtls_identity *identity = mem_new(sizeof *identity);
    char fingerprint[4 * EVP_MAX_MD_SIZE];

    identity->key = EVP_EC_gen("P-256");
    identity->certificate = identity->key ? new_certificate(identity->key) : NULL;
    identity->context = SSL_CTX_new(DTLS_server_method());
    identity->method = new_bio_method();
    if (!identity->certificate || !identity->context || !identity->method ||
        !configure_dtls_context(identity) ||
        !write_fingerprint(identity->certificate, "sha-256", EVP_sha256(), fingerprint)) {
        log_error("voice: OpenSSL cannot create the certificate for browsers");
        dtls_identity_free(identity);
        return NULL;
    }
    memcpy(identity->fingerprint, fingerprint, strlen(fingerprint) + 1);
    return identity;
}

void dtls_identity_free(struct dtls_identity *identity)
{
    if (!identity)
        return;
    SSL_CTX_free(identity->context);
    X509_free(identity->certificate);
    EVP_PKEY_free(identity->key);
    BIO_meth_free(identity->method);
    mem_free(identity);
}

const char *dtls_identity_fingerprint(const struct dtls_identity *identity)
{
    return identity->fingerprint;
}

/* --- the handshake -------------------------------------------------------------------- */

/* Returns the time in µs after which unanswered handshake messages are sent again. OpenSSL's
 * default of one second would delay joining. */
static unsigned next_retransmission_timeout(SSL *ssl, unsigned previous_us)
{
    (void)ssl;
    if (previous_us == 0)
        return FIRST_TIMEOUT_US;
    return 2 * previous_us < LAST_TIMEOUT_US ? 2 * previous_us : LAST_TIMEOUT_US;
}

struct dtls *dtls_new(struct dtls_identity *identity, struct str fingerprints)
{
    struct dtls *d = mem_new(sizeof *d);
    BIO *bio = BIO_new(identity->method);
    char *copy = mem_new(fingerprints.n + 1);

    memcpy(copy, fingerprints.p, fingerprints.n);
    d->fingerprints = str_slice(copy, fingerprints.n);
    d->ssl = SSL_new(identity->context);
    if (!bio || !d->ssl) {
        BIO_free(bio);
        d->state = DTLS_FAILED;
        return d;
    }
    BIO_set_data(bio, d);
    BIO_set_init(bio, 1);
    SSL_set_bio(d->ssl, bio, bio);
    SSL_set_mtu(d->ssl, DTLS_MTU);
    DTLS_set_timer_cb(d->ssl, next_retransmission_timeout);
    SSL_set_accept_state(d->ssl);
    return d;
}

void dtls_free(struct dtls *d)
{
    if (!d)
        return;
    SSL_free(d->ssl);
    mem_free((void *)(uintptr_t)d->fingerprints.p);
    sodium_memzero(d, sizeof *d);
    mem_free(d);
}

/* Stores the SRTP keys of a handshake that has finished. */
static enum dtls_state finish_dtls_handshake(struct dtls *d)
{
    static const char label[] = "EXTRACTOR-dtls_srtp";
    X509 *certificate = SSL_get1_peer_certificate(d->ssl);
    const SRTP_PROTECTION_PROFILE *chosen = SSL_get_selected_srtp_profile(d->ssl);
    bool known = certificate && fingerprint_is_offered(d, certificate);

    X509_free(certificate);
    if (!known || !chosen)
        return DTLS_FAILED;
    d->profile = (enum srtp_profile)chosen->id;
    size_t n = srtp_keying_material_size(d->profile);
    if (n == 0 || SSL_export_keying_material(d->ssl, d->material, n, label, sizeof label - 1, NULL,
                                             0, 0) != 1)
        return DTLS_FAILED;
    return DTLS_DONE;
}

static enum dtls_state continue_dtls_handshake(struct dtls *d)
{
    ERR_clear_error();
    int result = SSL_do_handshake(d->ssl);

    if (result == 1)
        d->state = finish_dtls_handshake(d);
    else if (SSL_get_error(d->ssl, result) != SSL_ERROR_WANT_READ)
        d->state = DTLS_FAILED;
    ERR_clear_error();
    return d->state;
}

enum dtls_state dtls_receive_datagram(struct dtls *d, struct str datagram)
{
    if (d->state == DTLS_FAILED || datagram.n > DTLS_MAX_DATAGRAM)
        return d->state;
    d->arrived = datagram;
    if (d->state == DTLS_RUNNING) {
        continue_dtls_handshake(d);
    } else {
        char unused[1];

        /* Read, so that OpenSSL answers messages that the browser repeats because it has lost those
         * of the relay. */
        SSL_read(d->ssl, unused, 0);
        ERR_clear_error();
    }
    d->arrived = (struct str){ 0 };
    return d->state;
}

int dtls_timeout_ms(struct dtls *d)
{
    struct timeval left;

    if (d->state != DTLS_RUNNING || DTLSv1_get_timeout(d->ssl, &left) != 1)
        return -1;
    return (int)(left.tv_sec * 1000 + (left.tv_usec + 999) / 1000);
}

enum dtls_state dtls_retransmit(struct dtls *d)
{
    if (d->state == DTLS_RUNNING && DTLSv1_handle_timeout(d->ssl) < 0)
        d->state = DTLS_FAILED;
    ERR_clear_error();
    return d->state;
}

size_t dtls_pop_outgoing_datagram(struct dtls *d, unsigned char out[DTLS_MAX_DATAGRAM])
{
    if (d->queued == 0)
        return 0;
    size_t n = d->sizes[0];
    memcpy(out, d->queue[0], n);
    d->queued--;
    memmove(d->sizes, d->sizes + 1, d->queued * sizeof *d->sizes);
    memmove(d->queue, d->queue + 1, d->queued * sizeof *d->queue);
    return n;
}

struct srtp *dtls_create_srtp_session(const struct dtls *d)
{
    return d->state == DTLS_DONE ? srtp_new(d->profile, d->material) : NULL;
}
