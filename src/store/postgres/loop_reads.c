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
    FIRST_ROUND_QUERIES = 128, /* approximate maximum number of queries that reads send in the first
                                * round trip */
    MAX_WAITING_READS = 32,    /* maximum number of reads that wait for the next transaction */
    MAX_ROUND_TRIPS = 6,       /* maximum number of round trips of one read */
    SLOW_MS = 100,           /* if an answer is missing for this many ms, new reads go to the worker
                              * threads */
    CHECK_INTERVAL_MS = 200, /* ms between two checks for a missing answer */
    STUCK_MS = 1000,         /* if no data arrives for this many ms, the connection is closed */
    KEEP_OFF_LOOPS_MS = 400, /* in ms: if an answer takes longer, reads of that name
                              * (work_item.name) move to the worker threads */
    HEAVY_NS = 5000000,      /* limit of the CPU time, in ns, that all reads of one round trip use
                              * together */
    ROWS_NS = 4000000, /* CPU time in ns after which a measured read is stopped at its next row */
    LONG_NS = 1000000, /* in ns: a read that runs longer without waiting counts as slow */
    DEALLOCATE_RESULTS = 2, /* number of results of a DEALLOCATE: its own and the end marker */
};

/* --- moving reads from the loop to the worker threads ----------------------------------- */

static void move_read_to_workers(struct postgres_loop_reader *r, struct work_item *w)
{
    postgres_discard_statements_of_work_item(&r->conn, w);
    postgres_enqueue_work_item_for_workers(r->pool, w);
}

static struct work_item *pop_waiting_read(struct postgres_loop_reader *r)
{
    struct work_item *w = r->queue.waiting;

    r->queue.waiting = w->next;
    if (!r->queue.waiting)
        r->queue.waiting_last = &r->queue.waiting;
    r->queue.waiting_count--;
    return w;
}

static void move_waiting_reads_to_workers(struct postgres_loop_reader *r)
{
    while (r->queue.waiting)
        move_read_to_workers(r, pop_waiting_read(r));
}

void postgres_loop_reader_move_reads_to_workers(struct postgres_loop_reader *r)
{
    while (r->count)
        move_read_to_workers(r, r->reads[--r->count]);
    move_waiting_reads_to_workers(r);
}

static bool send_queued_statements(struct postgres_conn *c)
{
    for (unsigned i = 0; i < c->queued_count; i++)
        if (!c->queued[i].result && !postgres_pipeline_send_statement(c, &c->queued[i]))
            return false;
    return true;
}

static bool send_pipeline_sync(struct postgres_loop_reader *r)
{
    r->synced = true;
    r->due++;
    return pq.pipelineSync(r->conn.pg) && postgres_loop_reader_flush(r);
}

/* Deallocates all prepared statements between two transactions, in this process and in the
 * database. */
static bool deallocate_statements(struct postgres_loop_reader *r)
{
    struct postgres_conn *c = &r->conn;

    c->has_too_many_statements = false;
    postgres_free_prepared_statements(c);
    r->syncs_before_deallocate = r->due;
    r->deallocates_due = DEALLOCATE_RESULTS;
    return pq.sendQueryParams(c->pg, "deallocate all", 0, NULL, NULL, NULL, NULL, 0) &&
           send_pipeline_sync(r);
}

static bool round_trip_is_last_for_all_reads(const struct postgres_loop_reader *r)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->reads[i]->by_itself ||
            !same_name_reads_need_at_most_round_trips(r->pool, r->reads[i], r->rounds + 1))
            return false;
    return true;
}

static void on_stuck_read_check_timer(uv_timer_t *read_step);

/* Finds the statement whose result is expected next: the first statement without a result, from
 * index i on. */
static void record_expected_statement_result(struct postgres_loop_reader *r, unsigned i)
{
    const struct postgres_conn *c = &r->conn;

    while (i < c->queued_count && c->queued[i].result)
        i++;
    r->next = i;
    r->step = i < c->queued_count && c->queued[i].prepares ? RESULT_OF_PREPARE : RESULT_OF_QUERY;
}

