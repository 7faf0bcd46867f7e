/* server.c - starts and stops the HTTP server on all loops. */
#include "net/http/server.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

/* --- per-loop state ------------------------------------------------------------------- */

void home_free(struct home *h)
{
    while (h->arena_count)
        arena_free(h->arenas[--h->arena_count]);
    gzip_free(h->gzip);
    handlers_free(h);
    buf_clear(&h->buffers.out);
    buf_clear(&h->buffers.plain);
    buf_clear(&h->buffers.cipher);
    buf_clear(&h->buffers.pieces);
    body_budget_unref(h->budget);
    mem_free(h);
}

static struct home *home_new(struct server *s, struct loop *l, const struct server_options *o,
                             const struct server_app *app)
{
    struct home *h = mem_new(sizeof *h);

    h->server = s;
    h->loop = l;
    h->app = *app;
    h->tls = o->tls;
    h->tls_only = o->tls_only;
    h->head.via = s->via;
    h->proxies = o->proxies;
    h->proxy_protocol = o->proxy_protocol;
    h->timers.least_read = (uint64_t)o->head_timeout_ms * LEAST_RATE / 1000;
    h->timers.least_sent = (uint64_t)o->idle_timeout_ms * LEAST_TAKEN / 1000;
    h->budget = body_budget_ref(s->budget);
    links_init(&h->connections);
    links_init(&h->dirty);
    links_init(&h->input.postponed);
    h->input.go_on.run = home_go_on;
    /* No limits here: input is bounded before it is stored, and the server generates the output. */
    buf_init(&h->buffers.out, SIZE_MAX / 2);
    buf_init(&h->buffers.plain, SIZE_MAX / 2);
    buf_init(&h->buffers.cipher, SIZE_MAX / 2);
    buf_init(&h->buffers.pieces, SIZE_MAX / 2);
    return h;
}

static void end_turn(struct turn_end *t)
{
    struct home *h = container_of(t, struct home, turn_end);

    websockets_end_turn(h);
    h->head.dated = false;
    h->input.reads = 0;
    h->input.reads_until = 0;
}

struct opening {
    struct home *home;
    const struct server_options *options;
    int fd;
    enum err result;
};

static void open_home(struct loop *l, void *arg)
{
    struct opening *o = arg;
    struct home *h = o->home;

    h->timers.reading =
        deadlines_new(l, o->options->head_timeout_ms, false, connection_expired_reading);
    h->timers.sending =
        deadlines_new(l, o->options->idle_timeout_ms, false, connection_expired_sending);
    h->timers.idle = deadlines_new(l, o->options->idle_timeout_ms, false, connection_expired);
    h->timers.lingering = deadlines_new(l, LINGER_MS, false, connection_expired);
    h->timers.goodbyes = deadlines_new(l, GOODBYE_MS, false, connection_expired);
    h->timers.pauses = deadlines_new(l, PAUSE_MS, false, home_accept_again);
    h->turn_end.run = end_turn;
    loop_add_turn_end(l, &h->turn_end);
    o->result = home_listen(h, o->fd);
}

/* Ends the server's use of the per-loop state; the last running request frees that state. */
static void release_home(struct loop *l, void *arg)
{
    struct home *h = arg;

    (void)l;
    loop_drop_turn_end(&h->turn_end);
    deadlines_free(h->timers.reading);
    deadlines_free(h->timers.sending);
    deadlines_free(h->timers.idle);
    deadlines_free(h->timers.lingering);
    deadlines_free(h->timers.goodbyes);
    deadlines_free(h->timers.pauses);
    h->orphaned = true;
    if (h->calls == 0)
        home_free(h);
}

/* --- stopping ------------------------------------------------------------------------- */

