/* loop_conn.c - opens, polls and closes a loop's own PostgreSQL connection.
 *
 * Connecting blocks, so it happens on a libuv thread. While there is no connection, workers run the
 * reads. */
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/loop.h"

enum {
    MIN_RECONNECT_WAIT_MS = 50, /* first wait between two connection attempts, in ms; doubled after
                                 * each failure */
    MAX_RECONNECT_WAIT_MS = 5000, /* longest wait between connection attempts */
};

static void on_socket_handle_closed(uv_handle_t *socket)
{
    mem_free(socket);
}

static void close_loop_reader_connection(struct postgres_loop_reader *r)
{
    query_cache_free(r->conn.rows.cache);
    r->conn.rows.cache = NULL;
    if (r->socket)
        uv_close((uv_handle_t *)r->socket, on_socket_handle_closed);
    r->socket = NULL;
    postgres_conn_close(&r->conn);
    r->due = r->syncs_before_deallocate = r->deallocates_due = 0;
    if (r->state == READER_OPEN)
        r->state = READER_CLOSED;
    postgres_loop_reader_move_reads_to_workers(r);
}

void postgres_loop_reader_disconnect(struct postgres_loop_reader *r)
{
    r->wait_ms = r->wait_ms ? r->wait_ms * 2 : MIN_RECONNECT_WAIT_MS;
    if (r->wait_ms > MAX_RECONNECT_WAIT_MS)
        r->wait_ms = MAX_RECONNECT_WAIT_MS;
    r->again_at = clock_monotonic_ns() + r->wait_ms * 1000000;
    close_loop_reader_connection(r);
}

static void on_loop_reader_socket_event(uv_poll_t *socket, int status, int events);

static void poll_socket_of_postgres_loop_reader(struct postgres_loop_reader *r, int events)
{
    if (r->events != events && uv_poll_start(r->socket, events, on_loop_reader_socket_event) != 0)
        r->conn.lost = true;
    r->events = events;
}

/* Settings of a read connection: all queries up to a sync form one transaction. */
static const char READ_ONLY_SETTINGS[] = "set default_transaction_isolation = 'repeatable read'; "
                                         "set default_transaction_read_only = on";

static bool listen_to_tools(struct postgres_conn *c)
{
    char sql[128];

    return !c->rows.versions ||
           (!postgres_conn_query_text(c, "select format('listen %I', " ROWS_CHANNEL ")", sql,
                                      sizeof sql) &&
            !postgres_conn_run_command(c, sql));
}

/* Opens the connection on a libuv thread, because connecting blocks. */
static void open_connection_on_thread(uv_work_t *w)
{
    struct postgres_loop_reader *r = container_of(w, struct postgres_loop_reader, opening);
    struct postgres_conn *c = &r->conn;

    c->on_loop = false;
    c->rows.versions = table_versions_or_null(&r->pool->versions);
    r->opened = postgres_conn_open(c, r->pool->where, false) &&
                (!r->pool->serves || postgres_conn_register_server(c, r->pool)) &&
                listen_to_tools(c) && !postgres_conn_run_command(c, READ_ONLY_SETTINGS) &&
                pq.setnonblocking(c->pg, 1) == 0 && pq.enterPipelineMode(c->pg);
    c->round_trips = &r->pool->store.round_trips;
    c->prefetcher = &r->pool->prefetcher;
    c->on_loop = true;
}

static void start_polling_socket(struct postgres_loop_reader *r)
{
    r->socket = mem_new(sizeof *r->socket);
    if (uv_poll_init(loop_get_uv_loop(r->loop), r->socket, pq.socket(r->conn.pg)) != 0) {
        mem_free(r->socket);
        r->socket = NULL;
        postgres_loop_reader_disconnect(r);
        return;
    }
    r->socket->data = r;
    uv_unref((uv_handle_t *)r->socket);
    r->events = 0;
    r->state = READER_OPEN;
    r->conn.rows.until = 0;
    postgres_loop_reader_empty_cache(r);
    poll_socket_of_postgres_loop_reader(r, UV_READABLE);
}

/* Releases a reference to the loop; after the last one the loop may be freed. */
static void release_loop_reference(struct postgres_loop_reader *r)
{
    if (--r->references == 0)
        atomic_store(&r->loop, NULL);
}

static void on_connection_opened(uv_work_t *w, int status)
{
    struct postgres_loop_reader *r = container_of(w, struct postgres_loop_reader, opening);
    bool ended = r->state == READER_ENDED;

    if (ended)
        postgres_conn_close(&r->conn);
    else
        r->state = READER_CLOSED;
    if (!ended && (status || !r->opened))
        postgres_loop_reader_disconnect(r);
    else if (!ended)
        start_polling_socket(r);
    release_loop_reference(r);
}

/* Starts to connect. Does nothing if no worker thread is connected, because then the database is
 * unreachable. */
static void start_opening_connection(struct postgres_loop_reader *r)
{
    if (!atomic_load(&r->pool->connected) || clock_monotonic_ns() < r->again_at)
        return;
    r->silences = atomic_load(&r->pool->silences);
    if (uv_queue_work(loop_get_uv_loop(r->loop), &r->opening, open_connection_on_thread,
                      on_connection_opened) != 0)
        return;
    r->state = READER_OPENING;
    r->references++;
}

