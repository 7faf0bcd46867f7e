/* dtls.c - DTLS handshakes with OpenSSL's client: keys, profiles, fingerprints, lost datagrams. */
#include "unit/unit.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "relay/webrtc/dtls.h"

/* A browser: OpenSSL's client with a self-signed certificate, over two memory BIOs. */
struct browser {
    SSL_CTX *context;
    SSL *ssl;
    EVP_PKEY *key;
    X509 *certificate;
    BIO *in, *out;
    char fingerprint[300];
};

static void browser_make_certificate(struct browser *b, const EVP_MD *hash, const char *name)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;

    b->key = EVP_EC_gen("P-256");
    b->certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(b->certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(b->certificate), 3600);
    X509_set_pubkey(b->certificate, b->key);
    X509_sign(b->certificate, b->key, EVP_sha256());
    X509_digest(b->certificate, hash, digest, &n);
    int at = sprintf(b->fingerprint, "%s ", name);
    for (unsigned i = 0; i < n; i++)
        at += sprintf(b->fingerprint + at, "%s%02x", i ? ":" : "", digest[i]);
}

static void browser_open(struct browser *b, const char *profiles, bool with_certificate)
{
    memset(b, 0, sizeof *b);
    browser_make_certificate(b, EVP_sha256(), "sha-256");
    b->context = SSL_CTX_new(DTLS_client_method());
    if (with_certificate) {
        SSL_CTX_use_certificate(b->context, b->certificate);
        SSL_CTX_use_PrivateKey(b->context, b->key);
    }
    if (profiles)
        assert_int_equal(SSL_CTX_set_tlsext_use_srtp(b->context, profiles), 0);
    b->ssl = SSL_new(b->context);
    b->in = BIO_new(BIO_s_mem());
    b->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(b->in, -1);
    SSL_set_bio(b->ssl, b->in, b->out);
    SSL_set_options(b->ssl, SSL_OP_NO_QUERY_MTU);
    SSL_set_mtu(b->ssl, DTLS_MTU);
    SSL_set_connect_state(b->ssl);
}

static void browser_close(struct browser *b)
{
    SSL_free(b->ssl);
    SSL_CTX_free(b->context);
    X509_free(b->certificate);
    EVP_PKEY_free(b->key);
}

/* Sends the browser's records one per datagram; returns the state of the server. */
static enum dtls_state deliver_to_server(struct browser *b, struct dtls *d, enum dtls_state state)
{
    char *p;
    long left = BIO_get_mem_data(b->out, &p);
    char copy[8192];

    memcpy(copy, p, (size_t)left);
    (void)BIO_reset(b->out);
    for (long at = 0; at + 13 <= left;) {
        long n = 13 + ((unsigned char)copy[at + 11] << 8 | (unsigned char)copy[at + 12]);

        state = dtls_receive_datagram(d, str_slice(copy + at, (size_t)n));
        at += n;
    }
    return state;
}

static void deliver_to_browser(struct browser *b, struct dtls *d)
{
    unsigned char datagram[DTLS_MAX_DATAGRAM];
    size_t n;

    while ((n = dtls_pop_outgoing_datagram(d, datagram)) > 0) {
        assert_true(n <= DTLS_MTU);
        BIO_write(b->in, datagram, (int)n);
        SSL_do_handshake(b->ssl);
    }
}

static enum dtls_state run_handshake(struct browser *b, struct dtls *d)
{
    enum dtls_state state = DTLS_RUNNING;

    SSL_do_handshake(b->ssl);
    for (int i = 0; i < 10; i++) {
        state = deliver_to_server(b, d, state);
        deliver_to_browser(b, d);
    }
    return state;
}

static struct dtls_identity *identity;

