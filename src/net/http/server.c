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

void server_loop_free(struct server_loop *h)
{
    while (h->arena_count)
        arena_free(h->arenas[--h->arena_count]);
    gzip_state_free(h->gzip);
    websocket_handlers_free(h);
    buf_clear(&h->buffers.out);
    buf_clear(&h->buffers.plain);
    buf_clear(&h->buffers.cipher);
    buf_clear(&h->buffers.pieces);
    mem_free(h->buffers.bytes);
    body_budget_unref(h->budget);
    mem_free(h);
}

static struct server_loop *server_loop_new(struct http_server *s, struct loop *l,
                                           const struct http_server_options *o,
                                           const struct http_server_callbacks *app)
{
    struct server_loop *h = mem_new(sizeof *h);

    h->server = s;
    h->loop = l;
    h->app = *app;
    h->tls = o->tls;
    h->tls_only = o->tls_only;
    h->head.via = s->via;
    h->proxies = o->proxies;
    h->proxy_protocol = o->proxy_protocol;
    h->timers.least_read = (uint64_t)o->head_timeout_ms * MIN_BODY_RATE / 1000;
    h->timers.least_sent = (uint64_t)o->idle_timeout_ms * MIN_RESPONSE_RATE / 1000;
    h->budget = body_budget_ref(s->budget);
    linked_list_init(&h->connections);
    linked_list_init(&h->dirty);
    linked_list_init(&h->input.postponed);
    h->input.continue_message.run = on_continue_postponed_input;
    /* The buffers of a loop have no limit of their own: stored input is bounded elsewhere, and the
     * server itself generates the output. */
    buf_init(&h->buffers.out, SIZE_MAX / 2);
    buf_init(&h->buffers.plain, SIZE_MAX / 2);
    buf_init(&h->buffers.cipher, SIZE_MAX / 2);
    buf_init(&h->buffers.pieces, SIZE_MAX / 2);
    h->buffers.bytes = mem_resize(NULL, READ_BUFFER_BYTES);
    return h;
}

static void on_server_loop_iteration_end(struct loop_iteration_callback *t)
{
    struct server_loop *h = container_of(t, struct server_loop, iteration_end);

    websockets_send_queued_output(h);
    h->head.dated = false;
    h->input.reads = 0;
    h->input.reads_until = 0;
}

struct server_loop_opening {
    struct server_loop *server_loop;
    const struct http_server_options *options;
    int fd;
    enum err result;
};

static void open_server_loop(struct loop *l, void *arg)
{
    struct server_loop_opening *o = arg;
    struct server_loop *h = o->server_loop;

    h->timers.reading =
        deadline_list_new(l, o->options->head_timeout_ms, false, on_connection_read_timeout);
    h->timers.sending =
        deadline_list_new(l, o->options->idle_timeout_ms, false, on_connection_send_timeout);
    h->timers.idle =
        deadline_list_new(l, o->options->idle_timeout_ms, false, on_connection_closing_timeout);
    h->timers.lingering = deadline_list_new(l, LINGER_MS, false, on_connection_closing_timeout);
    h->timers.goodbyes =
        deadline_list_new(l, CLOSE_HANDSHAKE_MS, false, on_connection_closing_timeout);
    h->timers.pauses = deadline_list_new(l, ACCEPT_PAUSE_MS, false, server_loop_resume_accepting);
    h->iteration_end.run = on_server_loop_iteration_end;
    loop_add_iteration_callback(l, &h->iteration_end);
    o->result = server_loop_listen(h, o->fd);
}

/* Ends the server's use of its state on one loop. If requests are still running, the last one frees
 * the state. */
static void release_server_loop(struct loop *l, void *arg)
{
    struct server_loop *h = arg;

    (void)l;
    loop_remove_iteration_callback(&h->iteration_end);
    deadline_list_free(h->timers.reading);
    deadline_list_free(h->timers.sending);
    deadline_list_free(h->timers.idle);
    deadline_list_free(h->timers.lingering);
    deadline_list_free(h->timers.goodbyes);
    deadline_list_free(h->timers.pauses);
    h->orphaned = true;
    if (h->requests_in_progress == 0)
        server_loop_free(h);
}

/* --- stopping ------------------------------------------------------------------------- */

