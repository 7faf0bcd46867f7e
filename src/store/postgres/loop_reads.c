/* loop_reads.c - non-blocking reads from PostgreSQL, on the loop's own connection.
 *
 * A read on a worker costs three thread switches for a few microseconds of work. Here no thread
 * waits: the reads of a loop iteration run until each needs rows that have not arrived. All their
 * queries are sent together, and when the rows have arrived, the reads run again from the
 * beginning. They share a snapshot, because all queries up to a sync form one read-only,
 * repeatable-read transaction.
 *
 * If the connection is lost, reports an error or is slow, its reads move to the workers. */
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "store/postgres/loop.h"

enum {
    MOST_AT_FIRST = 128, /* approximate maximum of queries in the first round trip */
    MOST_WAITING = 32,   /* reads that may wait for the next transaction */
    MOST_ROUNDS = 6,     /* round trips of one read */
    SLOW_MS = 100,       /* after this time without an answer, new reads go to the workers */
    LOOK_MS = 200,       /* interval of checks for a missing answer */
    STUCK_MS = 1000,     /* after this time without data, the connection is closed */
    BARRED_MS = 400,     /* answer time after which reads of this name move to the workers */
    HEAVY_NS = 5000000,  /* CPU time limit for all reads of one run */
    ROWS_NS = 4000000,   /* CPU time limit for rows of measured reads */
    LONG_NS = 1000000,   /* shortest run that counts as slow */
    ROOM_ANSWERS = 2,    /* results of DEALLOCATE: the result and its end marker */
};

/* --- handing over to the workers ------------------------------------------------------ */

static void reader_pass_on(struct postgres_reader *r, struct work *w)
{
    postgres_drop_errands(&r->conn, w);
    postgres_hand_over(r->pool, w);
}

static struct work *reader_next_waiting(struct postgres_reader *r)
{
    struct work *w = r->queue.waiting;

    r->queue.waiting = w->next;
    if (!r->queue.waiting)
        r->queue.waiting_last = &r->queue.waiting;
    r->queue.waiting_count--;
    return w;
}

static void pass_on_waiting(struct postgres_reader *r)
{
    while (r->queue.waiting)
        reader_pass_on(r, reader_next_waiting(r));
}

void reader_pass_on_all(struct postgres_reader *r)
{
    while (r->count)
        reader_pass_on(r, r->reads[--r->count]);
    pass_on_waiting(r);
}

static bool send_errand(struct postgres_conn *c, struct postgres_errand *e, unsigned round)
{
    e->prepares = !e->statement->prepared;
    e->round = (uint8_t)round;
    if (e->prepares && !pq.sendPrepare(c->pg, e->statement->name, e->sql, (int)e->count, NULL))
        return false;
    e->statement->prepared = true;
    return postgres_send_statement(c, e->statement, e->count, e->values);
}

static bool send_all(struct postgres_conn *c, unsigned round)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (!c->errands[i].result && !send_errand(c, &c->errands[i], round))
            return false;
    return true;
}

static bool reader_sync(struct postgres_reader *r)
{
    r->synced = true;
    r->due++;
    return pq.pipelineSync(r->conn.pg) && reader_flush(r);
}

/* Deallocates all prepared statements between two transactions, in this process and in the
 * database. */
static bool reader_make_room(struct postgres_reader *r)
{
    struct postgres_conn *c = &r->conn;

    c->wants_room = false;
    postgres_forget_statements(c);
    r->room_after = r->due;
    r->room_due = ROOM_ANSWERS;
    return pq.sendQueryParams(c->pg, "deallocate all", 0, NULL, NULL, NULL, NULL, 0) &&
           reader_sync(r);
}

static bool all_end_with_this(const struct postgres_reader *r)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->reads[i]->by_itself || !postgres_kind_ends_with(r->pool, r->reads[i], r->rounds + 1))
            return false;
    return true;
}

static void look_for_answer(uv_timer_t *look);

/* Sets the next expected result: that of the first statement from index i on without one. */
static void expect_errand(struct postgres_reader *r, unsigned i)
{
    const struct postgres_conn *c = &r->conn;

    while (i < c->errand_count && c->errands[i].result)
        i++;
    r->next = i;
    r->step = i < c->errand_count && c->errands[i].prepares ? PREPARED : ANSWERED;
}

static void reader_ask(struct postgres_reader *r)
{
    bool ends = all_end_with_this(r);
    bool sent = send_all(&r->conn, r->rounds + 1) &&
                (ends ? reader_sync(r) : pq.sendFlushRequest(r->conn.pg) && reader_flush(r));

    if (!sent) {
        reader_hang_up(r);
        return;
    }
    r->rounds++;
    postgres_conn_count(&r->conn);
    expect_errand(r, 0);
    r->asked_at = r->heard_at = clock_mono();
    if (!uv_is_active((uv_handle_t *)&r->look))
        uv_timer_start(&r->look, look_for_answer, LOOK_MS, LOOK_MS);
}

