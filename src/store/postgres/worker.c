/* worker.c - a worker thread with a connection: runs work items, retries and reconnects.
 *
 * A work item is run again after a serialization failure or a lost connection, but never if its
 * COMMIT was sent and not answered: then it is unknown whether it committed, unless PostgreSQL has
 * reported its shutdown at an earlier statement. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/postgres/postgres.h"

enum {
    MAX_TRIES = 16,
    CONCURRENT_TRIES = 4,
    EXCLUSIVE_TRIES = 10,
    UNREACHABLE_TIMEOUT_MS = 5000, /* timeout of a work item in ms if the database is unreachable */
    MIN_RECONNECT_WAIT_MS = 100, /* first wait between two connection attempts, in ms; doubled after
                                  * each failure */
    MAX_RECONNECT_WAIT_MS = 5000, /* longest wait between connection attempts */
    IDLE_CHECK_MS = 1000,         /* ms between two checks of an idle connection */
};

static void sleep_for_ms(int64_t ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static int64_t work_item_age_ms(const struct work_item *work)
{
    return (clock_monotonic_ns() - work->since) / 1000000;
}

static bool connect_worker_to_postgres(struct postgres_worker *w, bool log)
{
    if (!postgres_conn_open(&w->conn, w->pool->where, log))
        return false;
    w->conn.prefetcher = &w->pool->prefetcher;
    w->conn.rows.versions = table_versions_or_null(&w->pool->versions);
    w->conn.round_trips = NULL; /* do not count the round trips of the registration, which is not
                                 * part of a work item */
    if (w->pool->serves && !postgres_conn_register_server(&w->conn, w->pool)) {
        postgres_conn_close(&w->conn);
        return false;
    }
    w->conn.round_trips = &w->pool->store.round_trips;
    return true;
}

bool postgres_worker_connect(struct postgres_worker *w, bool log)
{
    if (w->conn.pg)
        return true;
    w->silences = atomic_load(&w->pool->silences);
    if (connect_worker_to_postgres(w, log)) {
        if (atomic_fetch_add(&w->pool->connected, 1) == 0 &&
            atomic_exchange(&w->pool->unreachable_logged, false))
            log_info("store: connected to PostgreSQL again");
        w->wait_ms = 0;
        w->connections++;
        return true;
    }
    w->wait_ms = w->wait_ms ? w->wait_ms * 2 : MIN_RECONNECT_WAIT_MS;
    if (w->wait_ms > MAX_RECONNECT_WAIT_MS)
        w->wait_ms = MAX_RECONNECT_WAIT_MS;
    return false;
}

void postgres_worker_disconnect(struct postgres_worker *w)
{
    if (!w->conn.pg)
        return;
    if (w->conn.timed_out && !w->is_standby)
        atomic_fetch_add(&w->pool->silences, 1);
    postgres_conn_close(&w->conn);
    if (!w->is_standby && atomic_fetch_sub(&w->pool->connected, 1) == 1) {
        atomic_store(&w->pool->unreachable_logged, true);
        log_warn("store: lost all connections to PostgreSQL; reconnecting");
    }
}

void postgres_worker_close_connection(struct postgres_worker *w)
{
    if (!w->conn.pg)
        return;
    postgres_conn_close(&w->conn);
    atomic_fetch_sub(&w->pool->connected, 1);
}

/* If another connection timed out, this older connection is probably dead, too, and the next caller
 * would have to wait for its timeout. */
static void disconnect_if_others_timed_out(struct postgres_worker *w)
{
    if (w->conn.pg && w->silences != atomic_load(&w->pool->silences))
        postgres_worker_disconnect(w);
}

bool postgres_worker_connect_with_retry(struct postgres_worker *w, const struct work_item *work)
{
    if (w->is_standby)
        return w->conn.pg;
    disconnect_if_others_timed_out(w);
    while (!w->conn.pg) {
        int64_t left = UNREACHABLE_TIMEOUT_MS - work_item_age_ms(work);

        if (left <= 0)
            return false;
        if (!postgres_worker_connect(w, false))
            sleep_for_ms(left < w->wait_ms ? left : w->wait_ms);
    }
    return true;
}

enum attempt_result { ATTEMPT_FINISHED, ATTEMPT_CONFLICT, ATTEMPT_CONNECTION_LOST };

static enum attempt_result get_attempt_result_of_error(struct postgres_worker *w, enum err e)
{
    if (w->conn.lost)
        return ATTEMPT_CONNECTION_LOST;
    return e == ERR_STORE_RETRY ? ATTEMPT_CONFLICT : ATTEMPT_FINISHED;
}

void postgres_mark_log_position_aborted(struct postgres_worker *w, int64_t position)
{
    const struct store *s = &w->pool->store;
    char sql[128];

    if (s->position_aborted)
        s->position_aborted(s->position_aborted_arg, position);
    snprintf(sql, sizeof sql,
             "insert into log (position) values (%" PRId64 ") on conflict do nothing", position);
    postgres_conn_run_command(&w->conn, sql);
}

static enum err commit_with_log_row(struct postgres_worker *w, struct work_item *work)
{
    enum err e = postgres_conn_commit_group(&w->conn, &work, 1);

    if (e && !w->conn.lost)
        postgres_conn_run_command(&w->conn, "rollback");
    if (e && !w->conn.lost && !work->position)
        work->position = postgres_conn_unreported_log_position(&w->conn);
    if (e && !w->conn.lost && work->position)
        postgres_mark_log_position_aborted(w, work->position);
    return e;
}

static enum err commit_work_item(struct postgres_worker *w, struct work_item *work)
{
    return work->log.n ? commit_with_log_row(w, work) : postgres_conn_commit(&w->conn);
}

static enum err commit_work_item_in_commit_order(struct postgres_worker *w, struct work_item *work)
{
    struct postgres_commit_order *order = &w->pool->commit_order;

    postgres_commit_order_add_work_item(order, work);
    enum err e = commit_work_item(w, work);
    if (e)
        postgres_commit_order_remove_work_item(order, &w->pool->store, work);
    return e;
}

static enum attempt_result commit_transaction_attempt(struct postgres_worker *w,
                                                      struct work_item *work)
{
    /* The result of a read is valid even if its COMMIT fails, so do not wait for the COMMIT. */
    if (!work_item_is_write(work)) {
        postgres_conn_commit_without_waiting(&w->conn);
        return ATTEMPT_FINISHED;
    }
    enum err e =
        work->committed ? commit_work_item_in_commit_order(w, work) : commit_work_item(w, work);
    work->result = e;
    if (!e)
        atomic_fetch_add_explicit(&w->pool->store.commits, 1, memory_order_relaxed);
    if (e && w->conn.lost && !w->conn.rows.may_be_written)
        return ATTEMPT_CONNECTION_LOST;
    return e == ERR_STORE_RETRY ? ATTEMPT_CONFLICT : ATTEMPT_FINISHED;
}

const char *const postgres_begin_sql[] = {
    [STORE_READ] = "begin isolation level repeatable read read only",
    [STORE_WRITE] = "begin isolation level serializable",
    [STORE_APPEND] = "begin isolation level repeatable read",
};

static void begin_transaction_of_work_item(struct postgres_worker *w, const struct work_item *work)
{
    if (same_name_reads_need_at_most_round_trips(w->pool, work, 1))
        postgres_conn_begin_one_round_trip_read(&w->conn, postgres_begin_sql[work->mode]);
    else
        postgres_conn_begin_transaction(&w->conn, postgres_begin_sql[work->mode]);
}

static void record_round_trips_of_read(struct postgres_worker *w, const struct work_item *work)
{
    if (w->conn.wants_more || w->conn.began)
        same_name_reads_record_round_trips(w->pool, work, w->conn.wants_more ? 2 : w->conn.began);
}

/* A tool that writes empties the caches of the server (row_cache.c). */
static const char NOTIFY_SERVER[] = "select pg_notify(" ROWS_CHANNEL ", '')";

static struct tx run_transaction_function(struct postgres_worker *w, struct work_item *work)
{
    struct tx tx = { .store = &w->pool->store, .work = work, .connection = &w->conn };

    work->log = (struct str){ 0 };
    work->ordered_ids = NULL;
    work->position = 0;
    work->prefetch.phase = PREFETCH_NOT_BEGUN;
    w->conn.arena = work->arena;
    begin_transaction_of_work_item(w, work);
    work->result = tx_run_work_item(&tx);
    record_round_trips_of_read(w, work);
    return tx;
}

static enum attempt_result run_and_commit_work_item(struct postgres_worker *w,
                                                    struct work_item *work)
{
    struct tx tx = run_transaction_function(w, work);

    if (w->conn.wants_more && !w->conn.lost)
        tx = run_transaction_function(w, work);
    if (!work->result)
        work->result = postgres_enqueue_id_order_check(&tx, &work, 1);
    if (!work->result && work_item_is_write(work) && !w->pool->serves)
        work->result = postgres_enqueue_last_write_statement(&tx, NOTIFY_SERVER, NULL, 0);
    if (!work->result)
        return commit_transaction_attempt(w, work);
    if (!w->conn.lost)
        postgres_conn_roll_back(&w->conn);
    return get_attempt_result_of_error(w, tx.failed);
}

static enum attempt_result run_transaction_attempt(struct postgres_worker *w,
                                                   struct work_item *work)
{
    enum attempt_result o = run_and_commit_work_item(w, work);

    postgres_wake_waiters_for_earlier_ids(w->pool, &w->conn);
    return o;
}

/* Waits a random time after a conflict. The wait becomes longer with each attempt. */
static void sleep_random_backoff(struct postgres_worker *w, unsigned tries)
{
    unsigned most_us = 1000u << (tries < 6 ? tries : 6);
    struct timespec t = { .tv_nsec = (long)(rand_r(&w->random) % most_us) * 1000 };

    nanosleep(&t, NULL);
}

unsigned postgres_get_write_lock_index(const struct work_item *work)
{
    uint64_t key = work->mode == STORE_APPEND && work->owner ? work->owner
                   : work->id_count                          ? work->ids[0]
                                                             : (uintptr_t)work->name;

    return (unsigned)(hash_u64(key) % POSTGRES_WRITE_LOCKS);
}

/* Locks a range of the write locks exclusively, in the order of their indexes. Group commits use
 * the same order, so there are no deadlocks. */
static void acquire_write_locks(struct postgres *p, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        pthread_rwlock_wrlock(&p->write_locks[i]);
}

static void release_write_locks(struct postgres *p, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        pthread_rwlock_unlock(&p->write_locks[i]);
}

/* Writes hold their lock in shared mode. After CONCURRENT_TRIES conflicts a work item takes the
 * lock exclusively, so that no work item of this process that changes the same rows can conflict
 * with it. All other work items continue: while the database is milliseconds away, or another node
 * has locked the rows, a lock of the whole process would stall all writes. After EXCLUSIVE_TRIES
 * conflicts the work item takes all locks, because it conflicts with users of another lock. */
static enum attempt_result run_attempt_with_write_lock(struct postgres_worker *w,
                                                       struct work_item *work, unsigned tries)
{
    unsigned own = postgres_get_write_lock_index(work);
    bool all = tries >= EXCLUSIVE_TRIES;
    unsigned first = all ? 0 : own, end = all ? POSTGRES_WRITE_LOCKS : own + 1;

    if (!work_item_is_write(work) || w->is_separate)
        return run_transaction_attempt(w, work);
    if (tries < CONCURRENT_TRIES)
        pthread_rwlock_rdlock(&w->pool->write_locks[own]);
    else
        acquire_write_locks(w->pool, first, end);
    enum attempt_result o = run_transaction_attempt(w, work);
    release_write_locks(w->pool, first, end);
    return o;
}

enum err postgres_worker_run_work_item(struct postgres_worker *w, struct work_item *work)
{
    for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
        if (tries) {
            /* Store the name first, so that a reader that sees the new count sees the name, too. */
            atomic_store_explicit(&w->pool->store.retried, work->name, memory_order_relaxed);
            atomic_fetch_add_explicit(&w->pool->store.retries, 1, memory_order_release);
        }
        if (!postgres_worker_connect_with_retry(w, work))
            return ERR_UNAVAILABLE;

        enum attempt_result o = run_attempt_with_write_lock(w, work, tries);
        if (w->conn.lost)
            postgres_worker_disconnect(w);
        if (o == ATTEMPT_FINISHED || w->conn.time_limit.is_exceeded)
            return work->result;
        if (w->is_standby)
            return ERR_UNAVAILABLE;
        /* After an id conflict (id_order.c) there is no wait, because the next attempt uses a
         * greater id. */
        if (o == ATTEMPT_CONFLICT && !w->conn.ids.conflict)
            sleep_random_backoff(w, tries);
    }
    return w->conn.pg ? ERR_STORE_RETRY : ERR_UNAVAILABLE;
}