static void handshake_yields_the_same_keys_on_both_sides(void **state)
{
    static const struct {
        const char *offered;
        enum srtp_profile expected;
    } rows[] = {
        { "SRTP_AES128_CM_SHA1_80:SRTP_AEAD_AES_256_GCM:SRTP_AEAD_AES_128_GCM", PROFILE_GCM_128 },
        { "SRTP_AEAD_AES_256_GCM", PROFILE_GCM_256 },
        { "SRTP_AES128_CM_SHA1_80", PROFILE_CM_SHA1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct browser b;
        unsigned char material[SRTP_MATERIAL_MAX], out[SRTP_MAX];
        struct decrypted_rtp_packet got,
            p = { .header = { 0x80, 0x78, 0, 1 }, .bytes = "sound", .n = 5 };

        browser_open(&b, rows[i].offered, true);
        struct dtls *d = dtls_new(identity, str_of(b.fingerprint));
        assert_int_equal(run_handshake(&b, d), DTLS_DONE);
        struct srtp *server = dtls_create_srtp_session(d);
        assert_int_equal(srtp_get_profile(server), rows[i].expected);
        size_t n = srtp_keying_material_size(rows[i].expected), salt = n == 60 ? 14 : 12;
        size_t key = n / 2 - salt;
        unsigned char swapped[SRTP_MATERIAL_MAX];
        assert_int_equal(
            SSL_export_keying_material(b.ssl, material, n, "EXTRACTOR-dtls_srtp", 19, NULL, 0, 0),
            1);
        /* The browser sends with the client's keys: exchange the two halves of keys and salts. */
        memcpy(swapped, material + key, key);
        memcpy(swapped + key, material, key);
        memcpy(swapped + 2 * key, material + 2 * key + salt, salt);
        memcpy(swapped + 2 * key + salt, material + 2 * key, salt);
        struct srtp *client = srtp_new(rows[i].expected, swapped);
        n = srtp_encrypt(client, &p, out);
        assert_true(srtp_decrypt(server, str_slice((const char *)out, n), &got));
        assert_memory_equal(got.bytes, "sound", 5);
        n = srtp_encrypt(server, &p, out);
        assert_true(srtp_decrypt(client, str_slice((const char *)out, n), &got));
        srtp_free(client);
        srtp_free(server);
        dtls_free(d);
        browser_close(&b);
    }
}

static void certificate_with_another_fingerprint_is_refused(void **state)
{
    struct browser b, other;

    (void)state;
    browser_open(&b, "SRTP_AEAD_AES_128_GCM", true);
    browser_open(&other, "SRTP_AEAD_AES_128_GCM", true);
    struct dtls *d = dtls_new(identity, str_of(other.fingerprint));
    assert_int_equal(run_handshake(&b, d), DTLS_FAILED);
    assert_null(dtls_create_srtp_session(d));
    dtls_free(d);
    browser_close(&b);
    browser_close(&other);
}

static void one_of_several_offered_fingerprints_is_enough(void **state)
{
    struct browser b;
    char offered[700], strong[300];

    (void)state;
    browser_open(&b, "SRTP_AEAD_AES_128_GCM", true);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;
    X509_digest(b.certificate, EVP_sha512(), digest, &n);
    int at = sprintf(strong, "sha-512 ");
    for (unsigned i = 0; i < n; i++)
        at += sprintf(strong + at, "%s%02X", i ? ":" : "", digest[i]);
    sprintf(offered, "sha-256 00:11\n%s\n", strong);
    struct dtls *d = dtls_new(identity, str_of(offered));
    assert_int_equal(run_handshake(&b, d), DTLS_DONE);
    dtls_free(d);
    browser_close(&b);
}

static void client_without_certificate_is_refused(void **state)
{
    struct browser b;

    (void)state;
    browser_open(&b, "SRTP_AEAD_AES_128_GCM", false);
    struct dtls *d = dtls_new(identity, str_of(b.fingerprint));
    assert_int_equal(run_handshake(&b, d), DTLS_FAILED);
    dtls_free(d);
    browser_close(&b);
}

static void client_without_srtp_is_refused(void **state)
{
    struct browser b;

    (void)state;
    browser_open(&b, NULL, true);
    struct dtls *d = dtls_new(identity, str_of(b.fingerprint));
    assert_int_equal(run_handshake(&b, d), DTLS_FAILED);
    dtls_free(d);
    browser_close(&b);
}

static void lost_dtls_messages_are_sent_again_after_timeout(void **state)
{
    struct browser b;
    unsigned char lost[DTLS_MAX_DATAGRAM];

    (void)state;
    browser_open(&b, "SRTP_AEAD_AES_128_GCM", true);
    struct dtls *d = dtls_new(identity, str_of(b.fingerprint));
    assert_int_equal(dtls_timeout_ms(d), -1);
    SSL_do_handshake(b.ssl);
    deliver_to_server(&b, d, DTLS_RUNNING);
    while (dtls_pop_outgoing_datagram(d, lost) > 0)
        ;
    int wait = dtls_timeout_ms(d);
    assert_true(wait > 0 && wait <= 200);
    nanosleep(&(struct timespec){ 0, (wait + 1) * 1000000L }, NULL);
    assert_int_equal(dtls_retransmit(d), DTLS_RUNNING);
    deliver_to_browser(&b, d);
    assert_int_equal(run_handshake(&b, d), DTLS_DONE);
    dtls_free(d);
    browser_close(&b);
}

static void malformed_dtls_records_are_ignored(void **state)
{
    struct browser b;
    char bent[200] = "\x16\xfe\xfd\0\0\0\0\0\0\0\1\0\5abcde";

    (void)state;
    browser_open(&b, "SRTP_AEAD_AES_128_GCM", true);
    struct dtls *d = dtls_new(identity, str_of(b.fingerprint));
    for (size_t n = 0; n < sizeof bent; n++) {
        bent[0] = (char)(20 + n % 44);
        dtls_receive_datagram(d, str_slice(bent, n));
    }
    dtls_free(d);
    browser_close(&b);
}

static void dtls_records_are_recognised_among_other_datagrams(void **state)
{
    (void)state;
    assert_true(dtls_is_record(STR("\x16\xfe\xff\0\0\0\0\0\0\0\0\0\0")));
    assert_false(dtls_is_record(STR("\x16\xfe\xff\0\0\0\0\0\0\0\0\0")));
    assert_false(dtls_is_record(STR("\x16\x03\x03\0\0\0\0\0\0\0\0\0\0")));
    assert_false(dtls_is_record(STR("\x80\xfe\xff\0\0\0\0\0\0\0\0\0\0")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshake_yields_the_same_keys_on_both_sides),
        cmocka_unit_test(certificate_with_another_fingerprint_is_refused),
        cmocka_unit_test(one_of_several_offered_fingerprints_is_enough),
        cmocka_unit_test(client_without_certificate_is_refused),
        cmocka_unit_test(client_without_srtp_is_refused),
        cmocka_unit_test(lost_dtls_messages_are_sent_again_after_timeout),
        cmocka_unit_test(malformed_dtls_records_are_ignored),
        cmocka_unit_test(dtls_records_are_recognised_among_other_datagrams),
    };

    identity = dtls_identity_new();
    int failed = identity ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    dtls_identity_free(identity);
    return failed;
}
