/* loop_conn.c - opens, polls and closes a loop's own PostgreSQL connection.
 *
 * Connecting blocks, so it happens on a libuv thread. While there is no connection, workers run the
 * reads. */
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/loop.h"

enum {
    FIRST_WAIT_MS = 50,  /* wait between connection attempts; doubled each time */
    LAST_WAIT_MS = 5000, /* upper limit of that wait */
};

static void socket_closed(uv_handle_t *socket)
{
    mem_free(socket);
}

static void reader_close(struct postgres_reader *r)
{
    if (r->socket)
        uv_close((uv_handle_t *)r->socket, socket_closed);
    r->socket = NULL;
    postgres_conn_close(&r->conn);
    r->due = r->room_after = r->room_due = 0;
    if (r->state == READER_OPEN)
        r->state = READER_CLOSED;
    reader_pass_on_all(r);
}

void reader_hang_up(struct postgres_reader *r)
{
    r->wait_ms = r->wait_ms ? r->wait_ms * 2 : FIRST_WAIT_MS;
    if (r->wait_ms > LAST_WAIT_MS)
        r->wait_ms = LAST_WAIT_MS;
    r->again_at = clock_mono() + r->wait_ms * 1000000;
    reader_close(r);
}

static void on_socket(uv_poll_t *socket, int status, int events);

static void reader_listen(struct postgres_reader *r, int events)
{
    if (r->events != events && uv_poll_start(r->socket, events, on_socket) != 0)
        r->conn.lost = true;
    r->events = events;
}

/* Settings of the connection: all queries up to a sync form one transaction. */
static const char READ_ONLY[] = "set default_transaction_isolation = 'repeatable read'; "
                                "set default_transaction_read_only = on";

/* Opens the connection on a thread of libuv, which may block. */
static void open_aside(uv_work_t *w)
{
    struct postgres_reader *r = container_of(w, struct postgres_reader, opening);
    struct postgres_conn *c = &r->conn;

    c->on_loop = false;
    r->opened = postgres_conn_open(c, r->pool->where, false) &&
                (!r->pool->serves || postgres_conn_serve(c, r->pool)) &&
                !postgres_conn_do(c, READ_ONLY) && pq.setnonblocking(c->pg, 1) == 0 &&
                pq.enterPipelineMode(c->pg);
    c->round_trips = &r->pool->store.round_trips;
    c->on_loop = true;
}

static void reader_attach(struct postgres_reader *r)
{
    r->socket = mem_new(sizeof *r->socket);
    if (uv_poll_init(loop_uv(r->loop), r->socket, pq.socket(r->conn.pg)) != 0) {
        mem_free(r->socket);
        r->socket = NULL;
        reader_hang_up(r);
        return;
    }
    r->socket->data = r;
    uv_unref((uv_handle_t *)r->socket);
    r->events = 0;
    r->state = READER_OPEN;
    reader_listen(r, UV_READABLE);
}

/* Releases a reference; after the last one the loop may be freed. */
static void reader_let_go(struct postgres_reader *r)
{
    if (--r->holds == 0)
        atomic_store(&r->loop, NULL);
}

static void open_done(uv_work_t *w, int status)
{
    struct postgres_reader *r = container_of(w, struct postgres_reader, opening);
    bool ended = r->state == READER_ENDED;

    if (ended)
        postgres_conn_close(&r->conn);
    else
        r->state = READER_CLOSED;
    if (!ended && (status || !r->opened))
        reader_hang_up(r);
    else if (!ended)
        reader_attach(r);
    reader_let_go(r);
}

/* Starts to connect, but only while a worker is connected. */
static void reader_open(struct postgres_reader *r)
{
    if (!atomic_load(&r->pool->connected) || clock_mono() < r->again_at)
        return;
    r->silences = atomic_load(&r->pool->silences);
    if (uv_queue_work(loop_uv(r->loop), &r->opening, open_aside, open_done) != 0)
        return;
    r->state = READER_OPENING;
    r->holds++;
}