enum read_outcome { READ_FINISHED, READ_ASKS, READ_PASSED_ON };

static void read_finish(struct postgres_reader *r, struct work *w)
{
    prefetcher_learn(&r->prefetcher, &r->conn, w);
    postgres_drop_errands(&r->conn, w);
    if (r->rounds)
        postgres_kind_note(r->pool, w, r->rounds);
    work_finish(&r->pool->store, w, w->result);
}

static enum read_outcome read_go_on(struct postgres_reader *r, struct work *w)
{
    struct postgres_conn *c = &r->conn;

    if (c->leaves || r->rounds == MOST_ROUNDS)
        postgres_kind_bar(r->pool, w);
    if (c->leaves || r->rounds == MOST_ROUNDS || c->is_full) {
        prefetcher_learn(&r->prefetcher, c, w);
        reader_pass_on(r, w);
        return READ_PASSED_ON;
    }
    if (!r->rounds)
        prefetcher_guess(&r->prefetcher, c, w);
    if (!r->synced)
        return READ_ASKS;
    /* The transaction has ended, so the read restarts in another one. */
    postgres_kind_note(r->pool, w, r->rounds + 1);
    postgres_drop_errands(c, w);
    w->by_itself = true;
    w->next = r->queue.waiting;
    if (!r->queue.waiting)
        r->queue.waiting_last = &w->next;
    r->queue.waiting = w;
    r->queue.waiting_count++;
    return READ_PASSED_ON;
}

/* If the reads of this run exceed HEAVY_NS and this read took longer than LONG_NS, moves reads of
 * its name to the workers. */
static void note_heavy(struct postgres_reader *r, const struct work *w, int64_t took)
{
    if (took > LONG_NS && clock_thread() - r->spent_at > HEAVY_NS)
        postgres_kind_bar(r->pool, w);
}

/* Limits wall-clock and CPU time, because a preempted loop takes long without using CPU time. */
static void read_set_share(struct postgres_reader *r, const struct work *w, int64_t now)
{
    r->conn.rows_until = w->measured ? now + LONG_NS : 0;
    r->conn.rows_spent = r->spent_at + ROWS_NS;
}

static enum read_outcome read_run(struct postgres_reader *r, struct work *w)
{
    if (!postgres_kind_fits_loop(r->pool, w)) {
        reader_pass_on(r, w);
        return READ_PASSED_ON;
    }

    struct postgres_conn *c = &r->conn;
    struct tx tx = { .store = &r->pool->store, .work = w, .connection = c };
    struct arena *arena = w->arena;
    int64_t began = clock_mono();

    loop_part(w->name);
    c->wants_more = c->leaves = c->is_full = false;
    c->arena = w->arena;
    read_set_share(r, w, began);
    w->result = tx_run(&tx);
    note_heavy(r, w, clock_mono() - began);
    if (c->wants_more || c->leaves) {
        w->arena = arena; /* the run may have switched arenas */
        return read_go_on(r, w);
    }
    read_finish(r, w);
    return READ_FINISHED;
}

static void reader_go_on(struct postgres_reader *r)
{
    if (r->count)
        reader_ask(r);
    else if (r->rounds && !r->synced && !reader_sync(r))
        reader_hang_up(r);
}

/* Runs all reads again, as far as the rows that have arrived allow. */
static void reader_run(struct postgres_reader *r)
{
    unsigned count = r->count;

    r->count = 0;
    r->running = true;
    r->spent_at = clock_thread();
    for (unsigned i = 0; i < count; i++) {
        struct work *w = r->reads[i]; /* the next line may overwrite the slot */

        if (read_run(r, w) == READ_ASKS)
            r->reads[r->count++] = w;
    }
    r->running = false;
    reader_go_on(r);
}

static void reader_gather(struct postgres_reader *r)
{
    postgres_forget_errands(&r->conn);
    r->rounds = 0;
    if (r->conn.wants_room && !r->room_due && !reader_make_room(r)) {
        reader_hang_up(r);
        return;
    }
    r->synced = false;
    r->running = true;
    r->spent_at = clock_thread();
    while (r->queue.waiting && r->count < MOST_READS && r->conn.errand_count < MOST_AT_FIRST) {
        struct work *w = reader_next_waiting(r);

        if (read_run(r, w) == READ_ASKS)
            r->reads[r->count++] = w;
    }
    r->running = false;
    reader_go_on(r);
}

static void on_soon(uv_idle_t *soon)
{
    struct postgres_reader *r = soon->data;

    if (r->state != READER_OPEN)
        pass_on_waiting(r);
    while (r->state == READER_OPEN && !r->count && r->queue.waiting)
        reader_gather(r);
    uv_idle_stop(soon);
}

/* Whether the query failed, and not the connection (57P: the database closes it). */
static bool is_refusal(const PGresult *result)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    return state && strncmp(state, "57P", 3) != 0;
}

