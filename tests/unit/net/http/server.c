/* server.c - tests timeouts, shutdown, statistics and fairness of a running server. */
#include "unit/unit.h"

#include <sys/resource.h>

#include "base/log.h"
#include "net/http/server_internal.h"
#include "unit/net/app.h"

static const struct http_server_options ordinary;

static int start(void **state)
{
    (void)state;
    app_start(&ordinary);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    app_stop();
    return 0;
}

static struct http_server_stats stats(void)
{
    struct http_server_stats s;

    http_server_read_stats(app.server, &s);
    return s;
}

static void slow_requests_get_408_and_idle_connections_are_closed(void **state)
{
    struct http_server_options quick = { .head_timeout_ms = 1000, .idle_timeout_ms = 5000 };

    (void)state;
    app_start(&quick);
    int silent = app_connect(), slow = app_connect(), slow_body = app_connect(),
        idle = app_connect();
    peer_send(slow, "GET / HT");
    peer_send(slow_body, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na");
    peer_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(idle, 200, "hello");
    peer_expect(slow, 408, "{\"refused\":408}");
    peer_expect(slow_body, 408, "{\"refused\":408}");
    peer_expect_end(slow);
    peer_expect_end(slow_body);
    peer_expect_end(silent);
    peer_expect_end(idle);
    app_stop();
}

/* The upload takes more than two rate windows; each piece has the bytes that a window requires. */
static void body_upload_may_take_long_above_the_minimum_rate(void **state)
{
    enum { WINDOW_MS = 2000, PIECE = WINDOW_MS * MIN_BODY_RATE / 1000, PIECES = 30 };
    struct http_server_options quick = { .head_timeout_ms = WINDOW_MS, .idle_timeout_ms = 60000 };
    char head[128], piece[PIECE];

    (void)state;
    app_start(&quick);
    int steady = app_connect(), slow = app_connect();
    memset(piece, 'b', sizeof piece);
    snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
             PIECE * PIECES);
    peer_send(steady, head);
    peer_send(slow, head);
    for (int i = 0; i < PIECES; i++) {
        peer_send_bytes(steady, piece, PIECE);
        send(slow, "b", 1, MSG_NOSIGNAL);
        usleep(200000);
    }
    peer_expect(steady, 200, NULL);
    peer_expect(slow, 408, "{\"refused\":408}");
    close(steady);
    close(slow);
    app_stop();
}

static void large_response_is_sent_as_long_as_the_client_reads(void **state)
{
    enum { KINDS = 2, LENGTH = 24 * 1024 * 1024, PIECE = 1024 * 1024 };
    struct http_server_options quick = { .head_timeout_ms = 60000, .idle_timeout_ms = 12000 };
    static const char *const requests[KINDS] = { "GET /size?25165824 HTTP/1.1\r\nHost: x\r\n\r\n",
                                                 "GET /file?25165824 HTTP/1.1\r\nHost: x\r\n\r\n" };
    int steady[KINDS], idle[KINDS];
    size_t got[KINDS] = { 0 };
    char *room = malloc(PIECE);

    (void)state;
    app_start(&quick);
    for (size_t i = 0; i < KINDS; i++) {
        steady[i] = app_connect();
        idle[i] = app_connect();
        peer_send(steady[i], requests[i]);
        peer_send(idle[i], requests[i]);
    }
    while (got[0] < LENGTH || got[1] < LENGTH) {
        for (size_t i = 0; i < KINDS; i++) {
            ssize_t n = got[i] < LENGTH ? peer_read(steady[i], room, PIECE) : 0;

            assert_true(n > 0 || got[i] >= LENGTH);
            got[i] += (size_t)n;
        }
        if (got[0] > LENGTH / 2)
            usleep(100000);
    }
    /* Clients that do not read are disconnected; a client that has read everything may be closed
     * as idle. */
    for (int left = 60000; stats().open > KINDS && left; left--)
        usleep(1000);
    assert_true(stats().open <= KINDS);
    for (size_t i = 0; i < KINDS; i++) {
        close(steady[i]);
        close(idle[i]);
    }
    app_wait_until(stats().open == 0);
    app_stop();
    free(room);
}

static void refused_connection_is_closed_after_one_second(void **state)
{
    int64_t began = clock_monotonic_ns();
    int fd = app_connect();

    (void)state;
    peer_send(fd, "nonsense\r\n\r\n");
    peer_expect(fd, 400, NULL);
    bool waited_for = stats().open == 1;
    assert_true(waited_for || (clock_monotonic_ns() - began) / 1000000 >= LINGER_MS);
    app_wait_until(stats().open == 0);
    close(fd);
}

static void client_disconnect_does_not_disturb_its_running_call(void **state)
{
    struct linger reset = { .l_onoff = 1 };
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    app_wait_until(stats().open == 0);
    app_release(); /* the client is gone */
}

static void check_loop_is_stopping(struct loop *l, void *arg)
{
    *(bool *)arg &= app.server->server_loops[loop_get_index(l)]->stopping;
}

static bool every_loop_stops(void)
{
    bool all = true;

    for (unsigned i = 0; i < APP_LOOPS; i++)
        loop_run_function_and_wait(loops_get_loop_at(app.loops, i), check_loop_is_stopping, &all);
    return all;
}

static void *release_while_stopping(void *arg)
{
    while (!every_loop_stops())
        usleep(1000);
    app_release();
    return arg;
}

