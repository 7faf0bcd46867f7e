/* load_loop.c - loops of requests: get, write, play, register. */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http.h"

enum { EVENTS_A_TURN = 256, GRACE_MS = 5000, MAX_TOKENS_FILE = 1 << 24, MAX_SAMPLES = 1 << 24 };

struct client {
    struct http http;
    const char *token;
    uint64_t number;    /* number of its next write */
    char *lines, *line; /* the script, and the current line */
};

struct run {
    const struct options *options;
    struct client *clients;
    size_t count, busy;
    struct client **idle; /* with a rate: clients without a pending request … */
    size_t idle_count;
    int64_t next; /* … and when the next request is due */
    uint64_t sent, answered, refused;
    int64_t began, deadline, ended;
    uint32_t *samples; /* nanoseconds of each response */
    /* Writes a client's next request into its buffer; NULL: it is unchanged. */
    void (*prepare)(struct run *r, struct client *c);
    void (*answered_with)(struct run *r, struct client *c, const struct answer *a);
};

static volatile sig_atomic_t received_to_end;

static void on_sigterm(int number)
{
    (void)number;
    received_to_end = 1;
}

static bool more_wanted(const struct run *r, int64_t now)
{
    return !received_to_end && now < r->deadline &&
           (!r->options->count || r->sent < r->options->count);
}

static void client_next(struct run *r, struct client *c)
{
    if (r->prepare)
        r->prepare(r, c);
    http_send(&c->http);
    r->sent++;
}

static void sample_add(struct run *r, int64_t took)
{
    if (r->answered >= MAX_SAMPLES)
        die("more than %d answers in one run", MAX_SAMPLES);
    if ((r->answered & (r->answered - 1)) == 0)
        r->samples = mem_resize(r->samples, (2 * r->answered + 1) * sizeof *r->samples);
    r->samples[r->answered++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
}

static void client_readable(struct run *r, struct client *c)
{
    struct answer a;

    if (!http_receive(&c->http, &a))
        return;
    int64_t now = clock_monotonic_ns();
    sample_add(r, now - c->http.began);
    r->ended = now;
    if (a.status < 200 || a.status > 299)
        r->refused++;
    if (r->answered_with)
        r->answered_with(r, c, &a);
    if (!r->idle && more_wanted(r, now)) {
        client_next(r, c);
        return;
    }
    r->busy--;
    if (r->idle)
        r->idle[r->idle_count++] = c;
}

/* --- at a rate ------------------------------------------------------------------------ */

/* A request without a free client is late, and its time counts from when it was due; otherwise a
 * stalled server would get no requests and look fast. */
static void send_due(struct run *r)
{
    int64_t now = clock_monotonic_ns(), step = 1000000000 / (int64_t)r->options->rate;

    while (r->idle_count && r->next <= now && more_wanted(r, now)) {
        /* Use the client that was idle the longest, because a server closes idle connections. */
        struct client *c = r->idle[0];

        memmove(r->idle, r->idle + 1, --r->idle_count * sizeof(struct client *));
        client_next(r, c);
        c->http.began = r->next;
        r->next += step;
        r->busy++;
    }
}

/* All clients are idle until a request is due; SIGTERM ends the run early. */
static void begin_rate(struct run *r)
{
    signal(SIGTERM, on_sigterm);
    r->idle = mem_new(r->count * sizeof(struct client *));
    for (size_t i = 0; i < r->count; i++)
        r->idle[r->idle_count++] = &r->clients[i];
    r->next = r->began;
    send_due(r);
}

/* Returns how long to wait for responses: until the next request is due, or for the last ones. */
static struct timespec run_patience(const struct run *r)
{
    int64_t now = clock_monotonic_ns(), wait = GRACE_MS * INT64_C(1000000);

    if (r->idle_count && more_wanted(r, now))
        wait = r->next > now ? r->next - now : 0;
    return (struct timespec){ wait / 1000000000, wait % 1000000000 };
}

/* --- the loop ------------------------------------------------------------------------- */

/* Runs until the time or count is reached and the last responses have arrived. */
static void run_loop(struct run *r)
{
    static struct epoll_event events[EVENTS_A_TURN];
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    for (size_t i = 0; i < r->count; i++) {
        struct client *c = &r->clients[i];
        http_open(&c->http, r->options->port);
        struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->http.fd, &ev) != 0)
            die("epoll: %s", strerror(errno));
    }
    r->began = r->ended = clock_monotonic_ns();
    r->deadline = r->began + (int64_t)(r->options->seconds * 1e9);
    if (r->options->rate)
        begin_rate(r);
    for (size_t i = 0; !r->idle && i < r->count && more_wanted(r, r->began); i++, r->busy++)
        client_next(r, &r->clients[i]);
    while (r->busy || (r->idle && more_wanted(r, clock_monotonic_ns()))) {
        struct timespec patience = run_patience(r);
        int count = epoll_pwait2(epoll, events, EVENTS_A_TURN, &patience, NULL);

        if ((count == 0 && patience.tv_sec) ||
            clock_monotonic_ns() > r->deadline + GRACE_MS * 1000000LL)
            die("%zu answers are missing", r->busy);
        for (int i = 0; i < count; i++)
            client_readable(r, events[i].data.ptr);
        if (r->idle)
            send_due(r);
    }
    close(epoll);
}

