/* passwords.c - cost of password hashing and limits for wrong passwords. */
#include "world.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "net/http/server.h"
#include "people.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

/* --- queue of the hashing threads ----------------------------------------------------- */

enum { LINE = 6 };

/* The server has one hashing thread, and a hash takes some tenths of a second. */
static void configure_slow_hashing(struct config *config)
{
    config->password_memory_mib = 64;
    config->password_passes = 8;
    config->password_threads = 1;
    config->password_queue = LINE;
}

static int start_login(struct world *w)
{
    static const char login[] = "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                "Content-Type: application/json\r\nContent-Length: 33\r\n\r\n"
                                "{\"login\":\"nobody\",\"password\":\"x\"}";
    int fd = client_dial(world_anonymous(w));

    expect(send(fd, login, sizeof login - 1, 0) == sizeof login - 1);
    return fd;
}

/* Returns the status of the response and copies its text. */
static int finish_login(int fd, char text[2048])
{
    size_t n = 0;
    ssize_t got;

    while (n < 2047 && (got = recv(fd, text + n, 2047 - n, 0)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd);
    expect(n > 12);
    return atoi(text + 9);
}

static uint64_t count_requests(struct world *w)
{
    struct http_server_stats stats;

    http_server_read_stats(api_get_http_server(guildhall_get_api(world_server(w))), &stats);
    return stats.requests;
}

static void wait_for_count_of_received_requests(struct world *w, uint64_t count)
{
    expect_soon(count_requests(w) >= count);
}

static void login_gets_503_retry_after_when_the_hash_queue_is_full(struct world *w)
{
    int fds[3 * LINE], refused = 0, checked = 0;
    char text[2048];

    for (int i = 0; i < 3 * LINE; i++)
        fds[i] = start_login(w);
    for (int i = 0; i < 3 * LINE; i++) {
        int status = finish_login(fds[i], text);

        if (status == 503) {
            expect(strstr(text, "Retry-After: 5\r\n") && strstr(text, "\"code\":40016"));
            refused++;
        } else {
            expect(status == 400 && strstr(text, "INVALID_LOGIN"));
            checked++;
        }
    }
    expect(refused >= 1 && checked >= LINE);
}

static int count_unanswered(const int *fds, int count)
{
    int unanswered = 0;

    for (int i = 0; i < count; i++)
        unanswered += poll(&(struct pollfd){ .fd = fds[i], .events = POLLIN }, 1, 0) == 0;
    return unanswered;
}

/* The loops that read the requests determine which login is last in the queue. */
static void uploads_do_not_wait_for_password_hashing(struct world *w)
{
    static const struct upload hello[] = { { "files[0]", "hello.txt", STR_INIT("hello") }, { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    uint64_t before = count_requests(w);
    int fds[LINE];
    char text[2048];

    for (int i = 0; i < LINE; i++)
        fds[i] = start_login(w);
    wait_for_count_of_received_requests(w, before + LINE);
    expect_status(client_upload(ada, "POST", "{}", hello, "/channels/%s/messages", v.channel), 200);
    expect(count_unanswered(fds, LINE) > 0);
    for (int i = 0; i < LINE; i++)
        expect(finish_login(fds[i], text) == 400);
}

static void queued_logins_of_closed_connections_are_not_hashed(struct world *w)
{
    struct linger at_once = { .l_onoff = 1 };
    char text[2048];
    double before = processor_time();
    int gone[LINE - 1];

    expect(finish_login(start_login(w), text) == 400);
    double one = processor_time() - before;

    before = processor_time();
    int first = start_login(w);
    for (int i = 0; i < LINE - 1; i++)
        gone[i] = start_login(w);
    wait_for_count_of_received_requests(w, 1 + LINE);
    for (int i = 0; i < LINE - 1; i++) {
        setsockopt(gone[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(gone[i]);
    }
    expect(finish_login(first, text) == 400);
    double taken = processor_time() - before;
    before = processor_time();
    expect(finish_login(start_login(w), text) == 400);
    double last = processor_time() - before;
    /* Six hashes would mean that no login was dropped. One or two may be computed before the
     * connections close, and parallel load makes a hash take longer. */
    expect(taken < 4 * (last > one ? last : one));
}

/* --- guessed passwords ---------------------------------------------------------------- */

#define RIGHT  "{'login': 'ada', 'password': 'correct horse'}"
#define WRONG  "{'login': 'ada', 'password': 'wrong horse'}"
#define RENAME "{'username': 'ada', 'password': '%s'}"

static struct client *client_from_address(struct world *w, const char *address)
{
    struct client *c = world_anonymous(w);

    snprintf(c->address, sizeof c->address, "%s", address);
    return c;
}

static struct answer log_in_from(struct world *w, const char *address, const char *body)
{
    return client_post(client_from_address(w, address), body, "/auth/login");
}

static void register_ada_from_ip_address(struct world *w, const char *address)
{
    expect_status(client_post(client_from_address(w, address),
                              "{'username': 'ada', 'password': 'correct horse'}", "/auth/register"),
                  200);
}

/* Sends wrong logins, five per address. */
static void send_wrong_logins_from_many_addresses(struct world *w, int first, int last)
{
    char address[20];

    for (int i = first; i < last; i++) {
        snprintf(address, sizeof address, "127.0.9.%d", i / 5 + 1);
        expect_invalid(log_in_from(w, address, WRONG), "login", "INVALID_LOGIN");
    }
}

static void expect_login_is_rate_limited(struct answer a, int most_s)
{
    expect_status(a, 429);
    expect(atoi(answer_header(a, "Retry-After").p) >= 1);
    expect(atoi(answer_header(a, "Retry-After").p) <= most_s);
}

static void failed_logins_elsewhere_do_not_lock_out_known_ip_addresses(struct world *w)
{
    register_ada_from_ip_address(w, "127.0.1.1");
    send_wrong_logins_from_many_addresses(w, 0, 59);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    send_wrong_logins_from_many_addresses(w, 59, 60);
    /* Logins are now refused from addresses without an earlier login. */
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.3", RIGHT), 1800);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.4", WRONG), 1800);
    expect_status(log_in_from(w, "127.0.1.1", RIGHT), 200);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    /* Other accounts are not affected. */
    expect_invalid(log_in_from(w, "127.0.1.3", "{'login': 'bob', 'password': 'x'}"), "login",
                   "INVALID_LOGIN");
    world_wait(w, 1800);
    expect_status(log_in_from(w, "127.0.1.3", RIGHT), 200);
}

static void known_login_ip_addresses_survive_a_restart(struct world *w)
{
    register_ada_from_ip_address(w, "127.0.1.1");
    world_restart(w);
    send_wrong_logins_from_many_addresses(w, 0, 60);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.2", RIGHT), 1800);
    expect_status(log_in_from(w, "127.0.1.1", RIGHT), 200);
}

static void only_the_last_twenty_login_ip_addresses_are_known(struct world *w)
{
    char address[20];

    register_ada_from_ip_address(w, "127.0.1.1");
    for (int i = 2; i <= 21; i++) {
        snprintf(address, sizeof address, "127.0.1.%d", i);
        world_wait(w, 1);
        expect_status(log_in_from(w, address, RIGHT), 200);
    }
    send_wrong_logins_from_many_addresses(w, 0, 60);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.1", RIGHT), 1800);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    expect_status(log_in_from(w, "127.0.1.21", RIGHT), 200);
}

static void login_is_limited_to_ten_wrong_passwords_per_ip_address(struct world *w)
{
    static const char *const spellings[] = { "ada", "ADA", " ada ", "Ada", "adA" };
    char body[100];

    register_ada_from_ip_address(w, "127.0.1.1");
    for (int i = 0; i < 10; i++) {
        if (i == 5)
            world_wait(w, 60);
        snprintf(body, sizeof body, "{'login': '%s', 'password': 'x'}", spellings[i % 5]);
        expect_invalid(log_in_from(w, "127.0.1.2", body), "login", "INVALID_LOGIN");
    }
    world_wait(w, 60);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.2", RIGHT), 1800);
    expect_invalid(log_in_from(w, "127.0.1.2", "{'login': 'bob', 'password': 'x'}"), "login",
                   "INVALID_LOGIN");
    expect_status(log_in_from(w, "127.0.1.3", RIGHT), 200);
    world_wait(w, 1800);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
}

static void logins_with_unknown_usernames_have_the_same_rate_limits(struct world *w)
{
    for (int i = 0; i < 10; i++) {
        if (i == 5)
            world_wait(w, 60);
        expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    }
    world_wait(w, 60);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.2", WRONG), 1800);
    send_wrong_logins_from_many_addresses(w, 0, 50);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.3", WRONG), 1800);
}

/* Logs ada in from an address. */
static struct client *log_in_ada_from(struct world *w, const char *address)
{
    struct answer a = log_in_from(w, address, RIGHT);
    struct client *c = world_client_with(w, answer_text(a, "token"));

    snprintf(c->address, sizeof c->address, "%s", address);
    return c;
}

static struct answer rename_with(struct client *c, const char *password)
{
    char body[100];

    snprintf(body, sizeof body, RENAME, password);
    return client_patch(c, body, "/users/@me");
}

static void wrong_passwords_on_all_routes_share_one_rate_limit(struct world *w)
{
    register_ada_from_ip_address(w, "127.0.1.1");
    struct client *here = log_in_ada_from(w, "127.0.1.2"), *there = log_in_ada_from(w, "127.0.1.3");

    for (int i = 0; i < 3; i++)
        expect_invalid(rename_with(here, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    for (int i = 0; i < 2; i++)
        expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    expect_login_is_rate_limited(rename_with(here, "wrong horse"), 60);
    expect_login_is_rate_limited(rename_with(here, "correct horse"), 60);
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.2", RIGHT), 60);
    /* Changes that need no password still succeed. */
    expect_status(client_patch(here, "{'bio': 'still here'}", "/users/@me"), 200);
    expect_status(rename_with(there, "correct horse"), 200);
    world_wait(w, 60);
    for (int i = 0; i < 5; i++)
        expect_invalid(rename_with(here, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    world_wait(w, 60);
    expect_login_is_rate_limited(rename_with(here, "correct horse"), 1800);
}

static void correct_passwords_do_not_count_towards_the_login_limit(struct world *w)
{
    register_ada_from_ip_address(w, "127.0.1.1");
    struct client *ada = log_in_ada_from(w, "127.0.1.2");

    for (int i = 0; i < 15; i++)
        expect_status(rename_with(ada, "correct horse"), 200);
    for (int i = 0; i < 5; i++)
        expect_invalid(rename_with(ada, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    world_wait(w, 10);
    expect_login_is_rate_limited(rename_with(ada, "wrong horse"), 60);
}

static void concurrent_wrong_passwords_share_one_rate_limit(struct world *w)
{
    char call[600], text[2048];
    int fds[15], evaluated = 0;

    register_ada_from_ip_address(w, "127.0.1.1");
    struct client *ada = log_in_ada_from(w, "127.0.1.2");
    int n = snprintf(call, sizeof call,
                     "PATCH /api/users/@me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                     "Authorization: %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: 38\r\n\r\n{\"username\":\"ada\",\"password\":\"wrong\"} ",
                     ada->authorization);
    for (int i = 0; i < 15; i++) {
        fds[i] = client_dial(ada);
        expect(send(fds[i], call, (size_t)n, 0) == n);
    }
    for (int i = 0; i < 15; i++) {
        int status = finish_login(fds[i], text);

        expect(status == 400 || status == 429);
        evaluated += status == 400;
    }
    expect(evaluated == 5);
}

static void changing_the_password_resets_known_login_ip_addresses(struct world *w)
{
    register_ada_from_ip_address(w, "127.0.1.1");
    expect_status(client_patch(log_in_ada_from(w, "127.0.1.2"),
                               "{'password': 'correct horse', 'new_password': 'battery staple'}",
                               "/users/@me"),
                  200);
    send_wrong_logins_from_many_addresses(w, 0, 60);
    const char *right = "{'login': 'ada', 'password': 'battery staple'}";
    expect_login_is_rate_limited(log_in_from(w, "127.0.1.1", right), 1800);
    expect_status(log_in_from(w, "127.0.1.2", right), 200);
}

const struct test passwords_tests[] = {
    TEST_WITH(failed_logins_elsewhere_do_not_lock_out_known_ip_addresses, buckets_only),
    TEST_WITH(known_login_ip_addresses_survive_a_restart, buckets_only),
    TEST_WITH(only_the_last_twenty_login_ip_addresses_are_known, buckets_only),
    TEST_WITH(login_is_limited_to_ten_wrong_passwords_per_ip_address, buckets_only),
    TEST_WITH(logins_with_unknown_usernames_have_the_same_rate_limits, buckets_only),
    TEST_WITH(wrong_passwords_on_all_routes_share_one_rate_limit, buckets_only),
    TEST_WITH(correct_passwords_do_not_count_towards_the_login_limit, buckets_only),
    TEST_WITH(concurrent_wrong_passwords_share_one_rate_limit, buckets_only),
    TEST_WITH(changing_the_password_resets_known_login_ip_addresses, buckets_only),
    TEST_WITH(login_gets_503_retry_after_when_the_hash_queue_is_full, configure_slow_hashing),
    TEST_WITH(uploads_do_not_wait_for_password_hashing, configure_slow_hashing),
    TEST_WITH(queued_logins_of_closed_connections_are_not_hashed, configure_slow_hashing),
    { 0 },
};
