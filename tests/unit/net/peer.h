/* peer.h - a test client with plain blocking sockets. */
#ifndef TESTS_UNIT_NET_PEER_H
#define TESTS_UNIT_NET_PEER_H

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "unit/unit.h"

enum { PEER_SECONDS = 60, PEER_ROOM = 4 * 1024 * 1024 };

static inline int peer_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = PEER_SECONDS };

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static inline void peer_send_bytes(int fd, const void *p, size_t n)
{
    const char *at = p;

    while (n) {
        ssize_t done = send(fd, at, n, MSG_NOSIGNAL);

        assert_true(done > 0);
        at += done;
        n -= (size_t)done;
    }
}

static inline void peer_send(int fd, const char *text)
{
    peer_send_bytes(fd, text, strlen(text));
}

/* A response as received; head is NUL-terminated, body has a length. */
struct peer_answer {
    int status;
    char head[4096];
    char *body;
    size_t n;
};

static inline bool peer_has(const struct peer_answer *a, const char *line)
{
    return strstr(a->head, line) != NULL;
}

static inline ssize_t peer_read(int fd, void *p, size_t n)
{
    return recv(fd, p, n, 0);
}

static inline void peer_read_exactly(int fd, void *p, size_t n)
{
    for (char *at = p; n;) {
        ssize_t got = peer_read(fd, at, n);

        assert_true(got > 0);
        at += got;
        n -= (size_t)got;
    }
}

/* Reads byte by byte up to the empty line, so that nothing of the next response is consumed,
 * then the body of the declared length. */
static inline struct peer_answer peer_read_answer(int fd, bool to_head_request)
{
    struct peer_answer a = { 0 };
    size_t n = 0;

    while (n < 4 || memcmp(a.head + n - 4, "\r\n\r\n", 4) != 0) {
        assert_true(n < sizeof a.head - 1);
        peer_read_exactly(fd, a.head + n, 1);
        n++;
    }
    assert_int_equal(sscanf(a.head, "HTTP/1.1 %d ", &a.status), 1);
    const char *length = strstr(a.head, "Content-Length: ");
    if (!length || to_head_request)
        return a;
    a.n = (size_t)strtoul(length + 16, NULL, 10);
    assert_true(a.n < PEER_ROOM);
    a.body = malloc(a.n + 1);
    peer_read_exactly(fd, a.body, a.n);
    a.body[a.n] = 0;
    return a;
}

static inline void peer_expect(int fd, int status, const char *body)
{
    struct peer_answer a = peer_read_answer(fd, false);

    assert_int_equal(a.status, status);
    if (body)
        assert_string_equal(a.body ? a.body : "", body);
    free(a.body);
}

/* Asserts that the connection ends without further bytes. */
static inline void peer_expect_end(int fd)
{
    char c;

    assert_int_equal(peer_read(fd, &c, 1), 0);
    close(fd);
}

static inline bool peer_is_quiet(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) == 0;
}

#endif
