/* early_refusals.c - refusals before the whole request is received, and limits of memory and
 * descriptors. */
#include "waits.h"
#include "world.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, FIRST = 13 /* number of bytes up to the status code */ };

/* Sends the head of a request with a body of this length; returns the start of the response. */
static struct str send_head(struct world *w, const char *method, const char *path,
                            const char *authorization, size_t length)
{
    struct str head =
        str_printf(world_arena(w),
                   "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "%s%s%sContent-Length: %zu\r\n\r\n",
                   method, path, authorization ? "Authorization: " : "",
                   authorization ? authorization : "", authorization ? "\r\n" : "", length);

    char *in = arena_alloc(world_arena(w), FIRST);
    int fd = client_dial(world_anonymous(w));
    ssize_t n = -1;
    struct pollfd p = { .fd = fd, .events = POLLIN };

    if (send(fd, head.p, head.n, MSG_NOSIGNAL) == (ssize_t)head.n && poll(&p, 1, PATIENCE_MS) == 1)
        n = recv(fd, in, FIRST, MSG_WAITALL);
    close(fd);
    return str_slice(in, n > 0 ? (size_t)n : 0);
}

static void expect_first_line_of_response(struct str answer, const char *line)
{
    if (answer.n < strlen(line) || memcmp(answer.p, line, strlen(line)) != 0)
        fail_test(__FILE__, __LINE__, "expected '%s', not '%.*s'", line, STR_ARGS(answer));
}

static void long_body_is_refused_before_it_is_received(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");

    expect_first_line_of_response(send_head(w, "PATCH", "/api/v10/guilds/1", NULL, 60 << 20),
                                  "HTTP/1.1 401 ");
    expect_first_line_of_response(send_head(w, "PATCH", "/api/v10/guilds/1", "nonsense", 60 << 20),
                                  "HTTP/1.1 401 ");
    expect_first_line_of_response(send_head(w, "PATCH", "/api/v10/nowhere", NULL, 60 << 20),
                                  "HTTP/1.1 404 ");
    expect_first_line_of_response(send_head(w, "PUT", "/api/v10/guilds/1", NULL, 60 << 20),
                                  "HTTP/1.1 405 ");
    expect_first_line_of_response(send_head(w, "PATCH", "/api/v5/guilds/1", NULL, 60 << 20),
                                  "HTTP/1.1 400 ");
    /* A route for another account type, and a malformed path parameter, are refused before the body
     * arrives. */
    expect_first_line_of_response(
        send_head(w, "PUT", "/api/v10/users/@me/relationships/1", bot->authorization, 60000),
        "HTTP/1.1 403 ");
    expect_first_line_of_response(
        send_head(w, "PATCH", "/api/v10/guilds/x", ada->authorization, 60 << 20), "HTTP/1.1 400 ");
    /* A permitted caller gets 413; the credential is checked first. */
    expect_first_line_of_response(
        send_head(w, "PATCH", "/api/v10/guilds/1", ada->authorization, 80 << 20), "HTTP/1.1 413 ");
    expect_first_line_of_response(send_head(w, "PATCH", "/api/v10/guilds/1", NULL, 80 << 20),
                                  "HTTP/1.1 401 ");
    expect_first_line_of_response(send_head(w, "POST", "/api/v10/auth/login", NULL, 2 << 20),
                                  "HTTP/1.1 413 ");
}

/* A request whose credential is revoked while its body arrives has no effect. */
static void credential_is_checked_again_after_a_long_body(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *other = world_token(w, ada, CALLER_USER, "", 0);
    int fd = client_dial(other);
    char text[20000], in[4096];
    int n = snprintf(text, sizeof text,
                     "POST /api/v10/guilds HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n"
                     "Content-Type: application/json\r\nContent-Length: 10000\r\n"
                     "Expect: 100-continue\r\n\r\n",
                     other->authorization);

    expect(send(fd, text, (size_t)n, MSG_NOSIGNAL) == n);
    expect(recv(fd, in, sizeof in, 0) > 0);
    expect(memcmp(in, "HTTP/1.1 100 ", 13) == 0);
    expect_status(client_post(other, "{}", "/auth/logout"), 204);
    n = snprintf(text, sizeof text, "{\"name\":\"hall\"}%*s", 10000 - 15, "");
    expect(send(fd, text, (size_t)n, MSG_NOSIGNAL) == n);
    expect(recv(fd, in, sizeof in, 0) > 0);
    expect(memcmp(in, "HTTP/1.1 401 ", 13) == 0);
    close(fd);
    expect_json(client_get(ada, "/users/@me/guilds"), "[]");
}

