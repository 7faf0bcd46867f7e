/* floor.c - a minimal server that returns the same bytes as the real one.
 *
 * The real server's processor time is divided by that of this bare epoll server: it finds the
 * end of a request's head and writes one fixed response, which is a file captured from the real
 * server; with a 101 in it this is the minimal cost of a WebSocket handshake.
 *
 *   floor --answer FILE                  every request gets the response
 *   floor --answer FILE --fanout EVENT   GET also subscribes; any other request writes
 *                                        the bytes of EVENT to all subscribers
 *   … --ready FILE                       the first frame of a subscriber gets this
 *   … --beat FILE                        and every other frame gets this
 *   … --cert FILE --key FILE             clients that start with TLS get TLS, by OpenSSL
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { MAX_CONNECTIONS = 65536, MAX_HEAD = 4096, EVENTS_A_TURN = 256 };

struct http_connection {
    SSL *ssl;                    /* NULL: plain */
    bool sniffed;                /* whether TLS or plain is known */
    bool joined, greeted, waits; /* waits: for space for the rest of the response */
    size_t left;                 /* bytes of the response that are not sent yet */
    size_t n;                    /* bytes of an unfinished head */
    char head[MAX_HEAD];
};

static struct http_connection *connections[MAX_CONNECTIONS]; /* by file descriptor */
static int last_connection;
static int epoll_fd, listen_fd;
static struct str answer, event, ready, pulse;
static SSL_CTX *tls; /* NULL: all are plain */

static void die(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct str file_read(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0)
        die(path);
    char *bytes = mem_new((size_t)st.st_size + 1);
    if (read(fd, bytes, (size_t)st.st_size) != st.st_size)
        die(path);
    close(fd);
    return str_slice(bytes, (size_t)st.st_size);
}

static void listen_anywhere(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listen_fd < 0 || bind(listen_fd, (struct sockaddr *)&at, size) != 0 ||
        listen(listen_fd, SOMAXCONN) != 0 ||
        getsockname(listen_fd, (struct sockaddr *)&at, &size) != 0)
        die("listen");
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = { .events = EPOLLIN, .data.fd = listen_fd };
    if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &ev) != 0)
        die("epoll");
    printf("floor: listening on http://127.0.0.1:%d\n", ntohs(at.sin_port));
    fflush(stdout);
}

static void tls_begin(const char *certificate, const char *key)
{
    tls = SSL_CTX_new(TLS_server_method());
    if (!tls || SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
        die("certificate");
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
}

static void connection_sniff(int fd, struct http_connection *c)
{
    char first;

    if (c->sniffed || !tls || recv(fd, &first, 1, MSG_PEEK) != 1)
        return;
    c->sniffed = true;
    if (first != 0x16 || !(c->ssl = SSL_new(tls)))
        return;
    SSL_set_fd(c->ssl, fd);
    SSL_set_accept_state(c->ssl);
}

/* Returns what recv returns: -1 with EAGAIN if no bytes have arrived. */
static ssize_t connection_recv(int fd, struct http_connection *c, char *p, size_t n)
{
    connection_sniff(fd, c);
    if (!c->ssl)
        return recv(fd, p, n, 0);
    int got = SSL_read(c->ssl, p, (int)n);
    if (got > 0)
        return got;
    errno = EAGAIN;
    return SSL_get_error(c->ssl, got) == SSL_ERROR_WANT_READ ? -1 : 0;
}

static void http_connection_close(int fd)
{
    SSL_free(connections[fd]->ssl);
    mem_free(connections[fd]);
    connections[fd] = NULL;
    close(fd);
}

static void accept_waiting(void)
{
    for (;;) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
        if (fd >= MAX_CONNECTIONS || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        connections[fd] = mem_new(sizeof(struct http_connection));
        if (fd > last_connection)
            last_connection = fd;
    }
}

/* A client that reads too slowly for a whole event is disconnected, as by the real server. */
static bool send_whole(int fd, struct str bytes)
{
    SSL *ssl = connections[fd]->ssl;

    if (ssl)
        return SSL_write(ssl, bytes.p, (int)bytes.n) == (int)bytes.n;
    return send(fd, bytes.p, bytes.n, MSG_NOSIGNAL) == (ssize_t)bytes.n;
}

/* Continues a long response when the socket has space again. */
static bool answer_go_on(int fd)
{
    struct http_connection *c = connections[fd];
    ssize_t n = send(fd, answer.p + answer.n - c->left, c->left, MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN)
        return false;
    c->left -= n > 0 ? (size_t)n : 0;
    if (c->waits == (c->left > 0))
        return true;
    c->waits = c->left > 0;
    struct epoll_event ev = { .events = c->waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.fd = fd };
    return epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &ev) == 0;
}

