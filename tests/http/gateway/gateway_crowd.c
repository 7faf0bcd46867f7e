/* gateway_crowd.c - a thousand sessions at once: cut, come back, or do not read. */
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

/* Threads meet in a smaller one as well, and ThreadSanitizer takes its time. */
#if defined(__SANITIZE_THREAD__)
enum { CROWD = 250 };
#else
enum { CROWD = 1000 };
#endif
enum { KEEN = 20, EVENTS = 300, WAIT_MS = 600000, MAX_IN = 4 << 20 };

/* --- one of many ---------------------------------------------------------------------- */

/* A session without comforts: reads what is there and never waits. */
struct face {
    int fd, number;
    bool upgraded, resuming, slow;
    bool seated; /* has its guild, so it hears what is published there */
    struct buf in;
    uint64_t seq;
    int next;  /* the event it must hear next */
    int kills; /* how often it will still be cut */
    int cut_at;
    char id[40];
};

struct crowd {
    struct world *world;
    struct client *bot;
    struct test_guild test_guild;
    struct face *faces;
    int count;
    _Atomic int published;
};

static void face_dial(struct crowd *c, struct face *f)
{
    /* From many places: few may come from one without saying who they are. */
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

static void face_send(struct face *f, const char *text)
{
    size_t n = strlen(text), head = n < 126 ? 2 : 4, mask = 4; /* of zeros */
    char frame[1024] = { (char)0x81, (char)(0x80 | n) };

    if (head == 4) {
        frame[1] = (char)(0x80 | 126);
        frame[2] = (char)(n >> 8);
        frame[3] = (char)n;
    }
    memcpy(frame + head + mask, text, n);
    /* A socket that the server has closed meanwhile is noticed when it is read. */
    send(f->fd, frame, head + mask + n, MSG_NOSIGNAL);
}

static void face_greet(struct crowd *c, struct face *f)
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
    face_send(f, text);
}

static uint64_t number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    expect(at != NULL);
    return strtoull(at + strlen(key), NULL, 10);
}

static void face_hear(struct crowd *c, struct face *f, const char *text)
{
    if (strstr(text, "\"op\":10,")) {
        face_greet(c, f);
        return;
    }
    if (!strstr(text, "\"op\":0,"))
        fail_test(__FILE__, __LINE__, "session %d was told %.100s", f->number, text);
    /* No gap, and nothing twice. */
    expect(number_after(text, "\"s\":") == f->seq + 1);
    f->seq++;
    if (strstr(text, "\"t\":\"READY\"")) {
        memcpy(f->id, strstr(text, "\"session_id\":\"") + 14, 32);
    } else if (strstr(text, "\"t\":\"GUILD_CREATE\"")) {
        f->seated = true;
    } else if (strstr(text, "\"t\":\"RESUMED\"")) {
        f->resuming = false;
    } else {
        expect(number_after(text, "\"i\":") == (uint64_t)f->next);
        f->next++;
    }
}

/* Takes whole messages out of what came. */
static void face_parse(struct crowd *c, struct face *f)
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
        face_hear(c, f, text);
        mem_free(text);
        at += head + n;
    }
    f->in.n -= at;
    memmove(f->in.p, f->in.p + at, f->in.n);
}

/* False: the server closed it. */
static bool face_read(struct crowd *c, struct face *f)
{
    char *at = buf_room(&f->in, 65536);

    expect(at != NULL);
    ssize_t got = recv(f->fd, at, 65536, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0)
        return false;
    f->in.n += (size_t)got;
    face_parse(c, f);
    return true;
}

/* --- all of them ---------------------------------------------------------------------- */

static void crowd_open(struct crowd *c, struct world *w, int count)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 8192 ? files.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &files);
    *c = (struct crowd){ .world = w, .bot = world_bot(w, "robot"), .count = count };
    c->test_guild = world_test_guild(w, world_client(w, "ada"));
    test_guild_add(&c->test_guild, c->bot);
    c->faces = mem_new((size_t)count * sizeof *c->faces);
    for (int i = 0; i < count; i++) {
        c->faces[i].number = i;
        buf_init(&c->faces[i].in, MAX_IN);
    }
}