static void server_stop_finishes_running_calls_and_closes_idle_connections(void **state)
{
    pthread_t thread;

    (void)state;
    app_start(&ordinary);
    int idle = app_connect(), busy = app_connect();
    peer_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(idle, 200, "hello");
    peer_send(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    pthread_create(&thread, NULL, release_while_stopping, NULL);
    http_server_stop(app.server, APP_PATIENCE_MS);
    pthread_join(thread, NULL);
    struct peer_answer a = peer_read_answer(busy, false);
    assert_string_equal(a.body, "held");
    assert_true(peer_has(&a, "\r\nConnection: close\r\n"));
    free(a.body);
    peer_expect_end(busy);
    peer_expect_end(idle);
    app_stop();
}

static void call_that_outlives_the_server_drops_its_response(void **state)
{
    (void)state;
    app_start(&ordinary);
    int busy = app_connect();
    peer_send(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    http_server_stop(app.server, 20);
    http_server_free(app.server);
    peer_expect_end(busy);
    app_release();
    loops_stop(app.loops);
}

static void ipv4_client_of_an_ipv6_socket_has_its_ipv4_address(void **state)
{
    /* This IPv6 socket accepts only IPv4 clients on loopback. */
    static const struct http_server_options mapped = { .host = "::ffff:127.0.0.1" };
    int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    if (probe < 0)
        skip();
    close(probe);
    app_start(&mapped);
    int fd = app_connect();
    peer_send(fd, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "127.0.0.1 0");
    close(fd);
    app_stop();
}

static void server_start_fails_if_the_port_is_in_use(void **state)
{
    struct http_server_options o = { .host = "127.0.0.1",
                                     .port = http_server_get_port(app.server) };
    struct http_server_options nowhere = { .host = "not an address", .port = 0 };
    struct http_server *second = NULL;

    (void)state;
    assert_int_not_equal(http_server_start(app.loops, &o, &app_calls, &second), OK);
    assert_int_not_equal(http_server_start(app.loops, &nowhere, &app_calls, &second), OK);
    assert_null(second);
}

static int64_t cpu_us(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 + r.ru_utime.tv_usec +
           r.ru_stime.tv_usec;
}

static void server_survives_running_out_of_file_descriptors(void **state)
{
    struct rlimit before, few;
    int beyond[8];
    int first = app_connect();

    (void)state;
    peer_send(first, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(first, 200, "hello");
    for (size_t i = 0; i < COUNT_OF(beyond); i++)
        beyond[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)beyond[7] + 1;
    setrlimit(RLIMIT_NOFILE, &few);

    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)http_server_get_port(app.server)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int64_t used = cpu_us();
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        assert_int_equal(connect(beyond[i], (struct sockaddr *)&to, sizeof to), 0);
        peer_send(beyond[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    assert_true(peer_is_quiet(beyond[0], 300));
    peer_send(first, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(first, 200, "hello");
    assert_true(cpu_us() - used < 100000);
    setrlimit(RLIMIT_NOFILE, &before);
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        peer_expect(beyond[i], 200, "hello");
        close(beyond[i]);
    }
    close(first);
}

static void server_statistics_count_connections_requests_and_bytes(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    assert_int_equal(stats().accepted, 1);
    assert_int_equal(stats().open, 1);
    assert_int_equal(stats().requests, 1);
    assert_int_equal(stats().bytes_in, 31);
    assert_true(stats().bytes_out > 100);
    close(fd);
    app_wait_until(stats().open == 0);
}

/* --- iterations ----------------------------------------------------------------------- */

enum { CALLERS = 200, CALLS_A_TURN = 16 };

/* All clients send while the loops are paused, so all requests are ready at once. Each call
 * takes 1 ms, and an iteration reads for about 10 ms. */
static void simultaneous_requests_of_many_sockets_are_spread_over_iterations(void **state)
{
    int callers[CALLERS];

    (void)state;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = app_connect();
        peer_send(callers[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        peer_expect(callers[i], 200, "hello");
    }
    app_hold_loops();
    for (int i = 0; i < CALLERS; i++)
        peer_send(callers[i], "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    app_let_go();
    for (int i = 0; i < CALLERS; i++)
        peer_expect(callers[i], 200, "at last");
    assert_true(app_iterations() >= CALLERS / CALLS_A_TURN - 2);
    for (int i = 0; i < CALLERS; i++)
        close(callers[i]);
}

/* An iteration processes about 10 ms of one client's calls; all are answered. */
static void pipelined_requests_of_one_client_are_spread_over_iterations(void **state)
{
    enum { CALLS = 100, CALLS_OF_TURN = 11 };
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    app_hold_loops();
    for (int i = 0; i < CALLS; i++)
        peer_send(fd, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    app_let_go();
    for (int i = 0; i < CALLS; i++)
        peer_expect(fd, 200, "at last");
    assert_true(app_iterations() >= CALLS / CALLS_OF_TURN - 2);
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    close(fd);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_requests_get_408_and_idle_connections_are_closed),
        cmocka_unit_test(body_upload_may_take_long_above_the_minimum_rate),
        cmocka_unit_test(large_response_is_sent_as_long_as_the_client_reads),
        with_server(refused_connection_is_closed_after_one_second),
        with_server(client_disconnect_does_not_disturb_its_running_call),
        cmocka_unit_test(server_stop_finishes_running_calls_and_closes_idle_connections),
        cmocka_unit_test(call_that_outlives_the_server_drops_its_response),
        cmocka_unit_test(ipv4_client_of_an_ipv6_socket_has_its_ipv4_address),
        with_server(server_start_fails_if_the_port_is_in_use),
        with_server(server_survives_running_out_of_file_descriptors),
        with_server(server_statistics_count_connections_requests_and_bytes),
        with_server(simultaneous_requests_of_many_sockets_are_spread_over_iterations),
        with_server(pipelined_requests_of_one_client_are_spread_over_iterations),
    };
    log_init(2, LOG_OFF, 0); /* before threads start */
    return cmocka_run_group_tests_name("net/server", tests, NULL, NULL);
}
