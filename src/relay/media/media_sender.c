/* media_sender.c - sends the datagrams of a worker in batches, through the UDP socket that all
 * workers share. */
#include "relay/media/media_sender.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "relay/media/datagram_bundles.h"
#include "relay/media/encryption.h"

enum {
    BATCH_OUT = BUNDLES_MAX,
    SEND_WAIT_MS = 2, /* maximum time per loop iteration to wait for space in the send buffer */
};

struct media_sender {
    struct relay_worker *worker;
    int fd;
    int buffer_size;  /* bytes of the kernel's send buffer */
    unsigned waiting; /* number of queued datagrams in out */
    struct mmsghdr out[BATCH_OUT];
    struct iovec out_bytes[BATCH_OUT];
    union media_address to[BATCH_OUT];
    unsigned char out_data[BATCH_OUT][ENCRYPTED_PACKET_MAX];
    bool bundles;  /* UDP_SEGMENT works */
    bool pictures; /* some queued datagrams are video */
    struct datagram_bundles bundled;
    /* Time when the wait for space in the send buffer ends (clock_monotonic_ns), or 0. */
    int64_t full_until;
};

/* Waits until the kernel's send buffer has space. A packet to 1,000 participants can fill it, and
 * it drains quickly. Waits at most SEND_WAIT_MS per loop iteration; after that, packets are
 * dropped, as a router would do. */
static bool wait_for_send_buffer(struct media_sender *m)
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

/* Returns how many of the first messages must be dropped after an error (errno); 0 means that
 * sending is tried again. */
static unsigned count_messages_to_drop(struct media_sender *m, const struct mmsghdr *messages,
                                       unsigned count)
{
    if (errno == EINTR || (errno == EAGAIN && wait_for_send_buffer(m)))
        return 0;
    /* If the destination is unreachable, drop only its message. */
    unsigned lost = errno == EAGAIN || errno == ENOBUFS ? count : 1;
    for (unsigned i = 0; i < lost; i++)
        media_counter_add(&m->worker->count.unsent, messages[i].msg_hdr.msg_iovlen);
    return lost;
}

/* Returns how many of the first messages were sent or dropped. */
static unsigned send_or_drop_messages(struct media_sender *m, struct mmsghdr *messages,
                                      unsigned count)
{
    int sent = sendmmsg(m->fd, messages, count, 0);

    return sent > 0 ? (unsigned)sent : count_messages_to_drop(m, messages, count);
}

/* Returns whether a bundle was not sent because the network device cannot segment it (EIO), or
 * because a datagram exceeds the MTU of the route. */
static bool bundle_is_unsupported(const struct mmsghdr *m)
{
    return m->msg_hdr.msg_controllen && (errno == EIO || errno == EINVAL || errno == EMSGSIZE);
}

/* Sends the queued datagrams as bundles. Datagrams that cannot be bundled stay in m->out. */
static void send_queued_datagrams_as_bundles(struct media_sender *m)
{
    struct datagram_bundles *b = &m->bundled;
    unsigned at = 0, datagrams = m->waiting;

    datagram_bundles_build(b, m->out, datagrams);
    while (at < b->count) {
        struct mmsghdr *next = b->messages + at;
        int sent = sendmmsg(m->fd, next, b->count - at, 0);

        if (sent < 0 && bundle_is_unsupported(next)) {
            m->bundles = errno != EIO;
            break;
        }
        at += sent > 0 ? (unsigned)sent : count_messages_to_drop(m, next, b->count - at);
    }
    m->waiting = datagram_bundles_split(b, at, m->out, m->out_bytes);
    media_counter_add(&m->worker->count.bundled, datagrams - m->waiting - at);
}

static void send_queued_datagrams(struct media_sender *m)
{
    if (m->pictures && m->bundles && m->waiting > 1)
        send_queued_datagrams_as_bundles(m);
    for (unsigned at = 0; at < m->waiting;)
        at += send_or_drop_messages(m, m->out + at, m->waiting - at);
    m->waiting = 0;
    m->pictures = false;
}

bool media_sender_begin_video_datagram(struct media_sender *m)
{
    int used = 0;

    m->pictures = true;
    return ioctl(m->fd, SIOCOUTQ, &used) != 0 || used <= m->buffer_size / 2;
}

unsigned char *media_sender_next_buffer(struct media_sender *m)
{
    if (m->waiting == BATCH_OUT)
        send_queued_datagrams(m);
    return m->out_data[m->waiting];
}

void media_sender_queue_datagram(struct media_sender *m, const union media_address *to, size_t n)
{
    unsigned i = m->waiting++;

    m->to[i] = *to;
    m->out_bytes[i] = (struct iovec){ m->out_data[i], n };
    m->out[i].msg_hdr = (struct msghdr){
        .msg_name = &m->to[i],
        .msg_namelen = media_address_size(to),
        .msg_iov = &m->out_bytes[i],
        .msg_iovlen = 1,
    };
    media_counter_add(&m->worker->count.packets_out, 1);
    media_counter_add(&m->worker->count.bytes_out, n);
}

void media_sender_send_now(struct media_sender *m, const union media_address *to, const void *bytes,
                           size_t n)
{
    memcpy(media_sender_next_buffer(m), bytes, n);
    media_sender_queue_datagram(m, to, n);
    m->full_until = 0;
    send_queued_datagrams(m);
}

void media_sender_flush(struct media_sender *m)
{
    send_queued_datagrams(m);
    m->full_until = 0;
}

struct media_sender *media_sender_new(struct relay_worker *w, int fd)
{
    struct media_sender *m = mem_new(sizeof *m);
    socklen_t n = sizeof m->buffer_size;

    m->worker = w;
    m->fd = fd;
    m->bundles = datagram_bundles_are_supported(fd);
    getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &m->buffer_size, &n);
    return m;
}

void media_sender_free(struct media_sender *m)
{
    mem_free(m);
}