static void run_end(struct run *r)
{
    for (size_t i = 0; i < r->count; i++)
        http_close(&r->clients[i].http);
    mem_free(r->clients);
    mem_free(r->idle);
    mem_free(r->samples);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void run_report(struct run *r)
{
    double seconds = (double)(r->ended - r->began) / 1e9, sum = 0;

    if (!r->answered)
        die("no answers");
    qsort(r->samples, r->answered, sizeof *r->samples, by_value);
    for (size_t i = 0; i < r->answered; i++)
        sum += r->samples[i];
    printf("{\"requests\":%llu,\"refused\":%llu,\"seconds\":%.6f,\"per_second\":%.1f,"
           "\"mean_us\":%.2f,\"p50_us\":%.2f,\"p99_us\":%.2f,\"longest_us\":%.2f}\n",
           (unsigned long long)r->answered, (unsigned long long)r->refused, seconds,
           (double)r->answered / seconds, sum / (double)r->answered / 1e3,
           r->samples[r->answered / 2] / 1e3, r->samples[r->answered * 99 / 100] / 1e3,
           r->samples[r->answered - 1] / 1e3);
}

/* --- get ------------------------------------------------------------------------------ */

static void get_prepare(struct run *r, struct client *c)
{
    if (!c->http.out.n)
        http_request(&c->http, "GET", r->options->path, r->options->token, NULL);
}

void load_get(const struct options *o)
{
    struct run r = { .options = o, .count = o->connections, .prepare = get_prepare };

    if (!o->path)
        die("get needs --path");
    r.clients = mem_new(r.count * sizeof *r.clients);
    run_loop(&r);
    run_report(&r);
    run_end(&r);
}

/* --- write ---------------------------------------------------------------------------- */

/* Replaces '#' by a number that is unique to this client and request. */
static void write_body(struct client *c, const char *pattern, struct buf *out)
{
    for (; *pattern; pattern++) {
        if (*pattern == '#')
            buf_add_u64(out, c->number += 1);
        else
            buf_add_char(out, *pattern);
    }
    buf_add_char(out, '\0');
}

static void write_prepare(struct run *r, struct client *c)
{
    const struct options *o = r->options;
    struct buf body;

    buf_init(&body, 4096);
    write_body(c, o->body ? o->body : "{\"bio\":\"#\"}", &body);
    http_request(&c->http, o->body ? "POST" : "PATCH", o->body ? o->path : "/api/v10/users/@me",
                 c->token, body.p);
    buf_clear(&body);
}

static char *file_text(const char *path)
{
    char *text = mem_new(MAX_TOKENS_FILE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, MAX_TOKENS_FILE - 1) < 0)
        die("cannot read '%s': %s", path, strerror(errno));
    close(fd);
    return text;
}

