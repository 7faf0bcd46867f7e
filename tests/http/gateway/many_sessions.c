/* many_sessions.c - a thousand sessions that are cut, resume, or do not read. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

/* A smaller number also has concurrent threads, and ThreadSanitizer is slow. */
#if defined(__SANITIZE_THREAD__)
enum { SESSIONS = 250 };
#else
enum { SESSIONS = 1000 };
#endif
enum { SLOW_SESSIONS = 50, READERS = 20, EVENTS = 300, WAIT_MS = 600000, MAX_IN = 4 << 20 };

/* --- one session ---------------------------------------------------------------------- */

/* A minimal non-blocking session client. */
struct load_session {
    int fd, number;
    bool upgraded, resuming, slow;
    bool in_guild; /* has received GUILD_CREATE, so it receives events of the guild */
    struct buf in;
    uint64_t seq;
    int next;  /* number of the next expected event */
    int kills; /* how often the test will still cut it */
    int cut_at;
    char id[40];
};

struct load_test {
    struct world *world;
    struct client *bot;
    struct test_guild test_guild;
    struct load_session *sessions;
    int count;
    _Atomic int published;
};

static void load_test_session_connect_socket(struct load_test *c, struct load_session *f)
{
    /* Connects from many addresses, because unidentified connections are limited per address. */
    struct sockaddr_in from = { .sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(0x7f000100u + (f->number % 100) + 1) };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)world_port(c->world)) };
    static const char hello[] = "GET /gateway?v=10 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(f->fd >= 0);
    if (f->slow)
        setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int));
    expect(bind(f->fd, (struct sockaddr *)&from, sizeof from) == 0);
    expect(connect(f->fd, (struct sockaddr *)&to, sizeof to) == 0);
    expect(send(f->fd, hello, sizeof hello - 1, MSG_NOSIGNAL) == sizeof hello - 1);
    f->upgraded = false;
    buf_clear(&f->in);
}

static void load_test_session_send(struct load_session *f, const char *text)
{
    size_t n = strlen(text), head = n < 126 ? 2 : 4, mask = 4; /* a mask of zeros */
    char frame[1024] = { (char)0x81, (char)(0x80 | n) };

    if (head == 4) {
        frame[1] = (char)(0x80 | 126);
        frame[2] = (char)(n >> 8);
        frame[3] = (char)n;
    }
    memcpy(frame + head + mask, text, n);
    /* A socket that the server has closed in the meantime is noticed when it is read. */
    send(f->fd, frame, head + mask + n, MSG_NOSIGNAL);
}

static void load_test_session_identify(struct load_test *c, struct load_session *f)
{
    char text[800];

    if (f->id[0])
        snprintf(text, sizeof text,
                 "{\"op\":6,\"d\":{\"token\":\"%s\",\"session_id\":\"%s\",\"seq\":%llu}}",
                 c->bot->authorization, f->id, (unsigned long long)f->seq);
    else
        snprintf(text, sizeof text,
                 "{\"op\":2,\"d\":{\"token\":\"%s\",\"intents\":513,\"properties\":{}}}",
                 c->bot->authorization);
    f->resuming = f->id[0];
    load_test_session_send(f, text);
}

static uint64_t number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    expect(at != NULL);
    return strtoull(at + strlen(key), NULL, 10);
}

static void load_test_session_on_message(struct load_test *c, struct load_session *f,
                                         const char *text)
{
    if (strstr(text, "\"op\":10,")) {
        load_test_session_identify(c, f);
        return;
    }
    if (!strstr(text, "\"op\":0,"))
        fail_test(__FILE__, __LINE__, "session %d was told %.100s", f->number, text);
    /* Sequence numbers have no gaps and no duplicates. */
    expect(number_after(text, "\"s\":") == f->seq + 1);
    f->seq++;
    if (strstr(text, "\"t\":\"READY\"")) {
        memcpy(f->id, strstr(text, "\"session_id\":\"") + 14, 32);
    } else if (strstr(text, "\"t\":\"GUILD_CREATE\"")) {
        f->in_guild = true;
    } else if (strstr(text, "\"t\":\"RESUMED\"")) {
        f->resuming = false;
    } else {
        expect(number_after(text, "\"i\":") == (uint64_t)f->next);
        f->next++;
    }
}