static void send_queries_of_loop_reads(struct postgres_loop_reader *r)
{
    bool ends = round_trip_is_last_for_all_reads(r);
    bool sent = send_queued_statements(&r->conn) &&
                (ends ? send_pipeline_sync(r)
                      : pq.sendFlushRequest(r->conn.pg) && postgres_loop_reader_flush(r));

    if (!sent) {
        postgres_loop_reader_disconnect(r);
        return;
    }
    r->rounds++;
    postgres_conn_count_round_trip(&r->conn);
    record_expected_statement_result(r, 0);
    r->asked_at = r->received_at = clock_monotonic_ns();
    if (!uv_is_active((uv_handle_t *)&r->timeout))
        uv_timer_start(&r->timeout, on_stuck_read_check_timer, CHECK_INTERVAL_MS,
                       CHECK_INTERVAL_MS);
}

enum read_result { READ_FINISHED, READ_NEEDS_ROWS, READ_LEFT_LOOP };

static void finish_loop_read(struct postgres_loop_reader *r, struct work_item *w)
{
    postgres_discard_statements_of_work_item(&r->conn, w);
    if (r->rounds)
        same_name_reads_record_round_trips(r->pool, w, r->rounds);
    work_item_call_callbacks(&r->pool->store, w, w->result);
}

static enum read_result continue_read_or_move_it_to_workers(struct postgres_loop_reader *r,
                                                            struct work_item *w)
{
    struct postgres_conn *c = &r->conn;

    if (c->must_leave || r->rounds == MAX_ROUND_TRIPS)
        same_name_reads_disallow_on_loops(r->pool, w);
    if (c->must_leave || r->rounds == MAX_ROUND_TRIPS || c->is_full) {
        move_read_to_workers(r, w);
        return READ_LEFT_LOOP;
    }
    if (!r->synced)
        return READ_NEEDS_ROWS;
    /* The transaction of the read has ended, so the read restarts in a new transaction. */
    same_name_reads_record_round_trips(r->pool, w, r->rounds + 1);
    postgres_discard_statements_of_work_item(c, w);
    w->by_itself = true;
    w->next = r->queue.waiting;
    if (!r->queue.waiting)
        r->queue.waiting_last = &w->next;
    r->queue.waiting = w;
    r->queue.waiting_count++;
    return READ_LEFT_LOOP;
}

/* If the reads of this round trip together used more CPU time than HEAVY_NS and this read ran
 * longer than LONG_NS, later reads of the same name run on the worker threads. */
static void record_slow_cpu_read(struct postgres_loop_reader *r, const struct work_item *w,
                                 int64_t took)
{
    if (took > LONG_NS && clock_thread_cpu_ns() - r->spent_at > HEAVY_NS)
        same_name_reads_disallow_on_loops(r->pool, w);
}

/* A read is stopped only if it exceeds both its real-time limit and its CPU-time limit, because a
 * loop that was preempted takes long without using CPU time. */
static void set_read_time_limit(struct postgres_loop_reader *r, const struct work_item *w,
                                int64_t now)
{
    r->conn.row_time_limit.until = w->measured ? now + LONG_NS : 0;
    r->conn.row_time_limit.cpu_ns = r->spent_at + ROWS_NS;
}

static enum read_result run_read_or_move_it_to_workers(struct postgres_loop_reader *r,
                                                       struct work_item *w)
{
    if (!same_name_reads_may_run_on_loop(r->pool, w)) {
        move_read_to_workers(r, w);
        return READ_LEFT_LOOP;
    }

    struct postgres_conn *c = &r->conn;
    struct tx tx = { .store = &r->pool->store, .work = w, .connection = c };
    struct arena *arena = w->arena;
    int64_t began = clock_monotonic_ns();

    loop_set_measured_activity(w->name);
    c->wants_more = c->must_leave = c->is_full = false;
    c->arena = w->arena;
    set_read_time_limit(r, w, began);
    w->result = tx_run_work_item(&tx);
    record_slow_cpu_read(r, w, clock_monotonic_ns() - began);
    if (c->wants_more || c->must_leave) {
        w->arena = arena; /* restore the arena, which the aborted read may have replaced */
        return continue_read_or_move_it_to_workers(r, w);
    }
    finish_loop_read(r, w);
    return READ_FINISHED;
}

static void send_queries_or_end_transaction(struct postgres_loop_reader *r)
{
    if (r->count)
        send_queries_of_loop_reads(r);
    else if (r->rounds && !r->synced && !send_pipeline_sync(r))
        postgres_loop_reader_disconnect(r);
}

