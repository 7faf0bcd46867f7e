/* net_server.c - a real server and what its peers see. */
#include "unit.h"

#include <sys/resource.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "net_app.h"

static const struct server_options ordinary;

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

static struct server_stats stats(void)
{
    struct server_stats s;

    server_stats(app.server, &s);
    return s;
}

/* --- answers ------------------------------------------------------------------------ */

static void an_answer_has_the_head_that_clients_depend_on(void **state)
{
    int fd = app_connect();

    (void)state;
    clock_reset();
    clock_advance((1700000000 - clock_s()) * 1000000);
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    clock_reset();
    assert_int_equal(a.status, 200);
    assert_true(peer_has(&a, "HTTP/1.1 200 OK\r\n"));
    assert_true(peer_has(&a, "\r\nDate: Tue, 14 Nov 2023 22:13:2"));
    assert_true(peer_has(&a, "\r\nVia: 1.1 guildhall\r\n"));
    assert_true(peer_has(&a, "\r\nContent-Type: application/json\r\n"));
    assert_true(peer_has(&a, "\r\nContent-Length: 5\r\n"));
    assert_false(peer_has(&a, "Connection:"));
    assert_string_equal(a.body, "hello");
    free(a.body);
    close(fd);
}

static void answers_without_content_have_no_headers_about_it(void **state)
{
    int fd = app_connect();
    const char *const paths[] = { "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
                                  "GET /unchanged HTTP/1.1\r\nHost: x\r\n\r\n" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        peer_send(fd, paths[i]);
        struct peer_answer a = peer_read_answer(fd, false);
        assert_int_equal(a.status, i == 0 ? 204 : 304);
        assert_false(peer_has(&a, "Content-"));
    }
    peer_send(fd, "GET /tagged HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nX-Tag: yes\r\n"));
    assert_string_equal(a.body, "tag");
    free(a.body);
    close(fd);
}

static void head_is_answered_like_get_without_the_body(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "HEAD /size?500 HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, true);
    assert_true(peer_has(&a, "\r\nContent-Length: 500\r\n"));
    peer_send(fd, "HEAD /file?70000 HTTP/1.1\r\nHost: x\r\n\r\n");
    a = peer_read_answer(fd, true);
    assert_true(peer_has(&a, "\r\nContent-Length: 70000\r\n"));
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    close(fd);
}

static void connections_stay_open_unless_one_side_says_otherwise(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nConnection: close\r\n"));
    free(a.body);
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "GET /closing HTTP/1.1\r\nHost: x\r\n\r\n");
    a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nConnection: close\r\n"));
    free(a.body);
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nConnection: keep-alive\r\n"));
    free(a.body);
    peer_send(fd, "GET /echo HTTP/1.0\r\n\r\n");
    peer_expect(fd, 200, "hello");
    peer_expect_end(fd);
}

static void a_peer_that_ended_its_side_still_gets_its_answers(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(fd, SHUT_WR);
    peer_expect(fd, 200, "later");
    peer_expect(fd, 200, "hello");
    peer_expect_end(fd);
}

static void the_application_learns_who_asks(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "127.0.0.1 0");
    close(fd);
}

/* --- order and pieces ----------------------------------------------------------------- */

static void a_thousand_requests_at_once_are_answered_in_order(void **state)
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

static void pipelined_requests_wait_for_an_answer_of_another_thread(void **state)
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

/* More than a megabyte of requests while one is being answered: the server stops
 * reading, and goes on when it has answered. */
static void a_peer_that_pipelines_without_end_is_not_read_without_end(void **state)
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
    usleep(20000);
    assert_true(stats().bytes_in <= 64 * 1024 * 3);
    app_release();
    peer_expect(fd, 200, "held");
    /* The answers come while the rest is sent: 60,000 of them. */
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

