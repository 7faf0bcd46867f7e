/* media.c - datagrams: received, authenticated, and passed on to the room.
 *
 * A packet costs one lookup by its SSRC; who sends with the SSRC of somebody else, or with
 * none that there is, is not answered. What is authentic is decrypted once and encrypted for
 * each receiver, and leaves in batches. */
#include "relay/internal.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/rtcp.h"

enum {
    BATCH_IN = 32,
    BATCH_OUT = 64,
    SOCKET_BUFFER = 4 * 1024 * 1024,
    TURN_NS = 4 * 1000 * 1000, /* then the loop does what else there is to do */
    WINDOW_MS = 1000,
    WINDOW_PACKETS = 250, /* audio is 50 a second; some clients send shorter frames */
    WINDOW_BYTES = 128 * 1024,
    WINDOW_VIDEO_PACKETS = 4000, /* all layers of a camera or a screen */
    WINDOW_VIDEO_BYTES = 4 * 1024 * 1024,
    WINDOW_FOREIGN = 50, /* packets from elsewhere that are looked into */
    WINDOW_QUESTIONS = 20,
    WINDOW_WISHES = 200, /* of all who watch somebody */
    FLUSH_MS = 2,        /* of a turn, to wait for room in the kernel */
    ACTIVE_MS = 20 * 1000,
    SAMPLE = 64,            /* of so many packets one is timed */
    WORN_COUNTERS = 1024,   /* that are left when a client has to begin anew */
    WORN_HEADERS = 1 << 26, /* with frames of 20 ms number and time come again together then */
};

struct media_socket {
    struct relay *relay;
    uv_poll_t poll;
    int fd;
    struct mmsghdr in[BATCH_IN];
    struct iovec in_bytes[BATCH_IN];
    union media_address from[BATCH_IN];
    unsigned char in_data[BATCH_IN][PACKET_MAX + 1];
    unsigned waiting; /* of those that follow */
    struct mmsghdr out[BATCH_OUT];
    struct iovec out_bytes[BATCH_OUT];
    union media_address to[BATCH_OUT];
    unsigned char out_data[BATCH_OUT][SEAL_MAX];
    struct rtp_plain plain; /* the packet that is passed on */
    unsigned char control[PACKET_MAX];
    unsigned sample;    /* 0: what is encrypted for this packet is timed */
    int received;       /* datagrams in there that wait for notes; as recvmmsg says */
    int64_t full_until; /* by clock_mono: the kernel has no room, and is waited for; 0: it has */
};

/* Others only read what this thread counts, so no bus has to be locked for it. */
static void media_tally(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static socklen_t address_size(const union media_address *a)
{
    return a->any.sa_family == AF_INET6 ? sizeof a->in6 : sizeof a->in;
}

static bool same_address(const union media_address *a, const union media_address *b)
{
    struct address x = address_from(a), y = address_from(b);
    in_port_t p = a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port;
    in_port_t q = b->any.sa_family == AF_INET6 ? b->in6.sin6_port : b->in.sin_port;

    return p == q && memcmp(x.bytes, y.bytes, sizeof x.bytes) == 0;
}

/* --- out ------------------------------------------------------------------------------ */

/* A packet to a thousand people is more than the kernel takes at once where its buffers are small,
 * and a moment later it takes the rest. A turn has so much time for that; when it is over packets
 * are lost, as on any other hop. */
static bool media_wait(struct media_socket *m)
{
    struct pollfd p = { .fd = m->fd, .events = POLLOUT };
    int64_t now = clock_mono();

    if (!m->full_until)
        m->full_until = now + FLUSH_MS * INT64_C(1000000);
    if (now >= m->full_until)
        return false;
    poll(&p, 1, FLUSH_MS);
    return p.revents & POLLOUT;
}

/* How many of those that wait have left, or cannot. */
static unsigned media_write(struct media_socket *m, unsigned at)
{
    int sent = sendmmsg(m->fd, m->out + at, m->waiting - at, 0);

    if (sent > 0)
        return (unsigned)sent;
    if (errno == EINTR || (errno == EAGAIN && media_wait(m)))
        return 0;
    /* One that cannot be sent to (no route) does not hold up the others. */
    unsigned lost = errno == EAGAIN || errno == ENOBUFS ? m->waiting - at : 1;
    media_tally(&m->relay->unsent, lost);
    return lost;
}

static void media_flush(struct media_socket *m)
{
    for (unsigned at = 0; at < m->waiting;)
        at += media_write(m, at);
    m->waiting = 0;
}

/* Room for one datagram, which media_push sends. */
static unsigned char *media_room(struct media_socket *m)
{
    if (m->waiting == BATCH_OUT)
        media_flush(m);
    return m->out_data[m->waiting];
}

static void media_push(struct media_socket *m, const union media_address *to, size_t n)
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
    media_tally(&m->relay->packets_out, 1);
    media_tally(&m->relay->bytes_out, n);
}

