/* server_websocket.c - tests WebSockets of a running server. */
#include "unit/unit.h"

#include <signal.h>

#include "base/clock.h"
#include "unit/net/app.h"
#include "unit/net/wire.h"

static int start(void **state)
{
    static const struct http_server_options ordinary;

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

static struct api_client open_socket(void)
{
    struct api_client w = { .fd = app_connect() };

    wire_handshake(&w, "/socket");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    return w;
}

static void expect_end(struct api_client *w)
{
    peer_expect_end(w->fd);
}

static void websocket_echoes_messages(void **state)
{
    struct api_client w = open_socket();

    (void)state;
    wire_send_text(&w, "one");
    wire_expect(&w, 1, "one");
    api_client_send_websocket_frame(&w, 2, "two", 3);
    wire_expect(&w, 2, "two");
    wire_send_text(&w, "who");
    wire_expect(&w, 1, "127.0.0.1");
    api_client_send_websocket_frame(&w, 9, "are you there", 13);
    wire_expect(&w, 10, "are you there");
    close(w.fd);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void websocket_echoes_large_messages(void **state)
{
    enum { LENGTH = 100000 };
    struct api_client w = open_socket();
    char *sent = malloc(LENGTH), *got = malloc(LENGTH + 1);
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        sent[i] = (char)('a' + i % 17);
    api_client_send_websocket_frame(&w, 1, sent, LENGTH);
    assert_int_equal(wire_read_frame(&w, got, LENGTH + 1, &n), 1);
    assert_int_equal(n, LENGTH);
    assert_memory_equal(got, sent, LENGTH);
    close(w.fd);
    free(sent);
    free(got);
}

/* The peer reads slowly and sends pings meanwhile. */
static void long_websocket_message_is_sent_in_pieces_before_later_ones(void **state)
{
    struct api_client w = { .fd = app_connect() };
    char *got = malloc(APP_LONG + 1);
    size_t n = 0;

    (void)state;
    wire_handshake(&w, "/patient");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    for (int round = 0; round < 2; round++) {
        wire_send_text(&w, "long");
        api_client_send_websocket_frame(&w, 9, "still there", 11);
        app_run_loop_iterations(50);
        assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
        assert_int_equal(n, APP_LONG);
        for (size_t i = 0; i < APP_LONG; i++)
            if (got[i] != (char)('a' + i % 19))
                fail_msg("byte %zu", i);
        wire_expect(&w, 1, "behind");
        wire_expect(&w, 10, "still there");
    }
    /* Nothing else triggers the sending of the message after it. */
    wire_send_text(&w, "long");
    app_run_loop_iterations(50);
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
    wire_expect(&w, 1, "behind");
    wire_send_text(&w, "long");
    wire_send_text(&w, "close");
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
    wire_expect(&w, 1, "behind");
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 8);
    free(got);
    close(w.fd);
    /* A peer disconnects in the middle of the message. */
    w = (struct api_client){ .fd = app_connect() };
    wire_handshake(&w, "/patient");
    wire_send_text(&w, "long");
    wire_expect(&w, 1, "wel");
    close(w.fd);
    app_wait_until(atomic_load(&app.closed) == 2);
}

/* Reads until a frame of `kind`, and counts the frames of kind `counted` before it. */
static int read_until(struct api_client *w, int kind, int counted, char *got, size_t *ret_n)
{
    enum { ROOM = 100001 };
    int count = 0, opcode;

    while ((opcode = wire_read_frame(w, got, ROOM, ret_n)) != kind) {
        assert_int_not_equal(opcode, -1); /* the connection has ended */
        count += opcode == counted;
    }
    return count;
}

static void immediately_sent_frames_keep_their_order(void **state)
{
    struct api_client w = { .fd = app_connect() };

    (void)state;
    wire_handshake(&w, "/patient");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    wire_expect_frames(&w, APP_FRAMES, APP_FRAME);
    close(w.fd);
}

static void peer_that_does_not_read_gets_one_pong_for_many_pings(void **state)
{
    enum { LENGTH = 100000, MESSAGES = 120, PINGS = 500 };
    struct api_client w = { .fd = app_connect() };
    char *text = calloc(1, LENGTH + 1), number[16];
    size_t n = 0;

    (void)state;
    wire_handshake(&w, "/patient");
    memset(text, 'a', LENGTH);
    for (int i = 0; i < MESSAGES; i++) /* more than the kernel buffers */
        api_client_send_websocket_frame(&w, 2, text, LENGTH);
    for (int i = 0; i < PINGS; i++)
        api_client_send_websocket_frame(&w, 9, number, (size_t)sprintf(number, "%d", i));
    wire_send_text(&w, "end");
    app_wait_until(atomic_load(&app.ends) == 1); /* the message was sent completely */
    int texts = 0, pongs = 0;
    do {
        int opcode = wire_read_frame(&w, text, LENGTH + 1, &n);

        assert_int_not_equal(opcode, -1);
        pongs += opcode == 10;
        texts += opcode == 1;
        if (opcode == 10)
            snprintf(number, sizeof number, "%.*s", (int)n, text);
    } while (texts < 3 || pongs == 0); /* "wel", "come", "end" */
    assert_int_equal(pongs, 1);
    assert_string_equal(number, "499");
    close(w.fd);
    free(text);
}

/* The echo is queued until the end of the iteration that read the ping, and the kernel accepts
 * all of it at once: no later "sent" event would send the pong. */
static void ping_after_a_message_in_the_same_read_is_answered(void **state)
{
    enum { LENGTH = 6000 }; /* more than the queue limit for pongs, less than one read */
    struct api_client w = open_socket();
    char message[LENGTH] = { 0 }, frames[LENGTH + 64], got[LENGTH + 1];
    size_t n = wire_frame(frames, 2, message, LENGTH);

    (void)state;
    n += wire_frame(frames + n, 9, "there?", 6);
    for (int i = 0; i < 5; i++) { /* one read mostly contains both */
        wire_send(&w, frames, n);
        size_t length = 0;
        assert_int_equal(wire_read_frame(&w, got, sizeof got, &length), 2);
        wire_expect(&w, 10, "there?");
    }
    close(w.fd);
}

static void control_frames_are_rate_limited(void **state)
{
    static const int kinds[] = { 9, 10 };
    char *got = malloc(100001);
    size_t n = 0;

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct api_client w = open_socket();

        for (int i = 0; i < 600; i++)
            api_client_send_websocket_frame(&w, kinds[k], "x", 1);
        wire_send_text(&w, "still here");
        read_until(&w, 1, 10, got, &n);
        api_client_send_websocket_frame(&w, kinds[k], "x", 1);
        read_until(&w, 8, 10, got, &n);
        assert_true(n >= 2);
        assert_int_equal((unsigned char)got[0] << 8 | (unsigned char)got[1], 1008);
        close(w.fd);
    }
    free(got);
}

