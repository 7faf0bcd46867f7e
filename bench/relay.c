/* relay.c - measures the cost of a forwarded voice packet, and its minimum.
 *
 *   relay ours|bare ROOMS SPEAKERS LISTENERS SECONDS [VIEWERS PACKETS | browsers COUNT]
 *
 * All participants are in this process: each room has SPEAKERS speakers, which send a packet of
 * 160 bytes every 20 ms, and LISTENERS listeners; all receive all others. "ours" is the relay with
 * its thread; "bare" is a thread with the same recvmmsg, decryption, encryption and sendmmsg, but
 * without replay windows, limits, moving addresses and permissions. With VIEWERS, one more room of
 * "ours" has a camera that sends PACKETS video packets of 1,200 bytes per second to that many
 * viewers; the figures are those of the other rooms. With "browsers", COUNT browsers join one more
 * room at once, with a DTLS handshake each. Prints JSON with the longest delay and the lost
 * packets: not read by the relay in time ("overrun"), not accepted by the kernel when sent
 * ("unsent"), or not read by this program in time ("missed"). */
#include <errno.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/internal.h"
#include "relay/webrtc/webrtc.h"
#include "relay_browsers.h"

enum {
    SOCKETS = 16,
    BATCH = 64,
    FRAME = 160,
    TICK_MS = 20,
    SLOWEST_US = 1000000,
    BUFFER = 64 * 1024 * 1024,
    MODE_AES = 0,
    SETTLE_MS = 500,
    SETTLE_TRIES = 20,
    VIDEO_FRAME = 1200,
    VIDEO_TYPE = 101,
    BROWSERS_AFTER_MS = 300,
    BROWSERS_TIMEOUT_MS = 30000,
};

struct person {
    size_t room;
    bool speaks;
    bool films;
    bool browser;
    uint32_t ssrc;
    uint16_t sequence;
    unsigned char key[ENCRYPTION_KEY_SIZE];
    struct media_cipher *sends;  /* encryption of the client */
    struct media_cipher *serves; /* bare: encryption of the server */
    union media_address address;
};

struct bench {
    size_t rooms, speakers, listeners, count;
    size_t viewers;       /* viewers of the camera, which is the last person; 0: no camera */
    size_t browser_count; /* browsers, which are the last persons */
    struct relay_browsers *browsers;
    size_t connected; /* browsers that are connected, and the time until the last one was */
    int64_t connected_ns;
    int video_packets;
    int camera_fd;
    struct person *people; /* ordered by room */
    int fds[SOCKETS];
    union media_address names[SOCKETS];
    union media_address server;
    _Atomic bool over;
    _Atomic uint64_t sent, received;
    unsigned *delays; /* histogram by microseconds */
    int bare;         /* its socket */
    _Atomic int64_t bare_cpu;
    _Atomic uint64_t bare_unsent;
};

/* Numbers of lost packets by place. */
struct bench_losses {
    uint64_t overrun, unsent, missed;
};

static void bench_die(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t clock_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int bench_socket(union media_address *ret)
{
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1, size = BUFFER;
    socklen_t n = sizeof ret->in;

    if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof any) != 0)
        bench_die("socket");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    *ret = (union media_address){ 0 };
    getsockname(fd, &ret->any, &n);
    return fd;
}

/* Returns the datagrams that a socket dropped because its buffer was full. */
static uint64_t socket_drops(int fd)
{
    uint32_t info[SK_MEMINFO_VARS] = { 0 };
    socklen_t n = sizeof info;

    getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &n);
    return info[SK_MEMINFO_DROPS];
}

/* --- speakers ------------------------------------------------------------------------- */

/* Sends a packet; its timestamp is the time in microseconds, which the relay preserves. */
static void send_speaker_packet(struct bench *b, struct person *p)
{
    struct decrypted_rtp_packet plain = { .header = { 0x80, RTP_OPUS_PAYLOAD_TYPE }, .n = FRAME };
    uint32_t words[] = { htonl((uint32_t)(clock_of(CLOCK_REALTIME) / 1000)), htonl(p->ssrc) };
    unsigned char out[ENCRYPTED_PACKET_MAX];

    plain.header[2] = (unsigned char)(p->sequence >> 8);
    plain.header[3] = (unsigned char)p->sequence++;
    memcpy(plain.header + 4, words, sizeof words);
    size_t n = media_cipher_encrypt(p->sends, &plain, out);
    if (sendto(b->fds[0], out, n, 0, &b->server.any, sizeof b->server.in) == (ssize_t)n)
        b->sent++;
}