/* --- control -------------------------------------------------------------------------- */

static bool window_has(struct media_window *w, int64_t now_ms, unsigned packets, unsigned bytes)
{
    if (now_ms - w->since_ms >= WINDOW_MS)
        *w = (struct media_window){ .since_ms = now_ms };
    return w->packets < packets && w->bytes < bytes;
}

static bool audio_window_has(struct relay_seat *s, int64_t now_ms)
{
    return window_has(&s->window, now_ms, WINDOW_PACKETS, WINDOW_BYTES);
}

static bool video_window_has(struct relay_seat *s, int64_t now_ms)
{
    return window_has(&s->video_window, now_ms, WINDOW_VIDEO_PACKETS, WINDOW_VIDEO_BYTES);
}

static void window_count(struct media_window *w, size_t bytes)
{
    w->packets++;
    w->bytes += (unsigned)bytes;
}

/* Anybody may ask with the number or the address of somebody else, so this is no part of what its
 * owner may send. */
static bool questions_take(struct question_window *w, int64_t now_ms, unsigned most)
{
    if (now_ms - w->since_ms >= WINDOW_MS)
        *w = (struct question_window){ .since_ms = now_ms };
    return w->count++ < most;
}

static int64_t media_now_ms(void)
{
    return clock_mono() / 1000000;
}

/* Until a client has selected its protocol nobody else knows its SSRC, so who asks with it
 * is the client. From then on everybody is answered, and only what is authentic moves its
 * address: it may select again, and must not be sent to where somebody else asked from. */
static void media_discover(struct media_socket *m, struct relay_seat *s,
                           const union media_address *from)
{
    char text[ADDRESS_TEXT];
    struct address a = address_from(from);
    struct str shown = str_slice(text, address_write(&a, text));
    unsigned port =
        ntohs(from->any.sa_family == AF_INET6 ? from->in6.sin6_port : from->in.sin_port);

    if (!questions_take(&s->questions, media_now_ms(), WINDOW_QUESTIONS))
        return;
    if (!s->seal) {
        s->found = *from;
        s->has_found = true;
    }
    packet_write_address(s->ssrc, shown, port, media_room(m));
    media_push(m, from, PACKET_DISCOVERY);
}

static void media_ping(struct media_socket *m, struct str ping, const union media_address *from)
{
    struct relay_seat *s = seats_by_address(m->relay->seats, from);

    if (!s || !questions_take(&s->questions, media_now_ms(), WINDOW_QUESTIONS))
        return;
    packet_write_pong(ping, media_room(m));
    media_push(m, from, PACKET_PING);
}

/* --- time -----------------------------------------------------------------------------

 * A look at the clock takes a tenth of what it would measure, so one packet stands for many. */

static int64_t crypto_begin(const struct media_socket *m)
{
    return m->sample ? 0 : clock_mono();
}

static void crypto_end(const struct media_socket *m, int64_t begin)
{
    if (begin)
        media_tally(&m->relay->crypto_ns, (uint64_t)(clock_mono() - begin) * SAMPLE);
}

static size_t media_seal(struct media_socket *m, struct relay_seat *to)
{
    unsigned char *out = media_room(m);
    int64_t begin = crypto_begin(m);
    size_t n = seal_write(to->seal, &m->plain, out);

    crypto_end(m, begin);
    return n;
}

static bool media_unseal(struct media_socket *m, struct relay_seat *s, const struct rtp_packet *p)
{
    int64_t begin = crypto_begin(m);
    bool opened = seal_open(s->seal, p, &m->plain);

    crypto_end(m, begin);
    return opened;
}

/* --- media ---------------------------------------------------------------------------- */