static void websocket_message_above_the_limit_closes_the_connection(void **state)
{
    struct api_client w = open_socket();
    char *sent = calloc(1, 100001);

    (void)state;
    api_client_send_websocket_frame(&w, 2, sent, 100001);
    free(sent);
    wire_expect_close(&w, 1009);
    expect_end(&w);
}

static void frames_sent_together_with_the_handshake_are_processed(void **state)
{
    char text[1024];
    struct api_client w = { .fd = app_connect() };
    int n = snprintf(
        text, sizeof text,
        "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");

    (void)state;
    n += (int)wire_frame(text + n, 1, "early", 5);
    wire_send(&w, text, (size_t)n);
    peer_expect(w.fd, 200, "hello");
    wire_read_head(&w, text, sizeof text);
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    wire_expect(&w, 1, "early");
    close(w.fd);
}

/* A client library loses bytes that arrive together with the handshake. */
static void handshake_response_is_sent_in_a_separate_write(void **state)
{
    struct http_server_stats s;
    struct api_client w = { .fd = app_connect() };
    char first[1024];

    (void)state;
    wire_send(&w,
              "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
              146);
    wire_read_head(&w, first, sizeof first);
    /* The two messages of the open callback are sent together: 3 + 2 and 4 + 2 bytes. */
    assert_int_equal(recv(w.fd, first, sizeof first, 0), 11);
    http_server_read_stats(app.server, &s);
    assert_int_equal(s.websockets, 1);
    close(w.fd);
}