/* Runs all reads again, until each needs rows that have not arrived. */
static void rerun_reads_with_results(struct postgres_loop_reader *r)
{
    unsigned count = r->count;

    r->count = 0;
    r->running = true;
    r->spent_at = clock_thread_cpu_ns();
    for (unsigned i = 0; i < count; i++) {
        struct work_item *w = r->reads[i]; /* copy the pointer: the statement below may overwrite
                                            * this array element */

        if (run_read_or_move_it_to_workers(r, w) == READ_NEEDS_ROWS)
            r->reads[r->count++] = w;
    }
    r->running = false;
    send_queries_or_end_transaction(r);
}

static void start_waiting_loop_reads(struct postgres_loop_reader *r)
{
    postgres_discard_queued_statements(&r->conn);
    r->rounds = 0;
    if (r->conn.rows.versions)
        r->conn.rows.clock = atomic_load(&r->conn.rows.versions->clock);
    if (r->conn.has_too_many_statements && !r->deallocates_due && !deallocate_statements(r)) {
        postgres_loop_reader_disconnect(r);
        return;
    }
    r->synced = false;
    r->running = true;
    r->spent_at = clock_thread_cpu_ns();
    while (r->queue.waiting && r->count < READS_PER_ROUND_TRIP &&
           r->conn.queued_count < FIRST_ROUND_QUERIES) {
        struct work_item *w = pop_waiting_read(r);

        w->prefetch.phase = PREFETCH_NOT_BEGUN;
        if (run_read_or_move_it_to_workers(r, w) == READ_NEEDS_ROWS)
            r->reads[r->count++] = w;
    }
    r->running = false;
    send_queries_or_end_transaction(r);
}

static void on_before_socket_poll(uv_idle_t *soon)
{
    struct postgres_loop_reader *r = soon->data;

    if (r->state != READER_OPEN)
        move_waiting_reads_to_workers(r);
    while (r->state == READER_OPEN && !r->count && r->queue.waiting)
        start_waiting_loop_reads(r);
    uv_idle_stop(soon);
}

/* Returns whether the query itself failed. SQL state 57P… is not such a failure: it means that the
 * database closes the connection. */
static bool is_query_error(const PGresult *result)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    return state && strncmp(state, "57P", 3) != 0;
}

/* Processes one result. Returns false if it is an error, or not the expected result. */
static bool handle_result_of_statement(struct postgres_loop_reader *r, PGresult *result)
{
    struct queued_statement *e = &r->conn.queued[r->next];
    bool is_end = r->step == END_OF_PREPARE || r->step == END_OF_QUERY;

    if (is_end ? result != NULL : !postgres_result_is_ok(result)) {
        if (is_query_error(result))
            /* Close the connection after an error. Do not run this read on a loop again, because
             * its query would fail on the next connection, too. */
            same_name_reads_disallow_on_loops(r->pool, e->work);
        pq.clear(result);
        return false;
    }
    if (r->step == RESULT_OF_QUERY)
        e->result = result;
    else
        pq.clear(result);
    if (r->step == END_OF_QUERY)
        record_expected_statement_result(r, r->next + 1);
    else
        r->step++;
    return true;
}

/* Processes the result of a pipeline sync, which follows the results of everything sent before. */
static bool handle_result_of_pipeline_sync(struct postgres_loop_reader *r)
{
    PGresult *result = pq.getResult(r->conn.pg);
    bool good = pq.resultStatus(result) == PGRES_PIPELINE_SYNC;

    pq.clear(result);
    r->due--;
    r->syncs_before_deallocate -= r->syncs_before_deallocate > 0;
    return good;
}

static bool handle_result_of_deallocate(struct postgres_loop_reader *r)
{
    PGresult *result = pq.getResult(r->conn.pg);
    bool good = r->deallocates_due == DEALLOCATE_RESULTS ? postgres_result_is_ok(result) : !result;

    pq.clear(result);
    r->deallocates_due--;
    return good;
}

static bool all_results_of_reads_have_arrived(const struct postgres_loop_reader *r)
{
    return r->next >= r->conn.queued_count;
}

/* Returns whether the next result belongs to a pipeline sync: syncs of earlier transactions come
 * before the results of the current queries. */