static bool answer_begin(int fd)
{
    if (connections[fd]->ssl)
        return send_whole(fd, answer);
    connections[fd]->left = answer.n;
    return answer_go_on(fd);
}

static void fan_out(void)
{
    for (int fd = 0; fd <= last_connection; fd++)
        if (connections[fd] && connections[fd]->joined && !send_whole(fd, event))
            http_connection_close(fd);
}

/* Handles a WebSocket frame, which loopback delivers in one read. */
static bool frame_answer(int fd, struct http_connection *c)
{
    bool ends = (c->head[0] & 0x0f) == 8;
    struct str bytes = ends ? STR("") : c->greeted ? pulse : ready;

    c->n = 0;
    c->greeted = true;
    return !bytes.n || send_whole(fd, bytes);
}

static bool request_answer(int fd, const char *head)
{
    bool join = (event.n || ready.n) && memcmp(head, "GET ", 4) == 0;

    if (join)
        connections[fd]->joined = true;
    else if (event.n)
        fan_out();
    if (!connections[fd])
        return false;
    if (ready.n && !join)
        return send_whole(fd, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    return answer_begin(fd);
}

static void connection_read(int fd)
{
    struct http_connection *c = connections[fd];
    ssize_t got = connection_recv(fd, c, c->head + c->n, sizeof c->head - c->n);

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        http_connection_close(fd);
        return;
    }
    c->n += (size_t)got;
    if (c->joined && c->head[0] & 0x80) {
        if (!frame_answer(fd, c))
            http_connection_close(fd);
        return;
    }
    size_t at = 0;
    char *end;
    while ((end = memmem(c->head + at, c->n - at, "\r\n\r\n", 4)) != NULL) {
        if (!request_answer(fd, c->head + at)) {
            if (connections[fd])
                http_connection_close(fd);
            return;
        }
        at = (size_t)(end + 4 - c->head);
    }
    c->n -= at;
    memmove(c->head, c->head + at, c->n);
}

static void serve(void)
{
    static struct epoll_event events[EVENTS_A_TURN];

    for (;;) {
        int count = epoll_wait(epoll_fd, events, EVENTS_A_TURN, -1);
        if (count < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listen_fd)
                accept_waiting();
            else if (connections[fd] && connections[fd]->left) {
                if (!answer_go_on(fd))
                    http_connection_close(fd);
            } else if (connections[fd])
                connection_read(fd);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        { "answer", required_argument, NULL, 'a' },
        { "fanout", required_argument, NULL, 'f' },
        { "ready", required_argument, NULL, 'r' },
        { "cert", required_argument, NULL, 'c' },
        { "key", required_argument, NULL, 'k' },
        { "beat", required_argument, NULL, 'b' },
        { 0 },
    };

    const char *certificate = NULL, *key = NULL;

    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (c == 'a')
            answer = file_read(optarg);
        else if (c == 'f')
            event = file_read(optarg);
        else if (c == 'r')
            ready = file_read(optarg);
        else if (c == 'b')
            pulse = file_read(optarg);
        else if (c == 'c')
            certificate = optarg;
        else if (c == 'k')
            key = optarg;
        else
            return 2;
    }
    if (certificate && key)
        tls_begin(certificate, key);
    if (!answer.n) {
        fprintf(stderr,
                "usage: floor --answer FILE [--fanout FILE] [--ready FILE] [--beat FILE]\n");
        return 2;
    }
    listen_anywhere();
    serve();
}