static void crowd_close(struct crowd *c)
{
    for (int i = 0; i < c->count; i++) {
        close(c->faces[i].fd);
        buf_clear(&c->faces[i].in);
    }
    mem_free(c->faces);
}

/* Reads whatever is there for whoever satisfies nobody yet, until all do. */
static void crowd_run(struct crowd *c, bool (*done)(struct crowd *c, struct face *f))
{
    struct pollfd *all = mem_new((size_t)c->count * sizeof *all);
    int64_t end = clock_mono() / 1000000 + WAIT_MS;
    int left = 1;

    while (left) {
        left = 0;
        for (int i = 0; i < c->count; i++) {
            bool over = done(c, &c->faces[i]);

            all[i] = (struct pollfd){ .fd = over ? -1 : c->faces[i].fd, .events = POLLIN };
            left += !over;
        }
        if (left)
            poll(all, (nfds_t)c->count, 100);
        for (int i = 0; i < c->count; i++)
            if (all[i].revents && !face_read(c, &c->faces[i]))
                fail_test(__FILE__, __LINE__, "session %d was closed", i);
        expect(clock_mono() / 1000000 < end);
    }
    mem_free(all);
}

static bool is_ready(struct crowd *c, struct face *f)
{
    (void)c;
    return f->seated;
}

static void crowd_connect(struct crowd *c)
{
    /* A few hundred at a time, as a listen queue has. */
    int count = c->count;

    for (c->count = 0; c->count < count;) {
        int next = c->count + 200 < count ? c->count + 200 : count;

        for (int i = c->count; i < next; i++)
            face_dial(c, &c->faces[i]);
        c->count = next;
        crowd_run(c, is_ready);
    }
}

static void publish(struct crowd *c, int i, size_t padding)
{
    char *payload = mem_new(padding + 64);
    int n = snprintf(payload, 64, "{\"i\":%d,\"fill\":\"", i);

    memset(payload + n, 'x', padding);
    memcpy(payload + n + padding, "\"}", 2);
    struct announcement a = {
        .event = EVENT_MESSAGE_DELETE,
        .to = to_viewers(id_of(c->test_guild.id), id_of(c->test_guild.channel)),
        .payload = str_slice(payload, (size_t)n + padding + 2),
    };
    gateway_announce(guildhall_gateway(world_server(c->world)), &a);
    c->published = i + 1;
    mem_free(payload);
}

/* --- cut ------------------------------------------------------------------------------ */

static void *publish_all(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < EVENTS; i++) {
        publish(c, i, 100);
        usleep(2000);
    }
    return NULL;
}

/* Cuts it when its time has come, in the middle of whatever is on its way. */
static bool heard_all(struct crowd *c, struct face *f)
{
    if (f->kills && f->next >= f->cut_at) {
        close(f->fd);
        f->kills--;
        f->cut_at += 70 + f->number % 50;
        face_dial(c, f);
    }
    return f->next == EVENTS && !f->resuming && !f->kills;
}

static void sockets_of_a_crowd_cut_mid_stream_lose_and_double_nothing(struct world *w)
{
    struct crowd c;
    pthread_t thread;

    crowd_open(&c, w, CROWD);
    crowd_connect(&c);
    for (int i = 0; i < CROWD; i++) {
        c.faces[i].kills = 2;
        c.faces[i].cut_at = i * 37 % 150;
    }
    expect(pthread_create(&thread, NULL, publish_all, &c) == 0);
    crowd_run(&c, heard_all);
    pthread_join(thread, NULL);
    crowd_close(&c);
}

/* --- slow ----------------------------------------------------------------------------- */

static bool heard_published(struct crowd *c, struct face *f)
{
    return f->slow || f->next == c->published;
}

static uint64_t count_cut(struct world *w)
{
    struct gateway_stats stats;

    gateway_stats(guildhall_gateway(world_server(w)), &stats);
    return stats.cut;
}

static void a_crowd_that_does_not_read_is_cut_and_nobody_notices(struct world *w)
{
    struct crowd c;
    int i = 0;

    crowd_open(&c, w, CROWD + KEEN);
    for (int k = 0; k < CROWD; k++)
        c.faces[k].slow = true;
    crowd_connect(&c);
    /* The keen hear each event before the next one; half of what is kept cuts the rest. */
    for (; i < 400 && count_cut(w) < CROWD; i++) {
        publish(&c, i, 64 * 1024);
        crowd_run(&c, heard_published);
    }
    expect_soon(count_cut(w) == CROWD); /* the keen may all be on other loops */
    expect(i > 2 * 1024 / 64);          /* and what the kernel took */
    crowd_close(&c);
}

