/* nats.c - tests the NATS protocol parser and writer, and the bounded send queue. */
#include "unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/nats.h"

static void nats_server_list_is_parsed_completely_or_refused(void **state)
{
    (void)state;
    struct nats_servers s;

    assert_true(
        nats_servers_parse(STR("nats://ada:p:w@10.0.0.1:4333, nats://mq/,nats://t@[::1]"), &s));
    assert_int_equal(s.count, 3);
    assert_string_equal(s.items[0].host, "10.0.0.1");
    assert_string_equal(s.items[0].port, "4333");
    assert_string_equal(s.items[0].user, "ada");
    assert_string_equal(s.items[0].password, "p:w");
    assert_string_equal(s.items[1].host, "mq");
    assert_string_equal(s.items[1].port, "4222");
    assert_string_equal(s.items[1].user, "");
    assert_string_equal(s.items[2].host, "::1");
    assert_string_equal(s.items[2].user, "t");
    assert_false(s.items[0].tls);
    assert_true(nats_servers_parse(STR("tls://mq"), &s) && s.items[0].tls);
    assert_string_equal(s.items[0].port, "4222");
    static const char *const bad[] = { "",           "nats://",        "tls://",
                                       "nats://a:0", "nats://a:70000", "nats://a/b",
                                       "nats://@a",  "nats://a,poll",  "nats://a:" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nats_servers_parse(str_of(bad[i]), &s));
}

static void check_parsed_messages(struct str all)
{
    struct nats_command w;
    size_t at = 0;
    long took;

    took = nats_parse_command(all, &w);
    assert_true(took > 0 && w.kind == NATS_INFO);
    assert_int_equal(nats_parse_max_payload(w.body), 4096);
    at += (size_t)took;
    took = nats_parse_command(str_skip_bytes(all, at), &w);
    assert_true(took > 0 && w.kind == NATS_MESSAGE);
    assert_true(str_is(w.subject, "a.log") && str_is(w.body, "x\r\ny"));
    at += (size_t)took;
    took = nats_parse_command(str_skip_bytes(all, at), &w);
    assert_true(took > 0 && w.kind == NATS_MESSAGE && w.body.n == 0);
    at += (size_t)took;
    took = nats_parse_command(str_skip_bytes(all, at), &w);
    assert_true(took > 0 && w.kind == NATS_PING);
    at += (size_t)took;
    took = nats_parse_command(str_skip_bytes(all, at), &w);
    assert_true(took > 0 && w.kind == NATS_ERR && str_is(w.body, "'Slow Consumer'"));
    assert_int_equal(at + (size_t)took, all.n);
}

static const char TALK[] = "INFO {\"max_payload\":4096,\"a\":{\"max_payload\":1}} \r\n"
                           "MSG a.log 1 4\r\nx\r\ny\r\nMSG a.log 1 reply.to 0\r\n\r\nping\r\n"
                           "-ERR 'Slow Consumer'\r\n";

static void nats_messages_are_parsed_when_they_arrive_in_pieces(void **state)
{
    (void)state;
    struct str all = str_slice(TALK, sizeof TALK - 1);
    struct nats_command w;

    check_parsed_messages(all);
    for (size_t from = 0; from < all.n;) {
        long whole = nats_parse_command(str_skip_bytes(all, from), &w);

        assert_true(whole > 0);
        for (long n = 0; n < whole; n++)
            assert_int_equal(nats_parse_command(str_slice(all.p + from, (size_t)n), &w), 0);
        from += (size_t)whole;
    }
}