bool reader_reach(struct postgres_reader *r)
{
    if (r->state == READER_OPEN && !r->count && !r->running &&
        r->silences != atomic_load(&r->pool->silences))
        reader_hang_up(r); /* another connection timed out, so this one is probably dead, too */
    if (r->state == READER_CLOSED)
        reader_open(r);
    return r->state == READER_OPEN;
}

bool reader_flush(struct postgres_reader *r)
{
    int left = pq.flush(r->conn.pg);

    if (left < 0)
        return false;
    reader_listen(r, left ? UV_READABLE | UV_WRITABLE : UV_READABLE);
    return !r->conn.lost;
}

/* Reads all available bytes: poll does not report those that OpenSSL has buffered. */
static bool reader_consume(struct postgres_reader *r, int events)
{
    bool good = !(events & UV_READABLE) || pq.consumeInput(r->conn.pg);

    while (good && postgres_conn_has_more(&r->conn))
        good = pq.consumeInput(r->conn.pg);
    return good;
}

void reader_hear(struct postgres_reader *r, int status, int events)
{
    struct postgres_conn *c = &r->conn;

    loop_part("store_reads");
    bool fine = !status && (!(events & UV_WRITABLE) || reader_flush(r)) &&
                reader_consume(r, events) && reader_take_answers(r) &&
                pq.status(c->pg) == CONNECTION_OK;

    if (fine)
        reader_answered(r);
    else
        reader_hang_up(r);
}

static void on_socket(uv_poll_t *socket, int status, int events)
{
    struct postgres_reader *r = socket->data;

    r->heard_at = clock_mono();
    reader_hear(r, status, events);
}

static void handle_is_closed(uv_handle_t *h)
{
    reader_let_go(h->data);
}

static void reader_end(struct postgres_reader *r)
{
    bool opening = r->state == READER_OPENING;

    r->state = READER_ENDED;
    loop_drop_end(&r->end);
    if (opening)
        reader_pass_on_all(r); /* open_done closes the connection */
    else
        reader_close(r);
    uv_close((uv_handle_t *)&r->soon, handle_is_closed);
    uv_close((uv_handle_t *)&r->look, handle_is_closed);
    prefetcher_clear(&r->prefetcher);
}

static void on_loop_end(struct loop_end *e)
{
    reader_end(container_of(e, struct postgres_reader, end));
}

void reader_begin(struct postgres_reader *r, struct loop *loop)
{
    atomic_store(&r->loop, loop);
    r->state = READER_CLOSED;
    r->end.run = on_loop_end;
    r->queue.waiting_last = &r->queue.waiting;
    loop_add_end(loop, &r->end);
    uv_idle_init(loop_uv(loop), &r->soon);
    uv_timer_init(loop_uv(loop), &r->look);
    r->soon.data = r->look.data = r;
    r->holds = 2;
    uv_unref((uv_handle_t *)&r->look);
}

void postgres_readers_init(struct postgres *p, unsigned count)
{
    p->reader_count = count;
    p->readers = mem_new((count + 1) * sizeof *p->readers);
    for (unsigned i = 0; i < count; i++) {
        p->readers[i].pool = p;
        map_init(&p->readers[i].prefetcher.by_kind);
        p->readers[i].conn.lane = postgres_lane_of(p->count + 1 + i);
    }
}

static void end_on_loop(struct loop *loop, void *arg)
{
    struct postgres_reader *r = arg;

    (void)loop;
    if (r->state != READER_ENDED)
        reader_end(r);
}

/* Ends the reader from another thread; waits until its handles are closed, one loop iteration
 * later, and a pending connect has ended. */
static void reader_end_from_outside(struct postgres_reader *r, struct loop *loop)
{
    const struct timespec moment = { .tv_nsec = 1000000 };

    loop_call(loop, end_on_loop, r);
    while (atomic_load(&r->loop))
        nanosleep(&moment, NULL);
}

void postgres_readers_end(struct postgres *p)
{
    for (unsigned i = 0; i < p->reader_count; i++) {
        struct loop *loop = atomic_load(&p->readers[i].loop);

        if (loop)
            reader_end_from_outside(&p->readers[i], loop);
    }
}