static void server_report(struct home *h)
{
    struct server *s = h->server;

    if (!h->stopping || h->handles || h->reported)
        return;
    h->reported = true;
    pthread_mutex_lock(&s->lock);
    s->busy--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void home_handle_closed(struct home *h)
{
    h->handles--;
    server_report(h);
}

static void listener_closed(uv_handle_t *handle)
{
    struct home *h = container_of(handle, struct home, accept.listener);

    close(h->accept.listen_fd);
    home_handle_closed(h);
}

/* Closes the listener and idle connections. A connection with a partial request or a pending
 * response stays open. */
static void drain_home(struct loop *l, void *arg)
{
    struct home *h = arg;

    (void)l;
    h->stopping = true;
    deadline_drop(&h->accept.pause);
    if (h->accept.listening)
        uv_close((uv_handle_t *)&h->accept.listener, listener_closed);
    for (struct link *at = h->connections.next, *next; at != &h->connections; at = next) {
        struct connection *c = container_of(at, struct connection, link);

        next = at->next;
        if (c->state == CONN_HEAD && c->in.n == 0)
            connection_finish(c);
    }
    server_report(h);
}

static void stop_home(struct loop *l, void *arg)
{
    struct home *h = arg;

    (void)l;
    for (struct link *at = h->connections.next, *next; at != &h->connections; at = next) {
        struct connection *c = container_of(at, struct connection, link);

        next = at->next;
        if (c->state == CONN_WEBSOCKET)
            websocket_tell_shutdown(c);
    }
}

/* Returns true if no response is pending on the connection: it waits for the peer's close frame,
 * for the peer to close, or for a whole request. */
static bool connection_is_leaving(const struct connection *c)
{
    return c->state == CONN_WEBSOCKET || c->state == CONN_LINGER || c->state == CONN_HEAD ||
           (c->state == CONN_LAST && c->upgraded);
}

struct parting {
    struct home **homes;
    bool more;
};

static void part_home(struct loop *l, void *arg)
{
    struct parting *p = arg;
    struct home *h = p->homes[loop_index(l)];
    unsigned closed = 0;

    for (struct link *at = h->connections.next; at != &h->connections; at = at->next) {
        struct connection *c = container_of(at, struct connection, link);

        if (!connection_is_leaving(c))
            continue;
        if (closed++ == PARTED_AT_ONCE) {
            p->more = true;
            return;
        }
        connection_close(c);
    }
}

static void cut_home(struct loop *l, void *arg)
{
    struct home *h = arg;

    (void)l;
    /* Closed connections are removed from the list in a later loop iteration. */
    for (struct link *at = h->connections.next; at != &h->connections; at = at->next)
        connection_close(container_of(at, struct connection, link));
}

static bool wait_until_closed(struct server *s, const struct timespec *until)
{
    int e = 0;

    pthread_mutex_lock(&s->lock);
    while (s->busy && e != ETIMEDOUT)
        e = until ? pthread_cond_timedwait(&s->changed, &s->lock, until)
                  : pthread_cond_wait(&s->changed, &s->lock);
    bool closed = s->busy == 0;
    pthread_mutex_unlock(&s->lock);
    return closed;
}

static struct timespec in_ms(int64_t ms)
{
    int64_t at = clock_mono() + ms * 1000000;

    return (struct timespec){ .tv_sec = (time_t)(at / 1000000000), .tv_nsec = at % 1000000000 };
}

static void on_each_home(struct server *s, void (*run)(struct loop *l, void *arg))
{
    for (unsigned i = 0; i < loops_count(s->loops); i++)
        loop_call(loops_at(s->loops, i), run, s->homes[i]);
}

/* Closes connections in batches: there may be thousands and running requests share the loop. */
static void server_part(struct server *s)
{
    struct parting p = { .homes = s->homes, .more = true };

    while (p.more) {
        p.more = false;
        for (unsigned i = 0; i < loops_count(s->loops); i++)
            loop_call(loops_at(s->loops, i), part_home, &p);
    }
}

void server_drain(struct server *s)
{
    if (!s || s->draining)
        return;
    s->draining = true;
    on_each_home(s, drain_home);
}

void server_stop(struct server *s, int64_t patience_ms)
{
    if (!s || s->stopped)
        return;
    struct timespec until = in_ms(patience_ms);
    struct timespec parting = in_ms(patience_ms < PARTING_MS ? patience_ms : PARTING_MS);

    s->stopped = true;
    server_drain(s);
    on_each_home(s, stop_home);
    if (wait_until_closed(s, &parting))
        return;
    server_part(s);
    if (wait_until_closed(s, &until))
        return;
    on_each_home(s, cut_home);
    wait_until_closed(s, NULL);
}

static void server_discard(struct server *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s->homes);
    mem_free(s->via);
    body_budget_unref(s->budget);
    mem_free(s);
}