/* --- turns of a loop ------------------------------------------------------------------ */

static uint64_t count_delivered(struct world *w)
{
    struct gateway_stats stats;

    gateway_stats(guildhall_gateway(world_server(w)), &stats);
    return stats.delivered;
}

/* Says goodbye: its session ends and leaves its seats. */
static void face_leave(struct face *f)
{
    static const char bye[] = { (char)0x88, (char)0x82, 0, 0, 0, 0, 0x03, (char)0xe8 };

    send(f->fd, bye, sizeof bye, MSG_NOSIGNAL);
}

static bool heard_all_or_left(struct crowd *c, struct face *f)
{
    return f->slow || f->next == c->published;
}

/* All of them have their sockets on one loop. It answers others before everybody has heard
 * everything, and whoever stays hears each event once though every third one leaves. */
static void a_loop_serves_its_sockets_while_a_crowd_is_told(struct world *w)
{
    struct crowd c;

    crowd_open(&c, w, CROWD);
    crowd_connect(&c);
    uint64_t before = count_delivered(w);
    for (int i = 0; i < EVENTS; i++)
        publish(&c, i, 100);
    for (int i = 0; i < CROWD; i += 3) {
        c.faces[i].slow = true; /* it is not waited for */
        face_leave(&c.faces[i]);
    }
    expect_status(client_get(world_client(w, "ada"), "/voice/regions"), 200);
    expect(count_delivered(w) - before < CROWD * EVENTS / 2);
    crowd_run(&c, heard_all_or_left);
    crowd_close(&c);
}

struct flood {
    struct crowd *crowd;
    uint64_t before;
    _Atomic bool stop, ahead;
    bool ran_dry;
};

/* Publishes as fast as the loop delivers, and always some ahead of it. */
static void *keep_ahead(void *arg)
{
    struct flood *f = arg;

    for (int i = 0; !f->stop;) {
        uint64_t heard = (count_delivered(f->crowd->world) - f->before) / CROWD;

        f->ran_dry |= f->ahead && heard >= (uint64_t)i;
        if (heard + 50 > (uint64_t)i) {
            publish(f->crowd, i++, 100);
        } else {
            f->ahead = true;
            usleep(1000);
        }
    }
    return NULL;
}

/* A line of events that never ends does not keep anybody out. */
static void a_session_begins_though_the_line_does_not_end(struct world *w)
{
    struct crowd c;
    pthread_t thread;

    crowd_open(&c, w, CROWD);
    crowd_connect(&c);
    struct flood f = { .crowd = &c, .before = count_delivered(w) };
    expect(pthread_create(&thread, NULL, keep_ahead, &f) == 0);
    expect_soon(f.ahead);
    struct gateway_conn *late = conn_session(c.bot, "v=10", "'intents': 513");
    const struct dom *m = conn_read(late, 120000);
    f.stop = true;
    pthread_join(thread, NULL);
    expect(m && str_is(dom_at(m, "t")->text, "GUILD_CREATE"));
    conn_count(late, m);
    expect(!f.ran_dry);
    publish(&c, c.published, 100);
    for (int next = -1; next < c.published;) {
        const struct dom *d = expect_dispatch(late, "MESSAGE_DELETE", "{}");
        int i = atoi(dom_at(d, "i")->text.p);

        expect(next < 0 || i == next);
        next = i + 1;
    }
    crowd_run(&c, heard_published);
    crowd_close(&c);
}

static void one_loop(struct config *c)
{
    c->loops = 1;
}

static void many_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_crowd_tests[] = {
    TEST_WITH(sockets_of_a_crowd_cut_mid_stream_lose_and_double_nothing, many_loops),
    TEST_WITH(a_crowd_that_does_not_read_is_cut_and_nobody_notices, many_loops),
    TEST_WITH(a_loop_serves_its_sockets_while_a_crowd_is_told, one_loop),
    TEST_WITH(a_session_begins_though_the_line_does_not_end, one_loop),
    { 0 },
};