static void close_by_the_application_reports_the_close_code_of_the_peer(void **state)
{
    struct api_client w = open_socket();

    (void)state;
    wire_send_text(&w, "close");
    wire_send_text(&w, "not answered any more");
    wire_expect_close(&w, 4000);
    api_client_send_websocket_frame(&w, 8, "\x0f\xa1", 2); /* 4001 */
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 4001);
}

static void unanswered_close_ends_the_connection_after_five_seconds(void **state)
{
    struct api_client w = open_socket();
    int64_t began = clock_monotonic_ns();

    (void)state;
    wire_send_text(&w, "close");
    wire_expect_close(&w, 4000);
    expect_end(&w);
    assert_in_range((clock_monotonic_ns() - began) / 1000000, 4900, 30000);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void close_frame_of_the_peer_is_answered(void **state)
{
    struct api_client w = open_socket();

    (void)state;
    api_client_send_websocket_frame(&w, 8, "\x03\xe8", 2); /* 1000 */
    wire_send_text(&w, "after the end");
    wire_expect_close(&w, 1000);
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1000);
}

static void protocol_violation_closes_the_websocket_with_code_1002(void **state)
{
    struct api_client w = open_socket();

    (void)state;
    wire_send(&w, "\x81\x02hi", 4); /* not masked */
    wire_expect_close(&w, 1002);
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void peer_that_does_not_read_is_disconnected(void **state)
{
    struct api_client w = open_socket();
    char *message = calloc(1, 100000);
    char *frame = malloc(100014);
    size_t n = wire_frame(frame, 2, message, 100000);

    (void)state;
    /* The client reads no echo, so after the kernel's buffers the server's limit of 1 MiB is
     * reached. */
    for (int i = 0; i < 400 && atomic_load(&app.closed) == 0; i++)
        if (send(w.fd, frame, n, MSG_NOSIGNAL) < 0)
            break;
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
    close(w.fd);
    free(message);
    free(frame);
}

static void invalid_websocket_handshakes_are_refused(void **state)
{
    int fd = app_connect();

    (void)state;
    peer_send(fd,
              "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_int_equal(a.status, 426);
    assert_true(peer_has(&a, "\r\nSec-WebSocket-Version: 13\r\n"));
    free(a.body);
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd, "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Version: 13\r\n\r\n");
    peer_expect(fd, 400, "{\"refused\":400}");
    peer_expect_end(fd);

    fd = app_connect();
    peer_send(fd,
              "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    peer_expect(fd, 200, "hello");
    close(fd);
}

/* Stops the server with time for a reply to the close frame. */
static void *stop_in_thread(void *arg)
{
    http_server_stop(app.server, APP_PATIENCE_MS);
    app_stop();
    return arg;
}

static void server_stop_closes_websockets_with_code_1001(void **state)
{
    static const struct http_server_options ordinary;
    pthread_t thread;

    (void)state;
    app_start(&ordinary);
    struct api_client w = open_socket();
    pthread_create(&thread, NULL, stop_in_thread, NULL);
    wire_expect_close(&w, 1001);
    api_client_send_websocket_frame(&w, 8, "\x03\xe9", 2);
    expect_end(&w);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&app.shutdowns), 1);
    assert_int_equal(atomic_load(&app.closed), 1);
    assert_int_equal(atomic_load(&app.code), 1001);
}

static void server_stop_does_not_wait_for_silent_peers(void **state)
{
    static const struct http_server_options ordinary;

    (void)state;
    app_start(&ordinary);
    struct api_client w = open_socket();
    int half = app_connect();
    peer_send(half, "GET /socket HTTP/1.1\r\nHost: x\r\n");
    int64_t began = clock_monotonic_ns();
    http_server_stop(app.server, APP_PATIENCE_MS);
    assert_true(clock_monotonic_ns() - began < INT64_C(5) * 1000 * 1000 * 1000);
    wire_expect_close(&w, 1001);
    assert_int_equal(atomic_load(&app.closed), 1);
    close(w.fd);
    close(half);
    app_stop();
}

