/* server_request.c - tests pipelined and fragmented requests, and refused request heads. */
#include "unit/unit.h"

#include "base/log.h"
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

static void thousand_pipelined_requests_are_answered_in_order(void **state)
{
    enum { REQUESTS = 1000 };
    char *all = malloc(REQUESTS * 80);
    size_t n = 0;
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < REQUESTS; i++)
        n += (size_t)sprintf(all + n,
                             "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n%04d", i);
    peer_send_bytes(fd, all, n);
    free(all);
    for (int i = 0; i < REQUESTS; i++) {
        char expected[8];

        snprintf(expected, sizeof expected, "%04d", i);
        peer_expect(fd, 200, expected);
    }
    assert_int_equal(stats().requests, REQUESTS);
    close(fd);
}

static void pipelined_requests_wait_for_a_response_from_another_thread(void **state)
{
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < 20; i++)
        peer_send(fd,
                  "GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        peer_expect(fd, 200, "later");
        peer_expect(fd, 200, "hello");
    }
    close(fd);
}

/* More than 1 MiB of requests arrives while one is answered: the server stops reading and
 * continues after the response. */
static void pipelined_requests_are_not_buffered_without_limit(void **state)
{
    static const char request[] = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n";
    enum { REQUESTS = 60000 };
    int fd = app_connect();
    size_t sent = 0, total = REQUESTS * (sizeof request - 1);
    char *all = malloc(total);

    (void)state;
    for (size_t i = 0; i < REQUESTS; i++)
        memcpy(all + i * (sizeof request - 1), request, sizeof request - 1);
    peer_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    for (ssize_t n; sent < 600000 && (n = send(fd, all + sent, 600000 - sent, MSG_DONTWAIT)) > 0;)
        sent += (size_t)n;
    app_run_loop_iterations(20);
    assert_true(stats().bytes_in <= 64 * 1024 * 3);
    app_release();
    peer_expect(fd, 200, "held");
    /* 60,000 responses arrive while the rest is sent. */
    char answers[65536];
    size_t got = 0;
    struct peer_answer first = { 0 };
    while (sent < total || got == 0) {
        ssize_t n = send(fd, all + sent, total - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        n = recv(fd, answers, sizeof answers, n > 0 ? MSG_DONTWAIT : 0);
        if (n > 0)
            got += (size_t)n;
    }
    shutdown(fd, SHUT_WR);
    for (ssize_t n; (n = recv(fd, answers, sizeof answers, 0)) > 0;)
        got += (size_t)n;
    close(fd);
    int other = app_connect();
    peer_send(other, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
    first = peer_read_answer(other, false);
    assert_int_equal(got, strlen(first.head) * REQUESTS);
    close(other);
    free(all);
}

static void unread_responses_are_not_buffered_without_limit(void **state)
{
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < 100; i++)
        peer_send(fd, "GET /size?200000 HTTP/1.1\r\nHost: x\r\n\r\n");
    app_run_loop_iterations(200);
    assert_true(stats().requests < 100);
    for (int i = 0; i < 100; i++) {
        struct peer_answer a = peer_read_answer(fd, false);
        assert_int_equal(a.n, 200000);
        assert_int_equal(a.body[199999], 'a' + 199999 % 23);
        free(a.body);
    }
    close(fd);
}

static void requests_may_arrive_byte_by_byte(void **state)
{
    static const char text[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n";
    int fd = app_connect();
    int one = 1;

    (void)state;
    setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
    for (const char *p = text; *p; p++)
        peer_send_bytes(fd, p, 1);
    peer_expect(fd, 200, "abc");
    peer_expect(fd, 200, "def");
    close(fd);
}

static void malformed_request_heads_are_refused_and_the_connection_closes(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        { "GET / HTTP/1.1\nHost: x\n\n", 400 },
        { "\r\n\r\n\r\n\r\n", 400 },
        { "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505 },
        { "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400 },
        { "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          400 },
        { "\x16\x03\x01\x02", 400 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int fd = app_connect();

        peer_send(fd, cases[i].text);
        struct peer_answer a = peer_read_answer(fd, false);
        assert_int_equal(a.status, cases[i].status);
        assert_true(peer_has(&a, "\r\nConnection: close\r\n"));
        assert_true(peer_has(&a, "\r\nContent-Type: application/json\r\n"));
        free(a.body);
        peer_expect_end(fd);
    }
}

static void endless_request_heads_are_refused(void **state)
{
    char *filler = malloc(65536);
    int fd = app_connect();

    (void)state;
    memset(filler, 'a', 65536);
    peer_send(fd, "GET /");
    peer_send_bytes(fd, filler, 16384);
    peer_expect(fd, 414, "{\"refused\":414}");
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "GET / HTTP/1.1\r\nHost: x\r\nA: ");
    peer_send_bytes(fd, filler, 65536);
    peer_expect(fd, 431, "{\"refused\":431}");
    peer_expect_end(fd);
    free(filler);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(thousand_pipelined_requests_are_answered_in_order),
        with_server(pipelined_requests_wait_for_a_response_from_another_thread),
        with_server(pipelined_requests_are_not_buffered_without_limit),
        with_server(unread_responses_are_not_buffered_without_limit),
        with_server(requests_may_arrive_byte_by_byte),
        with_server(malformed_request_heads_are_refused_and_the_connection_closes),
        with_server(endless_request_heads_are_refused),
    };
    log_init(2, LOG_OFF, 0); /* before threads start */
    return cmocka_run_group_tests_name("net/server reading", tests, NULL, NULL);
}