static void malformed_nats_messages_are_refused(void **state)
{
    (void)state;
    struct nats_command w;
    static const char *const bad[] = {
        "HTTP/1.1 400 Bad Request\r\n",
        "MSG a 1\r\n",
        "MSG a 1 x\r\n",
        "MSG a 1 -1\r\n",
        "MSG a 1 99999999999999999999\r\n",
        "MSG a 1 1\r\nabc",
        "MSG a 1 b c 1\r\nx\r\n",
        "\r\n",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(nats_parse_command(str_of(bad[i]), &w), -1);
    static char endless[NATS_LINE_MAX];
    memset(endless, 'x', sizeof endless);
    assert_int_equal(nats_parse_command(str_slice(endless, sizeof endless), &w), -1);
    assert_int_equal(nats_parse_max_payload(STR("{\"max_payload\":\"x\"")), 1024 * 1024);
    assert_int_equal(nats_parse_max_payload(STR("{\"max_payload\":999999999}")), NATS_PAYLOAD_MAX);
}

static void nats_connect_message_contains_the_credentials(void **state)
{
    (void)state;
    struct nats_servers s;
    struct buf b;

    buf_init(&b, 4096);
    assert_true(nats_servers_parse(STR("nats://a\"da:pw@mq,nats://token@mq"), &s));
    nats_write_connect_command(&b, &s.items[0], "guildhall 7");
    buf_add_char(&b, 0);
    assert_non_null(strstr(b.p, "CONNECT {"));
    assert_non_null(strstr(b.p, "\"echo\":false"));
    assert_non_null(strstr(b.p, "\"user\":\"a\\\"da\",\"pass\":\"pw\"}\r\n"));
    buf_reset(&b);
    nats_write_connect_command(&b, &s.items[1], "guildhall 7");
    nats_write_subscribe_command(&b, "a.log", 1);
    nats_write_publish_command(&b, "a.log", STR("head\r\n"));
    buf_add_char(&b, 0);
    assert_non_null(strstr(b.p, "\"auth_token\":\"token\"}\r\nSUB a.log 1\r\n"
                                "PUB a.log 6\r\nhead\r\n\r\n"));
    buf_clear(&b);
}

/* --- a server that stops reading ------------------------------------------------------- */

static void ignore_message_after_refusal(void *arg, struct str subject, struct str payload)
{
    (void)arg;
    (void)subject;
    (void)payload;
}

static void post_semaphore_when_connected(void *arg, bool connected)
{
    if (connected)
        sem_post(arg);
}

static int listen_somewhere(unsigned *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* Accepts one connection, sends the greeting, and reads nothing more. */
static int accept_and_greet_client(int listener)
{
    static const char info[] = "INFO {\"max_payload\":1048576}\r\n";
    char in[4096];
    size_t n = 0;
    int fd = accept(listener, NULL, NULL);

    assert_int_equal(send(fd, info, sizeof info - 1, 0), sizeof info - 1);
    while (n < 6 || memcmp(in + n - 6, "PING\r\n", 6) != 0) {
        ssize_t got = recv(fd, in + n, sizeof in - n, 0);

        assert_true(got > 0);
        n += (size_t)got;
    }
    assert_int_equal(send(fd, "PONG\r\n", 6, 0), 6);
    return fd;
}

static void repeatable_messages_do_not_fill_the_send_queue(void **state)
{
    (void)state;
    enum { PIECE = 256 * 1024, MOST = 4 << 20, PIECES = 400 };
    static char bytes[PIECE];
    struct nats_options options = { .message = ignore_message_after_refusal,
                                    .changed = post_semaphore_when_connected };
    char url[64];
    unsigned port;
    sem_t connected;
    int listener = listen_somewhere(&port), taken = 0;

    sem_init(&connected, 0, 0);
    options.arg = &connected;
    snprintf(url, sizeof url, "nats://127.0.0.1:%u", port);
    assert_true(nats_servers_parse(str_of(url), &options.servers));
    struct nats *n;
    assert_int_equal(nats_new(&options, &n), OK);
    nats_start(n);
    int fd = accept_and_greet_client(listener);
    sem_wait(&connected);
    while (taken < PIECES && nats_publish_or_drop_message(n, "a", str_slice(bytes, PIECE)))
        taken++;
    assert_true(taken < PIECES);
    assert_in_range(nats_count_unsent_bytes(n), 1, MOST);
    assert_true(nats_publish(
        n, "a", str_slice(bytes, PIECE))); /* a message that must not be lost still fits */
    nats_free(n);
    close(fd);
    close(listener);
    sem_destroy(&connected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nats_server_list_is_parsed_completely_or_refused),
        cmocka_unit_test(nats_messages_are_parsed_when_they_arrive_in_pieces),
        cmocka_unit_test(malformed_nats_messages_are_refused),
        cmocka_unit_test(nats_connect_message_contains_the_credentials),
        cmocka_unit_test(repeatable_messages_do_not_fill_the_send_queue),
    };

    return cmocka_run_group_tests_name("cluster/nats", tests, NULL, NULL);
}
