/* websocket.c - tests an echo server against RFC 6455 over real sockets.
 *
 *   conformance_websocket ECHO     starts that program and runs every case
 *
 * Each case is sent in one piece and, when it is short, again byte by byte: a server may
 * not depend on how bytes arrive. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "websocket_cases.h"

enum { MAX_PAYLOAD_FORM_BYTES = 64 << 20, PATIENCE_S = 20, SHORT = 300 };

static int port;
static char problem[200];

static bool wrong(const char *what, long long value)
{
    snprintf(problem, sizeof problem, "%s (%lld)", what, value);
    return false;
}

/* --- sockets -------------------------------------------------------------------------- */

static int dial(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)port) };
    struct timeval patience = { .tv_sec = PATIENCE_S };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        perror("connect");
        exit(1);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* Sends in pieces of `step` bytes; the server may already have refused the rest. */
static void send_all(int fd, struct str bytes, size_t step)
{
    while (bytes.n) {
        size_t n = bytes.n < step ? bytes.n : step;
        ssize_t sent = send(fd, bytes.p, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        bytes = str_skip_bytes(bytes, (size_t)sent);
    }
}

static bool read_bytes(int fd, void *into, size_t n)
{
    char *at = into;

    while (n) {
        ssize_t got = recv(fd, at, n, 0);

        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

/* Reads the head of a response, with its empty line. */
static size_t read_response_head(int fd, char *into, size_t room)
{
    size_t n = 0;

    while (n + 1 < room && read_bytes(fd, into + n, 1)) {
        n++;
        if (n >= 4 && memcmp(into + n - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    into[n] = '\0';
    return n;
}

/* --- frames --------------------------------------------------------------------------- */

static void add_length(struct buf *out, const struct piece *p, uint64_t n)
{
    unsigned form = p->form ? p->form : n < 126 ? 0 : n < 65536 ? 2 : 8;
    unsigned char mask = p->bare ? 0 : 0x80;

    buf_add_char(out, (char)(mask | (form == 0 ? n : form == 2 ? 126 : 127)));
    for (unsigned i = form; i--;)
        buf_add_char(out, (char)(n >> 8 * i));
}

static void add_piece(struct buf *out, const struct piece *p)
{
    static const char mask[4] = { 0x37, (char)0xfa, 0x21, 0x3d };
    uint64_t n = p->fill ? p->fill : p->n;

    buf_add_char(out, (char)p->first);
    add_length(out, p, p->declared ? p->declared : n);
    if (!p->bare)
        buf_add(out, mask, sizeof mask);
    char *at = n ? buf_reserve(out, n) : NULL;
    for (uint64_t i = 0; i < n; i++)
        at[i] = (char)((p->fill ? 'x' : p->bytes[i]) ^ (p->bare ? 0 : mask[i & 3]));
    out->n += n;
}

struct frame {
    unsigned char opcode;
    struct buf payload;
};

/* Reads a server frame, which is whole and unmasked. */
static bool read_server_frame(int fd, struct frame *f)
{
    unsigned char head[2], more[8];

    if (!read_bytes(fd, head, 2))
        return wrong("nothing came back", 0);
    if ((head[0] & 0xf0) != 0x80)
        return wrong("a frame is not whole or has reserved bits", head[0]);
    if (head[1] & 0x80)
        return wrong("a server's frame has a mask", head[1]);
    size_t extra = head[1] == 126 ? 2 : head[1] == 127 ? 8 : 0;
    uint64_t n = extra ? 0 : head[1];
    if (!read_bytes(fd, more, extra))
        return wrong("a head was cut off", head[1]);
    for (size_t i = 0; i < extra; i++)
        n = n << 8 | more[i];
    if ((extra == 2 && n < 126) || (extra == 8 && n < 65536))
        return wrong("a length is not in its shortest form", (long long)n);
    f->opcode = head[0] & 15;
    buf_reset(&f->payload);
    char *at = n ? buf_reserve(&f->payload, n) : f->payload.p;
    if (n && (!at || !read_bytes(fd, at, n)))
        return wrong("a payload was cut off", (long long)n);
    f->payload.n = n;
    return true;
}

static bool is_echo(const struct frame *f, const struct echo *e)
{
    if (f->opcode != e->opcode)
        return wrong("another opcode came back", f->opcode);
    if (f->payload.n != (e->fill ? e->fill : e->n))
        return wrong("another length came back", (long long)f->payload.n);
    for (size_t i = 0; i < f->payload.n; i++)
        if (f->payload.p[i] != (e->fill ? 'x' : e->bytes[i]))
            return wrong("another byte came back", (long long)i);
    return true;
}

static bool read_close_frame(int fd, struct frame *f, int code)
{
    char rest;

    if (!read_server_frame(fd, f))
        return false;
    if (f->opcode != 8)
        return wrong("not a close came back", f->opcode);
    const unsigned char *p = (const unsigned char *)f->payload.p;
    int got = f->payload.n >= 2 ? p[0] << 8 | p[1] : 1005;
    if (got != code)
        return wrong("it was closed with another code", got);
    shutdown(fd, SHUT_WR);
    return !read_bytes(fd, &rest, 1) || wrong("something follows the close", rest);
}

/* --- cases ---------------------------------------------------------------------------- */

static bool handshake(int fd)
{
    char head[2048];

    send_all(fd, str_of(handshake_cases[0].request), SIZE_MAX);
    read_response_head(fd, head, sizeof head);
    return strncmp(head, "HTTP/1.1 101 ", 13) == 0 || wrong("no handshake", 0);
}

static bool talk(int fd, const struct wire_case *c, struct str bytes, size_t step)
{
    static const struct piece goodbye = { 0x88, "\x03\xe8", 2, .form = 0 };
    struct frame f = { 0 };
    struct buf end;
    bool ok = handshake(fd);

    buf_init(&f.payload, MAX_PAYLOAD_FORM_BYTES);
    buf_init(&end, 64);
    if (ok)
        send_all(fd, bytes, step);
    for (int i = 0; ok && i < PIECES && c->back[i].bytes; i++)
        ok = read_server_frame(fd, &f) && is_echo(&f, &c->back[i]);
    if (ok && !c->code) {
        add_piece(&end, &goodbye);
        send_all(fd, buf_as_str(&end), SIZE_MAX);
    }
    ok = ok && read_close_frame(fd, &f, c->code ? c->code : 1000);
    buf_clear(&f.payload);
    buf_clear(&end);
    return ok;
}

static bool run_wire(const struct wire_case *c)
{
    struct buf bytes;
    bool ok = true;

    buf_init(&bytes, MAX_PAYLOAD_FORM_BYTES);
    for (int i = 0; i < PIECES && c->send[i].bytes; i++)
        add_piece(&bytes, &c->send[i]);
    for (int round = 0; ok && round < (bytes.n <= SHORT ? 2 : 1); round++) {
        int fd = dial();

        ok = talk(fd, c, buf_as_str(&bytes), round ? 1 : SIZE_MAX);
        close(fd);
    }
    buf_clear(&bytes);
    return ok;
}

static bool run_handshake(const struct handshake_case *c)
{
    char head[4096];
    int fd = dial();

    send_all(fd, str_of(c->request), SIZE_MAX);
    read_response_head(fd, head, sizeof head);
    close(fd);
    int status = strncmp(head, "HTTP/1.1 ", 9) == 0 ? atoi(head + 9) : 0;
    if (status != c->status)
        return wrong("another status", status);
    if (c->holds && !strstr(head, c->holds))
        return wrong("the answer lacks a header", 0);
    if (c->lacks && strcasestr(head, c->lacks))
        return wrong("the answer has a header too many", 0);
    return true;
}

static int report(const char *name, bool ok)
{
    if (ok)
        printf("[       OK ] %s\n", name);
    else
        printf("%s\n[  FAILED  ] %s\n", problem, name);
    fflush(stdout);
    return ok ? 0 : 1;
}

static pid_t start_echo(const char *path)
{
    char line[128];
    int ends[2];

    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    if (child < 0 || !f || !fgets(line, sizeof line, f) ||
        sscanf(line, "echo: listening on ws://127.0.0.1:%d", &port) != 1) {
        fprintf(stderr, "the echo did not start\n");
        exit(1);
    }
    fclose(f);
    return child;
}

int main(int argc, char **argv)
{
    int failed = 0, status = 0;

    if (argc < 2)
        return 2;
    pid_t echo = start_echo(argv[1]);
    for (const struct handshake_case *c = handshake_cases; c->name; c++) {
        printf("[ RUN      ] %s\n", c->name);
        failed += report(c->name, run_handshake(c));
    }
    for (const struct wire_case *c = wire_cases; c->name; c++) {
        printf("[ RUN      ] %s\n", c->name);
        failed += report(c->name, run_wire(c));
    }
    kill(echo, SIGTERM);
    waitpid(echo, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        printf("the echo ended badly: %d\n[  FAILED  ] the echo\n", status);
        failed++;
    }
    return failed ? 1 : 0;
}
