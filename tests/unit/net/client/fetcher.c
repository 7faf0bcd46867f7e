/* fetcher.c - tests the HTTP client, and the addresses that it must not contact. */
#include "unit/unit.h"

#include <semaphore.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/address.h"
#include "net/client/fetcher.h"
#include "net/client/curl.h"
#include "net/tls.h"
#include "unit/net/app.h"

/* --- addresses ------------------------------------------------------------------------ */

static bool is_public(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return ip_address_is_public(&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return ip_address_is_public(&v6);
}

static void public_and_private_ip_addresses_are_distinguished(void **state)
{
    static const char *const others[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.255",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fc00::1",
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:c0a8:101::1",
        "2001:db8::1",
        "2001::1",
        "2001:1ff::1",
        "3fff::1",
        "100::1",
        "4000::1",
        "1fff::1",
    };
    static const char *const ours[] = {
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.101.0",
        "203.0.114.0",
        "223.255.255.255",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2001:db9::1",
        "3ffe:ffff::1",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (is_public(others[i]))
            fail_msg("%s is not public", others[i]);
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        if (!is_public(ours[i]))
            fail_msg("%s is public", ours[i]);
    struct sockaddr local = { .sa_family = AF_UNIX };
    assert_false(ip_address_is_public(&local));
}

static void urls_with_private_hosts_are_recognized(void **state)
{
    static const char *const others[] = {
        "http://127.0.0.1/x",
        "http://10.0.0.1",
        "https://192.168.1.1:8080/x",
        "http://169.254.169.254/latest",
        "http://[::1]/x",
        "http://[fd00::1]:80/x",
        "http://[fe80::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://localhost/x",
        "http://LOCALHOST:80",
        "http://a.localhost./x",
        "http://nas/x",
        "https://printer.local/x",
        "https://db.prod.internal?x",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1#x",
        "http://me:you@127.0.0.1/",
        "http://x.example@10.0.0.1/",
        "http://127.0.0.1\\x.example",
        "http://%31270.0.0.1/",
        "http:///127.0.0.1",
        "http://\xef\xbc\x91.example/",
        "http://[::1",
        "http://:80/",
    };
    static const char *const ours[] = {
        "http://8.8.8.8/x",
        "https://x.y/z",
        "https://[2606:4700::1111]:443/x",
        "https://cdn.example/10.0.0.1",
        "https://localhost.example/",
        "https://not.notlocal",
        "https://a@cdn.example:80/x",
        "https://xn--bcher-kva.example./",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (url_is_public(str_of(others[i])))
            fail_msg("%s is not public", others[i]);
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        if (!url_is_public(str_of(ours[i])))
            fail_msg("%s is public", ours[i]);
}

/* --- requests ------------------------------------------------------------------------- */

static struct {
    struct fetcher *fetcher;
    struct fetch_options options;
    struct fetch_request request;
    char url[256];
    bool returned;
    bool early;
    enum fetch_result result;
    int status;
    char type[64], body[8192];
    bool takes;
    struct buf taken;
    size_t bytes;    /* of all responses */
    int64_t slow_ns; /* duration of each completion callback */
    sem_t done;
} fetch;

/* Work between two iteration ends of the fetcher's loop. */
static struct {
    struct loop_iteration_callback end;
    int ends, most_ends;
    int pieces, most_pieces;
} turn;

static void spend(int64_t ns)
{
    for (int64_t until = clock_monotonic_ns() + ns; clock_monotonic_ns() < until;)
        ;
}

static void done(void *arg, enum fetch_result result, int status, struct str type, struct buf *body)
{
    assert_ptr_equal(arg, &fetch);
    turn.ends++;
    spend(fetch.slow_ns);
    fetch.early = !fetch.returned;
    fetch.bytes += body->n;
    fetch.result = result;
    fetch.status = status;
    snprintf(fetch.type, sizeof fetch.type, "%.*s", STR_ARGS(type));
    snprintf(fetch.body, sizeof fetch.body, "%.*s", STR_ARGS(buf_as_str(body)));
    if (fetch.takes) {
        fetch.taken = *body;
        buf_init(body, 0);
    }
    sem_post(&fetch.done);
}

static void start_request_on_loop(struct loop *l, void *arg)
{
    (void)arg;
    if (!fetch.fetcher)
        fetch.fetcher = fetcher_new(l, &fetch.options);
    fetcher_start_request(fetch.fetcher, &fetch.request);
    fetch.returned = true;
}

static void free_fetcher_on_loop(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    fetcher_free(fetch.fetcher);
    fetch.fetcher = NULL;
}

static void begin_with(void (*on_loop)(struct loop *l, void *arg), const char *method,
                       const char *url_format, struct str body)
{
    snprintf(fetch.url, sizeof fetch.url, url_format, http_server_get_port(app.server));
    fetch.request.method = method;
    fetch.request.url = fetch.url;
    fetch.request.body = body;
    fetch.request.done = done;
    fetch.request.arg = &fetch;
    if (!fetch.request.timeout_ms)
        fetch.request.timeout_ms = APP_PATIENCE_MS;
    if (!fetch.request.max_response)
        fetch.request.max_response = 5000;
    fetch.returned = fetch.early = false;
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), on_loop, NULL);
}

static void begin(const char *method, const char *url_format, struct str body)
{
    begin_with(start_request_on_loop, method, url_format, body);
}

static enum fetch_result run(const char *method, const char *url_format, struct str body)
{
    begin(method, url_format, body);
    sem_wait(&fetch.done);
    assert_false(fetch.early);
    return fetch.result;
}

static int start_with(const struct http_server_options *o, const struct fetch_options *options)
{
    memset(&fetch, 0, sizeof fetch);
    fetch.options = *options;
    sem_init(&fetch.done, 0, 0);
    app_start(o);
    return 0;
}

static int start(void **state)
{
    (void)state;
    return start_with(&(struct http_server_options){ 0 },
                      &(struct fetch_options){ .allow_private = true });
}

static int start_guarded(void **state)
{
    (void)state;
    return start_with(&(struct http_server_options){ 0 }, &(struct fetch_options){ 0 });
}

static int stop(void **state)
{
    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), free_fetcher_on_loop, NULL);
    app_stop();
    sem_destroy(&fetch.done);
    return 0;
}

