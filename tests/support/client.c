/* client.c - HTTP clients of a test world. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "internal.h"
#include "net/http/http_parser.h"

enum { PATIENCE_MS = 120000, MAX_PAYLOAD_FORM_BYTES = 128 * 1024 * 1024 };

static struct arena *client_arena(const struct client *c)
{
    return c->arena ? c->arena : world_arena(c->world);
}

void client_hang_up(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

int client_dial(struct client *c)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)world_port(c->world)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    struct sockaddr_in from = { .sin_family = AF_INET };

    if (*c->address && (inet_pton(AF_INET, c->address, &from.sin_addr) != 1 ||
                        bind(fd, (struct sockaddr *)&from, sizeof from) != 0))
        fail_test(__FILE__, __LINE__, "cannot call from %s", c->address);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail_test(__FILE__, __LINE__, "cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static bool send_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        bytes = str_skip_bytes(bytes, (size_t)n);
    }
    return true;
}

/* Receives more bytes into `in`; returns false at the end or after the time limit. */
static bool receive(int fd, struct buf *in, int wait_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char *room = buf_reserve(in, 65536);
    ssize_t n = room && poll(&p, 1, wait_ms) > 0 ? recv(fd, room, 65536, 0) : 0;

    if (n > 0)
        in->n += (size_t)n;
    return n > 0;
}

struct str client_raw(struct client *c, struct str bytes, int wait_ms)
{
    int fd = client_dial(c);
    struct buf in;

    buf_init(&in, MAX_PAYLOAD_FORM_BYTES);
    send_all(fd, bytes); /* the server may refuse before all is sent */
    while (receive(fd, &in, wait_ms))
        ;
    close(fd);
    struct str out = str_dup(client_arena(c), buf_as_str(&in));
    buf_clear(&in);
    return out;
}

static struct str header_of(struct str head, const char *name)
{
    while (head.n) {
        struct str line = str_cut(&head, '\n'), value = line;
        struct str key = str_cut(&value, ':');

        if (str_eq_nocase(key, str_of(name))) {
            value = str_trim(value);
            if (value.n && value.p[value.n - 1] == '\r')
                value.n--;
            return value;
        }
    }
    return (struct str){ 0 };
}

struct str answer_header(struct answer a, const char *name)
{
    return header_of(a.head, name);
}

/* Reads one response; the body has a Content-Length, or there is none. */
static bool read_answer(struct client *c, bool head_only, struct answer *ret)
{
    struct arena *a = client_arena(c);
    struct buf in;
    const char *end = NULL;
    uint64_t length = 0;

    buf_init(&in, MAX_PAYLOAD_FORM_BYTES);
    for (;;) {
        end = in.n ? memmem(in.p, in.n, "\r\n\r\n", 4) : NULL;
        if (end) {
            size_t head = (size_t)(end - in.p) + 4;
            struct str value = header_of(str_slice(in.p, head), "Content-Length");

            length = 0;
            if (!head_only && value.p && !str_to_u64(value, &length))
                break;
            if (in.n >= head + length)
                break;
        }
        if (!receive(c->fd, &in, PATIENCE_MS)) {
            buf_clear(&in);
            return false;
        }
    }
    struct str all = str_dup(a, buf_as_str(&in));
    size_t head = (size_t)(end - in.p) + 4;
    buf_clear(&in);
    ret->head = str_slice(all.p, head);
    ret->body = str_slice(all.p + head, length);
    ret->status = all.n > 12 ? atoi(all.p + 9) : 0;
    ret->json = ret->body.n ? dom_parse(a, ret->body) : NULL;
    return true;
}

struct answer client_request(struct client *c, const char *method, const char *path,
                             const char *headers, struct str body)
{
    struct answer a = { .client = c, .call = str_printf(client_arena(c), "%s %s", method, path).p };
    struct buf out;

    buf_init(&out, MAX_PAYLOAD_FORM_BYTES);
    buf_printf(&out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", method, path,
               world_port(c->world));
    if (*c->authorization)
        buf_printf(&out, "Authorization: %s\r\n", c->authorization);
    if (body.p)
        buf_printf(&out, "Content-Length: %zu\r\n", body.n);
    buf_printf(&out, "%s\r\n", headers ? headers : "");
    buf_add_str(&out, body);

    /* A reused connection may have been closed meanwhile: try again with a new one. */
    bool fresh = c->fd < 0;
    for (;;) {
        if (c->fd < 0)
            c->fd = client_dial(c);
        send_all(c->fd, buf_as_str(&out));
        if (read_answer(c, strcmp(method, "HEAD") == 0, &a))
            break;
        client_hang_up(c);
        if (fresh)
            fail_test(__FILE__, __LINE__, "%s: no response", a.call);
        fresh = true;
    }
    buf_clear(&out);
    if (str_eq_nocase(answer_header(a, "Connection"), STR("close")))
        client_hang_up(c);
    example_record(c, method, path, headers, body, a);
    return a;
}

/* --- calls ---------------------------------------------------------------------------- */

/* Replaces 'text' by "text"; \' becomes an apostrophe. */
static char *double_quotes(struct arena *a, const char *json)
{
    char *out = str_dup_cstring(a, str_of(json)), *to = out;

    for (const char *from = json; *from; from++) {
        if (from[0] == '\\' && from[1] == '\'')
            *to++ = *++from;
        else
            *to++ = *from == '\'' ? '"' : *from;
    }
    *to = '\0';
    return out;
}

const struct dom *parse_expected(struct arena *a, const char *fmt, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, args) < 0)
        abort();
    const struct dom *d = dom_parse(a, str_of(double_quotes(a, text)));
    free(text);
    if (!d)
        fail_test(__FILE__, __LINE__, "the test's own JSON is broken: %s", fmt);
    return d;
}

static struct answer call(struct client *c, const char *method, const char *json, const char *path,
                          va_list args)
{
    struct arena *a = client_arena(c);
    char tail[4096];

    vsnprintf(tail, sizeof tail, path, args);
    const char *full = str_printf(a, "/api/v10%s", tail).p;
    if (!json)
        return client_request(c, method, full, NULL, (struct str){ 0 });
    return client_request(c, method, full, "Content-Type: application/json\r\n",
                          str_of(double_quotes(a, json)));
}

#define CALL(method, json)                               \
    va_list args;                                        \
    va_start(args, path);                                \
    struct answer a = call(c, method, json, path, args); \
    va_end(args);                                        \
    return a

struct answer client_get(struct client *c, const char *path, ...)
{
    CALL("GET", NULL);
}

struct answer client_delete(struct client *c, const char *path, ...)
{
    CALL("DELETE", NULL);
}

struct answer client_post(struct client *c, const char *json, const char *path, ...)
{
    CALL("POST", json);
}

struct answer client_patch(struct client *c, const char *json, const char *path, ...)
{
    CALL("PATCH", json);
}

struct answer client_put(struct client *c, const char *json, const char *path, ...)
{
    CALL("PUT", json);
}