static bool sync_result_is_next(const struct postgres_loop_reader *r)
{
    bool own = r->count && r->synced;

    return r->due > (own && !all_results_of_reads_have_arrived(r) ? 1u : 0u);
}

static bool handle_next_pipeline_result(struct postgres_loop_reader *r)
{
    if (r->deallocates_due && !r->syncs_before_deallocate)
        return handle_result_of_deallocate(r);
    return sync_result_is_next(r) ? handle_result_of_pipeline_sync(r)
                                  : handle_result_of_statement(r, pq.getResult(r->conn.pg));
}

bool postgres_loop_reader_process_results(struct postgres_loop_reader *r)
{
    while ((r->due || (r->count && !all_results_of_reads_have_arrived(r))) &&
           !pq.isBusy(r->conn.pg))
        if (!handle_next_pipeline_result(r))
            return false;
    return true;
}

/* If an answer was slow, later reads of the same names run on the worker threads. */
static void record_slow_answer_of_postgres(struct postgres_loop_reader *r)
{
    if (clock_monotonic_ns() - r->asked_at > (int64_t)KEEP_OFF_LOOPS_MS * 1000000)
        for (unsigned i = 0; i < r->count; i++)
            same_name_reads_disallow_on_loops(r->pool, r->reads[i]);
}

void postgres_loop_reader_rerun_complete_reads(struct postgres_loop_reader *r)
{
    if (!r->count || !all_results_of_reads_have_arrived(r))
        return;
    r->wait_ms = 0;
    postgres_loop_reader_extend_cache_lease(r);
    record_slow_answer_of_postgres(r);
    rerun_reads_with_results(r);
    if (r->queue.waiting)
        uv_idle_start(&r->before_poll, on_before_socket_poll);
}

/* Closes the connection, because a query that takes too long blocks the queries behind it. */
static void abandon_stuck_connection(struct postgres_loop_reader *r)
{
    const struct postgres_conn *c = &r->conn;

    if (!all_results_of_reads_have_arrived(r))
        same_name_reads_disallow_on_loops(r->pool, c->queued[r->next].work);
    postgres_loop_reader_disconnect(r);
}

static bool socket_has_unread_bytes(const struct postgres_loop_reader *r)
{
    struct pollfd p = { .fd = pq.socket(r->conn.pg), .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

static void on_stuck_read_check_timer(uv_timer_t *read_step)
{
    struct postgres_loop_reader *r = read_step->data;
    int64_t now = clock_monotonic_ns();

    if (!r->count) {
        uv_timer_stop(read_step);
        return;
    }
    if (now - r->asked_at > (int64_t)SLOW_MS * 1000000)
        move_waiting_reads_to_workers(r);
    /* Process the socket first: if the loop was blocked, the answer may already have arrived. */
    postgres_loop_reader_on_socket_event(r, 0, UV_READABLE);
    if (r->count && now - r->received_at > (int64_t)STUCK_MS * 1000000 &&
        !socket_has_unread_bytes(r))
        abandon_stuck_connection(r);
}

/* Returns whether the connection has so much to do that another read would wait too long. */
static bool postgres_loop_reader_is_busy(const struct postgres_loop_reader *r)
{
    return r->queue.waiting_count >= MAX_WAITING_READS ||
           (r->count && !r->running &&
            clock_monotonic_ns() - r->asked_at > (int64_t)SLOW_MS * 1000000);
}

bool postgres_run_read_on_loop(struct postgres *p, struct work_item *w)
{
    if (!w->loop || w->loop != loop_get_current() || loop_get_index(w->loop) >= p->reader_count ||
        !same_name_reads_may_run_on_loop(p, w))
        return false;

    struct postgres_loop_reader *r = &p->readers[loop_get_index(w->loop)];
    if (r->state == READER_NOT_STARTED)
        postgres_loop_reader_start(r, w->loop);
    if (atomic_load(&r->loop) != w->loop || !postgres_loop_reader_ensure_connected(r) ||
        postgres_loop_reader_is_busy(r))
        return false;
    if (postgres_run_read_from_cache(r, w))
        return true;
    w->next = NULL;
    *r->queue.waiting_last = w;
    r->queue.waiting_last = &w->next;
    r->queue.waiting_count++;
    if (!r->count)
        uv_idle_start(&r->before_poll, on_before_socket_poll);
    return true;
}
