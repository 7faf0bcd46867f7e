/* bot_session.c - tests which gateways a bot's session connects to. */
#include "unit/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/wire/bot_session.h"

/* A listening socket of this machine. */
struct listener {
    int fd;
    char url[64];
};

static struct listener listen_on_loopback(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct listener l = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    socklen_t size = sizeof at;

    assert_int_equal(bind(l.fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(l.fd, 1), 0);
    assert_int_equal(getsockname(l.fd, (struct sockaddr *)&at, &size), 0);
    snprintf(l.url, sizeof l.url, "ws://127.0.0.1:%d", ntohs(at.sin_port));
    return l;
}

static bool has_connection(const struct listener *l)
{
    return poll(&(struct pollfd){ .fd = l->fd, .events = POLLIN }, 1, 0) > 0;
}

static enum bot_session_result begin_session(const struct bot_session_options *options,
                                             const struct gateway_resume_point *from,
                                             struct arena *arena, struct bot_session_event *ret)
{
    struct bot_session *s = bot_session_new(options, from);
    enum bot_session_result result =
        bot_session_wait_for_event(s, clock_monotonic_ns(), arena, ret);

    bot_session_free(s);
    return result;
}

static void private_gateway_of_a_public_server_is_refused(void **state)
{
    struct listener l = listen_on_loopback();
    struct arena *arena = arena_new();
    struct gateway_resume_point none = { 0 }, resumed = { .id = "x" };
    struct bot_session_event e;
    char named[64];

    (void)state;
    assert_int_equal(
        begin_session(&(struct bot_session_options){ l.url, "token", 0, true }, &none, arena, &e),
        SESSION_REFUSED);
    assert_non_null(memmem(e.data.p, e.data.n, "private", 7));
    /* The same for a name whose address is private, and for the address to resume a session. */
    snprintf(named, sizeof named, "ws://localhost%s", strrchr(l.url, ':'));
    assert_int_equal(
        begin_session(&(struct bot_session_options){ named, "token", 0, true }, &none, arena, &e),
        SESSION_REFUSED);
    snprintf(resumed.url, sizeof resumed.url, "%s", l.url);
    assert_int_equal(
        begin_session(&(struct bot_session_options){ "wss://gateway.invalid", "token", 0, true },
                      &resumed, arena, &e),
        SESSION_REFUSED);
    assert_false(has_connection(&l));
    arena_free(arena);
    close(l.fd);
}

/* Closes the connection after accepting it, so that the handshake fails at once. */
static void *accept_and_close(void *arg)
{
    int fd = accept(((struct listener *)arg)->fd, NULL, NULL);

    close(fd);
    return NULL;
}

static void private_gateway_of_a_private_server_is_tried(void **state)
{
    struct listener l = listen_on_loopback();
    struct arena *arena = arena_new();
    struct gateway_resume_point none = { 0 };
    struct bot_session_event e;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, accept_and_close, &l), 0);
    assert_int_equal(
        begin_session(&(struct bot_session_options){ l.url, "token", 0, false }, &none, arena, &e),
        SESSION_LOST);
    pthread_join(thread, NULL);
    arena_free(arena);
    close(l.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_gateway_of_a_public_server_is_refused),
        cmocka_unit_test(private_gateway_of_a_private_server_is_tried),
    };

    return cmocka_run_group_tests_name("tools/wire/bot_session", tests, NULL, NULL);
}