bool postgres_loop_reader_ensure_connected(struct postgres_loop_reader *r)
{
    /* Another connection timed out, so this connection is probably dead, too. */
    if (r->state == READER_OPEN && !r->count && !r->running &&
        r->silences != atomic_load(&r->pool->silences))
        postgres_loop_reader_disconnect(r);
    if (r->state == READER_CLOSED)
        start_opening_connection(r);
    return r->state == READER_OPEN;
}

bool postgres_loop_reader_flush(struct postgres_loop_reader *r)
{
    int left = pq.flush(r->conn.pg);

    if (left < 0)
        return false;
    poll_socket_of_postgres_loop_reader(r, left ? UV_READABLE | UV_WRITABLE : UV_READABLE);
    return !r->conn.lost;
}

/* Reads all available bytes, also those that OpenSSL has buffered, which poll does not report. */
static bool consume_connection_input(struct postgres_loop_reader *r, int events)
{
    bool good = !(events & UV_READABLE) || pq.consumeInput(r->conn.pg);

    while (good && postgres_conn_has_unread_tls_bytes(&r->conn))
        good = pq.consumeInput(r->conn.pg);
    return good;
}

void postgres_loop_reader_on_socket_event(struct postgres_loop_reader *r, int status, int events)
{
    struct postgres_conn *c = &r->conn;

    loop_set_measured_activity("store_reads");
    bool fine = !status && (!(events & UV_WRITABLE) || postgres_loop_reader_flush(r)) &&
                consume_connection_input(r, events) && postgres_loop_reader_process_results(r) &&
                pq.status(c->pg) == CONNECTION_OK;

    if (!fine) {
        postgres_loop_reader_disconnect(r);
        return;
    }
    postgres_loop_reader_rerun_complete_reads(r);
    if (r->state == READER_OPEN)
        postgres_loop_reader_read_notifications(r);
}

static void on_loop_reader_socket_event(uv_poll_t *socket, int status, int events)
{
    struct postgres_loop_reader *r = socket->data;

    r->received_at = clock_monotonic_ns();
    postgres_loop_reader_on_socket_event(r, status, events);
}

static void on_reader_handle_closed(uv_handle_t *h)
{
    release_loop_reference(h->data);
}

static void end_loop_reader(struct postgres_loop_reader *r)
{
    bool opening = r->state == READER_OPENING;

    r->state = READER_ENDED;
    loop_remove_stop_callback(&r->end);
    if (opening)
        postgres_loop_reader_move_reads_to_workers(
            r); /* on_connection_opened then closes the connection */
    else
        close_loop_reader_connection(r);
    uv_close((uv_handle_t *)&r->before_poll, on_reader_handle_closed);
    uv_close((uv_handle_t *)&r->timeout, on_reader_handle_closed);
}

static void on_loop_end(struct loop_stop_callback *e)
{
    end_loop_reader(container_of(e, struct postgres_loop_reader, end));
}

void postgres_loop_reader_start(struct postgres_loop_reader *r, struct loop *loop)
{
    atomic_store(&r->loop, loop);
    r->state = READER_CLOSED;
    r->end.run = on_loop_end;
    r->queue.waiting_last = &r->queue.waiting;
    loop_add_stop_callback(loop, &r->end);
    uv_idle_init(loop_get_uv_loop(loop), &r->before_poll);
    uv_timer_init(loop_get_uv_loop(loop), &r->timeout);
    r->before_poll.data = r->timeout.data = r;
    r->references = 2;
    uv_unref((uv_handle_t *)&r->timeout);
}

void postgres_loop_readers_init(struct postgres *p, unsigned count)
{
    p->reader_count = count;
    p->readers = mem_new((count + 1) * sizeof *p->readers);
    for (unsigned i = 0; i < count; i++) {
        p->readers[i].pool = p;
        p->readers[i].conn.counter_shard = postgres_get_counter_shard_of_worker(p->count + 1 + i);
    }
}

static void end_loop_reader_on_loop(struct loop *loop, void *arg)
{
    struct postgres_loop_reader *r = arg;

    (void)loop;
    if (r->state != READER_ENDED)
        end_loop_reader(r);
}

/* Ends the reader from another thread. Waits until its handles are closed, one loop iteration
 * later, and a pending connect has ended. */
static void end_loop_reader_and_wait(struct postgres_loop_reader *r, struct loop *loop)
{
    const struct timespec moment = { .tv_nsec = 1000000 };

    loop_run_function_and_wait(loop, end_loop_reader_on_loop, r);
    while (atomic_load(&r->loop))
        nanosleep(&moment, NULL);
}

void postgres_loop_readers_close(struct postgres *p)
{
    for (unsigned i = 0; i < p->reader_count; i++) {
        struct loop *loop = atomic_load(&p->readers[i].loop);

        if (loop)
            end_loop_reader_and_wait(&p->readers[i], loop);
    }
}