static void a_peer_that_does_not_read_its_answers_is_not_buffered_without_end(void **state)
{
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < 100; i++)
        peer_send(fd, "GET /size?200000 HTTP/1.1\r\nHost: x\r\n\r\n");
    usleep(50000);
    assert_true(stats().requests < 100);
    for (int i = 0; i < 100; i++) {
        struct peer_answer a = peer_read_answer(fd, false);
        assert_int_equal(a.n, 200000);
        assert_int_equal(a.body[199999], 'a' + 199999 % 23);
        free(a.body);
    }
    close(fd);
}

static void requests_may_come_byte_by_byte(void **state)
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

/* --- bodies --------------------------------------------------------------------------- */

static void chunked_bodies_are_joined_and_limited(void **state)
{
    int fd = app_connect();
    char chunk[1100];

    (void)state;
    peer_send(
        fd,
        "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n6; x=y\r\n world\r\n0\r\nA: b\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello world");
    peer_expect(fd, 200, "hello");

    memset(chunk, 'a', sizeof chunk);
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n");
    peer_send_bytes(fd, chunk, 1000);
    peer_send(fd, "\r\n0\r\n\r\n");
    peer_expect(fd, 200, NULL);
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n");
    peer_send_bytes(fd, chunk, 1001);
    peer_send(fd, "\r\n0\r\n\r\n");
    peer_expect(fd, 413, "{\"refused\":413}");
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
    peer_expect(fd, 400, "{\"refused\":400}");
    peer_expect_end(fd);
}

static void a_body_that_is_a_little_too_long_costs_the_answer_only(void **state)
{
    int fd = app_connect();
    char body[1001];

    (void)state;
    memset(body, 'b', sizeof body);
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    peer_send_bytes(fd, body, 1000);
    peer_expect(fd, 200, NULL);
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");
    peer_expect(fd, 413, "{\"refused\":413}");
    peer_send_bytes(fd, body, 1001);
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    assert_int_equal(stats().refused, 1);
    close(fd);
}

/* The refusal must arrive although the peer is still sending. */
static void a_body_that_is_far_too_long_ends_the_connection_after_the_answer(void **state)
{
    enum { LENGTH = 3 * 1024 * 1024 };
    int fd = app_connect();
    char *body = calloc(1, LENGTH);
    size_t sent = 0;

    (void)state;
    peer_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3145728\r\n\r\n");
    for (ssize_t n; sent < LENGTH && (n = send(fd, body + sent, LENGTH - sent, MSG_NOSIGNAL)) > 0;)
        sent += (size_t)n;
    free(body);
    peer_expect(fd, 413, "{\"refused\":413}");
    peer_expect_end(fd);
}

static void a_large_body_in_pieces_arrives_whole(void **state)
{
    enum { LENGTH = 1024 * 1024 };
    int fd = app_connect();
    char *body = malloc(LENGTH + 1);

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        body[i] = (char)('a' + i % 19);
    body[LENGTH] = 0;
    peer_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    peer_send_bytes(fd, body, LENGTH);
    peer_expect(fd, 200, body);
    free(body);
    close(fd);
}

static void the_server_says_continue_only_when_it_will_read_the_body(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                  "Expect: 100-continue\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_string_equal(a.head, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(peer_is_quiet(fd, 20));
    peer_send(fd, "ok");
    peer_expect(fd, 200, "ok");
    peer_send(fd, "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n"
                  "Expect: 100-continue\r\n\r\n");
    peer_expect(fd, 413, "{\"refused\":413}");
    peer_expect_end(fd);
}

static void send_form(int fd, const char *body)
{
    char head[256];

    snprintf(head, sizeof head,
             "POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
             "Content-Type: multipart/form-data; boundary=\"cut here\"\r\n\r\n",
             strlen(body));
    peer_send(fd, head);
    peer_send(fd, body);
}