/* --- reads that may take long --------------------------------------------------------- */

bool postgres_worker_run_read_with_time_limit(struct postgres_worker *w, struct work_item *work,
                                              enum err *ret)
{
    bool hurry = !w->runs_longest_reads && !work->urgent && !work->is_long;
    struct arena *arena = work->arena;

    w->conn.time_limit.is_exceeded = false;
    if (postgres_worker_connect_with_retry(w, work) && !postgres_conn_set_timeout(&w->conn, hurry))
        postgres_worker_disconnect(w);
    /* Read the COMMIT of the previous read now, so that it does not count towards the time limit of
     * this read. */
    if (w->conn.pg)
        postgres_conn_read_result_of_pending_commit(&w->conn);
    w->conn.time_limit.free_round_trips = UNCOUNTED_ROUND_TRIPS;
    w->conn.time_limit.until =
        hurry ? clock_monotonic_ns() + (int64_t)SHORT_READ_LIMIT_MS * 1000000 : 0;
    *ret = postgres_worker_run_work_item(w, work);
    w->conn.time_limit.until = 0;
    work->arena = arena; /* restore the arena, which the aborted read may have replaced */
    return w->conn.time_limit.is_exceeded;
}

/* Runs a long read, or queues it again if it exceeded its time limit. If the store is closing, no
 * other thread takes the read, so it restarts here. */