static void report_loop_closed(struct server_loop *h)
{
    struct http_server *s = h->server;

    if (!h->stopping || h->handles || h->reported)
        return;
    h->reported = true;
    pthread_mutex_lock(&s->lock);
    s->busy--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void server_loop_count_closed_handle(struct server_loop *h)
{
    h->handles--;
    report_loop_closed(h);
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct server_loop *h = container_of(handle, struct server_loop, accept.listener);

    close(h->accept.listen_fd);
    server_loop_count_closed_handle(h);
}

/* Closes the listener and idle connections. A connection with a partial request or a pending
 * response stays open. */
static void close_idle_connections_of_loop(struct loop *l, void *arg)
{
    struct server_loop *h = arg;

    (void)l;
    h->stopping = true;
    deadline_cancel(&h->accept.pause);
    if (h->accept.listening)
        uv_close((uv_handle_t *)&h->accept.listener, on_listener_closed);
    for (struct list_link *at = h->connections.next, *next; at != &h->connections; at = next) {
        struct http_connection *c = container_of(at, struct http_connection, link);

        next = at->next;
        if (c->state == CONN_HEAD && c->in.n == 0)
            http_connection_close_when_sent(c);
    }
    report_loop_closed(h);
}

static void shut_down_websockets(struct loop *l, void *arg)
{
    struct server_loop *h = arg;

    (void)l;
    for (struct list_link *at = h->connections.next, *next; at != &h->connections; at = next) {
        struct http_connection *c = container_of(at, struct http_connection, link);

        next = at->next;
        if (c->state == CONN_WEBSOCKET)
            websocket_close_for_server_shutdown(c);
    }
}

/* Returns true if no response is pending on the connection. Such a connection only waits for a
 * close frame, for the peer to close, or for a complete request. */
static bool connection_awaits_no_response(const struct http_connection *c)
{
    return c->state == CONN_WEBSOCKET || c->state == CONN_LINGER || c->state == CONN_HEAD ||
           (c->state == CONN_LAST && c->upgraded);
}

struct close_batch {
    struct server_loop **server_loops;
    bool more;
};

static void close_idle_connection_batch(struct loop *l, void *arg)
{
    struct close_batch *p = arg;
    struct server_loop *h = p->server_loops[loop_get_index(l)];
    unsigned closed = 0;

    for (struct list_link *at = h->connections.next; at != &h->connections; at = at->next) {
        struct http_connection *c = container_of(at, struct http_connection, link);

        if (!connection_awaits_no_response(c))
            continue;
        if (closed++ == CLOSED_PER_ITERATION) {
            p->more = true;
            return;
        }
        http_connection_close(c);
    }
}

static void close_all_connections(struct loop *l, void *arg)
{
    struct server_loop *h = arg;

    (void)l;
    /* No element is removed while this code iterates over the list, because connections are removed
     * only in a later loop iteration. */
    for (struct list_link *at = h->connections.next; at != &h->connections; at = at->next)
        http_connection_close(container_of(at, struct http_connection, link));
}

static bool wait_until_loops_closed(struct http_server *s, const struct timespec *until)
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

static struct timespec monotonic_time_after_ms(int64_t ms)
{
    int64_t at = clock_monotonic_ns() + ms * 1000000;

    return (struct timespec){ .tv_sec = (time_t)(at / 1000000000), .tv_nsec = at % 1000000000 };
}

static void call_function_on_each_loop(struct http_server *s,
                                       void (*run)(struct loop *l, void *arg))
{
    for (unsigned i = 0; i < loops_get_count(s->loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(s->loops, i), run, s->server_loops[i]);
}

/* Closes connections in batches, so that other requests can run between two batches; there may be
 * thousands of connections. */
static void close_idle_connections(struct http_server *s)
{
    struct close_batch p = { .server_loops = s->server_loops, .more = true };

    while (p.more) {
        p.more = false;
        for (unsigned i = 0; i < loops_get_count(s->loops); i++)
            loop_run_function_and_wait(loops_get_loop_at(s->loops, i), close_idle_connection_batch,
                                       &p);
    }
}

void http_server_drain(struct http_server *s)
{
    if (!s || s->draining)
        return;
    s->draining = true;
    call_function_on_each_loop(s, close_idle_connections_of_loop);
}

void http_server_stop(struct http_server *s, int64_t timeout_ms)
{
    if (!s || s->stopped)
        return;
    struct timespec until = monotonic_time_after_ms(timeout_ms);
    struct timespec parting = monotonic_time_after_ms(
        timeout_ms < STOP_CLOSE_HANDSHAKE_MS ? timeout_ms : STOP_CLOSE_HANDSHAKE_MS);

    s->stopped = true;
    http_server_drain(s);
    call_function_on_each_loop(s, shut_down_websockets);
    if (wait_until_loops_closed(s, &parting))
        return;
    close_idle_connections(s);
    if (wait_until_loops_closed(s, &until))
        return;
    call_function_on_each_loop(s, close_all_connections);
    wait_until_loops_closed(s, NULL);
}

static void free_server_memory(struct http_server *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s->server_loops);
    mem_free(s->via);
    body_budget_unref(s->budget);
    mem_free(s);
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    http_server_stop(s, 0);
    for (unsigned i = 0; i < loops_get_count(s->loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(s->loops, i), release_server_loop,
                                   s->server_loops[i]);
    free_server_memory(s);
}

/* --- starting ------------------------------------------------------------------------- */

static struct http_server *http_server_new(struct loops *loops, const struct http_server_options *o,
                                           const struct http_server_callbacks *app)
{
    struct http_server *s = mem_new(sizeof *s);
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&s->lock, NULL);
    s->loops = loops;
    s->port = o->port;
    s->via = mem_dup_cstring(o->via ? o->via : "1.1 guildhall");
    s->budget = body_budget_new(o->body_memory);
    s->busy = loops_get_count(loops);
    s->server_loops = mem_new(loops_get_count(loops) * sizeof *s->server_loops);
    for (unsigned i = 0; i < loops_get_count(loops); i++)
        s->server_loops[i] = server_loop_new(s, loops_get_loop_at(loops, i), o, app);
    return s;
}

/* Opens the sockets of all loops before any loop listens, so that nothing must be undone if one
 * cannot be opened. */
static bool open_listening_sockets(struct http_server *s, const struct http_server_options *o,
                                   int *fds, unsigned *ret_opened)
{
    unsigned i;

    for (i = 0; i < loops_get_count(s->loops); i++) {
        fds[i] = o->socket ? duplicate_listening_socket(o->socket, &s->port)
                           : open_listening_socket(o->host, s->port, &s->port);
        if (fds[i] < 0)
            break;
    }
    *ret_opened = i;
    return i == loops_get_count(s->loops);
}

enum err http_server_start(struct loops *loops, const struct http_server_options *options,
                           const struct http_server_callbacks *app, struct http_server **ret)
{
    bool opens_socket = !options->socket;
    enum err e =
        opens_socket && options->port ? check_port_is_free(options->host, options->port) : OK;
    if (e)
        return e;

    struct http_server *s = http_server_new(loops, options, app);
    int *fds = mem_new(loops_get_count(loops) * sizeof *fds);
    unsigned opened = 0;
    if (!open_listening_sockets(s, options, fds, &opened)) {
        for (unsigned i = 0; i < opened; i++)
            close(fds[i]);
        for (unsigned i = 0; i < loops_get_count(loops); i++)
            server_loop_free(s->server_loops[i]);
        mem_free(fds);
        free_server_memory(s);
        return ERR_INTERNAL;
    }
    for (unsigned i = 0; i < loops_get_count(loops); i++) {
        struct server_loop_opening o = { s->server_loops[i], options, fds[i], OK };

        loop_run_function_and_wait(loops_get_loop_at(loops, i), open_server_loop, &o);
        if (o.result)
            e = o.result;
    }
    mem_free(fds);
    if (!opens_socket)
        close(options->socket);
    if (e) {
        http_server_free(s);
        return e;
    }
    *ret = s;
    return OK;
}

int http_server_get_port(const struct http_server *s)
{
    return s->port;
}

void http_server_read_stats(const struct http_server *s, struct http_server_stats *ret)
{
    *ret = (struct http_server_stats){ .body_bytes = body_budget_get_reserved_bytes(s->budget) };
    for (unsigned i = 0; i < loops_get_count(s->loops); i++) {
        struct http_server_counters *f = &s->server_loops[i]->counters;

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