static void forms_are_taken_apart_and_limited(void **state)
{
    static const char part[] = "--cut here\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";
    char *large = malloc(20000);
    int fd = app_connect();

    (void)state;
    send_form(
        fd, "--cut here\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
            "--cut here\r\nContent-Disposition: form-data; name=\"b\"; filename=\"f\"\r\n\r\n2\r\n"
            "--cut here--\r\n");
    peer_expect(fd, 200, "a=1;b=2;");

    size_t n = (size_t)sprintf(large, "%s", part);
    memset(large + n, 'x', APP_FORM);
    strcpy(large + n + APP_FORM, "\r\n--cut here--\r\n");
    send_form(fd, large);
    peer_expect(fd, 200, NULL);
    memset(large + n, 'x', APP_FORM + 1);
    strcpy(large + n + APP_FORM + 1, "\r\n--cut here--\r\n");
    send_form(fd, large);
    peer_expect(fd, 413, "{\"refused\":413}");
    peer_expect_end(fd);
    free(large);
}

static void a_form_that_is_none_is_refused(void **state)
{
    int fd = app_connect();

    (void)state;
    send_form(fd, "--cut here\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno end");
    peer_expect(fd, 400, "{\"refused\":400}");
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                  "Content-Type: multipart/form-data\r\n\r\nab");
    peer_expect(fd, 400, "{\"refused\":400}");
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "POST /form HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                  "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
                  "3\r\n--b\r\n"
                  "33\r\n\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\nxyz\r\n\r\n"
                  "5\r\n--b--\r\n0\r\n\r\n");
    peer_expect(fd, 200, "c=xyz;");
    close(fd);
}

/* --- files and gzip ---------------------------------------------------------------------- */

static void files_are_sent_whole_and_in_turn(void **state)
{
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < 200; i++)
        peer_send(fd, "GET /file?10 HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_send(fd, "GET /file?3000000 HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /file?0 HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 200; i++)
        peer_expect(fd, 200, "abcdefghij");
    usleep(20000); /* the socket fills up */
    struct peer_answer a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nContent-Type: image/png\r\n"));
    assert_int_equal(a.n, 3000000);
    for (size_t i = 0; i < a.n; i++)
        if (a.body[i] != (char)('a' + i % 23))
            fail_msg("byte %zu is wrong", i);
    free(a.body);
    peer_expect(fd, 200, "");
    peer_expect(fd, 200, "hello");
    close(fd);
}

static void large_answers_are_zipped_when_the_client_offers_it(void **state)
{
    int fd = app_connect();
    unsigned char plain[5000];

    (void)state;
    peer_send(fd, "GET /size?5000 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nContent-Encoding: gzip\r\n"));
    assert_true(peer_has(&a, "\r\nVary: Accept-Encoding\r\n"));
    assert_true(a.n < 2500);
    z_stream z = { .next_in = (Bytef *)a.body,
                   .avail_in = (uInt)a.n,
                   .next_out = plain,
                   .avail_out = sizeof plain };
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_int_equal(z.total_out, 5000);
    assert_int_equal(plain[4999], 'a' + 4999 % 23);
    free(a.body);

    const char *const without[] = {
        "GET /size?5000 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /size?5000 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=0\r\n\r\n",
        "GET /size?1023 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(without); i++) {
        peer_send(fd, without[i]);
        a = peer_read_answer(fd, false);
        assert_false(peer_has(&a, "Content-Encoding"));
        free(a.body);
    }
    peer_send(fd, "GET /size?1024 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
    a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "Content-Encoding: gzip"));
    free(a.body);
    close(fd);
}

/* --- refusals and deadlines ---------------------------------------------------------------- */

static void malformed_heads_are_refused_and_the_connection_ends(void **state)
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

static void heads_without_end_are_refused(void **state)
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

