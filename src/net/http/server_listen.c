/* server_listen.c - listening sockets and new connections. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum { BACKLOG = 4096, MAX_ACCEPTS_PER_EVENT = 256, LOG_EVERY_MS = 10000 };

static bool parse_listen_address(const char *host, int port, struct sockaddr_storage *ret,
                                 socklen_t *ret_n)
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

static bool set_socket_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

static int open_bound_socket(const char *host, int port, bool shared)
{
    struct sockaddr_storage address;
    socklen_t n;

    if (!parse_listen_address(host, port, &address, &n)) {
        log_error("server: the address '%s' is not an IP address to listen on", host);
        return -1;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
        (shared && !set_socket_option(fd, SOL_SOCKET, SO_REUSEPORT, 1)) ||
        (address.ss_family == AF_INET6 && !set_socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0)) ||
        bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, BACKLOG) != 0) {
        log_error("server: cannot listen on %s, port %d: %s", host, port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Fails if another process uses the port: binds a socket without SO_REUSEPORT. With SO_REUSEPORT,
 * bind would succeed if the other process has the same user, and each server would get some of the
 * connections. */
enum err check_port_is_free(const char *host, int port)
{
    int fd = open_bound_socket(host, port, false);

    if (fd < 0)
        return ERR_INTERNAL;
    close(fd);
    return OK;
}

static int get_port_of_address(const struct sockaddr_storage *a)
{
    return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
                                          : ((const struct sockaddr_in *)a)->sin_port);
}

static int get_local_port_of_socket(int fd)
{
    struct sockaddr_storage got = { 0 };
    socklen_t n = sizeof got;

    getsockname(fd, (struct sockaddr *)&got, &n);
    return get_port_of_address(&got);
}

int open_listening_socket(const char *host, int port, int *ret_port)
{
    int fd = open_bound_socket(host, port, true);

    if (fd < 0)
        return -1;
    /* Set TCP_NODELAY on the listening socket, because accepted sockets inherit it. */
    set_socket_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    *ret_port = get_local_port_of_socket(fd);
    return fd;
}

int duplicate_listening_socket(int socket, int *ret_port)
{
    int fd = fcntl(socket, F_DUPFD_CLOEXEC, 0);

    if (fd < 0) {
        log_error("server: cannot duplicate the inherited listening socket: %s", strerror(errno));
        return -1;
    }
    set_socket_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    *ret_port = get_local_port_of_socket(fd);
    return fd;
}

bool format_listening_socket_host(int socket, char *host, size_t max)
{
    struct sockaddr_storage got = { 0 };
    socklen_t n = sizeof got;
    int listens = 0;
    socklen_t size = sizeof listens;

    if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens ||
        getsockname(socket, (struct sockaddr *)&got, &n) != 0)
        return false;
    if (got.ss_family == AF_INET)
        return uv_ip4_name((struct sockaddr_in *)&got, host, max) == 0;
    return got.ss_family == AF_INET6 && uv_ip6_name((struct sockaddr_in6 *)&got, host, max) == 0;
}

void http_connection_append_local_host(const struct http_connection *c, struct buf *out)
{
    struct sockaddr_storage local_address = { 0 };
    socklen_t n = sizeof local_address;
    char text[ADDRESS_TEXT_SIZE];
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)&c->tcp, &fd) != 0)
        return;
    getsockname(fd, (struct sockaddr *)&local_address, &n);
    struct ip_address a = ip_address_from_sockaddr(&local_address);
    struct str host = str_slice(text, ip_address_format(&a, text));
    bool colons = memchr(host.p, ':', host.n) != NULL;

    buf_add_str(out, colons ? STR("[") : STR(""));
    buf_add_str(out, host);
    buf_add_str(out, colons ? STR("]:") : STR(":"));
    buf_add_u64(out, (uint64_t)get_port_of_address(&local_address));
}

void websocket_append_local_host(const struct websocket *ws, struct buf *out)
{
    http_connection_append_local_host(websocket_get_connection(ws), out);
}

void http_connection_set_client_address(struct http_connection *c, const struct ip_address *a)
{
    const struct trusted_proxy_networks *p = c->server_loop->proxies;

    c->remote_n = (uint8_t)ip_address_format(a, c->remote);
    c->address = address_rate_limit_key(a);
    c->trusted = p && is_trusted_proxy(p, a);
}

static void accept_connection(struct server_loop *h, int fd, const struct sockaddr_storage *peer)
{
    struct http_connection *c = mem_new(sizeof *c);

    c->server_loop = h;
    /* The input buffer never becomes full: one read returns at most READ_BUFFER_BYTES, and reading
     * pauses when that many bytes are stored. */
    buf_init(&c->in, 4 * READ_BUFFER_BYTES);
    uv_tcp_init(loop_get_uv_loop(h->loop), &c->tcp);
    h->handles++;
    linked_list_append(&h->connections, &c->link);
    server_counter_add(&h->counters.accepted, 1);
    server_counter_add(&h->counters.open, 1);
    if (uv_tcp_open(&c->tcp, fd) != 0) {
        close(fd);
        http_connection_close(c);
        return;
    }
    struct ip_address a = ip_address_from_sockaddr(peer);
    http_connection_set_client_address(c, &a);
    c->preamble = c->trusted && h->proxy_protocol;
    deadline_restart(h->timers.reading, &c->deadline);
    c->timing = TIMING_READING;
    http_connection_start_reading(c);
}

/* Pauses accepting when file descriptors or memory are exhausted; clients wait in the backlog. */
static void pause_accepting(struct server_loop *h, int problem)
{
    uint64_t now = uv_now(loop_get_uv_loop(h->loop));

    if (h->accept.logged_at == 0 || now > h->accept.logged_at + LOG_EVERY_MS)
        log_warn("server: cannot accept connections, will retry: %s", strerror(problem));
    h->accept.logged_at = now;
    uv_poll_stop(&h->accept.listener);
    deadline_restart(h->timers.pauses, &h->accept.pause);
}

static void on_listener_ready(uv_poll_t *listener, int status, int events)
{
    struct server_loop *h = container_of(listener, struct server_loop, accept.listener);
    struct sockaddr_storage peer;

    (void)status;
    (void)events;
    for (int i = 0; i < MAX_ACCEPTS_PER_EVENT; i++) {
        socklen_t n = sizeof peer;
        int fd = accept4(h->accept.listen_fd, (struct sockaddr *)&peer, &n,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            accept_connection(h, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(h, errno);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* other errors need no action: the new connection is already closed, or a signal
           * interrupted accept */
    }
}

void server_loop_resume_accepting(struct deadline *d)
{
    struct server_loop *h = container_of(d, struct server_loop, accept.pause);

    uv_poll_start(&h->accept.listener, UV_READABLE, on_listener_ready);
}

enum err server_loop_listen(struct server_loop *h, int fd)
{
    int e = uv_poll_init(loop_get_uv_loop(h->loop), &h->accept.listener, fd);

    if (e) {
        log_error("server: cannot watch the listening socket: %s", uv_strerror(e));
        close(fd);
        return ERR_INTERNAL;
    }
    h->accept.listen_fd = fd;
    h->accept.listening = true;
    h->handles++;
    uv_poll_start(&h->accept.listener, UV_READABLE, on_listener_ready);
    return OK;
}
