/* tls.c - TLS on memory buffers; the event loop does the socket I/O.
 *
 * OpenSSL reads and writes through a custom BIO that represents the bytes of the current call.
 * Between calls, only incomplete records are stored, by OpenSSL. */
#include "net/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

enum { MAX_RECORD_BYTES = 16 * 1024, WARN_DAYS = 14 };
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

struct tls_context {
    pthread_mutex_t lock; /* protects ssl */
    SSL_CTX *ssl;
    BIO_METHOD *method;
    int64_t warn_at; /* time of the next check whether the certificate expires soon (clock_ms) */
};

struct tls_connection {
    SSL *ssl;
    struct str in;   /* encrypted input that is not decrypted yet */
    struct buf *out; /* buffer for encrypted output */
};

/* --- the custom BIO ------------------------------------------------------------------- */

static int on_bio_read(BIO *bio, char *p, size_t n, size_t *ret_n)
{
    struct tls_connection *t = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (t->in.n == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *ret_n = n < t->in.n ? n : t->in.n;
    memcpy(p, t->in.p, *ret_n);
    t->in = str_skip_bytes(t->in, *ret_n);
    return 1;
}

static int on_bio_write(BIO *bio, const char *p, size_t n, size_t *ret_n)
{
    struct tls_connection *t = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    buf_add(t->out, p, n);
    *ret_n = n;
    return 1;
}

static long on_bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *create_bio_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "loop");

    if (m) {
        BIO_meth_set_read_ex(m, on_bio_read);
        BIO_meth_set_write_ex(m, on_bio_write);
        BIO_meth_set_ctrl(m, on_bio_control);
    }
    return m;
}

/* --- contexts ------------------------------------------------------------------------- */

static const char *get_last_openssl_error_text(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return reason ? reason : "unknown";
}