static void slow_senders_are_told_and_idle_peers_are_not(void **state)
{
    struct server_options quick = { .head_timeout_ms = 200, .idle_timeout_ms = 300 };

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

/* --- ends ------------------------------------------------------------------------------------ */

static void a_peer_that_left_does_not_disturb_its_call(void **state)
{
    struct linger reset = { .l_onoff = 1 };
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    app_wait_until(stats().open == 0);
    app_release(); /* finds nobody */
}

static void *release_after_a_while(void *arg)
{
    usleep(50000);
    app_release();
    return arg;
}

static void stopping_lets_calls_finish_and_closes_the_rest(void **state)
{
    pthread_t thread;

    (void)state;
    app_start(&ordinary);
    int idle = app_connect(), busy = app_connect();
    peer_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(idle, 200, "hello");
    peer_send(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    pthread_create(&thread, NULL, release_after_a_while, NULL);
    server_stop(app.server, 5000);
    pthread_join(thread, NULL);
    struct peer_answer a = peer_read_answer(busy, false);
    assert_string_equal(a.body, "held");
    assert_true(peer_has(&a, "\r\nConnection: close\r\n"));
    free(a.body);
    peer_expect_end(busy);
    peer_expect_end(idle);
    app_stop();
}

static void a_call_that_outlives_the_server_is_answered_into_the_void(void **state)
{
    (void)state;
    app_start(&ordinary);
    int busy = app_connect();
    peer_send(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    app_wait_until(atomic_load(&app.held));
    server_stop(app.server, 20);
    server_free(app.server);
    peer_expect_end(busy);
    app_release();
    loops_stop(app.loops);
}

static void a_port_that_is_taken_is_refused(void **state)
{
    struct server_options o = { .host = "127.0.0.1", .port = server_port(app.server) };
    struct server_options nowhere = { .host = "not an address", .port = 0 };
    struct server *second = NULL;

    (void)state;
    assert_int_not_equal(server_start(app.loops, &o, &app_calls, &second), OK);
    assert_int_not_equal(server_start(app.loops, &nowhere, &app_calls, &second), OK);
    assert_null(second);
}

static int64_t cpu_us(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 + r.ru_utime.tv_usec +
           r.ru_stime.tv_usec;
}

/* Connections beyond the limit wait, at no cost, until there is room. */
static void running_out_of_descriptors_is_survived(void **state)
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
                              .sin_port = htons((uint16_t)server_port(app.server)),
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

static void figures_tell_what_happened(void **state)
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

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    log_init(2, LOG_OFF, 0); /* before there are threads */
    const struct CMUnitTest tests[] = {
        with_server(an_answer_has_the_head_that_clients_depend_on),
        with_server(answers_without_content_have_no_headers_about_it),
        with_server(head_is_answered_like_get_without_the_body),
        with_server(connections_stay_open_unless_one_side_says_otherwise),
        with_server(a_peer_that_ended_its_side_still_gets_its_answers),
        with_server(the_application_learns_who_asks),
        with_server(a_thousand_requests_at_once_are_answered_in_order),
        with_server(pipelined_requests_wait_for_an_answer_of_another_thread),
        with_server(a_peer_that_pipelines_without_end_is_not_read_without_end),
        with_server(a_peer_that_does_not_read_its_answers_is_not_buffered_without_end),
        with_server(requests_may_come_byte_by_byte),
        with_server(chunked_bodies_are_joined_and_limited),
        with_server(a_body_that_is_a_little_too_long_costs_the_answer_only),
        with_server(a_body_that_is_far_too_long_ends_the_connection_after_the_answer),
        with_server(a_large_body_in_pieces_arrives_whole),
        with_server(the_server_says_continue_only_when_it_will_read_the_body),
        with_server(forms_are_taken_apart_and_limited),
        with_server(a_form_that_is_none_is_refused),
        with_server(files_are_sent_whole_and_in_turn),
        with_server(large_answers_are_zipped_when_the_client_offers_it),
        with_server(malformed_heads_are_refused_and_the_connection_ends),
        with_server(heads_without_end_are_refused),
        cmocka_unit_test(slow_senders_are_told_and_idle_peers_are_not),
        with_server(a_peer_that_left_does_not_disturb_its_call),
        cmocka_unit_test(stopping_lets_calls_finish_and_closes_the_rest),
        cmocka_unit_test(a_call_that_outlives_the_server_is_answered_into_the_void),
        with_server(a_port_that_is_taken_is_refused),
        with_server(running_out_of_descriptors_is_survived),
        with_server(figures_tell_what_happened),
    };
    return cmocka_run_group_tests_name("net/server", tests, NULL, NULL);
}
