/* media_socket.c - the UDP socket for media: receives batches of datagrams for the workers. */
#include "relay/media/media.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/media/media_sender.h"
#include "relay/webrtc/stun.h"
#include "relay/webrtc/webrtc.h"

enum {
    BATCH_IN = 32,
    SOCKET_BUFFER = 4 * 1024 * 1024,
    READ_NS_PER_ITERATION = 4 * 1000 * 1000, /* time to read per loop iteration */
};

struct media_socket {
    struct relay *relay;
    uv_poll_t poll;
    int fd;
    struct mmsghdr in[BATCH_IN];
    struct iovec in_bytes[BATCH_IN];
    union media_address from[BATCH_IN];
    unsigned char in_data[BATCH_IN][PACKET_MAX + 1];
    struct datagram_list *lists; /* received datagrams, one list per worker */
};

/* --- receiving ------------------------------------------------------------------------ */

static int receive_datagrams(struct media_socket *m)
{
    for (unsigned i = 0; i < BATCH_IN; i++) {
        m->in_bytes[i] = (struct iovec){ m->in_data[i], sizeof m->in_data[i] };
        m->in[i].msg_hdr = (struct msghdr){
            .msg_name = &m->from[i],
            .msg_namelen = sizeof m->from[i],
            .msg_iov = &m->in_bytes[i],
            .msg_iovlen = 1,
        };
    }
    return recvmmsg(m->fd, m->in, BATCH_IN, MSG_DONTWAIT, NULL);
}

/* Returns the index of the worker that handles a datagram, or -1 if the datagram cannot belong to a
 * participant. The worker follows from the SSRC in discovery and media of UDP clients, from the
 * user name in STUN, and from the source address in all other datagrams. */
static int worker_of_datagram(const struct media_socket *m, struct str datagram,
                              const union media_address *from)
{
    struct relay *r = m->relay;
    enum media_packet_kind kind = classify_media_datagram(datagram);
    bool browser = is_browser_datagram(datagram);
    struct stun_request request;
    int found = -1;

    if (stun_is_message(datagram))
        return stun_parse_request(datagram, &request) && request.server_fragment.n
                   ? (int)webrtc_get_worker_of_ufrag(r, request.server_fragment)
                   : -1;
    if (r->worker_count == 1)
        return browser || kind != PACKET_IGNORED ? 0 : -1;
    if (browser)
        found = address_route_find(r->routes, ADDRESS_BROWSER, media_address_key(from));
    else if (kind == PACKET_IS_PING)
        found = address_route_find(r->routes, ADDRESS_CLIENT, media_address_key(from));
    if (found >= 0 || kind == PACKET_IGNORED || kind == PACKET_IS_PING)
        return found;
    return (int)relay_get_worker_of_ssrc(r, packet_read_ssrc(kind, datagram));
}

static void add_datagram_to_worker_list(struct media_socket *m, int i)
{
    struct str bytes = str_slice((const char *)m->in_data[i], m->in[i].msg_len);
    int worker = worker_of_datagram(m, bytes, &m->from[i]);

    if (worker < 0) {
        atomic_fetch_add(&m->relay->count.packets_in, 1);
        return;
    }
    struct media_datagram *d = mem_new(sizeof *d + bytes.n);
    struct datagram_list *list = &m->lists[worker];

    d->from = m->from[i];
    d->n = bytes.n;
    memcpy(d->bytes, bytes.p, bytes.n);
    if (list->first)
        list->last->next = &d->item;
    else
        list->first = &d->item;
    list->last = &d->item;
    list->count++;
}

/* Reads datagrams from the socket, for a limited time per loop iteration. */
static void on_socket_readable(uv_poll_t *poll, int status, int events)
{
    struct media_socket *m = container_of(poll, struct media_socket, poll);
    int64_t until = clock_monotonic_ns() + READ_NS_PER_ITERATION;
    int count;

    (void)status;
    (void)events;
    loop_set_measured_activity("voice_media");
    do {
        count = receive_datagrams(m);
        for (int i = 0; i < count; i++)
            add_datagram_to_worker_list(m, i);
        for (unsigned i = 0; i < m->relay->worker_count; i++)
            if (m->lists[i].first)
                relay_worker_add_datagrams(&m->relay->workers[i], &m->lists[i]);
    } while (count == BATCH_IN && clock_monotonic_ns() < until);
}

static bool parse_listen_address(const char *host, int port, union media_address *ret)
{
    *ret = (union media_address){ 0 };
    return uv_ip4_addr(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &ret->in) == 0 ||
           uv_ip6_addr(host, port, &ret->in6) == 0;
}

/* Sets the socket's buffer sizes to SOCKET_BUFFER. Without privileges the kernel limits them to
 * net.core.rmem_max (or wmem_max). */
static void set_socket_buffers(int fd)
{
    int size = SOCKET_BUFFER;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* Creates the UDP socket. An IPv6 socket also accepts IPv4 if the system allows it. */
static int create_bound_socket(const union media_address *a)
{
    int fd = socket(a->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int off = 0;

    if (fd < 0)
        return -1;
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    set_socket_buffers(fd);
    if (bind(fd, &a->any, media_address_size(a)) == 0)
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

static int read_bound_port(int fd)
{
    union media_address a = { 0 };
    socklen_t n = sizeof a;

    if (getsockname(fd, &a.any, &n) != 0)
        return 0;
    return (int)media_address_port(&a);
}

uint64_t media_socket_count_overruns(const struct media_socket *m)
{
    uint32_t info[SK_MEMINFO_VARS] = { 0 };
    socklen_t n = sizeof info;

    getsockopt(m->fd, SOL_SOCKET, SO_MEMINFO, info, &n);
    return info[SK_MEMINFO_DROPS];
}

enum err media_socket_open(struct relay *r, struct loop *loop, struct media_socket **ret)
{
    union media_address a;
    int fd = -1;

    if (!parse_listen_address(r->options.host, r->options.port, &a))
        log_error("voice-port needs an IP address to listen on, not '%s'", r->options.host);
    else if ((fd = create_bound_socket(&a)) < 0)
        log_error("cannot receive voice on %s, UDP port %d: %s", r->options.host, r->options.port,
                  strerror(errno));
    if (fd < 0)
        return ERR_INTERNAL;
    struct media_socket *m = mem_new(sizeof *m);
    m->relay = r;
    m->fd = fd;
    m->lists = mem_new(r->worker_count * sizeof *m->lists);
    r->port = read_bound_port(fd);
    uv_poll_init(loop_get_uv_loop(loop), &m->poll, fd);
    *ret = m;
    return OK;
}

void media_socket_start(struct media_socket *m)
{
    uv_poll_start(&m->poll, UV_READABLE, on_socket_readable);
}

int media_socket_fd(const struct media_socket *m)
{
    return m->fd;
}

static void on_media_poll_closed(uv_handle_t *handle)
{
    struct media_socket *m = container_of(handle, struct media_socket, poll);

    close(m->fd);
    mem_free(m->lists);
    mem_free(m);
}

void media_socket_close(struct media_socket *m)
{
    if (!m)
        return;
    uv_poll_stop(&m->poll);
    uv_close((uv_handle_t *)&m->poll, on_media_poll_closed);
}
