/* server_body.c - tests request bodies, their limits and forms. */
#include "unit/unit.h"

#include "base/log.h"
#include "net/http/body_budget.h"
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

static void chunked_request_bodies_are_joined_and_limited(void **state)
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

/* The request is answered and its arena reset before the reader continues; a long head lies
 * outside the arena's first block. */
static void long_request_head_does_not_corrupt_the_next_request(void **state)
{
    enum { LONGEST = 38 * 1024, STEP = 1021 };
    char *text = malloc(LONGEST + 1024);
    int fd = app_connect();

    (void)state;
    for (size_t pad = 0; pad <= LONGEST; pad += STEP) {
        size_t line = pad < 7 * 1024 ? pad : 7 * 1024;
        int n = sprintf(text, "POST /small?");

        memset(text + n, 'q', line);
        n += (int)line;
        n += sprintf(text + n, " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nX-Pad: ");
        memset(text + n, 'p', pad - line);
        n += (int)(pad - line);
        n += sprintf(text + n, "\r\n\r\n{}GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        peer_send_bytes(fd, text, (size_t)n);
        peer_expect(fd, 200, "{}");
        peer_expect(fd, 200, "hello");
    }
    assert_int_equal(stats().refused, 0);
    free(text);
    close(fd);
}

static void slightly_too_long_body_is_refused_but_the_connection_stays_open(void **state)
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

static void far_too_long_body_is_refused_and_the_connection_closes(void **state)
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

static void large_request_body_sent_in_pieces_arrives_complete(void **state)
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

static void server_sends_100_continue_only_if_it_will_read_the_body(void **state)
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

static void multipart_forms_are_parsed_and_limited(void **state)
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

static void malformed_multipart_form_is_refused(void **state)
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

/* --- authorization before the body ---------------------------------------------------- */

static void send_body(int fd, const char *path, size_t length, size_t sent)
{
    char head[256], *body = calloc(1, sent + 1);

    memset(body, 'b', sent);
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", path,
             length);
    peer_send(fd, head);
    peer_send_bytes(fd, body, sent);
    free(body);
}

static void only_long_bodies_are_authorized_before_reading(void **state)
{
    int fd = app_connect();

    (void)state;
    send_body(fd, "/echo", 4 * 1024, 4 * 1024);
    peer_expect(fd, 200, NULL);
    assert_int_equal(atomic_load(&app.asked), 0);
    send_body(fd, "/echo", 600 * 1024, 600 * 1024);
    peer_expect(fd, 200, NULL);
    assert_int_equal(atomic_load(&app.asked), 1);
    peer_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "1\r\na\r\n0\r\n\r\n");
    peer_expect(fd, 200, "a");
    assert_int_equal(atomic_load(&app.asked), 2);
    assert_int_equal(stats().body_bytes, 0);
    close(fd);
}

static void unauthenticated_client_is_refused_before_its_body_is_read(void **state)
{
    int fd = app_connect();

    (void)state;
    send_body(fd, "/closed", 60 * 1024, 0);
    peer_expect(fd, 401, "who are you");
    send_body(fd, "/echo", 0, 0); /* this is the beginning of the first body */
    char *rest = calloc(1, 60 * 1024);
    peer_send_bytes(fd, rest,
                    60 * 1024 - strlen("POST /echo HTTP/1.1\r\nHost: x\r\n"
                                       "Content-Length: 0\r\n\r\n"));
    free(rest);
    peer_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    peer_expect(fd, 200, "hello");
    /* The server does not wait for a long body. */
    send_body(fd, "/closed", 900 * 1024, 0);
    peer_expect(fd, 401, "who are you");
    peer_expect_end(fd);
    fd = app_connect();
    peer_send(fd, "POST /closed HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n"
                  "Expect: 100-continue\r\n\r\n");
    peer_expect(fd, 401, "who are you");
    peer_expect_end(fd);
}

static void long_body_is_not_read_before_authorization(void **state)
{
    int fd = app_connect();
    uint64_t before = stats().bytes_in;

    (void)state;
    send_body(fd, "/wait", 200 * 1024, 200 * 1024);
    app_wait_until(atomic_load(&app.held));
    app_run_loop_iterations(20);
    assert_true(stats().bytes_in - before < 130 * 1024); /* at most one read after the head */
    app_let_in();
    peer_expect(fd, 200, NULL);
    close(fd);
}