/* Sums over all seats are kept as they change. */
static void media_note_quality(struct relay_seat *s, const struct rtp_packet *p, uint64_t number)
{
    struct relay *r = s->relay;
    int64_t before = s->quality.jitter_ns;
    int64_t more = quality_take(&s->quality, &s->highest, number, p->timestamp, clock_mono());

    if (more > 0)
        media_tally(&r->missing, (uint64_t)more);
    else if (more < 0)
        media_tally(&r->late, 1);
    media_tally(&r->jitter_ns, (uint64_t)(s->quality.jitter_ns - before));
}

/* Whether the packet is authentic and was not here before; it is decrypted then. *ret_fresh:
 * its header was not here before either, which is known of audio alone. */
static bool media_authenticate(struct media_socket *m, struct relay_seat *s,
                               const struct rtp_packet *p, bool *ret_newest, bool *ret_fresh)
{
    uint64_t number = 0;
    uint32_t counter;
    bool placed = p->ssrc == s->ssrc && rtp_extend(&s->highest, p, &number);
    bool by_header = seal_uses_header(s->seal);

    *ret_fresh = placed && window_is_new(&s->numbers, number);
    if (!seal_counter(s->seal, p, &counter))
        return false;
    if (by_header ? !*ret_fresh : !window_is_new(&s->counters, counter))
        return false;
    if (!media_unseal(m, s, p))
        return false;
    *ret_newest = by_header ? !s->highest.begun || number > s->highest.number
                            : !s->counters.begun || counter > s->counters.highest;
    window_add(&s->counters, counter);
    if (*ret_fresh) {
        media_note_quality(s, p, number);
        window_add(&s->numbers, number);
        rtp_advance(&s->highest, p, number);
    }
    return true;
}

static bool media_reaches(const struct relay_seat *to, const struct relay_seat *from, bool fresh)
{
    return to != from && to->hears && to->seal && to->has_address &&
           (fresh || !seal_uses_header(to->seal));
}

/* False: it has used up its nonces and ends. */
static bool media_send(struct media_socket *m, struct relay_seat *to, size_t n)
{
    if (n)
        media_push(m, &to->address, n);
    else
        seat_end(to, RELAY_NO_SESSION);
    return n;
}

/* The end of a seat moves the last one of the room: its index is looked at again. */
static void media_fan_out(struct media_socket *m, const struct relay_seat *from, uint32_t ssrc,
                          bool fresh)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; i < room->count;) {
        struct relay_seat *to = room->seats[i];
        bool reaches =
            ssrc == from->ssrc ? media_reaches(to, from, fresh) : seat_watches(to, from, ssrc);

        if (!reaches || media_send(m, to, media_seal(m, to)))
            i++;
    }
}

/* Whoever is heard is not idle. */
static void media_note_active(struct relay_seat *s, int64_t now_ms)
{
    if (s->active_ms && now_ms - s->active_ms < ACTIVE_MS)
        return;
    s->active_ms = now_ms;
    if (s->peer)
        letter_send(s->relay, s->loop, s->peer, LETTER_ACTIVE, 0, NULL);
}

static void media_drop(const struct media_socket *m)
{
    media_tally(&m->relay->dropped, 1);
}

/* Packets from elsewhere may be the client's behind another address, or anybody's: only so
 * many are looked into. */
static bool media_may_look(struct relay_seat *s, bool audio, const union media_address *from,
                           int64_t now_ms)
{
    struct media_window *w = audio ? &s->window : &s->video_window;

    if (!(audio ? audio_window_has(s, now_ms) : video_window_has(s, now_ms)))
        return false;
    if (s->has_address && same_address(&s->address, from))
        return true;
    return w->foreign++ < WINDOW_FOREIGN;
}

/* What is authentic and newer than all before it says where its client is. */
static void media_follow(struct relay_seat *s, bool newest, const union media_address *from)
{
    if (newest && !(s->has_address && same_address(&s->address, from)))
        seat_bind(s, from);
}

/* False: it may not be passed on. */
static bool media_audio(struct media_socket *m, struct relay_seat *s, const struct rtp_packet *p,
                        bool fresh, int64_t now_ms)
{
    if (p->type != RTP_OPUS || !s->speaks)
        return false;
    if (!s->announced)
        seat_announce(s, 1);
    media_fan_out(m, s, p->ssrc, fresh);
    media_note_active(s, now_ms);
    return true;
}

