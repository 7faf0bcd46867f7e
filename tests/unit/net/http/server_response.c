/* server_response.c - tests the responses of a running server. */
#include "unit/unit.h"

#include <malloc.h>
#include <sys/socket.h>
#include <zlib.h>

#include "base/clock.h"
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

static void response_has_the_headers_that_clients_require(void **state)
{
    int fd = app_connect();

    (void)state;
    clock_restore_real_time();
    clock_advance_wall_and_monotonic((1700000000 - clock_s()) * 1000000);
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    clock_restore_real_time();
    assert_int_equal(a.status, 200);
    assert_true(peer_has(&a, "HTTP/1.1 200 OK\r\n"));
    assert_true(peer_has(&a, "\r\nDate: Tue, 14 Nov 2023 22:13:2"));
    assert_true(peer_has(&a, "\r\nVia: 1.1 guildhall\r\n"));
    assert_true(peer_has(&a, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_true(peer_has(&a, "\r\nContent-Type: application/json\r\n"));
    assert_true(peer_has(&a, "\r\nContent-Length: 5\r\n"));
    assert_false(peer_has(&a, "Connection:"));
    assert_string_equal(a.body, "hello");
    free(a.body);
    close(fd);
}

static void responses_without_body_have_no_content_headers(void **state)
{
    int fd = app_connect();
    const char *const paths[] = { "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
                                  "GET /unchanged HTTP/1.1\r\nHost: x\r\n\r\n" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        peer_send(fd, paths[i]);
        struct peer_answer a = peer_read_answer(fd, false);
        assert_int_equal(a.status, i == 0 ? 204 : 304);
        assert_false(peer_has(&a, "\r\nContent-"));
    }
    peer_send(fd, "GET /tagged HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nX-Tag: yes\r\n"));
    assert_string_equal(a.body, "tag");
    free(a.body);
    close(fd);
}

static void head_request_gets_the_headers_of_get_without_body(void **state)
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

static void connections_stay_open_unless_one_side_sends_connection_close(void **state)
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

static void client_that_shut_down_its_sending_side_gets_all_responses(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(fd, SHUT_WR);
    peer_expect(fd, 200, "later");
    peer_expect(fd, 200, "hello");
    peer_expect_end(fd);
}

static void request_handler_receives_the_client_address(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "127.0.0.1 0");
    close(fd);
}

static void files_are_sent_completely_and_in_request_order(void **state)
{
    int fd = app_connect();

    (void)state;
    for (int i = 0; i < 200; i++)
        peer_send(fd, "GET /file?10 HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_send(fd, "GET /file?3000000 HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /file?0 HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 200; i++)
        peer_expect(fd, 200, "abcdefghij");
    app_run_loop_iterations(20); /* lets the socket buffer fill up */
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

static void long_responses_are_sent_completely_and_in_request_order(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd, "HEAD /text?3000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, true);
    assert_true(peer_has(&a, "\r\nContent-Length: 3000000\r\n"));
    peer_send(fd, "GET /text?3000000 HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /text?0 HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    app_run_loop_iterations(20); /* lets the socket buffer fill up */
    a = peer_read_answer(fd, false);
    assert_true(peer_has(&a, "\r\nVary: Accept-Encoding\r\n"));
    assert_int_equal(a.n, 3000000);
    for (size_t i = 0; i < a.n; i++)
        if (a.body[i] != (char)('a' + i % 23))
            fail_msg("byte %zu is wrong", i);
    free(a.body);
    peer_expect(fd, 200, "");
    peer_expect(fd, 200, "hello");
    close(fd);
}

static size_t answer_heap(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void unread_responses_are_not_copied_per_client(void **state)
{
    enum { PEERS = 8, MOST = 64 * 1024 };
    int fds[PEERS];
    size_t before = answer_heap();

    (void)state;
    for (int i = 0; i < PEERS; i++) {
        fds[i] = app_connect();
        for (int n = 0; n < 10; n++)
            peer_send(fds[i], "GET /kept HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (int i = 0; i < PEERS; i++) {
        char byte;

        assert_int_equal(recv(fds[i], &byte, 1, MSG_PEEK), 1);
    }
    app_run_loop_iterations(20); /* lets the socket buffers fill up */
    assert_true(answer_heap() < before + PEERS * MOST);
    for (int i = 0; i < PEERS; i++)
        close(fds[i]);
}

static void large_responses_are_compressed_if_the_client_accepts_gzip(void **state)
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

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(response_has_the_headers_that_clients_require),
        with_server(responses_without_body_have_no_content_headers),
        with_server(head_request_gets_the_headers_of_get_without_body),
        with_server(connections_stay_open_unless_one_side_sends_connection_close),
        with_server(client_that_shut_down_its_sending_side_gets_all_responses),
        with_server(request_handler_receives_the_client_address),
        with_server(files_are_sent_completely_and_in_request_order),
        with_server(long_responses_are_sent_completely_and_in_request_order),
        with_server(unread_responses_are_not_copied_per_client),
        with_server(large_responses_are_compressed_if_the_client_accepts_gzip),
    };
    log_init(2, LOG_OFF, 0); /* before threads start */
    return cmocka_run_group_tests_name("net/server answers", tests, NULL, NULL);
}
