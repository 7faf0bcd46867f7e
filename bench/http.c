/* http.c - see http.h. */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { MAX_REQUEST = 4096, MAX_ANSWER = 1 << 20, READ_BUFFER_BYTES = 2048, WAIT_MS = 30000 };

void die(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fputs("load: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void http_open(struct http *h, uint16_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(port) };

    h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (h->fd < 0 || connect(h->fd, (struct sockaddr *)&at, sizeof at) != 0)
        die("cannot connect to port %d: %s", port, strerror(errno));
    setsockopt(h->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    buf_init(&h->out, MAX_REQUEST);
    buf_init(&h->in, MAX_ANSWER);
}

void http_close(struct http *h)
{
    close(h->fd);
    buf_clear(&h->out);
    buf_clear(&h->in);
}

void http_request(struct http *h, const char *method, const char *path, const char *token,
                  const char *body)
{
    buf_reset(&h->out);
    buf_printf(&h->out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, path);
    if (token)
        buf_printf(&h->out, "Authorization: %s\r\n", token);
    if (body)
        buf_printf(&h->out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                   strlen(body));
    buf_printf(&h->out, "\r\n%s", body ? body : "");
    if (buf_is_full(&h->out))
        die("a request is longer than %d bytes", MAX_REQUEST);
}

void http_send(struct http *h)
{
    buf_reset(&h->in);
    h->began = clock_monotonic_ns();
    if (send(h->fd, h->out.p, h->out.n, MSG_NOSIGNAL) != (ssize_t)h->out.n)
        die("cannot send a request: %s", strerror(errno));
}

static bool has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static size_t content_length(struct str head)
{
    static const struct str name = STR_INIT("content-length:");

    while (head.n) {
        struct str line = str_cut(&head, '\n');
        if (line.n < name.n || !str_eq_nocase(str_slice(line.p, name.n), name))
            continue;
        uint64_t length;
        struct str value = str_skip_bytes(line, name.n);
        value.n -= value.n && value.p[value.n - 1] == '\r';
        if (str_to_u64(str_trim(value), &length))
            return length;
    }
    die("an answer has no Content-Length");
}

static bool answer_parse(struct str in, struct answer *ret)
{
    const char *end = in.n ? memmem(in.p, in.n, "\r\n\r\n", 4) : NULL;

    if (!end)
        return false;
    struct str head = { in.p, (size_t)(end + 4 - in.p) };
    if (head.n < 16 || memcmp(head.p, "HTTP/1.1 ", 9) != 0)
        die("an answer is not HTTP/1.1");
    ret->status = atoi(head.p + 9);
    size_t length = has_body(ret->status) ? content_length(head) : 0;
    ret->size = head.n + length;
    if (in.n > ret->size)
        die("an answer is longer than its Content-Length");
    ret->body = str_slice(end + 4, length);
    return in.n == ret->size;
}

bool http_receive(struct http *h, struct answer *ret)
{
    for (;;) {
        char *at = buf_reserve(&h->in, READ_BUFFER_BYTES);
        if (!at)
            die("an answer is longer than %d bytes", MAX_ANSWER);
        ssize_t got = recv(h->fd, at, READ_BUFFER_BYTES, MSG_DONTWAIT);
        if (got == 0)
            die("the server closed a connection");
        if (got < 0 && errno != EAGAIN)
            die("cannot read an answer: %s", strerror(errno));
        if (got > 0)
            h->in.n += (size_t)got;
        if (got < READ_BUFFER_BYTES)
            return answer_parse(buf_as_str(&h->in), ret);
    }
}

struct answer http_wait(struct http *h)
{
    struct answer a;

    while (!http_receive(h, &a)) {
        struct pollfd p = { .fd = h->fd, .events = POLLIN };
        if (poll(&p, 1, WAIT_MS) == 0)
            die("no answer in %d s", WAIT_MS / 1000);
    }
    return a;
}
