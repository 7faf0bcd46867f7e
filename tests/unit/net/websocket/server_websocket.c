/* server_websocket.c - WebSockets of a real server. */
#include "unit/unit.h"

#include <signal.h>

#include "base/clock.h"
#include "unit/net/app.h"
#include "unit/net/wire.h"

static int start(void **state)
{
    static const struct server_options ordinary;

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

static struct wire open_socket(void)
{
    struct wire w = { .fd = app_connect() };

    wire_handshake(&w, "/socket");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    return w;
}

static void expect_end(struct wire *w)
{
    peer_expect_end(w->fd);
}

static void messages_come_back(void **state)
{
    struct wire w = open_socket();

    (void)state;
    wire_send_text(&w, "one");
    wire_expect(&w, 1, "one");
    wire_send_frame(&w, 2, "two", 3);
    wire_expect(&w, 2, "two");
    wire_send_text(&w, "who");
    wire_expect(&w, 1, "127.0.0.1");
    wire_send_frame(&w, 9, "are you there", 13);
    wire_expect(&w, 10, "are you there");
    close(w.fd);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void large_messages_come_back_whole(void **state)
{
    enum { LENGTH = 100000 };
    struct wire w = open_socket();
    char *sent = malloc(LENGTH), *got = malloc(LENGTH + 1);
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        sent[i] = (char)('a' + i % 17);
    wire_send_frame(&w, 1, sent, LENGTH);
    assert_int_equal(wire_read_frame(&w, got, LENGTH + 1, &n), 1);
    assert_int_equal(n, LENGTH);
    assert_memory_equal(got, sent, LENGTH);
    close(w.fd);
    free(sent);
    free(got);
}

/* To a peer that takes its time, and pings meanwhile. */
static void a_long_message_leaves_in_pieces_and_others_follow_it(void **state)
{
    struct wire w = { .fd = app_connect() };
    char *got = malloc(APP_LONG + 1);
    size_t n = 0;

    (void)state;
    wire_handshake(&w, "/patient");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    for (int round = 0; round < 2; round++) {
        wire_send_text(&w, "long");
        wire_send_frame(&w, 9, "still there", 11);
        app_turn_loops(50);
        assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
        assert_int_equal(n, APP_LONG);
        for (size_t i = 0; i < APP_LONG; i++)
            if (got[i] != (char)('a' + i % 19))
                fail_msg("byte %zu", i);
        wire_expect(&w, 1, "behind");
        wire_expect(&w, 10, "still there");
    }
    /* Nothing else moves what is behind it. */
    wire_send_text(&w, "long");
    app_turn_loops(50);
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
    wire_expect(&w, 1, "behind");
    wire_send_text(&w, "long");
    wire_send_text(&w, "close");
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 2);
    wire_expect(&w, 1, "behind");
    assert_int_equal(wire_read_frame(&w, got, APP_LONG + 1, &n), 8);
    free(got);
    close(w.fd);
    /* One that goes in the middle of it. */
    w = (struct wire){ .fd = app_connect() };
    wire_handshake(&w, "/patient");
    wire_send_text(&w, "long");
    wire_expect(&w, 1, "wel");
    close(w.fd);
    app_wait_until(atomic_load(&app.closed) == 2);
}

/* Reads until a frame of this kind, and counts the others' kind on the way. */
static int read_until(struct wire *w, int kind, int counted, char *got, size_t *ret_n)
{
    enum { ROOM = 100001 };
    int count = 0, opcode;

    while ((opcode = wire_read_frame(w, got, ROOM, ret_n)) != kind) {
        assert_int_not_equal(opcode, -1); /* it has ended instead */
        count += opcode == counted;
    }
    return count;
}

static void frames_that_leave_at_once_keep_their_order(void **state)
{
    struct wire w = { .fd = app_connect() };

    (void)state;
    wire_handshake(&w, "/patient");
    wire_expect(&w, 1, "wel");
    wire_expect(&w, 1, "come");
    wire_expect_frames(&w, APP_FRAMES, APP_FRAME);
    close(w.fd);
}

static void a_peer_that_does_not_read_is_owed_one_pong(void **state)
{
    enum { LENGTH = 100000, MESSAGES = 120, PINGS = 500 };
    struct wire w = { .fd = app_connect() };
    char *text = calloc(1, LENGTH + 1), number[16];
    size_t n = 0;

    (void)state;
    wire_handshake(&w, "/patient");
    memset(text, 'a', LENGTH);
    for (int i = 0; i < MESSAGES; i++) /* more than the kernel keeps for us */
        wire_send_frame(&w, 2, text, LENGTH);
    for (int i = 0; i < PINGS; i++)
        wire_send_frame(&w, 9, number, (size_t)sprintf(number, "%d", i));
    wire_send_text(&w, "end");
    app_wait_until(atomic_load(&app.ends) == 1); /* or there is a reader after all */
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

/* The answer waits for the end of the turn in which the ping is read, and then the kernel takes
 * all of it at once: there is no "sent" to come that would bring the pong. */
static void a_ping_behind_a_message_is_answered(void **state)
{
    enum { LENGTH = 6000 }; /* more than pongs wait behind, less than one read brings */
    struct wire w = open_socket();
    char message[LENGTH] = { 0 }, frames[LENGTH + 64], got[LENGTH + 1];
    size_t n = wire_frame(frames, 2, message, LENGTH);

    (void)state;
    n += wire_frame(frames + n, 9, "there?", 6);
    for (int i = 0; i < 5; i++) { /* one read brings both nearly always */
        wire_send(&w, frames, n);
        size_t length = 0;
        assert_int_equal(wire_read_frame(&w, got, sizeof got, &length), 2);
        wire_expect(&w, 10, "there?");
    }
    close(w.fd);
}

static void control_frames_have_a_pace(void **state)
{
    static const int kinds[] = { 9, 10 };
    char *got = malloc(100001);
    size_t n = 0;

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct wire w = open_socket();

        for (int i = 0; i < 600; i++)
            wire_send_frame(&w, kinds[k], "x", 1);
        wire_send_text(&w, "still here");
        read_until(&w, 1, 10, got, &n);
        wire_send_frame(&w, kinds[k], "x", 1);
        read_until(&w, 8, 10, got, &n);
        assert_true(n >= 2);
        assert_int_equal((unsigned char)got[0] << 8 | (unsigned char)got[1], 1008);
        close(w.fd);
    }
    free(got);
}

static void a_message_past_the_limit_ends_the_connection(void **state)
{
    struct wire w = open_socket();
    char *sent = calloc(1, 100001);

    (void)state;
    wire_send_frame(&w, 2, sent, 100001);
    free(sent);
    wire_expect_close(&w, 1009);
    expect_end(&w);
}

static void bytes_sent_along_with_the_handshake_are_not_lost(void **state)
{
    char text[1024];
    struct wire w = { .fd = app_connect() };
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
static void the_handshake_leaves_in_a_write_of_its_own(void **state)
{
    struct server_stats s;
    struct wire w = { .fd = app_connect() };
    char first[1024];

    (void)state;
    wire_send(&w,
              "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
              146);
    wire_read_head(&w, first, sizeof first);
    /* The two messages of open leave together: 3 + 2 and 4 + 2 bytes. */
    assert_int_equal(recv(w.fd, first, sizeof first, 0), 11);
    server_stats(app.server, &s);
    assert_int_equal(s.websockets, 1);
    close(w.fd);
}

static void the_application_closes_and_hears_the_peer(void **state)
{
    struct wire w = open_socket();

    (void)state;
    wire_send_text(&w, "close");
    wire_send_text(&w, "not answered any more");
    wire_expect_close(&w, 4000);
    wire_send_frame(&w, 8, "\x0f\xa1", 2); /* 4001 */
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 4001);
}

static void a_peer_that_does_not_answer_a_close_is_cut_after_five_seconds(void **state)
{
    struct wire w = open_socket();
    int64_t began = clock_mono();

    (void)state;
    wire_send_text(&w, "close");
    wire_expect_close(&w, 4000);
    expect_end(&w);
    assert_in_range((clock_mono() - began) / 1000000, 4900, 30000);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void the_peer_closes_and_is_answered(void **state)
{
    struct wire w = open_socket();

    (void)state;
    wire_send_frame(&w, 8, "\x03\xe8", 2); /* 1000 */
    wire_send_text(&w, "after the end");
    wire_expect_close(&w, 1000);
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1000);
}

static void a_violation_is_named_and_ends_the_connection(void **state)
{
    struct wire w = open_socket();

    (void)state;
    wire_send(&w, "\x81\x02hi", 4); /* not masked */
    wire_expect_close(&w, 1002);
    expect_end(&w);
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
}

static void a_peer_that_does_not_read_is_cut(void **state)
{
    struct wire w = open_socket();
    char *message = calloc(1, 100000);
    char *frame = malloc(100014);
    size_t n = wire_frame(frame, 2, message, 100000);

    (void)state;
    /* Each comes back; nobody takes them, so after the socket's buffers the
     * server's own limit of a megabyte is reached. */
    for (int i = 0; i < 400 && atomic_load(&app.closed) == 0; i++)
        if (send(w.fd, frame, n, MSG_NOSIGNAL) < 0)
            break;
    app_wait_until(atomic_load(&app.closed) == 1);
    assert_int_equal(atomic_load(&app.code), 1006);
    close(w.fd);
    free(message);
    free(frame);
}

static void bad_handshakes_are_refused(void **state)
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

/* With time for an answer to the close frame. */
static void *stop_in_thread(void *arg)
{
    server_stop(app.server, APP_PATIENCE_MS);
    app_stop();
    return arg;
}

static void stopping_tells_the_application(void **state)
{
    static const struct server_options ordinary;
    pthread_t thread;

    (void)state;
    app_start(&ordinary);
    struct wire w = open_socket();
    pthread_create(&thread, NULL, stop_in_thread, NULL);
    wire_expect_close(&w, 1001);
    wire_send_frame(&w, 8, "\x03\xe9", 2);
    expect_end(&w);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&app.shutdowns), 1);
    assert_int_equal(atomic_load(&app.closed), 1);
    assert_int_equal(atomic_load(&app.code), 1001);
}