void load_write(const struct options *o)
{
    struct run r = { .options = o, .count = o->connections, .prepare = write_prepare };

    if (!o->tokens_file)
        die("write needs --tokens");
    if (o->body && !o->path)
        die("a body needs a --path");
    char *text = file_text(o->tokens_file), *rest = text;
    r.clients = mem_new(r.count * sizeof *r.clients);
    for (size_t i = 0; i < r.count; i++) {
        r.clients[i].token = strtok_r(rest, "\n", &rest);
        r.clients[i].number = o->body ? i * 1500 : 0;
        if (!r.clients[i].token)
            die("%zu connections need as many tokens", r.count);
    }
    run_loop(&r);
    run_report(&r);
    run_end(&r);
    mem_free(text);
}

/* --- play ----------------------------------------------------------------------------- */

/* Prepares the next line "METHOD PATH TOKEN BODY" of the client's part, or the first again. */
static void play_prepare(struct run *r, struct client *c)
{
    char line[1024], *rest = line;

    (void)r;
    if (!*c->line)
        c->line = c->lines;
    size_t n = strcspn(c->line, "\n");
    if (n >= sizeof line)
        die("a line of the script is longer than %zu bytes", sizeof line);
    memcpy(line, c->line, n);
    line[n] = '\0';
    c->line += n + (c->line[n] == '\n');
    const char *method = strtok_r(rest, " ", &rest), *path = strtok_r(rest, " ", &rest);
    const char *token = strtok_r(rest, " ", &rest);
    if (!token)
        die("a line of the script is not METHOD PATH TOKEN BODY");
    http_request(&c->http, method, path, token, rest && *rest ? rest : NULL);
}

void load_play(const struct options *o)
{
    struct run r = { .options = o, .count = o->connections, .prepare = play_prepare };

    if (!o->script_file)
        die("play needs --script");
    char *text = file_text(o->script_file), *at = text;
    r.clients = mem_new(r.count * sizeof *r.clients);
    for (size_t i = 0; i < r.count; i++) {
        char *end = strstr(at, "\n\n");

        if (!end)
            die("%zu connections need as many parts of the script", r.count);
        end[1] = '\0';
        r.clients[i].lines = r.clients[i].line = at;
        at = end + 2;
    }
    run_loop(&r);
    run_report(&r);
    run_end(&r);
    mem_free(text);
}

/* --- register ------------------------------------------------------------------------- */

static void register_prepare(struct run *r, struct client *c)
{
    char body[160];

    snprintf(body, sizeof body, "{\"username\":\"%s%llu\",\"password\":\"correct horse battery\"}",
             r->options->prefix, (unsigned long long)r->sent);
    http_request(&c->http, "POST", "/api/v10/auth/register", NULL, body);
}

static void register_answered(struct run *r, struct client *c, const struct answer *a)
{
    static const char key[] = "\"token\"";
    const char *at = memmem(a->body.p, a->body.n, key, sizeof key - 1);

    (void)r, (void)c;
    if ((a->status != 200 && a->status != 201) || !at)
        die("register returned status %d: %.*s", a->status, STR_ARGS(a->body));
    struct str rest = str_skip_bytes(a->body, (size_t)(at + sizeof key - 1 - a->body.p));
    str_cut(&rest, '"');
    struct str token = str_cut(&rest, '"');
    printf("%.*s\n", STR_ARGS(token));
}

void load_register(const struct options *o)
{
    struct run r = { .options = o,
                     .count = o->connections,
                     .prepare = register_prepare,
                     .answered_with = register_answered };

    if (!o->count)
        die("register needs --count");
    r.clients = mem_new(r.count * sizeof *r.clients);
    run_loop(&r);
    run_end(&r);
}