static void http_client_receives_responses(void **state)
{
    (void)state;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/echo", STR("")), FETCH_OK);
    assert_int_equal(fetch.status, 200);
    assert_string_equal(fetch.type, "application/json");
    assert_string_equal(fetch.body, "hello");
    assert_int_equal(run("POST", "http://localhost:%d/echo", STR("{\"type\":1}")), FETCH_OK);
    assert_string_equal(fetch.body, "{\"type\":1}");
    assert_int_equal(run("PATCH", "http://127.0.0.1:%d/nowhere", STR("x")), FETCH_OK);
    assert_int_equal(fetch.status, 404);
    assert_int_equal(run("HEAD", "http://127.0.0.1:%d/echo", STR("")), FETCH_OK);
    assert_string_equal(fetch.body, "");
}

static void long_response_is_taken_over_without_copy(void **state)
{
    enum { LENGTH = 29 * 1024 * 1024 };

    (void)state;
    fetch.takes = true;
    fetch.request.max_response = LENGTH;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/size?30408704", STR("")), FETCH_OK);
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), free_fetcher_on_loop, NULL);
    assert_int_equal(fetch.taken.n, LENGTH);
    for (size_t i = 0; i < LENGTH; i += 4099)
        assert_int_equal(fetch.taken.p[i], 'a' + i % 23);
    buf_clear(&fetch.taken);
}

enum { TOGETHER = 12 };

static void start_many_requests_on_loop(struct loop *l, void *arg)
{
    for (int i = 0; i < TOGETHER; i++)
        start_request_on_loop(l, arg);
}

/* The responses need more than one iteration, so some sockets wait. */
static void simultaneous_long_responses_are_all_received(void **state)
{
    enum { LENGTH = 4 * 1024 * 1024 };

    (void)state;
    fetch.request.max_response = LENGTH;
    begin_with(start_many_requests_on_loop, "GET", "http://127.0.0.1:%d/size?4194304", STR(""));
    for (int i = 0; i < TOGETHER; i++)
        sem_wait(&fetch.done);
    assert_int_equal(fetch.result, FETCH_OK);
    assert_int_equal(fetch.bytes, (size_t)TOGETHER * LENGTH);
}

/* A self-signed certificate that a client trusts through its file. */
struct own_certificate {
    char folder[32], certificate[64], key[64];
    struct tls_context *context;
};

static void create_self_signed_certificate_files(struct own_certificate *c)
{
    *c = (struct own_certificate){ .folder = "/tmp/net_client_XXXXXX" };
    assert_non_null(mkdtemp(c->folder));
    snprintf(c->certificate, sizeof c->certificate, "%s/cert.pem", c->folder);
    snprintf(c->key, sizeof c->key, "%s/key.pem", c->folder);
    assert_int_equal(tls_context_open_self_signed(c->folder, "localhost", &c->context), OK);
}

static void remove_self_signed_certificate(struct own_certificate *c)
{
    tls_context_free(c->context);
    unlink(c->certificate);
    unlink(c->key);
    rmdir(c->folder);
}

static void record_iteration_end(struct loop_iteration_callback *t)
{
    (void)t;
    turn.most_ends = turn.ends > turn.most_ends ? turn.ends : turn.most_ends;
    turn.most_pieces = turn.pieces > turn.most_pieces ? turn.pieces : turn.most_pieces;
    turn.ends = turn.pieces = 0;
}