/* A peer that never answers the close frame, and one that never finishes its request. */
static void stopping_does_not_wait_for_silent_peers(void **state)
{
    static const struct server_options ordinary;

    (void)state;
    app_start(&ordinary);
    struct wire w = open_socket();
    int half = app_connect();
    peer_send(half, "GET /socket HTTP/1.1\r\nHost: x\r\n");
    int64_t began = clock_mono();
    server_stop(app.server, APP_PATIENCE_MS);
    assert_true(clock_mono() - began < INT64_C(5) * 1000 * 1000 * 1000);
    wire_expect_close(&w, 1001);
    assert_int_equal(atomic_load(&app.closed), 1);
    close(w.fd);
    close(half);
    app_stop();
}

static bool server_has_part_of_a_head(void)
{
    struct server_stats s;

    server_stats(app.server, &s);
    return s.bytes_in > 0;
}

static void handshakes_are_refused_while_the_server_drains(void **state)
{
    static const struct server_options ordinary;

    (void)state;
    app_start(&ordinary);
    int fd = app_connect();
    peer_send(fd, "GET /socket HTTP/1.1\r\nHost: x\r\n");
    app_wait_until(server_has_part_of_a_head());
    server_drain(app.server);
    peer_send(fd, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    struct peer_answer a = peer_read_answer(fd, false);
    assert_int_equal(a.status, 503);
    assert_true(peer_has(&a, "\r\nRetry-After: 1\r\n"));
    free(a.body);
    peer_expect_end(fd);
    app_stop();
}

/* Others are read meanwhile: what a turn sends takes 5 ms, and a look at the clock comes after
 * eight sockets. */
static void sockets_of_a_turn_have_a_share_of_it(void **state)
{
    struct wire w[APP_CROWD];
    int larger;

    (void)state;
    for (int i = 0; i < APP_CROWD; i++) {
        w[i] = (struct wire){ .fd = app_connect() };
        wire_handshake(&w[i], "/crowd");
        wire_expect(&w[i], 1, "wel");
        wire_expect(&w[i], 1, "come");
    }
    for (int i = 0; i < APP_CROWD; i++)
        wire_send_text(&w[i], "all");
    larger = app_crowds[1].count > app_crowds[0].count;
    assert_true(app_crowds[larger].count >= APP_CROWD / 2);
    app_wait_until(app_crowds[larger].drained >= app_crowds[larger].count);
    app_turn_loops(3);
    assert_in_range(app_crowds[larger].most, 1, 8);
    for (int i = 0; i < APP_CROWD; i++)
        close(w[i].fd);
}

/* Ten milliseconds of one peer's messages, or some more, are a turn; all are answered. */
static void messages_of_one_peer_leave_others_their_turns(void **state)
{
    enum { MESSAGES = 100, MESSAGES_A_TURN = 11 };
    struct wire w = open_socket();

    (void)state;
    app_hold_loops();
    for (int i = 0; i < MESSAGES; i++)
        wire_send_text(&w, "slow");
    app_let_go();
    for (int i = 0; i < MESSAGES; i++)
        wire_expect(&w, 1, "slow");
    assert_true(app_turns() >= MESSAGES / MESSAGES_A_TURN - 2);
    wire_send_text(&w, "one");
    wire_expect(&w, 1, "one");
    close(w.fd);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(sockets_of_a_turn_have_a_share_of_it),
        with_server(messages_come_back),
        with_server(messages_of_one_peer_leave_others_their_turns),
        with_server(large_messages_come_back_whole),
        with_server(a_long_message_leaves_in_pieces_and_others_follow_it),
        with_server(frames_that_leave_at_once_keep_their_order),
        with_server(a_peer_that_does_not_read_is_owed_one_pong),
        with_server(a_ping_behind_a_message_is_answered),
        with_server(control_frames_have_a_pace),
        with_server(a_message_past_the_limit_ends_the_connection),
        with_server(bytes_sent_along_with_the_handshake_are_not_lost),
        with_server(the_handshake_leaves_in_a_write_of_its_own),
        with_server(the_application_closes_and_hears_the_peer),
        with_server(a_peer_that_does_not_answer_a_close_is_cut_after_five_seconds),
        with_server(the_peer_closes_and_is_answered),
        with_server(a_violation_is_named_and_ends_the_connection),
        with_server(a_peer_that_does_not_read_is_cut),
        with_server(bad_handshakes_are_refused),
        cmocka_unit_test(stopping_tells_the_application),
        cmocka_unit_test(stopping_does_not_wait_for_silent_peers),
        cmocka_unit_test(handshakes_are_refused_while_the_server_drains),
    };
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return cmocka_run_group_tests_name("net/server websockets", tests, NULL, NULL);
}