/* A twentieth of the speakers sends each millisecond. */
static void bench_talk(struct bench *b, int seconds)
{
    int64_t begin = clock_of(CLOCK_MONOTONIC);

    for (int64_t ms = 0; ms < (int64_t)seconds * 1000; ms++) {
        int64_t at = begin + ms * 1000000;
        struct timespec until = { at / 1000000000, at % 1000000000 };

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        for (size_t i = 0, speaker = 0; i < b->count; i++)
            if (b->people[i].speaks && speaker++ % TICK_MS == (size_t)ms % TICK_MS)
                send_speaker_packet(b, &b->people[i]);
    }
}

/* --- the camera ------------------------------------------------------------------------ */

static void send_video_packet(const struct bench *b, struct person *p)
{
    struct decrypted_rtp_packet plain = { .header = { 0x80, VIDEO_TYPE }, .n = VIDEO_FRAME };
    uint32_t ssrc = htonl(p->ssrc + 1);
    unsigned char out[ENCRYPTED_PACKET_MAX];

    plain.header[2] = (unsigned char)(p->sequence >> 8);
    plain.header[3] = (unsigned char)p->sequence++;
    memcpy(plain.header + 8, &ssrc, sizeof ssrc);
    size_t n = media_cipher_encrypt(p->sends, &plain, out);
    sendto(b->camera_fd, out, n, 0, &b->server.any, sizeof b->server.in);
}

/* Sends its packets every 10 ms until the end. */
static void *bench_film(void *arg)
{
    struct bench *b = arg;
    struct person *p = &b->people[b->count - 1];
    int64_t at = clock_of(CLOCK_MONOTONIC);

    for (int sent = 0, tick = 1; !b->over; tick++) {
        struct timespec until = { at / 1000000000, at % 1000000000 };

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        for (; sent < (int)((int64_t)tick * b->video_packets / 100); sent++)
            send_video_packet(b, p);
        at += 10000000;
    }
    return NULL;
}

/* --- listeners ------------------------------------------------------------------------ */

/* Returns when the kernel received the datagram, so that a late reader does not matter. */
static int64_t arrival_of(struct msghdr *h)
{
    struct timespec t;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        }
    return 0;
}

struct listening {
    struct mmsghdr in[BATCH];
    struct iovec bytes[BATCH];
    unsigned char data[BATCH][16];
    char control[BATCH][64];
};

static void listen_once(struct bench *b, struct listening *l, int fd)
{
    for (int i = 0; i < BATCH; i++) {
        l->bytes[i] = (struct iovec){ l->data[i], sizeof l->data[i] };
        l->in[i].msg_hdr = (struct msghdr){ .msg_iov = &l->bytes[i],
                                            .msg_iovlen = 1,
                                            .msg_control = l->control[i],
                                            .msg_controllen = sizeof l->control[i] };
    }
    int count = recvmmsg(fd, l->in, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        uint32_t sent, now = (uint32_t)(arrival_of(&l->in[i].msg_hdr) / 1000);

        memcpy(&sent, l->data[i] + 4, sizeof sent);
        uint32_t took = now - ntohl(sent);
        b->delays[took < SLOWEST_US ? took : SLOWEST_US]++;
    }
    b->received += count > 0 ? (uint64_t)count : 0;
}

static void *bench_listen(void *arg)
{
    struct bench *b = arg;
    struct listening *l = mem_new(sizeof *l);
    struct pollfd polls[SOCKETS];

    for (int i = 0; i < SOCKETS; i++)
        polls[i] = (struct pollfd){ .fd = b->fds[i], .events = POLLIN };
    while (!b->over) {
        poll(polls, SOCKETS, 100);
        for (int i = 0; i < SOCKETS; i++)
            if (polls[i].revents)
                listen_once(b, l, b->fds[i]);
    }
    mem_free(l);
    return NULL;
}

/* --- the minimal loop ----------------------------------------------------------------- */