static void run_long_read(struct postgres_worker *w, struct work_item *work)
{
    enum err e;

    while (postgres_worker_run_read_with_time_limit(w, work, &e)) {
        work->is_long = true;
        if (fair_queue_push(&w->pool->long_reads, work))
            return;
    }
    work_item_call_callbacks(&w->pool->store, work, e);
}

/* Called while the worker is idle: detects that the connection was lost, and reconnects. */
static void check_idle_connection(struct postgres_worker *w)
{
    disconnect_if_others_timed_out(w);
    if (w->conn.pg && !postgres_conn_is_open(&w->conn))
        postgres_worker_disconnect(w);
    if (!w->conn.pg)
        postgres_worker_connect(w, false);
}

void postgres_worker_finish_work_item(struct postgres_worker *w, struct work_item *work, enum err e)
{
    if (work->in_commit_order)
        postgres_commit_order_finish_work_item(&w->pool->commit_order, &w->pool->store, work);
    else
        work_item_call_callbacks(&w->pool->store, work, e);
}

static struct work_item *worker_pop_work_item_or_long_read(struct postgres_worker *w)
{
    int64_t timeout_ms = w->conn.pg ? IDLE_CHECK_MS : w->wait_ms;

    return w->runs_long_reads
               ? fair_queue_pop(&w->pool->long_reads, w->runs_longest_reads, timeout_ms)
               : work_queue_pop_items_of_one_commit(&w->pool->queue, POSTGRES_GROUP_MAX,
                                                    timeout_ms);
}

static bool postgres_worker_must_stop(struct postgres_worker *w)
{
    return w->runs_long_reads ? fair_queue_is_closed(&w->pool->long_reads)
                              : work_queue_is_closed(&w->pool->queue);
}

static bool runs_in_group_commit(const struct postgres_worker *w, const struct work_item *first)
{
    return first->next || (w->pool->shared && work_item_can_share_transaction(first));
}

void *postgres_worker_thread(void *arg)
{
    struct postgres_worker *w = arg;

    for (;;) {
        struct work_item *work = worker_pop_work_item_or_long_read(w);

        if (work && w->runs_long_reads)
            run_long_read(w, work);
        else if (work && runs_in_group_commit(w, work))
            postgres_run_items_in_group_commit(w, work);
        else if (work)
            postgres_worker_finish_work_item(w, work, postgres_worker_run_work_item(w, work));
        else if (postgres_worker_must_stop(w))
            return NULL;
        else
            check_idle_connection(w);
    }
}