void server_free(struct server *s)
{
    if (!s)
        return;
    server_stop(s, 0);
    for (unsigned i = 0; i < loops_count(s->loops); i++)
        loop_call(loops_at(s->loops, i), release_home, s->homes[i]);
    server_discard(s);
}

/* --- starting ------------------------------------------------------------------------- */

static struct server *server_new(struct loops *loops, const struct server_options *o,
                                 const struct server_app *app)
{
    struct server *s = mem_new(sizeof *s);
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&s->lock, NULL);
    s->loops = loops;
    s->port = o->port;
    s->via = mem_dupz(o->via ? o->via : "1.1 guildhall");
    s->budget = body_budget_new(o->body_memory);
    s->busy = loops_count(loops);
    s->homes = mem_new(loops_count(loops) * sizeof *s->homes);
    for (unsigned i = 0; i < loops_count(loops); i++)
        s->homes[i] = home_new(s, loops_at(loops, i), o, app);
    return s;
}

/* Opens all sockets before any loop listens, so that nothing must be undone on failure. */
static bool open_sockets(struct server *s, const struct server_options *o, int *fds,
                         unsigned *ret_opened)
{
    unsigned i;

    for (i = 0; i < loops_count(s->loops); i++) {
        fds[i] =
            o->socket ? listen_share(o->socket, &s->port) : listen_open(o->host, s->port, &s->port);
        if (fds[i] < 0)
            break;
    }
    *ret_opened = i;
    return i == loops_count(s->loops);
}

enum err server_start(struct loops *loops, const struct server_options *options,
                      const struct server_app *app, struct server **ret)
{
    bool ours = !options->socket;
    enum err e = ours && options->port ? listen_probe(options->host, options->port) : OK;
    if (e)
        return e;

    struct server *s = server_new(loops, options, app);
    int *fds = mem_new(loops_count(loops) * sizeof *fds);
    unsigned opened = 0;
    if (!open_sockets(s, options, fds, &opened)) {
        for (unsigned i = 0; i < opened; i++)
            close(fds[i]);
        for (unsigned i = 0; i < loops_count(loops); i++)
            home_free(s->homes[i]);
        mem_free(fds);
        server_discard(s);
        return ERR_INTERNAL;
    }
    for (unsigned i = 0; i < loops_count(loops); i++) {
        struct opening o = { s->homes[i], options, fds[i], OK };

        loop_call(loops_at(loops, i), open_home, &o);
        if (o.result)
            e = o.result;
    }
    mem_free(fds);
    if (!ours)
        close(options->socket);
    if (e) {
        server_free(s);
        return e;
    }
    *ret = s;
    return OK;
}

int server_port(const struct server *s)
{
    return s->port;
}

void server_stats(const struct server *s, struct server_stats *ret)
{
    *ret = (struct server_stats){ .body_bytes = body_budget_used(s->budget) };
    for (unsigned i = 0; i < loops_count(s->loops); i++) {
        struct server_figures *f = &s->homes[i]->figures;

#define SUM(name) ret->name += atomic_load_explicit(&f->name, memory_order_relaxed)
        SUM(accepted);
        SUM(open);
        SUM(requests);
        SUM(refused);
        SUM(bytes_in);
        SUM(bytes_out);
        SUM(websockets);
#undef SUM
    }
}