struct bare_batch {
    struct mmsghdr in[BATCH / 2], out[BATCH];
    struct iovec in_bytes[BATCH / 2], out_bytes[BATCH];
    unsigned char in_data[BATCH / 2][PACKET_MAX + 1], out_data[BATCH][ENCRYPTED_PACKET_MAX];
    unsigned waiting;
    struct decrypted_rtp_packet plain;
};

static void bare_flush(struct bench *b, struct bare_batch *m)
{
    for (unsigned at = 0; at < m->waiting;) {
        int sent = sendmmsg(b->bare, m->out + at, m->waiting - at, 0);

        b->bare_unsent += sent <= 0;
        at += sent > 0 ? (unsigned)sent : 1;
    }
    m->waiting = 0;
}

static void bare_pass_on(struct bench *b, struct bare_batch *m, struct str datagram)
{
    struct rtp_packet p;

    if (!rtp_parse_header(datagram, &p) || !p.ssrc || p.ssrc / SSRCS_PER_PARTICIPANT > b->count)
        return;
    struct person *from = &b->people[p.ssrc / SSRCS_PER_PARTICIPANT - 1];
    if (!media_cipher_decrypt(from->serves, &p, &m->plain))
        return;
    size_t each = b->speakers + b->listeners;
    for (size_t i = from->room * each; i < (from->room + 1) * each; i++) {
        struct person *to = &b->people[i];
        unsigned at = m->waiting;

        if (to == from)
            continue;
        m->out_bytes[at] =
            (struct iovec){ m->out_data[at],
                            media_cipher_encrypt(to->serves, &m->plain, m->out_data[at]) };
        m->out[at].msg_hdr = (struct msghdr){ .msg_name = &to->address,
                                              .msg_namelen = sizeof to->address.in,
                                              .msg_iov = &m->out_bytes[at],
                                              .msg_iovlen = 1 };
        if (++m->waiting == BATCH)
            bare_flush(b, m);
    }
}

static void *bare_run(void *arg)
{
    struct bench *b = arg;
    struct bare_batch *m = mem_new(sizeof *m);
    struct pollfd readable = { .fd = b->bare, .events = POLLIN };

    while (!b->over) {
        poll(&readable, 1, 100);
        for (int i = 0; i < BATCH / 2; i++) {
            m->in_bytes[i] = (struct iovec){ m->in_data[i], sizeof m->in_data[i] };
            m->in[i].msg_hdr = (struct msghdr){ .msg_iov = &m->in_bytes[i], .msg_iovlen = 1 };
        }
        int count = recvmmsg(b->bare, m->in, BATCH / 2, MSG_DONTWAIT, NULL);
        for (int i = 0; i < count; i++)
            bare_pass_on(b, m, str_slice((const char *)m->in_data[i], m->in[i].msg_len));
        bare_flush(b, m);
        b->bare_cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
    }
    mem_free(m);
    return NULL;
}

static void bare_start(struct bench *b, pthread_t *ret)
{
    const struct encryption_mode *mode =
        encryption_mode_find(str_of(encryption_mode_name(MODE_AES)));

    b->bare = bench_socket(&b->server);
    for (size_t i = 0; i < b->count; i++) {
        struct person *p = &b->people[i];

        p->ssrc = (uint32_t)(i + 1) * SSRCS_PER_PARTICIPANT;
        randombytes_buf(p->key, sizeof p->key);
        p->serves = media_cipher_new(mode, p->key, 0);
    }
    if (pthread_create(ret, NULL, bare_run, b) != 0)
        bench_die("thread");
}

/* --- the relay ------------------------------------------------------------------------ */

struct bench_relay {
    struct bench *bench;
    struct relay *relay;
    struct loop *sockets;
    unsigned worker; /* relay_bind handles its participants */
    size_t sealed;
    int64_t cpu;
};

static void relay_live(void *arg, const struct voice_state_key *p, bool live)
{
    (void)arg, (void)p, (void)live;
}

static void relay_active(void *arg, const struct voice_state_key *p)
{
    (void)arg, (void)p;
}

