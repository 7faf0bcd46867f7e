/* tls.c - tests self-signed certificates, and a server with TLS and plain HTTP on one port. */
#include "unit/unit.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/tls.h"
#include "unit/net/app.h"
#include "unit/net/wire.h"

static char folder[] = "/tmp/net_tls_XXXXXX";
static char certificate[64], key[64];
static struct tls_context *context;
static SSL_CTX *client;

static int prepare(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    client = SSL_CTX_new(TLS_client_method());
    return tls_context_open_self_signed(folder, "chat.example", &context);
}

static int clean_up(void **state)
{
    (void)state;
    tls_context_free(context);
    SSL_CTX_free(client);
    unlink(certificate);
    unlink(key);
    return rmdir(folder);
}

static X509 *read_certificate(void)
{
    FILE *f = fopen(certificate, "r");
    X509 *c = PEM_read_X509(f, NULL, NULL, NULL);

    fclose(f);
    assert_non_null(c);
    return c;
}

/* --- certificates --------------------------------------------------------------------- */

static void self_signed_certificate_covers_the_host_and_loopback(void **state)
{
    X509 *c = read_certificate();
    struct stat st;
    int days = 0, seconds = 0;

    (void)state;
    assert_int_equal(X509_check_host(c, "chat.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(c, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(c, "other.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(c, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(c, "::1", 0), 1);
    assert_int_equal(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(c), X509_get0_notAfter(c)),
                     1);
    assert_in_range(days, 800, 825);
    X509_free(c);
    assert_int_equal(stat(key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(certificate, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static long serial(void)
{
    X509 *c = read_certificate();
    uint64_t n = 0;

    ASN1_INTEGER_get_uint64(&n, X509_get0_serialNumber(c));
    X509_free(c);
    return (long)n;
}

static long serial_after_opening(const char *host)
{
    struct tls_context *c = NULL;

    assert_int_equal(tls_context_open_self_signed(folder, host, &c), OK);
    tls_context_free(c);
    return serial();
}

static void self_signed_certificate_is_reused_until_a_week_before_expiry(void **state)
{
    const int64_t day = 24LL * 60 * 60 * 1000000;
    long first = serial();

    (void)state;
    assert_int_equal(serial_after_opening("chat.example"), first);
    assert_int_equal(serial_after_opening("localhost"), first);
    clock_advance_wall_and_monotonic(817 * day);
    assert_int_equal(serial_after_opening("chat.example"), first);
    clock_advance_wall_and_monotonic(2 * day);
    long second = serial_after_opening("chat.example");
    assert_int_not_equal(second, first);
    clock_restore_real_time();
    assert_int_not_equal(serial_after_opening("new.example"), second);
    serial_after_opening("chat.example");
}

static void damaged_certificate_pair_is_generated_again(void **state)
{
    long first = serial();

    (void)state;
    assert_int_equal(truncate(key, 10), 0);
    assert_int_not_equal(serial_after_opening("chat.example"), first);
    struct tls_context *c = NULL;
    assert_int_not_equal(tls_context_open("/nowhere/cert.pem", key, &c), OK);
    assert_int_not_equal(tls_context_open(certificate, "/nowhere/key.pem", &c), OK);
    assert_int_not_equal(tls_context_open_self_signed("/nowhere", "x", &c), OK);
    assert_null(c);
}

/* --- a server ------------------------------------------------------------------------- */

static int start(void **state)
{
    struct http_server_options o = { .tls = context };

    (void)state;
    app_start(&o);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    app_stop();
    return 0;
}

static struct api_client connect_tls(void)
{
    struct api_client w = { .fd = app_connect(), .ssl = SSL_new(client) };

    SSL_set_fd(w.ssl, w.fd);
    SSL_set_alpn_protos(w.ssl, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    assert_int_equal(SSL_connect(w.ssl), 1);
    return w;
}

static void wire_end(struct api_client *w)
{
    SSL_free(w->ssl);
    close(w->fd);
}

static void expect_tls_response(struct api_client *w, const char *request, const char *body)
{
    char text[1024];

    if (request)
        wire_send(w, request, strlen(request));
    wire_read_head(w, text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 200 OK\r\n"));
    assert_true(wire_read(w, text, strlen(body)));
    assert_memory_equal(text, body, strlen(body));
}

static void http_requests_are_answered_over_tls(void **state)
{
    struct api_client w = connect_tls();
    const unsigned char *protocol;
    unsigned n;

    (void)state;
    SSL_get0_alpn_selected(w.ssl, &protocol, &n);
    assert_int_equal(n, 8);
    assert_memory_equal(protocol, "http/1.1", 8);
    expect_tls_response(&w, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    expect_tls_response(&w, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n", "127.0.0.1 1");
    expect_tls_response(
        &w, "GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "later");
    expect_tls_response(&w, NULL, "hello");
    wire_end(&w);
}

static void tls_1_1_is_refused(void **state)
{
    struct api_client w = { .fd = app_connect(), .ssl = SSL_new(client) };

    (void)state;
    SSL_set_fd(w.ssl, w.fd);
    SSL_set_security_level(w.ssl, 0);
    SSL_set_max_proto_version(w.ssl, TLS1_1_VERSION);
    assert_int_not_equal(SSL_connect(w.ssl), 1);
    wire_end(&w);

    w = (struct api_client){ .fd = app_connect(), .ssl = SSL_new(client) };
    SSL_set_fd(w.ssl, w.fd);
    SSL_set_max_proto_version(w.ssl, TLS1_2_VERSION);
    assert_int_equal(SSL_connect(w.ssl), 1);
    expect_tls_response(&w, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    wire_end(&w);
}

static void large_bodies_and_files_are_transferred_over_tls(void **state)
{
    enum { LENGTH = 1000000 };
    struct api_client w = connect_tls();
    char *body = malloc(LENGTH), *got = malloc(LENGTH);
    char text[1024];
    const char *const requests[] = {
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
        "GET /size?1000000 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /file?1000000 HTTP/1.1\r\nHost: x\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        body[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        wire_send(&w, requests[i], strlen(requests[i]));
        if (i == 0)
            wire_send(&w, body, LENGTH);
        wire_read_head(&w, text, sizeof text);
        assert_true(wire_read(&w, got, LENGTH));
        assert_memory_equal(got, body, LENGTH);
    }
    free(body);
    free(got);
    wire_end(&w);
}

static void server_sends_tls_close_notify(void **state)
{
    struct api_client w = connect_tls();
    char c;

    (void)state;
    expect_tls_response(&w, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "hello");
    assert_int_equal(SSL_read(w.ssl, &c, 1), 0);
    assert_int_equal(SSL_get_error(w.ssl, 0), SSL_ERROR_ZERO_RETURN);
    wire_end(&w);
}

static void plain_http_is_answered_on_the_tls_port(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "127.0.0.1 0");
    close(fd);
}

static void plain_http_is_refused_if_tls_is_required(void **state)
{
    struct http_server_options o = { .tls = context, .tls_only = true };

    (void)state;
    app_start(&o);
    int fd = app_connect();
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 400, "{\"refused\":400}");
    peer_expect_end(fd);
    struct api_client w = connect_tls();
    expect_tls_response(&w, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "hello");
    wire_end(&w);
    app_stop();
}

static void invalid_tls_handshake_ends_the_connection(void **state)
{
    int fd = app_connect();
    char rest[64];

    (void)state;
    peer_send(fd, "\x16this is no handshake at all");
    while (recv(fd, rest, sizeof rest, 0) > 0)
        ; /* an alert may come first */
    close(fd);
    struct api_client w = connect_tls();
    wire_send(&w, "GET /echo HTTP/1.1\r\n", 20);
    peer_send(w.fd, "plain bytes into a TLS connection");
    while (recv(w.fd, rest, sizeof rest, 0) > 0)
        ;
    wire_end(&w);
    plain_http_is_answered_on_the_tls_port(state);
}

static void websockets_work_over_tls(void **state)
{
    struct api_client w = connect_tls();

    (void)state;
    wire_handshake(&w, "/socket");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    wire_send_text(&w, "who");
    wire_expect(&w, 1, "secure");
    wire_send_text(&w, "close");
    wire_expect_close(&w, 4000);
    api_client_send_websocket_frame(&w, 8, "\x0f\xa0", 2);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 4000);
    wire_end(&w);
}

static void websocket_frames_are_sent_immediately_over_tls(void **state)
{
    struct api_client w = connect_tls();

    (void)state;
    wire_handshake(&w, "/patient");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    wire_expect_frames(&w, APP_FRAMES, APP_FRAME);
    wire_end(&w);
}

static X509 *read_certificate_file(const char *in, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", in, name);
    FILE *f = fopen(path, "r");
    X509 *c = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    assert_non_null(c);
    return c;
}

/* Python 3.13 and others verify with this flag, which requires key identifiers and key usage. */
static int verify_strictly(X509 *authority, X509 *c)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *verification = X509_STORE_CTX_new();

    X509_STORE_add_cert(store, authority);
    X509_STORE_set_flags(store, X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX_init(verification, store, c, NULL);
    X509_STORE_CTX_set_default(verification, "ssl_server");
    int result = X509_verify_cert(verification);
    X509_STORE_CTX_free(verification);
    X509_STORE_free(store);
    return result;
}

static void issued_certificate_is_signed_by_the_stored_authority(void **state)
{
    static const char *const names[] = { "api.example", "files.example", NULL };
    static const char *const more[] = { "api.example", "new.example", NULL };
    char in[] = "/tmp/net_tls_issued_XXXXXX", path[128];
    struct tls_context *c = NULL;

    (void)state;
    assert_non_null(mkdtemp(in));
    assert_int_equal(tls_context_open_issued_by_own_authority(in, "127.0.0.9", names, &c), OK);
    tls_context_free(c);
    X509 *authority = read_certificate_file(in, "ca.pem");
    X509 *first = read_certificate_file(in, "cert.pem");
    assert_int_equal(verify_strictly(authority, first), 1);
    assert_int_equal(verify_strictly(first, first), 0);
    assert_int_equal(X509_check_host(first, "files.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(first, "new.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(first, "127.0.0.9", 0), 1);

    assert_int_equal(tls_context_open_issued_by_own_authority(in, "127.0.0.9", names, &c), OK);
    tls_context_free(c);
    X509 *same = read_certificate_file(in, "cert.pem");
    assert_int_equal(X509_cmp(first, same), 0);
    assert_int_equal(tls_context_open_issued_by_own_authority(in, "127.0.0.9", more, &c), OK);
    tls_context_free(c);
    X509 *second = read_certificate_file(in, "cert.pem");
    assert_int_equal(X509_check_host(second, "new.example", 0, 0, NULL), 1);
    assert_int_equal(verify_strictly(authority, second), 0); /* each one has its own authority */
    X509_free(authority);
    X509_free(first);
    X509_free(same);
    X509_free(second);
    const char *const files[] = { "ca.pem", "cert.pem", "key.pem" };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", in, files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(in), 0);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    log_init(2, LOG_OFF, 0); /* before threads start */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_signed_certificate_covers_the_host_and_loopback),
        cmocka_unit_test(self_signed_certificate_is_reused_until_a_week_before_expiry),
        cmocka_unit_test(damaged_certificate_pair_is_generated_again),
        cmocka_unit_test(issued_certificate_is_signed_by_the_stored_authority),
        with_server(http_requests_are_answered_over_tls),
        with_server(tls_1_1_is_refused),
        with_server(large_bodies_and_files_are_transferred_over_tls),
        with_server(server_sends_tls_close_notify),
        with_server(plain_http_is_answered_on_the_tls_port),
        cmocka_unit_test(plain_http_is_refused_if_tls_is_required),
        with_server(invalid_tls_handshake_ends_the_connection),
        with_server(websockets_work_over_tls),
        with_server(websocket_frames_are_sent_immediately_over_tls),
    };
    return cmocka_run_group_tests_name("net/tls", tests, prepare, clean_up);
}