static void start_watching_iterations(struct loop *l, void *arg)
{
    (void)arg;
    memset(&turn, 0, sizeof turn);
    turn.end.run = record_iteration_end;
    loop_add_iteration_callback(l, &turn.end);
}

static void stop_watching_iterations(struct loop *l, void *arg)
{
    (void)l, (void)arg;
    record_iteration_end(&turn.end);
    loop_remove_iteration_callback(&turn.end);
}

static void fetch_many_and_wait(const char *url_format)
{
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), start_watching_iterations, NULL);
    fetch.request.timeout_ms = 60 * 1000;
    begin_with(start_many_requests_on_loop, "GET", url_format, STR(""));
    for (int i = 0; i < TOGETHER; i++)
        sem_wait(&fetch.done);
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), stop_watching_iterations, NULL);
}

/* Each completion takes more than the time share of an iteration, so no iteration has two. */
static void completed_requests_are_spread_over_iterations(void **state)
{
    (void)state;
    fetch.slow_ns = 5 * 1000 * 1000;
    fetch_many_and_wait("http://127.0.0.1:%d/echo");
    assert_int_equal(fetch.bytes, TOGETHER * strlen("hello"));
    assert_int_equal(turn.most_ends, 1);
}

/* --- response data -------------------------------------------------------------------- */

static curl_write_callback take_piece;
static __typeof__(curl.easy_setopt) set_option;

/* Simulates a write callback that takes 1 ms. */
static size_t write_callback_slowly(char *p, size_t size, size_t n, void *arg)
{
    size_t taken = take_piece(p, size, n, arg);

    if (taken != CURL_WRITEFUNC_PAUSE) {
        turn.pieces++;
        spend(1000 * 1000);
    }
    return taken;
}

static CURLcode set_option_slowly(CURL *easy, CURLoption option, ...)
{
    va_list values;

    va_start(values, option);
    if (option == CURLOPT_WRITEFUNCTION) {
        take_piece = va_arg(values, curl_write_callback);
        va_end(values);
        return set_option(easy, option, write_callback_slowly);
    }
    void *value = va_arg(values, void *); /* or an integer of the same size */
    va_end(values);
    return set_option(easy, option, value);
}

/* With TLS, libcurl passes up to a hundred pieces of a response at once. */
static void response_data_is_spread_over_iterations(void **state)
{
    enum { LENGTH = 128 * 1024, SHARE = 4 };
    struct own_certificate own;

    (void)state;
    create_self_signed_certificate_files(&own);
    start_with(&(struct http_server_options){ .tls = own.context },
               &(struct fetch_options){ .allow_private = true, .ca_file = own.certificate });
    assert_true(load_curl());
    set_option = curl.easy_setopt;
    curl.easy_setopt = set_option_slowly;
    fetch.request.max_response = LENGTH;
    fetch_many_and_wait("https://localhost:%d/size?131072");
    curl.easy_setopt = set_option;
    stop(NULL);
    assert_int_equal(fetch.bytes, (size_t)TOGETHER * LENGTH);
    assert_true(turn.most_pieces <= SHARE + 1);
    remove_self_signed_certificate(&own);
}

static void request_headers_with_line_breaks_are_not_sent(void **state)
{
    struct fetch_header headers[] = { { STR("X-Sent"), STR("yes") } };

    (void)state;
    fetch.request.headers = headers;
    fetch.request.header_count = 1;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/header", STR("")), FETCH_OK);
    assert_string_equal(fetch.body, "yes");
    headers[0] = (struct fetch_header){ STR("X-Other"), STR("a\r\nX-Sent: b") };
    assert_int_equal(run("GET", "http://127.0.0.1:%d/header", STR("")), FETCH_OK);
    assert_string_equal(fetch.body, "");
}

static void redirects_are_not_followed(void **state)
{
    (void)state;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/moved", STR("")), FETCH_OK);
    assert_int_equal(fetch.status, 302);
    assert_string_equal(fetch.body, "elsewhere");
}