static bool media_video(struct media_socket *m, const struct relay_seat *s,
                        const struct rtp_packet *p)
{
    if (!seat_shows(s, p))
        return false;
    media_fan_out(m, s, p->ssrc, false);
    return true;
}

/* The nonces of its key, or what makes its headers different from each other, are about to come to
 * an end: its client begins anew, with another key and other SSRCs. */
static bool seat_is_worn(const struct relay_seat *s)
{
    return (s->counters.begun && s->counters.highest >= SEAL_OURS - WORN_COUNTERS) ||
           (s->highest.begun && rtp_age(&s->highest) >= WORN_HEADERS);
}

static void media_rtp(struct media_socket *m, struct relay_seat *s, struct str datagram,
                      const union media_address *from)
{
    int64_t now_ms = media_now_ms();
    struct rtp_packet p;
    bool newest = false, fresh = false;

    if (!s->seal || !rtp_read(datagram, &p) ||
        !media_may_look(s, p.ssrc == s->ssrc, from, now_ms) ||
        !media_authenticate(m, s, &p, &newest, &fresh)) {
        media_drop(m);
        return;
    }
    bool audio = p.ssrc == s->ssrc;
    window_count(audio ? &s->window : &s->video_window, datagram.n);
    media_follow(s, newest, from);
    if (!(audio ? media_audio(m, s, &p, fresh, now_ms) : media_video(m, s, &p)))
        media_drop(m);
    if (seat_is_worn(s))
        seat_end(s, RELAY_NO_SESSION);
}

/* --- control packets ------------------------------------------------------------------ */

/* What a sender says of its media, to those who get it. */
static void control_announce(struct media_socket *m, const struct relay_seat *from,
                             const struct rtcp_part *part)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; from->films && i < room->count;) {
        struct relay_seat *to = room->seats[i];

        if (!seat_watches(to, from, part->sender) ||
            media_send(m, to, seal_write_control(to->seal, part->bytes, media_room(m))))
            i++;
    }
}

/* What a receiver says of media or wants to have again, to whoever sends it. */
static void control_answer(struct media_socket *m, const struct relay_seat *from,
                           const struct rtcp_part *part)
{
    struct relay_seat *to = seats_by_ssrc(m->relay->seats, part->about);

    if (to && to != from && to->room == from->room && to->films && to->seal && to->has_address &&
        !seal_uses_header(to->seal) && seat_watches(from, to, to->ssrc) &&
        questions_take(&to->wishes, media_now_ms(), WINDOW_WISHES))
        media_send(m, to, seal_write_control(to->seal, part->bytes, media_room(m)));
}

static void media_control(struct media_socket *m, struct relay_seat *s, struct str datagram,
                          const union media_address *from)
{
    int64_t now_ms = media_now_ms();
    struct rtcp_part part;
    uint32_t counter;
    size_t n;

    if (!s->seal || !media_may_look(s, false, from, now_ms) ||
        !seal_control_counter(s->seal, datagram, &counter) ||
        !window_is_new(&s->counters, counter) ||
        !seal_open_control(s->seal, datagram, m->control, &n)) {
        media_drop(m);
        return;
    }
    s->video_window.bytes += (unsigned)datagram.n;
    media_follow(s, !s->counters.begun || counter > s->counters.highest, from);
    window_add(&s->counters, counter);
    struct str rest = str_slice((const char *)m->control, n);
    for (int i = 0; i < RTCP_MAX_PARTS && rtcp_next(&rest, &part); i++) {
        if (part.sender / SSRC_BLOCK != s->ssrc / SSRC_BLOCK || !video_window_has(s, now_ms))
            continue;
        window_count(&s->video_window, 0); /* each of them leaves as a packet of its own */
        if (part.announces)
            control_announce(m, s, &part);
        else if (part.about)
            control_answer(m, s, &part);
    }
    if (seat_is_worn(s))
        seat_end(s, RELAY_NO_SESSION);
}