static bool server_has_part_of_a_head(void)
{
    struct http_server_stats s;

    http_server_read_stats(app.server, &s);
    return s.bytes_in > 0;
}

static void websocket_handshakes_are_refused_while_the_server_drains(void **state)
{
    static const struct http_server_options ordinary;

    (void)state;
    app_start(&ordinary);
    int fd = app_connect();
    peer_send(fd, "GET /socket HTTP/1.1\r\nHost: x\r\n");
    app_wait_until(server_has_part_of_a_head());
    http_server_drain(app.server);
    peer_send(fd, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_int_equal(a.status, 503);
    assert_true(peer_has(&a, "\r\nRetry-After: 1\r\n"));
    free(a.body);
    peer_expect_end(fd);
    app_stop();
}

/* An iteration sends for at most 5 ms and checks the clock after eight sockets. */
static void sending_to_many_sockets_is_spread_over_iterations(void **state)
{
    struct api_client w[APP_GROUP];
    int larger;

    (void)state;
    for (int i = 0; i < APP_GROUP; i++) {
        w[i] = (struct api_client){ .fd = app_connect() };
        wire_handshake(&w[i], "/crowd");
        wire_expect(&w[i], 1, "wel");
        wire_expect(&w[i], 1, "come");
    }
    for (int i = 0; i < APP_GROUP; i++)
        wire_send_text(&w[i], "all");
    larger = app_groups[1].count > app_groups[0].count;
    assert_true(app_groups[larger].count >= APP_GROUP / 2);
    app_wait_until(app_groups[larger].drained >= app_groups[larger].count);
    app_run_loop_iterations(3);
    assert_in_range(app_groups[larger].most, 1, 8);
    for (int i = 0; i < APP_GROUP; i++)
        close(w[i].fd);
}

/* An iteration processes about 10 ms of one peer's messages; all are answered. */
static void messages_of_one_peer_are_spread_over_iterations(void **state)
{
    enum { MESSAGES = 100, MESSAGES_A_TURN = 11 };
    struct api_client w = open_socket();

    (void)state;
    app_hold_loops();
    for (int i = 0; i < MESSAGES; i++)
        wire_send_text(&w, "slow");
    app_let_go();
    for (int i = 0; i < MESSAGES; i++)
        wire_expect(&w, 1, "slow");
    assert_true(app_iterations() >= MESSAGES / MESSAGES_A_TURN - 2);
    wire_send_text(&w, "one");
    wire_expect(&w, 1, "one");
    close(w.fd);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(sending_to_many_sockets_is_spread_over_iterations),
        with_server(websocket_echoes_messages),
        with_server(messages_of_one_peer_are_spread_over_iterations),
        with_server(websocket_echoes_large_messages),
        with_server(long_websocket_message_is_sent_in_pieces_before_later_ones),
        with_server(immediately_sent_frames_keep_their_order),
        with_server(peer_that_does_not_read_gets_one_pong_for_many_pings),
        with_server(ping_after_a_message_in_the_same_read_is_answered),
        with_server(control_frames_are_rate_limited),
        with_server(websocket_message_above_the_limit_closes_the_connection),
        with_server(frames_sent_together_with_the_handshake_are_processed),
        with_server(handshake_response_is_sent_in_a_separate_write),
        with_server(close_by_the_application_reports_the_close_code_of_the_peer),
        with_server(unanswered_close_ends_the_connection_after_five_seconds),
        with_server(close_frame_of_the_peer_is_answered),
        with_server(protocol_violation_closes_the_websocket_with_code_1002),
        with_server(peer_that_does_not_read_is_disconnected),
        with_server(invalid_websocket_handshakes_are_refused),
        cmocka_unit_test(server_stop_closes_websockets_with_code_1001),
        cmocka_unit_test(server_stop_does_not_wait_for_silent_peers),
        cmocka_unit_test(websocket_handshakes_are_refused_while_the_server_drains),
    };
    signal(SIGPIPE, SIG_IGN); /* like the server program */
    return cmocka_run_group_tests_name("net/server websockets", tests, NULL, NULL);
}