/* Adds a participant whose WebSocket is already closed, so that nothing is written to it. */
static void person_arrive(const struct bench_relay *br, size_t i)
{
    const struct person *p = &br->bench->people[i];
    struct pending_identify *c = mem_new(sizeof *c);
    const char *fingerprint = p->browser ? relay_browsers_fingerprint(br->bench->browsers) : "";
    struct relay_message *n =
        relay_message_new(br->relay, RELAY_MESSAGE_SELECT_PROTOCOL, strlen(fingerprint));

    *c = (struct pending_identify){ .user_id = i + 1,
                                    .relay = br->relay,
                                    .loop = br->sockets,
                                    .number = i + 1,
                                    .version = VOICE_SEQUENCE_VERSION };
    memcpy(c->token, &c->user_id, sizeof c->user_id);
    pending_identify_add(c);
    relay_deliver_voice_state_change(br->relay,
                                     &(struct relay_voice_state){ .guild_id = p->room + 1,
                                                                  .user_id = i + 1,
                                                                  .channel_id = p->room + 1,
                                                                  .room_id = p->room + 1,
                                                                  .may_send_audio = true,
                                                                  .may_receive_audio = true,
                                                                  .may_send_video = p->films,
                                                                  .claim = i + 1 });
    n->peer = i + 1;
    n->worker = relay_get_worker_of_room(br->relay, p->room + 1)->index;
    if (!p->browser)
        n->select.mode = encryption_mode_find(str_of(encryption_mode_name(MODE_AES)));
    else
        memcpy(n->text, fingerprint, n->n);
    n->select.transport_cc_id = -1;
    relay_message_send(n);
}

static void relay_arrive(struct loop *loop, void *arg)
{
    struct bench_relay *br = arg;

    (void)loop;
    for (size_t i = 0; i < br->bench->count - br->bench->browser_count; i++)
        person_arrive(br, i);
}

/* The camera is active and everybody in its room has requested its video. */
static void person_watch(const struct bench *b, const struct person *p, struct relay_participant *s)
{
    static const struct video_request all = { .any = 100 };

    if (p->room < b->rooms)
        return;
    s->camera.layers[0].active = p->films;
    s->offer.types = video_payload_types_default();
    participant_handle_video_request(s, &all);
}

/* Sets the addresses of the participants, instead of IP discovery. */
static void relay_bind(struct loop *loop, void *arg)
{
    struct bench_relay *br = arg;
    const struct relay_participant *s;

    (void)loop;
    for (size_t at = 0;
         (s = get_next_participant(br->relay->workers[br->worker].participants, &at));) {
        struct person *p = &br->bench->people[s->voice_state.user_id - 1];

        if (!s->media.cipher)
            continue;
        br->sealed++;
        p->ssrc = s->media.ssrc;
        memcpy(p->key, s->media.key, sizeof p->key);
        participant_set_address((struct relay_participant *)(uintptr_t)s, &p->address);
        person_watch(br->bench, p, (struct relay_participant *)(uintptr_t)s);
    }
}

static void relay_add_cpu(struct loop *loop, void *arg)
{
    (void)loop;
    ((struct bench_relay *)arg)->cpu += clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Adds the processor time of all threads of the relay. */
static void relay_cpu(struct bench_relay *br)
{
    br->cpu = 0;
    for (unsigned i = 0; i < br->relay->worker_count; i++)
        loop_run_function_and_wait(br->relay->workers[i].loop, relay_add_cpu, br);
    if (br->relay->receiver_loops)
        loop_run_function_and_wait(loops_get_loop_at(br->relay->receiver_loops, 0), relay_add_cpu,
                                   br);
}

/* The environment variable RELAY_THREADS sets the number of workers; default: one per core. */
static unsigned bench_threads(void)
{
    const char *threads = getenv("RELAY_THREADS");

    return threads ? (unsigned)atoi(threads) : 0;
}

static void ours_start(struct bench *b, struct bench_relay *br)
{
    struct loops *loops = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .address = "127.0.0.1",
                                     .threads = bench_threads(),
                                     .source = { NULL, NULL, relay_live, relay_active } };

    *br = (struct bench_relay){ .bench = b, .sockets = loops_get_loop_at(loops, 0) };
    if (relay_start(loops, &options, &br->relay))
        bench_die("relay");
    loop_run_function_and_wait(br->relay->workers[0].loop, relay_arrive, br);
    while (br->sealed < b->count - b->browser_count) {
        br->sealed = 0;
        for (br->worker = 0; br->worker < br->relay->worker_count; br->worker++)
            loop_run_function_and_wait(br->relay->workers[br->worker].loop, relay_bind, br);
    }
    b->server.in =
        (struct sockaddr_in){ .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)relay_get_media_port(br->relay)) };
}