static void http_client_ignores_proxy_environment_variables(void **state)
{
    (void)state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    assert_int_equal(run("GET", "http://127.0.0.1:%d/echo", STR("")), FETCH_OK);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

static void private_addresses_are_forbidden_in_every_notation(void **state)
{
    (void)state;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/echo", STR("")), FETCH_FORBIDDEN);
    assert_int_equal(run("GET", "http://localhost:%d/echo", STR("")), FETCH_FORBIDDEN);
    assert_int_equal(run("GET", "http://2130706433:%d/echo", STR("")), FETCH_FORBIDDEN);
    assert_int_equal(run("GET", "http://0x7f.1:%d/echo", STR("")), FETCH_FORBIDDEN);
    assert_int_equal(run("GET", "http://[::ffff:127.0.0.1]:%d/echo", STR("")), FETCH_FORBIDDEN);
    assert_int_equal(run("GET", "http://0.0.0.0:%d/echo", STR("")), FETCH_FORBIDDEN);
}

static void urls_that_are_not_plain_http_are_refused(void **state)
{
    static const char *const urls[] = {
        "ftp://127.0.0.1:%d/",
        "file:///etc/passwd",
        "http://user@127.0.0.1:%d/echo",
        "gopher://127.0.0.1:%d",
        "not a url",
        "http://a:b@127.0.0.1:%d/echo",
        "",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(urls); i++)
        if (run("GET", urls[i], STR("")) != FETCH_BAD_URL)
            fail_msg("'%s' was not refused", urls[i]);
}

static void responses_above_the_size_limit_are_refused(void **state)
{
    (void)state;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/size?5000", STR("")), FETCH_OK);
    assert_int_equal(strlen(fetch.body), 5000);
    assert_int_equal(run("GET", "http://127.0.0.1:%d/size?5001", STR("")), FETCH_TOO_LARGE);
    assert_string_equal(fetch.body, "");
}

/* Two seconds leave a busy machine enough time to send the request. */
static void silent_server_causes_a_timeout(void **state)
{
    (void)state;
    fetch.request.timeout_ms = 2000;
    assert_int_equal(run("GET", "http://127.0.0.1:%d/hold", STR("")), FETCH_TIMEOUT);
    app_release();
}

static void missing_server_is_reported_as_unreachable(void **state)
{
    (void)state;
    assert_int_equal(run("GET", "http://127.0.0.1:1/", STR("")), FETCH_UNREACHABLE);
    assert_int_equal(run("GET", "https://127.0.0.1:%d/echo", STR("")), FETCH_UNREACHABLE);
}

static void freeing_the_fetcher_ends_running_requests(void **state)
{
    (void)state;
    begin("GET", "http://127.0.0.1:%d/hold", STR(""));
    app_wait_until(atomic_load(&app.held));
    loop_run_function_and_wait(loops_get_loop_at(app.loops, 0), free_fetcher_on_loop, NULL);
    sem_wait(&fetch.done);
    assert_int_equal(fetch.result, FETCH_UNREACHABLE);
    app_release();
}

static void start_request_and_free_fetcher_on_loop(struct loop *l, void *arg)
{
    start_request_on_loop(l, arg);
    free_fetcher_on_loop(l, arg);
}

static void failed_request_completes_after_its_fetcher_was_freed(void **state)
{
    (void)state;
    begin_with(start_request_and_free_fetcher_on_loop, "GET", "ftp://127.0.0.1:%d/echo", STR(""));
    sem_wait(&fetch.done);
    assert_int_equal(fetch.result, FETCH_BAD_URL);
}

static void http_client_verifies_certificates(void **state)
{
    struct own_certificate own;

    (void)state;
    create_self_signed_certificate_files(&own);
    struct http_server_options o = { .tls = own.context };
    struct fetch_options trusting = { .allow_private = true, .ca_file = own.certificate };
    struct fetch_options ordinary = { .allow_private = true };

    start_with(&o, &trusting);
    assert_int_equal(run("GET", "https://localhost:%d/who", STR("")), FETCH_OK);
    assert_string_equal(fetch.body, "127.0.0.1 1");
    stop(NULL);
    start_with(&o, &ordinary);
    assert_int_equal(run("GET", "https://localhost:%d/who", STR("")), FETCH_UNREACHABLE);
    stop(NULL);
    remove_self_signed_certificate(&own);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_and_private_ip_addresses_are_distinguished),
        cmocka_unit_test(urls_with_private_hosts_are_recognized),
        with_server(http_client_receives_responses),
        with_server(long_response_is_taken_over_without_copy),
        with_server(simultaneous_long_responses_are_all_received),
        with_server(completed_requests_are_spread_over_iterations),
        cmocka_unit_test(response_data_is_spread_over_iterations),
        with_server(request_headers_with_line_breaks_are_not_sent),
        with_server(redirects_are_not_followed),
        with_server(http_client_ignores_proxy_environment_variables),
        cmocka_unit_test_setup_teardown(private_addresses_are_forbidden_in_every_notation,
                                        start_guarded, stop),
        with_server(urls_that_are_not_plain_http_are_refused),
        with_server(responses_above_the_size_limit_are_refused),
        with_server(silent_server_causes_a_timeout),
        with_server(missing_server_is_reported_as_unreachable),
        with_server(freeing_the_fetcher_ends_running_requests),
        with_server(failed_request_completes_after_its_fetcher_was_freed),
        cmocka_unit_test(http_client_verifies_certificates),
    };
    log_init(2, LOG_OFF, 0); /* before threads start */
    return cmocka_run_group_tests_name("net/client", tests, NULL, NULL);
}