/* Processes one result. False: it is an error, or not the expected one. */
static bool take_answer(struct postgres_reader *r, PGresult *result)
{
    struct postgres_errand *e = &r->conn.errands[r->next];
    bool is_end = r->step == PREPARED_END || r->step == ANSWERED_END;

    if (is_end ? result != NULL : !postgres_is_good(result)) {
        if (is_refusal(result))
            /* the same query would also close the next connection */
            postgres_kind_bar(r->pool, e->work);
        pq.clear(result);
        return false;
    }
    if (r->step == ANSWERED)
        e->result = result;
    else
        pq.clear(result);
    if (r->step == ANSWERED_END)
        expect_errand(r, r->next + 1);
    else
        r->step++;
    return true;
}

/* Accepts the result of a sync, which follows the results of everything that was sent before it. */
static bool take_sync(struct postgres_reader *r)
{
    PGresult *result = pq.getResult(r->conn.pg);
    bool good = pq.resultStatus(result) == PGRES_PIPELINE_SYNC;

    pq.clear(result);
    r->due--;
    r->room_after -= r->room_after > 0;
    return good;
}

static bool take_room(struct postgres_reader *r)
{
    PGresult *result = pq.getResult(r->conn.pg);
    bool good = r->room_due == ROOM_ANSWERS ? postgres_is_good(result) : !result;

    pq.clear(result);
    r->room_due--;
    return good;
}

static bool answers_are_here(const struct postgres_reader *r)
{
    return r->next >= r->conn.errand_count;
}

/* Whether the next result is that of a sync: syncs of earlier transactions come before the results
 * of the current queries. */
static bool sync_is_next(const struct postgres_reader *r)
{
    bool own = r->count && r->synced;

    return r->due > (own && !answers_are_here(r) ? 1u : 0u);
}

static bool take_next(struct postgres_reader *r)
{
    if (r->room_due && !r->room_after)
        return take_room(r);
    return sync_is_next(r) ? take_sync(r) : take_answer(r, pq.getResult(r->conn.pg));
}

bool reader_take_answers(struct postgres_reader *r)
{
    while ((r->due || (r->count && !answers_are_here(r))) && !pq.isBusy(r->conn.pg))
        if (!take_next(r))
            return false;
    return true;
}

/* Moves reads whose answer was slow to the workers. */
static void note_slow(struct postgres_reader *r)
{
    if (clock_mono() - r->asked_at > (int64_t)BARRED_MS * 1000000)
        for (unsigned i = 0; i < r->count; i++)
            postgres_kind_bar(r->pool, r->reads[i]);
}

void reader_answered(struct postgres_reader *r)
{
    if (!r->count || !answers_are_here(r))
        return;
    r->wait_ms = 0;
    note_slow(r);
    reader_run(r);
    if (r->queue.waiting)
        uv_idle_start(&r->soon, on_soon);
}

/* Closes the connection, because a query that takes too long blocks those behind it. */
static void leave_stuck(struct postgres_reader *r)
{
    const struct postgres_conn *c = &r->conn;

    if (!answers_are_here(r))
        postgres_kind_bar(r->pool, c->errands[r->next].work);
    reader_hang_up(r);
}

/* Whether the socket has unread bytes. */
static bool has_unread(const struct postgres_reader *r)
{
    struct pollfd p = { .fd = pq.socket(r->conn.pg), .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

static void look_for_answer(uv_timer_t *look)
{
    struct postgres_reader *r = look->data;
    int64_t now = clock_mono();

    if (!r->count) {
        uv_timer_stop(look);
        return;
    }
    if (now - r->asked_at > (int64_t)SLOW_MS * 1000000)
        pass_on_waiting(r);
    /* If the loop was blocked, the answer may already be in the socket. */
    reader_hear(r, 0, UV_READABLE);
    if (r->count && now - r->heard_at > (int64_t)STUCK_MS * 1000000 && !has_unread(r))
        leave_stuck(r);
}

/* Whether another read would have to wait too long. */
static bool reader_is_busy(const struct postgres_reader *r)
{
    return r->queue.waiting_count >= MOST_WAITING ||
           (r->count && !r->running && clock_mono() - r->asked_at > (int64_t)SLOW_MS * 1000000);
}

bool postgres_reader_take(struct postgres *p, struct work *w)
{
    if (!w->loop || w->loop != loop_current() || loop_index(w->loop) >= p->reader_count ||
        !postgres_kind_fits_loop(p, w))
        return false;

    struct postgres_reader *r = &p->readers[loop_index(w->loop)];
    if (r->state == READER_NEW)
        reader_begin(r, w->loop);
    if (atomic_load(&r->loop) != w->loop || !reader_reach(r) || reader_is_busy(r))
        return false;
    w->next = NULL;
    *r->queue.waiting_last = w;
    r->queue.waiting_last = &w->next;
    r->queue.waiting_count++;
    if (!r->count)
        uv_idle_start(&r->soon, on_soon);
    return true;
}