/* --- browsers -------------------------------------------------------------------------- */

/* Copies the credentials of the browsers in the rooms of one worker. */
static void relay_copy_credentials(struct loop *loop, void *arg)
{
    struct bench_relay *br = arg;
    const struct bench *b = br->bench;
    const struct relay_participant *s;

    (void)loop;
    for (size_t at = 0;
         (s = get_next_participant(br->relay->workers[br->worker].participants, &at));)
        if (s->media.webrtc) {
            relay_browser_set(b->browsers,
                              s->voice_state.user_id - 1 - (b->count - b->browser_count),
                              s->media.webrtc->ufrag, s->media.webrtc->password);
            br->sealed++;
        }
}

/* All browsers join the room, and connect as soon as the relay has handled the last one. */
static void *bench_join(void *arg)
{
    struct bench_relay *br = arg;
    struct bench *b = br->bench;
    struct relay_worker *w = relay_get_worker_of_room(br->relay, b->rooms + 1);

    usleep(BROWSERS_AFTER_MS * 1000);
    int64_t began = clock_of(CLOCK_MONOTONIC);
    for (size_t i = b->count - b->browser_count; i < b->count; i++)
        person_arrive(br, i);
    br->worker = w->index;
    do {
        usleep(1000);
        br->sealed = 0;
        loop_run_function_and_wait(w->loop, relay_copy_credentials, br);
    } while (br->sealed < b->browser_count);
    b->connected = relay_browsers_connect(b->browsers, BROWSERS_TIMEOUT_MS);
    b->connected_ns = clock_of(CLOCK_MONOTONIC) - began;
    return NULL;
}

/* Waits until no packet has arrived for a while: late packets on a busy machine are not lost. */
static void bench_settle(const struct bench *b)
{
    uint64_t before;
    int tries = 0;

    do {
        before = b->received;
        usleep(SETTLE_MS * 1000);
    } while (b->received != before && ++tries < SETTLE_TRIES);
}

/* --- the main program ----------------------------------------------------------------- */

/* A viewer has a socket of its own, which is never read: the kernel drops the packets. */
static void bench_viewer(struct bench *b, struct person *p, bool films)
{
    int fd = bench_socket(&p->address), size = 0;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    p->room = b->rooms;
    p->films = films;
    if (films)
        b->camera_fd = fd;
}

static void bench_people(struct bench *b)
{
    size_t each = b->speakers + b->listeners;

    for (int i = 0; i < SOCKETS; i++)
        b->fds[i] = bench_socket(&b->names[i]);
    b->count = b->rooms * each + (b->viewers ? b->viewers + 1 : 0) + b->browser_count;
    b->people = mem_new(b->count * sizeof *b->people);
    b->delays = mem_new((SLOWEST_US + 1) * sizeof *b->delays);
    for (size_t i = b->rooms * each; i < b->count; i++)
        if (b->browser_count)
            b->people[i] = (struct person){ .room = b->rooms, .browser = true };
        else
            bench_viewer(b, &b->people[i], i + 1 == b->count);
    for (size_t i = 0; i < b->rooms * each; i++) {
        b->people[i].room = i / each;
        b->people[i].speaks = i % each < b->speakers;
        b->people[i].address = b->names[b->people[i].speaks ? 0 : i % SOCKETS];
    }
}

static void bench_give_keys(struct bench *b)
{
    const struct encryption_mode *mode =
        encryption_mode_find(str_of(encryption_mode_name(MODE_AES)));

    for (size_t i = 0; i < b->count; i++)
        if (b->people[i].speaks || b->people[i].films)
            b->people[i].sends = media_cipher_new(mode, b->people[i].key, 0);
}

static unsigned bench_percentile(const struct bench *b, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)(share * (double)b->received);
    unsigned us = 0;

    for (; us < SLOWEST_US; us++)
        if ((seen += b->delays[us]) > wanted)
            break;
    return us;
}

static unsigned longest_delay(const struct bench *b)
{
    unsigned us = SLOWEST_US;

    while (us && !b->delays[us])
        us--;
    return us;
}

static struct bench_losses losses_until_now(const struct bench *b, const struct bench_relay *br)
{
    struct bench_losses l = { 0 };
    struct relay_stats s;

