/* media_socket.c - the UDP socket for media: datagrams are received and sent in batches. */
#include "relay/media/media_socket.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/media/datagram_bundles.h"

enum {
    BATCH_IN = 32,
    BATCH_OUT = BUNDLES_MAX,
    SOCKET_BUFFER = 4 * 1024 * 1024,
    READ_NS_PER_ITERATION = 4 * 1000 * 1000, /* time to read per loop iteration */
    SEND_WAIT_MS = 2, /* time to wait for the send buffer per loop iteration */
};

struct media_socket {
    struct relay *relay;
    uv_poll_t poll;
    int fd;
    struct mmsghdr in[BATCH_IN];
    struct iovec in_bytes[BATCH_IN];
    union media_address from[BATCH_IN];
    unsigned char in_data[BATCH_IN][PACKET_MAX + 1];
    unsigned waiting; /* number of queued datagrams in out */
    struct mmsghdr out[BATCH_OUT];
    struct iovec out_bytes[BATCH_OUT];
    union media_address to[BATCH_OUT];
    unsigned char out_data[BATCH_OUT][ENCRYPTED_PACKET_MAX];
    bool bundles;  /* UDP_SEGMENT works */
    bool pictures; /* some queued datagrams are video */
    struct datagram_bundles bundled;
    int received; /* number of datagrams in `in` that are not handled yet; result of
                   * recvmmsg */
    int64_t
        full_until; /* end of the wait for the send buffer (clock_monotonic_ns); 0: not waiting */
    struct packet_work work;
};

static socklen_t address_size(const union media_address *a)
{
    return a->any.sa_family == AF_INET6 ? sizeof a->in6 : sizeof a->in;
}

/* Waits for the kernel's send buffer, which a packet to 1,000 participants can exceed and which
 * drains quickly. Waits at most SEND_WAIT_MS per loop iteration; after that, packets are dropped,
 * as on any other hop. */
static bool wait_for_send_buffer(struct media_socket *m)
{
    struct pollfd p = { .fd = m->fd, .events = POLLOUT };
    int64_t now = clock_monotonic_ns();

    if (!m->full_until)
        m->full_until = now + SEND_WAIT_MS * INT64_C(1000000);
    if (now >= m->full_until)
        return false;
    poll(&p, 1, SEND_WAIT_MS);
    return p.revents & POLLOUT;
}

/* Returns how many of these messages to drop, depending on errno; 0: try again. */
static unsigned count_messages_to_drop(struct media_socket *m, const struct mmsghdr *messages,
                                       unsigned count)
{
    if (errno == EINTR || (errno == EAGAIN && wait_for_send_buffer(m)))
        return 0;
    /* Drop only one message if its destination is unreachable. */
    unsigned lost = errno == EAGAIN || errno == ENOBUFS ? count : 1;
    for (unsigned i = 0; i < lost; i++)
        media_counter_add(&m->relay->count.unsent, messages[i].msg_hdr.msg_iovlen);
    return lost;
}

/* Returns how many of these messages were sent or dropped. */
static unsigned send_messages(struct media_socket *m, struct mmsghdr *messages, unsigned count)
{
    int sent = sendmmsg(m->fd, messages, count, 0);

    return sent > 0 ? (unsigned)sent : count_messages_to_drop(m, messages, count);
}

/* Whether the device cannot segment the bundle (EIO), or the MTU of the route is smaller. */
static bool bundle_is_unsupported(const struct mmsghdr *m)
{
    return m->msg_hdr.msg_controllen && (errno == EIO || errno == EINVAL || errno == EMSGSIZE);
}

/* Leaves the messages that could not be sent as bundles in m->out, as single datagrams. */
static void send_bundles(struct media_socket *m)
{
    struct datagram_bundles *b = &m->bundled;
    unsigned at = 0, datagrams = m->waiting;

    bundles_build(b, m->out, datagrams);
    while (at < b->count) {
        struct mmsghdr *next = b->messages + at;
        int sent = sendmmsg(m->fd, next, b->count - at, 0);

        if (sent < 0 && bundle_is_unsupported(next)) {
            m->bundles = errno != EIO;
            break;
        }
        at += sent > 0 ? (unsigned)sent : count_messages_to_drop(m, next, b->count - at);
    }
    m->waiting = bundles_split(b, at, m->out, m->out_bytes);
    media_counter_add(&m->relay->count.bundled, datagrams - m->waiting - at);
}

