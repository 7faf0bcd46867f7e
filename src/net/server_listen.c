/* server_listen.c - sockets that listen, and new connections. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/server_internal.h"

enum { BACKLOG = 4096 };

static bool address_of(const char *host, int port, struct sockaddr_storage *ret, socklen_t *ret_n)
{
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)ret) == 0) {
        *ret_n = sizeof(struct sockaddr_in);
        return true;
    }
    *ret_n = sizeof(struct sockaddr_in6);
    return uv_ip6_addr(host, port, (struct sockaddr_in6 *)ret) == 0;
}

static bool option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

static int bound_socket(const char *host, int port, bool shared)
{
    struct sockaddr_storage address;
    socklen_t n;

    if (!address_of(host, port, &address, &n)) {
        log_error("server: '%s' is not an address to listen on", host);
        return -1;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
        (shared && !option(fd, SOL_SOCKET, SO_REUSEPORT, 1)) ||
        (address.ss_family == AF_INET6 && !option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0)) ||
        bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, BACKLOG) != 0) {
        log_error("server: cannot listen on %s port %d: %s", host, port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Sockets that share a port with SO_REUSEPORT would also share it with another
 * server of the same user, who would then get some of our connections. A socket
 * that does not share tells whether the port is free. */
enum err listen_probe(const char *host, int port)
{
    int fd = bound_socket(host, port, false);

    if (fd < 0)
        return ERR_INTERNAL;
    close(fd);
    return OK;
}

int listen_open(const char *host, int port, int *ret_port)
{
    int fd = bound_socket(host, port, true);
    struct sockaddr_storage got = { 0 };
    socklen_t n = sizeof got;

    if (fd < 0)
        return -1;
    /* Accepted sockets inherit it. */
    option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    getsockname(fd, (struct sockaddr *)&got, &n);
    *ret_port = ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
                                                : ((struct sockaddr_in *)&got)->sin_port);
    return fd;
}

/* An IPv4 peer of a socket that takes both is shown as what it is. */
static void note_remote(struct connection *c)
{
    struct sockaddr_storage peer;
    int n = sizeof peer;

    if (uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&peer, &n) != 0)
        return;
    if (peer.ss_family == AF_INET6)
        uv_ip6_name((struct sockaddr_in6 *)&peer, c->remote, sizeof c->remote);
    else
        uv_ip4_name((struct sockaddr_in *)&peer, c->remote, sizeof c->remote);
    if (strncmp(c->remote, "::ffff:", 7) == 0 && strchr(c->remote, '.'))
        memmove(c->remote, c->remote + 7, strlen(c->remote + 7) + 1);
    c->remote_n = (uint8_t)strlen(c->remote);
}

/* Out of descriptors libuv drops the waiting connections by means of a spare one,
 * so there is no spinning; all we do is tell, once a while. */
static void tell_refusal(struct home *h, int status)
{
    static _Atomic uint64_t told;
    uint64_t now = uv_now(loop_uv(h->loop)), last = atomic_load(&told);

    figure_add(&h->figures.refused, 1);
    if ((last == 0 || now > last + 1000) && atomic_compare_exchange_strong(&told, &last, now))
        log_warn("server: cannot accept connections: %s", uv_strerror(status));
}

static void accept_one(uv_stream_t *listener, int status)
{
    struct home *h = container_of(listener, struct home, listener);

    if (status < 0) {
        tell_refusal(h, status);
        return;
    }
    struct connection *c = mem_new(sizeof *c);
    c->home = h;
    buf_init(&c->in, 4 * WAITING_INPUT);
    uv_tcp_init(loop_uv(h->loop), &c->tcp);
    h->handles++;
    list_append(&h->connections, &c->link);
    figure_add(&h->figures.accepted, 1);
    figure_add(&h->figures.open, 1);
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0) {
        connection_close(c);
        return;
    }
    note_remote(c);
    deadline_touch(h->reading, &c->deadline);
    c->timing = TIMING_READING;
    connection_read_start(c);
}

enum err home_listen(struct home *h, int fd)
{
    uv_tcp_init(loop_uv(h->loop), &h->listener);
    h->handles++;

    int e = uv_tcp_open(&h->listener, fd);
    if (e) {
        close(fd);
    } else {
        e = uv_listen((uv_stream_t *)&h->listener, BACKLOG, accept_one);
    }
    if (e)
        log_error("server: cannot listen: %s", uv_strerror(e));
    return e ? ERR_INTERNAL : OK;
}