/* The response has the usual rate limit headers, and the request counts once. */
static void long_body_request_counts_once_for_the_rate_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char text[20000];

    snprintf(text, sizeof text, "{'name': 'hall'%*s}", 15000, "");
    struct answer a = client_post(ada, text, "/guilds");
    expect_status(a, 201);
    struct str left = answer_header(a, "X-RateLimit-Remaining"),
               most = answer_header(a, "X-RateLimit-Limit");
    uint64_t remaining, limit;
    expect(str_to_u64(left, &remaining) && str_to_u64(most, &limit));
    expect(remaining == limit - 1);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

/* A rate-limited caller gets 429 before sending the body. */
static void rate_limit_is_reported_before_the_body_is_received(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    int status = 404;

    for (int i = 0; i < 60 && status == 404; i++)
        status = client_patch(ada, "{}", "/guilds/1").status;
    expect(status == 429);
    expect_first_line_of_response(
        send_head(w, "PATCH", "/api/v10/guilds/1", ada->authorization, 60 << 20), "HTTP/1.1 429 ");
}

static void configure_body_memory_of_8_mib(struct config *config)
{
    config->body_memory_mib = 8;
}

enum { SENDERS = 8 };

static void start_sending_long_request_bodies(struct world *w, int *fds)
{
    static const char head[] = "POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    static char body[900 * 1024];

    for (int i = 0; i < SENDERS; i++) {
        ssize_t n = 1;

        fds[i] = client_dial(world_anonymous(w));
        expect(send(fds[i], head, sizeof head - 1, MSG_NOSIGNAL) == sizeof head - 1);
        for (size_t sent = 0; sent < sizeof body && n > 0; sent += (size_t)n)
            n = send(fds[i], body + sent, sizeof body - sent, MSG_NOSIGNAL);
    }
}

static int count_503_responses(const int *fds)
{
    int refused = 0;

    for (int i = 0; i < SENDERS; i++) {
        char in[13];

        if (recv(fds[i], in, sizeof in, MSG_DONTWAIT | MSG_PEEK) == sizeof in)
            refused += memcmp(in, "HTTP/1.1 503 ", sizeof in) == 0;
    }
    return refused;
}

/* Unauthenticated callers together may use a fifth of the body memory. */
static void unauthenticated_bodies_are_refused_beyond_a_memory_limit(struct world *w)
{
    int fds[SENDERS];

    start_sending_long_request_bodies(w, fds);
    expect_soon(count_503_responses(fds) >= SENDERS - 2);
    for (int i = 0; i < SENDERS; i++)
        close(fds[i]);
}

/* --- file descriptors ----------------------------------------------------------------- */

static void descriptor_limit_is_raised_to_the_hard_limit(struct world *w)
{
    struct rlimit before, r;

    (void)w;
    expect(getrlimit(RLIMIT_NOFILE, &before) == 0);
    r = (struct rlimit){ before.rlim_max - 1, before.rlim_max };
    expect(setrlimit(RLIMIT_NOFILE, &r) == 0);
    raise_descriptor_limit();
    expect(getrlimit(RLIMIT_NOFILE, &r) == 0);
    expect(r.rlim_cur == before.rlim_max);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* A connection that cannot be accepted for lack of descriptors must not cause busy waiting. */
static void control_socket_does_not_busy_loop_without_free_descriptors(struct world *w)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int folder = open(world_folder(w), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct rlimit before, none;

    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", folder);
    expect(folder >= 0 && fd >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){ 3, before.rlim_max }; /* all in use; poll() refuses more than this */
    expect(setrlimit(RLIMIT_NOFILE, &none) == 0);
    int connected = connect(fd, (struct sockaddr *)&at, sizeof at);
    double spent = processor_time();
    usleep(500000); /* a busy machine uses less processor time for it, not more */
    spent = processor_time() - spent;
    setrlimit(RLIMIT_NOFILE, &before);
    expect(connected == 0);
    expect(spent < 0.25);
    /* The connection is accepted once a descriptor is free. */
    char in[16];
    expect(send(fd, "sessions\n", 9, MSG_NOSIGNAL) == 9);
    expect(recv(fd, in, sizeof in, 0) == 0); /* there are no sessions */
    close(fd);
    close(folder);
}

const struct test early_refusals_tests[] = {
    TEST(long_body_is_refused_before_it_is_received),
    TEST(credential_is_checked_again_after_a_long_body),
    TEST_WITH(long_body_request_counts_once_for_the_rate_limit, configure_enabled_rate_limits),
    TEST_WITH(rate_limit_is_reported_before_the_body_is_received, configure_enabled_rate_limits),
    TEST_WITH(unauthenticated_bodies_are_refused_beyond_a_memory_limit,
              configure_body_memory_of_8_mib),
    TEST(descriptor_limit_is_raised_to_the_hard_limit),
    TEST(control_socket_does_not_busy_loop_without_free_descriptors),
    { 0 },
};