/* Parses complete messages out of the received bytes. */
static void load_test_session_parse_message(struct load_test *c, struct load_session *f)
{
    size_t at = 0;

    if (!f->upgraded) {
        const char *end = f->in.n ? memmem(f->in.p, f->in.n, "\r\n\r\n", 4) : NULL;

        if (!end)
            return;
        f->upgraded = true;
        at = (size_t)(end + 4 - f->in.p);
    }
    while (f->in.n - at >= 2) {
        const unsigned char *p = (const unsigned char *)f->in.p + at;
        size_t head = p[1] == 126 ? 4 : p[1] == 127 ? 10 : 2, n = p[1];

        if (f->in.n - at < head)
            break;
        if (head > 2)
            n = 0;
        for (size_t i = 2; i < head; i++)
            n = n << 8 | p[i];
        if (f->in.n - at < head + n)
            break;
        if (p[0] == 0x88)
            fail_test(__FILE__, __LINE__, "session %d was closed with %d", f->number,
                      p[head] << 8 | p[head + 1]);
        char *text = mem_new(n + 1);
        memcpy(text, p + head, n);
        load_test_session_on_message(c, f, text);
        mem_free(text);
        at += head + n;
    }
    f->in.n -= at;
    memmove(f->in.p, f->in.p + at, f->in.n);
}

/* Returns false if the server has closed the connection. */
static bool load_session_read(struct load_test *c, struct load_session *f)
{
    char *at = buf_reserve(&f->in, 65536);

    expect(at != NULL);
    ssize_t got = recv(f->fd, at, 65536, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0)
        return false;
    f->in.n += (size_t)got;
    load_test_session_parse_message(c, f);
    return true;
}

/* --- all sessions --------------------------------------------------------------------- */

static void load_test_open_sessions(struct load_test *c, struct world *w, int count)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 8192 ? files.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &files);
    *c = (struct load_test){ .world = w, .bot = world_bot(w, "robot"), .count = count };
    c->test_guild = world_test_guild(w, world_client(w, "ada"));
    test_guild_add(&c->test_guild, c->bot);
    c->sessions = mem_new((size_t)count * sizeof *c->sessions);
    for (int i = 0; i < count; i++) {
        c->sessions[i].number = i;
        buf_init(&c->sessions[i].in, MAX_IN);
    }
}

static void load_test_close_sessions(struct load_test *c)
{
    for (int i = 0; i < c->count; i++) {
        close(c->sessions[i].fd);
        buf_clear(&c->sessions[i].in);
    }
    mem_free(c->sessions);
}

/* Reads from all sessions that are not done, until all are. */
static void load_test_run_event_loop(struct load_test *c,
                                     bool (*done)(struct load_test *c, struct load_session *f))
{
    struct pollfd *all = mem_new((size_t)c->count * sizeof *all);
    int64_t end = clock_monotonic_ns() / 1000000 + WAIT_MS;
    int left = 1;

    while (left) {
        left = 0;
        for (int i = 0; i < c->count; i++) {
            bool over = done(c, &c->sessions[i]);

            all[i] = (struct pollfd){ .fd = over ? -1 : c->sessions[i].fd, .events = POLLIN };
            left += !over;
        }
        if (left)
            poll(all, (nfds_t)c->count, 100);
        for (int i = 0; i < c->count; i++)
            if (all[i].revents && !load_session_read(c, &c->sessions[i]))
                fail_test(__FILE__, __LINE__, "session %d was closed", i);
        expect(clock_monotonic_ns() / 1000000 < end);
    }
    mem_free(all);
}

static bool load_session_is_ready(struct load_test *c, struct load_session *f)
{
    (void)c;
    return f->in_guild;
}

