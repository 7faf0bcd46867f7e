/* load_rounds.c - complete rounds of interactions: a user invokes a command, the bot receives
 * and answers it, and the user gets the message. One thread plays both: the user, with a session
 * and a connection per slot, and the bot, with a session and connections for its replies. Each
 * slot starts again after its message, or with --rate when it is due. */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http.h"

enum {
    MAX_IN = 1 << 22,
    READ_BUFFER_BYTES = 65536,
    GRACE_S = 5,
    MAX_SAMPLES = 1 << 22,
    EVENTS = 256
};

struct source {
    void (*readable)(struct source *s);
};

struct socket {
    struct source source; /* must be first */
    int fd;
    struct buf in;
    void (*delivered_to)(struct str payload);
};

struct worker {
    struct source source; /* must be first */
    struct http http;
    uint64_t number;
    int64_t began;
    bool asking, waiting; /* for the response to its request; for the message */
};

struct poster {
    struct source source; /* must be first */
    struct http http;
    bool busy;
};

static struct rounds {
    const struct options *options;
    int epoll;
    struct socket user, bot;
    struct worker *shards;
    struct poster *posters;
    size_t worker_count, poster_count;
    int64_t began, deadline, next; /* next: when the next round starts, with a rate */
    uint64_t begun, done;
    uint32_t *samples;
} w;