/* ALPN callback: selects http/1.1. If the client does not offer http/1.1, selects no protocol. */
static int select_alpn_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                                const unsigned char *offered, unsigned n, void *arg)
{
    static const unsigned char supported[] = "\x08http/1.1";
    unsigned char *chosen;

    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, ret_n, supported, sizeof supported - 1, offered, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* Logs why a file cannot be opened, because OpenSSL reports only "system lib" as the reason. */
static bool tls_file_is_readable(const char *what, const char *path)
{
    if (access(path, R_OK) == 0)
        return true;
    log_error("tls: cannot read the file of the %s, '%s': %s", what, path, strerror(errno));
    return false;
}

static bool load_certificate_and_key(SSL_CTX *ssl, const char *certificate, const char *key)
{
    if (!tls_file_is_readable("certificate", certificate) || !tls_file_is_readable("key", key))
        return false;
    if (SSL_CTX_use_certificate_chain_file(ssl, certificate) != 1) {
        log_error("tls: cannot use the certificate '%s': %s", certificate,
                  get_last_openssl_error_text());
        return false;
    }
    if (SSL_CTX_use_PrivateKey_file(ssl, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ssl) != 1) {
        log_error("tls: cannot use the private key '%s': %s", key, get_last_openssl_error_text());
        return false;
    }
    return true;
}

static SSL_CTX *create_server_ssl_context(const char *certificate, const char *key)
{
    SSL_CTX *ssl = SSL_CTX_new(TLS_server_method());

    if (!ssl || !load_certificate_and_key(ssl, certificate, key)) {
        SSL_CTX_free(ssl);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* Sessions are resumed with tickets, which the clients store, so the server caches no
     * sessions. */
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(ssl, select_alpn_protocol, NULL);
    return ssl;
}

static int64_t certificate_expiry(SSL_CTX *ssl)
{
    X509 *certificate = SSL_CTX_get0_certificate(ssl);
    struct tm end;

    if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
        return 0;
    return timegm(&end);
}

/* Logs a warning if the certificate expires soon: when it is loaded, and at most once per day while
 * clients connect. */
static void warn_if_certificate_expires(struct tls_context *c)
{
    int64_t now = clock_ms(), end = certificate_expiry(c->ssl) * 1000;
    time_t seconds = (time_t)(end / 1000);
    struct tm at;
    char date[32] = "";

    c->warn_at = now + DAY_MS;
    if (gmtime_r(&seconds, &at))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &at);
    if (end <= now)
        log_error(
            "tls: the certificate expired at %s, so clients refuse it; renew it and reload the "
            "server",
            date);
    else if (end - now < WARN_DAYS * DAY_MS)
        log_warn("tls: the certificate expires at %s; renew it and reload the server", date);
}

enum err tls_context_open(const char *certificate, const char *key, struct tls_context **ret)
{
    struct tls_context *c = mem_new(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    c->method = create_bio_method();
    c->ssl = create_server_ssl_context(certificate, key);
    if (!c->method || !c->ssl) {
        tls_context_free(c);
        return ERR_INTERNAL;
    }
    warn_if_certificate_expires(c);
    *ret = c;
    return OK;
}

static SSL_CTX *create_client_ssl_context(const char *ca)
{
    SSL_CTX *ssl = SSL_CTX_new(TLS_client_method());
    int trusts = !ssl ? 0
                 : ca ? SSL_CTX_load_verify_locations(ssl, ca, NULL)
                      : SSL_CTX_set_default_verify_paths(ssl);

    if (trusts != 1) {
        log_error("tls: cannot load the trusted CA certificates '%s': %s",
                  ca ? ca : "of the system", get_last_openssl_error_text());
        SSL_CTX_free(ssl);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ssl;
}

enum err tls_context_open_client(const char *ca, struct tls_context **ret)
{
    struct tls_context *c = mem_new(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    c->method = create_bio_method();
    c->ssl = create_client_ssl_context(ca);
    if (!c->method || !c->ssl) {
        tls_context_free(c);
        return ERR_INTERNAL;
    }
    *ret = c;
    return OK;
}

/* Replaces the certificate for new connections. Existing connections retain the old SSL_CTX. */
enum err tls_context_reload(struct tls_context *c, const char *certificate, const char *key)
{
    SSL_CTX *fresh = create_server_ssl_context(certificate, key);

    if (!fresh)
        return ERR_INTERNAL;
    pthread_mutex_lock(&c->lock);
    SSL_CTX *old = c->ssl;
    c->ssl = fresh;
    warn_if_certificate_expires(c);
    pthread_mutex_unlock(&c->lock);
    SSL_CTX_free(old);
    return OK;
}

void tls_context_free(struct tls_context *c)
{
    if (!c)
        return;
    SSL_CTX_free(c->ssl);
    BIO_meth_free(c->method);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

bool tls_format_certificate_fingerprint(const void *certificate, char out[TLS_FINGERPRINT_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (!certificate || X509_digest(certificate, EVP_sha256(), digest, &n) != 1)
        return false;
    sodium_bin2hex(out, TLS_FINGERPRINT_TEXT, digest, n);
    return true;
}

bool tls_format_server_fingerprint(struct tls_context *c, char out[TLS_FINGERPRINT_TEXT])
{
    /* Lock, because another thread may replace the certificate during this call. */
    pthread_mutex_lock(&c->lock);
    bool ok = tls_format_certificate_fingerprint(SSL_CTX_get0_certificate(c->ssl), out);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

int64_t tls_certificate_expiry(struct tls_context *c)
{
    pthread_mutex_lock(&c->lock);
    int64_t end = certificate_expiry(c->ssl);
    pthread_mutex_unlock(&c->lock);
    return end;
}

/* --- connections ---------------------------------------------------------------------- */

struct tls_connection *tls_server_connection_new(struct tls_context *c)
{
    struct tls_connection *t = mem_new(sizeof *t);
    BIO *bio = BIO_new(c->method);

    pthread_mutex_lock(&c->lock);
    t->ssl = SSL_new(c->ssl);
    if (clock_ms() >= c->warn_at)
        warn_if_certificate_expires(c);
    pthread_mutex_unlock(&c->lock);
    if (!t->ssl || !bio) {
        log_error("tls: cannot create a TLS connection: %s", get_last_openssl_error_text());
        BIO_free(bio);
        tls_connection_free(t);
        return NULL;
    }
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    SSL_set_accept_state(t->ssl);
    return t;
}

struct tls_connection *tls_client_connection_new(struct tls_context *c, const char *host,
                                                 struct buf *cipher)
{
    struct tls_connection *t = tls_server_connection_new(c);

    if (!t)
        return NULL;
    SSL_set_connect_state(t->ssl);
    X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, host) != 1) {
        SSL_set_tlsext_host_name(t->ssl, host);
        SSL_set1_host(t->ssl, host);
    }
    ERR_clear_error();
    t->out = cipher;
    SSL_do_handshake(t->ssl); /* writes the first handshake message, then waits for input */
    t->out = NULL;
    return t;
}

bool tls_handshake_is_done(const struct tls_connection *t)
{
    return SSL_is_init_finished(t->ssl);
}

const char *tls_describe_handshake_error(const struct tls_connection *t)
{
    long result = SSL_get_verify_result(t->ssl);

    return result == X509_V_OK ? "the other side refused the handshake or closed the connection"
                               : X509_verify_cert_error_string(result);
}

void tls_connection_free(struct tls_connection *t)
{
    if (!t)
        return;
    SSL_free(t->ssl);
    mem_free(t);
}

/* Decrypts one TLS record. Returns the result of SSL_get_error. */
static int decrypt_record(struct tls_connection *t, struct buf *plain)
{
    size_t n = 0;
    char *room = buf_reserve(plain, MAX_RECORD_BYTES);

    if (!room)
        return SSL_ERROR_SSL;
    ERR_clear_error();
    int result = SSL_read_ex(t->ssl, room, MAX_RECORD_BYTES, &n);
    plain->n += n;
    return result == 1 ? SSL_ERROR_NONE : SSL_get_error(t->ssl, result);
}

bool tls_decrypt(struct tls_connection *t, struct str bytes, struct buf *plain, struct buf *cipher,
                 bool *ret_eof)
{
    int e;

    t->in = bytes;
    t->out = cipher;
    do
        e = decrypt_record(t, plain);
    while (e == SSL_ERROR_NONE);
    t->out = NULL;
    *ret_eof = e == SSL_ERROR_ZERO_RETURN;
    if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_ZERO_RETURN) {
        log_debug("tls: a connection failed: %s", get_last_openssl_error_text());
        return false;
    }
    return true;
}

bool tls_encrypt(struct tls_connection *t, struct str bytes, struct buf *cipher)
{
    bool ok = true;

    t->out = cipher;
    while (bytes.n && ok) {
        size_t n = 0;

        ERR_clear_error();
        ok = SSL_write_ex(t->ssl, bytes.p, bytes.n, &n) == 1;
        bytes = str_skip_bytes(bytes, n);
    }
    t->out = NULL;
    return ok && !buf_is_full(cipher);
}

void tls_append_close_notify(struct tls_connection *t, struct buf *cipher)
{
    t->out = cipher;
    ERR_clear_error();
    if (SSL_is_init_finished(t->ssl))
        SSL_shutdown(t->ssl);
    ERR_clear_error();
    t->out = NULL;
}