    for (int i = 0; i < SOCKETS; i++)
        l.missed += socket_drops(b->fds[i]);
    if (br->relay) {
        relay_read_stats(br->relay, &s);
        l.overrun = s.overruns;
        l.unsent = s.unsent;
    } else {
        l.overrun = socket_drops(b->bare);
        l.unsent = b->bare_unsent;
    }
    return l;
}

static void losses_print(const struct bench_losses *before, const struct bench_losses *after)
{
    printf("\"overrun\":%llu,\"unsent\":%llu,\"missed\":%llu,",
           (unsigned long long)(after->overrun - before->overrun),
           (unsigned long long)(after->unsent - before->unsent),
           (unsigned long long)(after->missed - before->missed));
}

static void bench_print(const struct bench *b, int64_t cpu, int64_t took, size_t bytes)
{
    uint64_t wanted = b->sent * (b->speakers + b->listeners - 1);
    double each = wanted ? (double)wanted : 1; /* without speakers */

    if (b->browser_count)
        printf("\"browsers\":%zu,\"connected_ms\":%.1f,", b->connected,
               (double)b->connected_ns / 1e6);
    printf("\"longest_us\":%u,", longest_delay(b));
    printf("\"in\":%llu,\"out\":%llu,\"lost\":%lld,\"cpu_ns\":%.1f,\"busy\":%.3f,\"p50_us\":%u,"
           "\"p99_us\":%u,\"bytes_each\":%zu}\n",
           (unsigned long long)b->sent, (unsigned long long)b->received,
           (long long)(wanted - b->received), (double)cpu / each, (double)cpu / (double)took,
           bench_percentile(b, 0.5), bench_percentile(b, 0.99), bytes);
}

int main(int argc, char **argv)
{
    struct bench b = { 0 };
    struct bench_relay br = { 0 };
    pthread_t listens, bare, films, joins;

    if ((argc != 6 && argc != 8) || sodium_init() < 0)
        return 2;
    bool ours = strcmp(argv[1], "ours") == 0;
    b.rooms = (size_t)atoi(argv[2]);
    b.speakers = (size_t)atoi(argv[3]);
    b.listeners = (size_t)atoi(argv[4]);
    if (argc == 8 && ours && strcmp(argv[6], "browsers") == 0) {
        b.browser_count = (size_t)atoi(argv[7]);
    } else if (argc == 8 && ours) {
        b.viewers = (size_t)atoi(argv[6]);
        b.video_packets = atoi(argv[7]);
    }
    log_init(2, LOG_OFF, 0);
    bench_people(&b);
    size_t before = mallinfo2().uordblks;
    if (ours)
        ours_start(&b, &br);
    else
        bare_start(&b, &bare);
    usleep(500 * 1000); /* until all messages were sent */
    size_t bytes = (mallinfo2().uordblks - before) / b.count;
    bench_give_keys(&b);
    if (b.browser_count)
        b.browsers = relay_browsers_new(b.browser_count, b.server.in);
    if (pthread_create(&listens, NULL, bench_listen, &b) != 0)
        bench_die("thread");
    if (b.viewers && pthread_create(&films, NULL, bench_film, &b) != 0)
        bench_die("thread");
    bench_talk(&b, 1); /* wait until all SSRCs are announced and the caches are warm */
    bench_settle(&b);
    b.sent = b.received = 0;
    memset(b.delays, 0, (SLOWEST_US + 1) * sizeof *b.delays);
    if (ours)
        relay_cpu(&br);
    struct bench_losses before_all = losses_until_now(&b, &br);
    int64_t cpu = ours ? br.cpu : b.bare_cpu, began = clock_of(CLOCK_MONOTONIC);
    if (b.browser_count && pthread_create(&joins, NULL, bench_join, &br) != 0)
        bench_die("thread");
    bench_talk(&b, atoi(argv[5]));
    int64_t took = clock_of(CLOCK_MONOTONIC) - began;
    if (b.browser_count)
        pthread_join(joins, NULL);
    bench_settle(&b);
    if (ours)
        relay_cpu(&br);
    struct bench_losses after_all = losses_until_now(&b, &br);
    printf("{");
    losses_print(&before_all, &after_all);
    bench_print(&b, (ours ? br.cpu : b.bare_cpu) - cpu, took, bytes);
    return 0; /* the process frees the rest */
}