static void watch(int fd, struct source *s)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = s };

    if (epoll_ctl(w.epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
        die("epoll: %s", strerror(errno));
}

/* --- the user's requests -------------------------------------------------------------- */

static void start_round(struct worker *l, int64_t scheduled)
{
    const char *mark = strstr(w.options->body, "NONCE");
    char body[4096];

    if (!mark)
        die("the body has no NONCE");
    snprintf(body, sizeof body, "%.*s%zu-%llu%s", (int)(mark - w.options->body), w.options->body,
             (size_t)(l - w.shards), (unsigned long long)++l->number, mark + 5);
    http_request(&l->http, "POST", "/api/v10/interactions", w.options->token, body);
    http_send(&l->http);
    l->began = scheduled;
    l->asking = l->waiting = true;
    w.begun++;
}

static bool more_wanted(int64_t now)
{
    return now < w.deadline && (!w.options->count || w.begun < w.options->count);
}

/* Free slots start the rounds that are due. */
static void begin_due(int64_t now)
{
    int64_t step = w.options->rate ? (int64_t)(1e9 / (double)w.options->rate) : 0;

    for (size_t i = 0; i < w.worker_count && more_wanted(now); i++) {
        struct worker *l = &w.shards[i];

        if (l->asking || l->waiting)
            continue;
        if (step && w.next > now)
            return;
        start_round(l, step ? w.next : now);
        w.next += step;
    }
}

static void on_slot_readable(struct source *s)
{
    struct worker *l = (struct worker *)s;
    struct answer a;

    if (!http_receive(&l->http, &a))
        return;
    if (a.status != 204)
        die("POST /interactions answered %d: %.*s", a.status, STR_ARGS(a.body));
    l->asking = false;
}

/* --- the bot -------------------------------------------------------------------------- */

static struct str between(struct str text, const char *before, char after)
{
    const char *at = memmem(text.p, text.n, before, strlen(before));

    if (!at)
        return (struct str){ 0 };
    struct str rest = str_skip_bytes(text, (size_t)(at - text.p) + strlen(before));
    return str_cut(&rest, after);
}

static void poster_readable(struct source *s)
{
    struct poster *p = (struct poster *)s;
    struct answer a;

    if (!http_receive(&p->http, &a))
        return;
    if (a.status != 204)
        die("the callback got status %d: %.*s", a.status, STR_ARGS(a.body));
    p->busy = false;
}

static struct poster *free_poster(void)
{
    for (size_t i = 0; i < w.poster_count; i++)
        if (!w.posters[i].busy)
            return &w.posters[i];
    die("no connection is left for the bot's answers");
}

static void on_bot_event(struct str text)
{
    struct str id = between(text, "\"d\":{\"id\":\"", '"'),
               token = between(text, "\"token\":\"", '"');
    char path[400];

    if (!memmem(text.p, text.n, "\"t\":\"INTERACTION_CREATE\"", 24))
        return;
    if (!id.p || !token.p)
        die("the bot cannot parse the event: %.*s", STR_ARGS(text));
    struct poster *p = free_poster();
    snprintf(path, sizeof path, "/api/v10/interactions/%.*s/%.*s/callback", STR_ARGS(id),
             STR_ARGS(token));
    http_request(&p->http, "POST", path, NULL,
                 "{\"type\":4,\"data\":{\"content\":\"It is sunny in Oslo, 21 degrees.\"}}");
    http_send(&p->http);
    p->busy = true;
}

/* --- the user's events ---------------------------------------------------------------- */

static void on_user_event(struct str text)
{
    struct str nonce = between(text, "\"nonce\":\"", '"'), worker = str_cut(&nonce, '-');
    uint64_t number, i;

    if (!memmem(text.p, text.n, "\"t\":\"MESSAGE_CREATE\"", 20))
        return;
    if (!str_to_u64(worker, &i) || i >= w.worker_count || !str_to_u64(nonce, &number) ||
        number != w.shards[i].number || !w.shards[i].waiting)
        die("an unexpected message arrived: %.*s", STR_ARGS(text));
    int64_t took = clock_monotonic_ns() - w.shards[i].began;
    if (w.done >= MAX_SAMPLES)
        die("more than %d rounds in one run", MAX_SAMPLES);
    w.samples[w.done++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    w.shards[i].waiting = false;
}

/* --- sessions ------------------------------------------------------------------------- */

/* Returns a whole message at the front, or a str with p == NULL; *ret_used: its bytes with the
 * header. */
static struct str frame_at(struct str in, size_t *ret_used)
{
    const unsigned char *p = (const unsigned char *)in.p;

    if (in.n < 2)
        return (struct str){ 0 };
    size_t extra = p[1] == 126 ? 2 : p[1] == 127 ? 8 : 0;
    uint64_t size = extra ? 0 : p[1];
    if (in.n < 2 + extra)
        return (struct str){ 0 };
    for (size_t i = 0; i < extra; i++)
        size = size << 8 | p[2 + i];
    if (in.n < 2 + extra + size)
        return (struct str){ 0 };
    if ((p[0] & 0x0f) == 8)
        die("a session was closed");
    *ret_used = 2 + extra + size;
    return str_slice(in.p + 2 + extra, size);
}

static void receive(struct socket *s)
{
    char *at = buf_reserve(&s->in, READ_BUFFER_BYTES);
    ssize_t got = at ? recv(s->fd, at, READ_BUFFER_BYTES, 0) : 0;

    if (got <= 0)
        die("a session was closed: %s", got ? strerror(errno) : "by the server");
    s->in.n += (size_t)got;
}

static void socket_readable(struct source *source)
{
    struct socket *s = (struct socket *)source;
    struct str rest, payload;
    size_t used;

    receive(s);
    for (rest = buf_as_str(&s->in); (payload = frame_at(rest, &used)).p;
         rest = str_skip_bytes(rest, used))
        s->delivered_to(payload);
    buf_drop_first_bytes(&s->in, s->in.n - rest.n);
}

/* Waits for a message that contains this text. */
static void await_message(struct socket *s, const char *text)
{
    struct str payload;
    size_t used;

    for (;;) {
        while (!(payload = frame_at(buf_as_str(&s->in), &used)).p)
            receive(s);
        bool found = memmem(payload.p, payload.n, text, strlen(text)) != NULL;
        buf_drop_first_bytes(&s->in, used);
        if (found)
            return;
    }
}

static void identify(struct socket *s, const char *token)
{
    char text[600];
    int n = snprintf(text + 8, sizeof text - 8,
                     "{\"op\":2,\"d\":{\"token\":\"%s\",\"intents\":0,\"properties\":{}}}", token);

    /* Masked with zeros, because only the server is measured. */
    memcpy(text, "\x81\xfe\0\0\0\0\0\0", 8);
    text[2] = (char)(n >> 8);
    text[3] = (char)n;
    if (send(s->fd, text, (size_t)n + 8, MSG_NOSIGNAL) != n + 8)
        die("cannot send: %s", strerror(errno));
}

static void session_open(struct socket *s, const char *token,
                         void (*delivered_to)(struct str payload))
{
    struct http h;
    const char *end;

    http_open(&h, w.options->port);
    buf_printf(&h.out, "GET /?v=10&encoding=json HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                       "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    http_send(&h);
    buf_clear(&h.out);
    *s = (struct socket){ .source = { socket_readable }, .fd = h.fd, .delivered_to = delivered_to };
    buf_init(&s->in, MAX_IN);
    while (!s->in.n || !(end = memmem(s->in.p, s->in.n, "\r\n\r\n", 4)))
        receive(s);
    if (memcmp(s->in.p, "HTTP/1.1 101 ", 13) != 0)
        die("the handshake got %.12s", s->in.p);
    buf_drop_first_bytes(&s->in, (size_t)(end + 4 - s->in.p));
    await_message(s, "\"op\":10");
    identify(s, token);
    await_message(s, "\"t\":\"READY\"");
    watch(s->fd, &s->source);
}

/* --- the main loop -------------------------------------------------------------------- */

static bool all_done(void)
{
    for (size_t i = 0; i < w.worker_count; i++)
        if (w.shards[i].asking || w.shards[i].waiting)
            return false;
    for (size_t i = 0; i < w.poster_count; i++)
        if (w.posters[i].busy)
            return false;
    return true;
}

static void run(void)
{
    static struct epoll_event events[EVENTS];

    w.began = w.next = clock_monotonic_ns();
    w.deadline = w.began + (int64_t)(w.options->seconds * 1e9);
    begin_due(w.began);
    while (more_wanted(clock_monotonic_ns()) || !all_done()) {
        int count = epoll_wait(w.epoll, events, EVENTS, w.options->rate ? 1 : 100);

        if (clock_monotonic_ns() > w.deadline + GRACE_S * 1000000000LL)
            die("%llu of %llu rounds are missing", (unsigned long long)(w.begun - w.done),
                (unsigned long long)w.begun);
        for (int i = 0; i < count; i++) {
            struct source *s = events[i].data.ptr;

            s->readable(s);
        }
        begin_due(clock_monotonic_ns());
    }
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void report(void)
{
    double seconds = (double)(clock_monotonic_ns() - w.began) / 1e9;

    if (!w.done)
        die("no rounds");
    qsort(w.samples, w.done, sizeof *w.samples, by_value);
    printf("{\"requests\":%llu,\"seconds\":%.6f,\"per_second\":%.1f,\"p50_us\":%.2f,"
           "\"p99_us\":%.2f}\n",
           (unsigned long long)w.done, seconds, (double)w.done / seconds,
           w.samples[w.done / 2] / 1e3, w.samples[w.done * 99 / 100] / 1e3);
}

void load_rounds(const struct options *o)
{
    if (!o->token || !o->bot || !o->body)
        die("rounds needs --token, --bot and --body");
    w.options = o;
    w.epoll = epoll_create1(EPOLL_CLOEXEC);
    w.worker_count = o->connections;
    w.poster_count = 2 * o->connections;
    w.shards = mem_new(w.worker_count * sizeof *w.shards);
    w.posters = mem_new(w.poster_count * sizeof *w.posters);
    w.samples = mem_new(MAX_SAMPLES * sizeof *w.samples);
    session_open(&w.user, o->token, on_user_event);
    session_open(&w.bot, o->bot, on_bot_event);
    for (size_t i = 0; i < w.worker_count; i++) {
        w.shards[i].source.readable = on_slot_readable;
        w.shards[i].number = (uint64_t)clock_us(); /* differs from nonces of earlier runs */
        http_open(&w.shards[i].http, o->port);
        watch(w.shards[i].http.fd, &w.shards[i].source);
    }
    for (size_t i = 0; i < w.poster_count; i++) {
        w.posters[i].source.readable = poster_readable;
        http_open(&w.posters[i].http, o->port);
        watch(w.posters[i].http.fd, &w.posters[i].source);
    }
    run();
    report();
}