static void load_test_connect_sessions(struct load_test *c)
{
    /* A few hundred at a time, because of the listen queue's length. */
    int count = c->count;

    for (c->count = 0; c->count < count;) {
        int next = c->count + 200 < count ? c->count + 200 : count;

        for (int i = c->count; i < next; i++)
            load_test_session_connect_socket(c, &c->sessions[i]);
        c->count = next;
        load_test_run_event_loop(c, load_session_is_ready);
    }
}

static void publish_event_to_loops(struct load_test *c, int i, size_t padding)
{
    char *payload = mem_new(padding + 64);
    int n = snprintf(payload, 64, "{\"i\":%d,\"fill\":\"", i);

    memset(payload + n, 'x', padding);
    memcpy(payload + n + padding, "\"}", 2);
    struct emitted_event a = {
        .event = EVENT_MESSAGE_DELETE,
        .to = audience_of_channel_viewers(id_of(c->test_guild.id), id_of(c->test_guild.channel)),
        .payload = str_slice(payload, (size_t)n + padding + 2),
    };
    gateway_publish_announcements(guildhall_get_gateway(world_server(c->world)), &a);
    c->published = i + 1;
    mem_free(payload);
}

/* --- dropped connections -------------------------------------------------------------- */

static void *publish_all_events(void *arg)
{
    struct load_test *c = arg;

    for (int i = 0; i < EVENTS; i++) {
        publish_event_to_loops(c, i, 100);
        usleep(2000);
    }
    return NULL;
}

/* Cuts the session's socket in the middle of the stream, once the event cut_at is reached. */
static bool received_all_events(struct load_test *c, struct load_session *f)
{
    if (f->kills && f->next >= f->cut_at) {
        close(f->fd);
        f->kills--;
        f->cut_at += 70 + f->number % 50;
        load_test_session_connect_socket(c, f);
    }
    return f->next == EVENTS && !f->resuming && !f->kills;
}

static void sessions_disconnected_during_events_resume_exactly(struct world *w)
{
    struct load_test c;
    pthread_t thread;

    load_test_open_sessions(&c, w, SESSIONS);
    load_test_connect_sessions(&c);
    for (int i = 0; i < SESSIONS; i++) {
        c.sessions[i].kills = 2;
        c.sessions[i].cut_at = i * 37 % 150;
    }
    expect(pthread_create(&thread, NULL, publish_all_events, &c) == 0);
    load_test_run_event_loop(&c, received_all_events);
    pthread_join(thread, NULL);
    load_test_close_sessions(&c);
}

/* --- slow readers --------------------------------------------------------------------- */

static bool received_published_events(struct load_test *c, struct load_session *f)
{
    return f->slow || f->next == c->published;
}

static uint64_t count_cut_sessions(struct world *w)
{
    struct gateway_stats stats;

    gateway_read_stats(guildhall_get_gateway(world_server(w)), &stats);
    return stats.disconnected_slow;
}

static void sessions_that_do_not_read_are_disconnected(struct world *w)
{
    struct load_test c;
    int i = 0;

    load_test_open_sessions(&c, w, SLOW_SESSIONS + READERS);
    for (int k = 0; k < SLOW_SESSIONS; k++)
        c.sessions[k].slow = true;
    load_test_connect_sessions(&c);
    /* The readers receive each event before the next one; half of the buffer limit cuts the
     * others. */
    for (; i < 400 && count_cut_sessions(w) < SLOW_SESSIONS; i++) {
        publish_event_to_loops(&c, i, 64 * 1024);
        load_test_run_event_loop(&c, received_published_events);
    }
    expect_soon(count_cut_sessions(w) == SLOW_SESSIONS); /* the readers may all be on other loops */
    expect(i > 2 * 1024 / 64);                           /* plus the kernel's socket buffers */
    load_test_close_sessions(&c);
}

/* --- iterations of a loop ------------------------------------------------------------- */

static uint64_t count_delivered_events(struct world *w)
{
    struct gateway_stats stats;

    gateway_read_stats(guildhall_get_gateway(world_server(w)), &stats);
    return stats.delivered;
}