static void send_queued_datagrams(struct media_socket *m)
{
    if (m->pictures && m->bundles && m->waiting > 1)
        send_bundles(m);
    for (unsigned at = 0; at < m->waiting;)
        at += send_messages(m, m->out + at, m->waiting - at);
    m->waiting = 0;
    m->pictures = false;
}

void media_socket_expect_video(struct media_socket *m)
{
    m->pictures = true;
}

unsigned char *media_socket_next_buffer(struct media_socket *m)
{
    if (m->waiting == BATCH_OUT)
        send_queued_datagrams(m);
    return m->out_data[m->waiting];
}

void media_socket_queue(struct media_socket *m, const union media_address *to, size_t n)
{
    unsigned i = m->waiting++;

    m->to[i] = *to;
    m->out_bytes[i] = (struct iovec){ m->out_data[i], n };
    m->out[i].msg_hdr = (struct msghdr){
        .msg_name = &m->to[i],
        .msg_namelen = address_size(to),
        .msg_iov = &m->out_bytes[i],
        .msg_iovlen = 1,
    };
    media_counter_add(&m->relay->count.packets_out, 1);
    media_counter_add(&m->relay->count.bytes_out, n);
}

void media_socket_send(struct media_socket *m, const union media_address *to, const void *bytes,
                       size_t n)
{
    memcpy(media_socket_next_buffer(m), bytes, n);
    media_socket_queue(m, to, n);
    m->full_until = 0;
    send_queued_datagrams(m);
}

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

static void handle_received_datagrams(struct media_socket *m)
{
    for (int i = 0; i < m->received; i++) {
        struct str datagram = str_slice((const char *)m->in_data[i], m->in[i].msg_len);

        media_counter_add(&m->relay->count.packets_in, 1);
        media_counter_add(&m->relay->count.bytes_in, datagram.n);
        handle_datagram(&m->work, datagram, &m->from[i]);
    }
    m->received = 0;
    send_queued_datagrams(m);
}

void media_socket_handle_waiting(struct media_socket *m)
{
    if (!m || m->received <= 0)
        return;
    m->full_until = 0;
    handle_received_datagrams(m);
}

/* Received datagrams wait until all committed changes of permissions are applied. */
static void on_socket_readable(uv_poll_t *poll, int status, int events)
{
    struct media_socket *m = container_of(poll, struct media_socket, poll);
    int64_t until = clock_monotonic_ns() + READ_NS_PER_ITERATION;
    int count;

    (void)status;
    (void)events;
    loop_begin_measured_part("voice_media");
    m->full_until = 0;
    do {
        if (m->received <= 0)
            m->received = receive_datagrams(m);
        count = m->received;
        if (!relay_handle_messages(m->relay))
            return;
        handle_received_datagrams(m);
    } while (count == BATCH_IN && clock_monotonic_ns() < until);
}

static bool parse_listen_address(const char *host, int port, union media_address *ret)
{
    *ret = (union media_address){ 0 };
    return uv_ip4_addr(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &ret->in) == 0 ||
           uv_ip6_addr(host, port, &ret->in6) == 0;
}

/* Requests SOCKET_BUFFER; without privileges the limit is net.core.rmem_max. */
static void set_socket_buffers(int fd)
{
    int size = SOCKET_BUFFER;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* An IPv6 socket accepts IPv4, too, if the system allows it. */
static int create_bound_socket(const union media_address *a)
{
    int fd = socket(a->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int off = 0;

    if (fd < 0)
        return -1;
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    set_socket_buffers(fd);
    if (bind(fd, &a->any, address_size(a)) == 0)
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

enum err media_socket_open(struct relay *r, struct media_socket **ret)
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
    m->work.relay = r;
    m->work.socket = m;
    m->fd = fd;
    m->bundles = bundles_are_supported(fd);
    r->port = read_bound_port(fd);
    uv_poll_init(loop_get_uv_loop(relay_thread_loop(r)), &m->poll, fd);
    uv_poll_start(&m->poll, UV_READABLE, on_socket_readable);
    *ret = m;
    return OK;
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct media_socket *m = container_of(handle, struct media_socket, poll);

    close(m->fd);
    mem_free(m);
}

void media_socket_close(struct media_socket *m)
{
    if (!m)
        return;
    uv_poll_stop(&m->poll);
    uv_close((uv_handle_t *)&m->poll, on_poll_closed);
}
