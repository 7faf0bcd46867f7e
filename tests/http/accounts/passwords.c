/* passwords.c - what it costs to check passwords, and who may guess. */
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

/* --- the line before the threads ------------------------------------------------------ */

enum { LINE = 6 };

/* One thread, and a hash takes it some tenths of a second. */
static void slow_and_few(struct config *config)
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
    int fd = client_dial(world_stranger(w));

    expect(send(fd, login, sizeof login - 1, 0) == sizeof login - 1);
    return fd;
}

/* The status of the answer, its text in text. */
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

static uint64_t requests(struct world *w)
{
    struct server_stats stats;

    server_stats(api_server(guildhall_api(world_server(w))), &stats);
    return stats.requests;
}

static void await_requests(struct world *w, uint64_t count)
{
    expect_soon(requests(w) >= count);
}

static void who_finds_the_line_full_is_told_to_come_back(struct world *w)
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

/* Which of the passwords is the last in line depends on the loops that read them. */
static void files_do_not_wait_for_passwords(struct world *w)
{
    static const struct upload hello[] = { { "files[0]", "hello.txt", STR_INIT("hello") }, { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    uint64_t before = requests(w);
    int fds[LINE];
    char text[2048];

    for (int i = 0; i < LINE; i++)
        fds[i] = start_login(w);
    await_requests(w, before + LINE);
    expect_status(client_upload(ada, "POST", "{}", hello, "/channels/%s/messages", v.channel), 200);
    expect(count_unanswered(fds, LINE) > 0);
    for (int i = 0; i < LINE; i++)
        expect(finish_login(fds[i], text) == 400);
}

static void nothing_is_hashed_for_clients_that_have_gone(struct world *w)
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
    await_requests(w, 1 + LINE);
    for (int i = 0; i < LINE - 1; i++) {
        setsockopt(gone[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(gone[i]);
    }
    expect(finish_login(first, text) == 400);
    double taken = processor_time() - before;
    before = processor_time();
    expect(finish_login(start_login(w), text) == 400);
    double last = processor_time() - before;
    /* Six would be all of them. One or two may be hashed before they go, and while others
     * compute a hash takes more of its own time, too. */
    expect(taken < 4 * (last > one ? last : one));
}

/* --- guessing ------------------------------------------------------------------------- */

#define RIGHT  "{'login': 'ada', 'password': 'correct horse'}"
#define WRONG  "{'login': 'ada', 'password': 'wrong horse'}"
#define RENAME "{'username': 'ada', 'password': '%s'}"

static struct client *from(struct world *w, const char *address)
{
    struct client *c = world_stranger(w);

    snprintf(c->address, sizeof c->address, "%s", address);
    return c;
}

static struct answer log_in_from(struct world *w, const char *address, const char *body)
{
    return client_post(from(w, address), body, "/auth/login");
}

static void register_ada_from(struct world *w, const char *address)
{
    expect_status(client_post(from(w, address), "{'username': 'ada', 'password': 'correct horse'}",
                              "/auth/register"),
                  200);
}

/* Wrong tries, each address having its five. */
static void guess_from_many(struct world *w, int first, int last)
{
    char address[20];

    for (int i = first; i < last; i++) {
        snprintf(address, sizeof address, "127.0.9.%d", i / 5 + 1);
        expect_invalid(log_in_from(w, address, WRONG), "login", "INVALID_LOGIN");
    }
}

static void expect_refused(struct answer a, int most_s)
{
    expect_status(a, 429);
    expect(atoi(answer_header(a, "Retry-After").p) >= 1);
    expect(atoi(answer_header(a, "Retry-After").p) <= most_s);
}

static void failures_of_others_do_not_lock_the_owner_out(struct world *w)
{
    register_ada_from(w, "127.0.1.1");
    guess_from_many(w, 0, 59);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    guess_from_many(w, 59, 60);
    /* Now nobody comes in from where nobody has come in before. */
    expect_refused(log_in_from(w, "127.0.1.3", RIGHT), 1800);
    expect_refused(log_in_from(w, "127.0.1.4", WRONG), 1800);
    expect_status(log_in_from(w, "127.0.1.1", RIGHT), 200);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    /* Other accounts have nothing to do with it. */
    expect_invalid(log_in_from(w, "127.0.1.3", "{'login': 'bob', 'password': 'x'}"), "login",
                   "INVALID_LOGIN");
    world_wait(w, 1800);
    expect_status(log_in_from(w, "127.0.1.3", RIGHT), 200);
}

static void known_addresses_outlive_the_server(struct world *w)
{
    register_ada_from(w, "127.0.1.1");
    world_restart(w);
    guess_from_many(w, 0, 60);
    expect_refused(log_in_from(w, "127.0.1.2", RIGHT), 1800);
    expect_status(log_in_from(w, "127.0.1.1", RIGHT), 200);
}

static void twenty_addresses_are_known(struct world *w)
{
    char address[20];

    register_ada_from(w, "127.0.1.1");
    for (int i = 2; i <= 21; i++) {
        snprintf(address, sizeof address, "127.0.1.%d", i);
        world_wait(w, 1);
        expect_status(log_in_from(w, address, RIGHT), 200);
    }
    guess_from_many(w, 0, 60);
    expect_refused(log_in_from(w, "127.0.1.1", RIGHT), 1800);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
    expect_status(log_in_from(w, "127.0.1.21", RIGHT), 200);
}

static void a_login_has_ten_tries_from_one_address(struct world *w)
{
    static const char *const spellings[] = { "ada", "ADA", " ada ", "Ada", "adA" };
    char body[100];

    register_ada_from(w, "127.0.1.1");
    for (int i = 0; i < 10; i++) {
        if (i == 5)
            world_wait(w, 60);
        snprintf(body, sizeof body, "{'login': '%s', 'password': 'x'}", spellings[i % 5]);
        expect_invalid(log_in_from(w, "127.0.1.2", body), "login", "INVALID_LOGIN");
    }
    world_wait(w, 60);
    expect_refused(log_in_from(w, "127.0.1.2", RIGHT), 1800);
    expect_invalid(log_in_from(w, "127.0.1.2", "{'login': 'bob', 'password': 'x'}"), "login",
                   "INVALID_LOGIN");
    expect_status(log_in_from(w, "127.0.1.3", RIGHT), 200);
    world_wait(w, 1800);
    expect_status(log_in_from(w, "127.0.1.2", RIGHT), 200);
}

static void a_login_that_nobody_has_is_limited_like_others(struct world *w)
{
    for (int i = 0; i < 10; i++) {
        if (i == 5)
            world_wait(w, 60);
        expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    }
    world_wait(w, 60);
    expect_refused(log_in_from(w, "127.0.1.2", WRONG), 1800);
    guess_from_many(w, 0, 50);
    expect_refused(log_in_from(w, "127.0.1.3", WRONG), 1800);
}

/* Ada with a token of hers. */
static struct client *ada_from(struct world *w, const char *address)
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

static void wrong_passwords_are_one_count_for_all_routes(struct world *w)
{
    register_ada_from(w, "127.0.1.1");
    struct client *here = ada_from(w, "127.0.1.2"), *there = ada_from(w, "127.0.1.3");

    for (int i = 0; i < 3; i++)
        expect_invalid(rename_with(here, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    for (int i = 0; i < 2; i++)
        expect_invalid(log_in_from(w, "127.0.1.2", WRONG), "login", "INVALID_LOGIN");
    expect_refused(rename_with(here, "wrong horse"), 60);
    expect_refused(rename_with(here, "correct horse"), 60);
    expect_refused(log_in_from(w, "127.0.1.2", RIGHT), 60);
    /* What needs no password goes on. */
    expect_status(client_patch(here, "{'bio': 'still here'}", "/users/@me"), 200);
    expect_status(rename_with(there, "correct horse"), 200);
    world_wait(w, 60);
    for (int i = 0; i < 5; i++)
        expect_invalid(rename_with(here, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    world_wait(w, 60);
    expect_refused(rename_with(here, "correct horse"), 1800);
}

static void right_passwords_do_not_count(struct world *w)
{
    register_ada_from(w, "127.0.1.1");
    struct client *ada = ada_from(w, "127.0.1.2");

    for (int i = 0; i < 15; i++)
        expect_status(rename_with(ada, "correct horse"), 200);
    for (int i = 0; i < 5; i++)
        expect_invalid(rename_with(ada, "wrong horse"), "password", "PASSWORD_DOES_NOT_MATCH");
    world_wait(w, 10);
    expect_refused(rename_with(ada, "wrong horse"), 60);
}

static void many_guesses_at_once_are_no_more_than_one_after_the_other(struct world *w)
{
    char call[600], text[2048];
    int fds[15], looked_at = 0;

    register_ada_from(w, "127.0.1.1");
    struct client *ada = ada_from(w, "127.0.1.2");
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
        looked_at += status == 400;
    }
    expect(looked_at == 5);
}

static void a_new_password_forgets_where_the_old_one_was_used(struct world *w)
{
    register_ada_from(w, "127.0.1.1");
    expect_status(client_patch(ada_from(w, "127.0.1.2"),
                               "{'password': 'correct horse', 'new_password': 'battery staple'}",
                               "/users/@me"),
                  200);
    guess_from_many(w, 0, 60);
    const char *right = "{'login': 'ada', 'password': 'battery staple'}";
    expect_refused(log_in_from(w, "127.0.1.1", right), 1800);
    expect_status(log_in_from(w, "127.0.1.2", right), 200);
}

const struct test passwords_tests[] = {
    TEST_WITH(failures_of_others_do_not_lock_the_owner_out, buckets_only),
    TEST_WITH(known_addresses_outlive_the_server, buckets_only),
    TEST_WITH(twenty_addresses_are_known, buckets_only),
    TEST_WITH(a_login_has_ten_tries_from_one_address, buckets_only),
    TEST_WITH(a_login_that_nobody_has_is_limited_like_others, buckets_only),
    TEST_WITH(wrong_passwords_are_one_count_for_all_routes, buckets_only),
    TEST_WITH(right_passwords_do_not_count, buckets_only),
    TEST_WITH(many_guesses_at_once_are_no_more_than_one_after_the_other, buckets_only),
    TEST_WITH(a_new_password_forgets_where_the_old_one_was_used, buckets_only),
    TEST_WITH(who_finds_the_line_full_is_told_to_come_back, slow_and_few),
    TEST_WITH(files_do_not_wait_for_passwords, slow_and_few),
    TEST_WITH(nothing_is_hashed_for_clients_that_have_gone, slow_and_few),
    { 0 },
};