static void client_that_disconnects_before_authorization_is_dropped(void **state)
{
    struct linger reset = { .l_onoff = 1 };
    int fd = app_connect(), half = app_connect();

    (void)state;
    send_body(fd, "/wait", 200 * 1024, 10);
    app_wait_until(atomic_load(&app.held));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    app_let_in();
    send_body(half, "/wait", 200 * 1024, 10);
    app_wait_until(atomic_load(&app.held));
    shutdown(half, SHUT_WR);
    app_let_in();
    peer_expect_end(half);
    app_wait_until(stats().open == 0);
}

static void request_bodies_share_a_memory_budget(void **state)
{
    static const struct http_server_options small = { .body_memory = 1536 * 1024 };
    int first, second;

    (void)state;
    app_start(&small);
    /* A caller gets at most a third of the budget: a body that can never fit is too long. */
    first = app_connect();
    send_body(first, "/echo", 448 * 1024 + 1, 0);
    peer_expect(first, 413, "{\"refused\":413}");
    peer_expect_end(first);

    first = app_connect();
    send_body(first, "/echo", 448 * 1024, 400 * 1024);
    app_wait_until(stats().body_bytes >= 400 * 1024);
    second = app_connect();
    send_body(second, "/echo", 448 * 1024, 300 * 1024);
    struct peer_answer a = peer_read_answer(second, false);
    assert_int_equal(a.status, 503);
    assert_true(peer_has(&a, "\r\nRetry-After: 5\r\n"));
    free(a.body);
    peer_expect_end(second);

    char *rest = calloc(1, 48 * 1024);
    peer_send_bytes(first, rest, 48 * 1024);
    free(rest);
    peer_expect(first, 200, NULL);
    app_wait_until(stats().body_bytes == 0);
    send_body(first, "/echo", 300 * 1024, 300 * 1024);
    peer_expect(first, 200, NULL);
    close(first);
    app_stop();
}

static void clients_without_account_share_a_fifth_of_the_body_budget(void **state)
{
    struct body_budget *b = body_budget_new(1500);
    struct body_budget_owner known = { 1, 9 };

    (void)state;
    for (uint64_t address = 1; address <= 3; address++)
        assert_true(body_budget_reserve(b, &(struct body_budget_owner){ address, 0 }, 100));
    assert_false(body_budget_reserve(b, &(struct body_budget_owner){ 4, 0 }, 1));
    assert_true(body_budget_reserve(b, &known, 400));
    assert_false(body_budget_reserve(b, &known, 1)); /* an address gets at most a third */
    body_budget_release(b, &(struct body_budget_owner){ 1, 0 }, 100);
    assert_true(body_budget_reserve(b, &known, 100));
    assert_false(body_budget_reserve(b, &(struct body_budget_owner){ 5, 9 },
                                     1)); /* an account gets at most a third */
    assert_true(body_budget_reserve(b, &(struct body_budget_owner){ 4, 0 }, 100));
    assert_int_equal(body_budget_get_reserved_bytes(b), 800);
    body_budget_unref(b);
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(chunked_request_bodies_are_joined_and_limited),
        with_server(long_request_head_does_not_corrupt_the_next_request),
        with_server(slightly_too_long_body_is_refused_but_the_connection_stays_open),
        with_server(far_too_long_body_is_refused_and_the_connection_closes),
        with_server(large_request_body_sent_in_pieces_arrives_complete),
        with_server(server_sends_100_continue_only_if_it_will_read_the_body),
        with_server(multipart_forms_are_parsed_and_limited),
        with_server(malformed_multipart_form_is_refused),
        with_server(only_long_bodies_are_authorized_before_reading),
        with_server(unauthenticated_client_is_refused_before_its_body_is_read),
        with_server(long_body_is_not_read_before_authorization),
        with_server(client_that_disconnects_before_authorization_is_dropped),
        cmocka_unit_test(request_bodies_share_a_memory_budget),
        cmocka_unit_test(clients_without_account_share_a_fifth_of_the_body_budget),
    };
    log_init(2, LOG_OFF, 0); /* before threads start */
    return cmocka_run_group_tests_name("net/server bodies", tests, NULL, NULL);
}