static void media_take(struct media_socket *m, struct str datagram, const union media_address *from)
{
    enum packet_kind kind = packet_kind(datagram);

    if (kind == PACKET_NONE)
        return;
    if (kind == PACKET_PINGS) {
        media_ping(m, datagram, from);
        return;
    }
    struct relay_seat *s = seats_by_ssrc(m->relay->seats, packet_ssrc(kind, datagram));
    if (!s)
        media_drop(m);
    else if (kind == PACKET_ASKS_ADDRESS)
        media_discover(m, s, from);
    else if (kind == PACKET_RTP)
        media_rtp(m, s, datagram, from);
    else
        media_control(m, s, datagram, from);
}

/* --- in ------------------------------------------------------------------------------- */

static int media_receive(struct media_socket *m)
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

static void media_take_received(struct media_socket *m)
{
    for (int i = 0; i < m->received; i++) {
        struct str datagram = str_slice((const char *)m->in_data[i], m->in[i].msg_len);

        media_tally(&m->relay->packets_in, 1);
        media_tally(&m->relay->bytes_in, datagram.n);
        m->sample = (m->sample + 1) % SAMPLE;
        media_take(m, datagram, &m->from[i]);
    }
    m->received = 0;
    media_flush(m);
}

void media_resume(struct media_socket *m)
{
    if (!m || m->received <= 0)
        return;
    m->full_until = 0;
    media_take_received(m);
}

/* What was received waits while there are notes: who may speak is in them. */
static void media_readable(uv_poll_t *poll, int status, int events)
{
    struct media_socket *m = container_of(poll, struct media_socket, poll);
    int64_t until = clock_mono() + TURN_NS;
    int count;

    (void)status;
    (void)events;
    loop_part("voice_media");
    m->full_until = 0;
    do {
        if (m->received <= 0)
            m->received = media_receive(m);
        count = m->received;
        if (!notes_read(m->relay))
            return;
        media_take_received(m);
    } while (count == BATCH_IN && clock_mono() < until);
}

/* --- life ----------------------------------------------------------------------------- */

static bool media_parse_host(const char *host, int port, union media_address *ret)
{
    *ret = (union media_address){ 0 };
    return uv_ip4_addr(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &ret->in) == 0 ||
           uv_ip6_addr(host, port, &ret->in6) == 0;
}

/* As large as we ask for, or as the system lets everybody have it (net.core.rmem_max). */
static void media_set_buffers(int fd)
{
    int size = SOCKET_BUFFER;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* An IPv6 socket takes IPv4 too, where the system lets it. */
static int media_socket_new(const union media_address *a)
{
    int fd = socket(a->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int off = 0;

    if (fd < 0)
        return -1;
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    media_set_buffers(fd);
    if (bind(fd, &a->any, address_size(a)) == 0)
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

static int media_bound_port(int fd)
{
    union media_address a = { 0 };
    socklen_t n = sizeof a;

    if (getsockname(fd, &a.any, &n) != 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
}

uint64_t media_overruns(const struct media_socket *m)
{
    uint32_t info[SK_MEMINFO_VARS] = { 0 };
    socklen_t n = sizeof info;

    getsockopt(m->fd, SOL_SOCKET, SO_MEMINFO, info, &n);
    return info[SK_MEMINFO_DROPS];
}

enum err media_open(struct relay *r, struct media_socket **ret)
{
    union media_address a;
    int fd = -1;

    if (!media_parse_host(r->options.host, r->options.port, &a))
        log_error("voice-port needs an address to receive on, not '%s'", r->options.host);
    else if ((fd = media_socket_new(&a)) < 0)
        log_error("cannot receive voice on %s, UDP port %d: %s", r->options.host, r->options.port,
                  strerror(errno));
    if (fd < 0)
        return ERR_INTERNAL;
    struct media_socket *m = mem_new(sizeof *m);
    m->relay = r;
    m->fd = fd;
    r->port = media_bound_port(fd);
    uv_poll_init(loop_uv(relay_loop(r)), &m->poll, fd);
    uv_poll_start(&m->poll, UV_READABLE, media_readable);
    *ret = m;
    return OK;
}

static void media_closed(uv_handle_t *handle)
{
    struct media_socket *m = container_of(handle, struct media_socket, poll);

    close(m->fd);
    mem_free(m);
}

void media_close(struct media_socket *m)
{
    if (!m)
        return;
    uv_poll_stop(&m->poll);
    uv_close((uv_handle_t *)&m->poll, media_closed);
}