/* Sends a close frame: the session ends and leaves its guild. */
static void load_test_session_disconnect(struct load_session *f)
{
    static const char bye[] = { (char)0x88, (char)0x82, 0, 0, 0, 0, 0x03, (char)0xe8 };

    send(f->fd, bye, sizeof bye, MSG_NOSIGNAL);
}

static bool received_all_or_is_slow(struct load_test *c, struct load_session *f)
{
    return f->slow || f->next == c->published;
}

/* All sockets are on one loop. The loop serves requests before all sessions have received
 * everything, and remaining sessions receive each event once though every third one leaves. */
static void event_loop_serves_requests_while_delivering_to_many_sessions(struct world *w)
{
    struct load_test c;

    load_test_open_sessions(&c, w, SESSIONS);
    load_test_connect_sessions(&c);
    uint64_t before = count_delivered_events(w);
    for (int i = 0; i < EVENTS; i++)
        publish_event_to_loops(&c, i, 100);
    for (int i = 0; i < SESSIONS; i += 3) {
        c.sessions[i].slow = true; /* this session is not waited for */
        load_test_session_disconnect(&c.sessions[i]);
    }
    expect_status(client_get(world_client(w, "ada"), "/voice/regions"), 200);
    expect(count_delivered_events(w) - before < SESSIONS * EVENTS / 2);
    load_test_run_event_loop(&c, received_all_or_is_slow);
    load_test_close_sessions(&c);
}

struct publisher {
    struct load_test *load_test;
    uint64_t before;
    _Atomic bool stop, ahead;
    bool ran_dry;
};

/* Publishes as fast as the loop delivers, and always some events ahead. */
static void *publish_ahead(void *arg)
{
    struct publisher *f = arg;

    for (int i = 0; !f->stop;) {
        uint64_t delivered = (count_delivered_events(f->load_test->world) - f->before) / SESSIONS;

        f->ran_dry |= f->ahead && delivered >= (uint64_t)i;
        if (delivered + 50 > (uint64_t)i) {
            publish_event_to_loops(f->load_test, i++, 100);
        } else {
            f->ahead = true;
            usleep(1000);
        }
    }
    return NULL;
}

/* An endless queue of events does not prevent new sessions. */
static void session_starts_while_the_event_queue_is_never_empty(struct world *w)
{
    struct load_test c;
    pthread_t thread;

    load_test_open_sessions(&c, w, SESSIONS);
    load_test_connect_sessions(&c);
    struct publisher f = { .load_test = &c, .before = count_delivered_events(w) };
    expect(pthread_create(&thread, NULL, publish_ahead, &f) == 0);
    expect_soon(f.ahead);
    struct gateway_conn *late = conn_session(c.bot, "v=10", "'intents': 513");
    const struct dom *m = conn_read(late, 120000);
    f.stop = true;
    pthread_join(thread, NULL);
    expect(m && str_is(dom_at(m, "t")->text, "GUILD_CREATE"));
    conn_count(late, m);
    expect(!f.ran_dry);
    publish_event_to_loops(&c, c.published, 100);
    for (int next = -1; next < c.published;) {
        const struct dom *d = expect_dispatch(late, "MESSAGE_DELETE", "{}");
        int i = atoi(dom_at(d, "i")->text.p);

        expect(next < 0 || i == next);
        next = i + 1;
    }
    load_test_run_event_loop(&c, received_published_events);
    load_test_close_sessions(&c);
}

static void configure_one_event_loop(struct config *c)
{
    c->loops = 1;
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_many_sessions_tests[] = {
    TEST_WITH(sessions_disconnected_during_events_resume_exactly, configure_four_event_loops),
    TEST_WITH(sessions_that_do_not_read_are_disconnected, configure_four_event_loops),
    TEST_WITH(event_loop_serves_requests_while_delivering_to_many_sessions,
              configure_one_event_loop),
    TEST_WITH(session_starts_while_the_event_queue_is_never_empty, configure_one_event_loop),
    { 0 },
};
