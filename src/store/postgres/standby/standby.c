/* standby.c - threads with connections to the standby, and the measurement of its lag. */
#include "store/postgres/standby/standby.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    STANDBY_WORKERS = 4, /* connections to the standby; the last one runs long reads */
    SAMPLES = 256,       /* samples of the primary that are stored: enough for the greatest limit */
    SAMPLES_PER_LIMIT = 8,            /* samples that are at least taken in the time of the limit */
    SAMPLE_MS = 250,                  /* longest time between two samples */
    WRITE_SLOTS = 1 << 12,            /* slots for the last writes; owners may share a slot */
    STANDBY_ANSWER_TIMEOUT_MS = 4000, /* then the read runs on the primary */
    RECONNECT_MS = 1000,              /* time between two attempts to connect */
    CONNECTED_AT_FIRST_MS = 3000,     /* time after the start until a missing standby is logged */
};

enum standby_state { STANDBY_STARTING, STANDBY_USED, STANDBY_UNUSED };

/* A connection; only its thread uses it. */
struct standby_worker {
    struct postgres_worker worker;
    struct postgres_standby *standby;
    int64_t fresh_at;   /* the connection has all commits that were acknowledged before this time
                         * (monotonic ns); 0 if that is unknown */
    int64_t checked_at; /* time at which fresh_at was computed */
    int64_t connect_at; /* earliest time of the next attempt to connect */
};

struct postgres_standby {
    struct postgres *pool;
    char *where; /* connection string; never logged, because it may contain a password */
    int64_t limit_ns, interval_ns;
    struct fair_queue queue;
    pthread_mutex_t lock; /* protects the members until `stops` */
    pthread_cond_t stopped;
    struct sample {
        int64_t at;       /* time before the primary was asked (monotonic ns) */
        int64_t position; /* its position in the write-ahead log */
    } samples[SAMPLES];
    uint64_t sample_count; /* sample number i is samples[i % SAMPLES] */
    char database[256];    /* identifies the database of the primary; "" until it is known */
    int64_t timeline;      /* present timeline of the primary */
    const char *trouble;   /* why the standby is not used, if it is not used */
    bool stops;
    _Atomic int64_t fresh_at; /* the newest fresh_at of a connection; 0 after one failed */
    _Atomic uint64_t reads, fallbacks;
    _Atomic int64_t written_at[WRITE_SLOTS]; /* end of the last write of the slot's owners */
    enum standby_state state; /* last state that was logged, by the sampling thread */
    int64_t started_at;
    pthread_t sampler;
    struct standby_worker workers[STANDBY_WORKERS];
};

/* --- which reads may run -------------------------------------------------------------- */

static size_t write_slot_of_owner(uint64_t owner)
{
    return hash_u64(owner) % WRITE_SLOTS;
}

void postgres_standby_record_write(struct postgres_standby *s, uint64_t owner)
{
    if (owner)
        atomic_store(&s->written_at[write_slot_of_owner(owner)], clock_monotonic_ns());
}

static bool is_fresh_enough(const struct postgres_standby *s, int64_t fresh_at, uint64_t owner)
{
    return fresh_at && clock_monotonic_ns() - fresh_at <= s->limit_ns &&
           atomic_load(&s->written_at[write_slot_of_owner(owner)]) < fresh_at;
}

bool postgres_standby_accepts(const struct postgres_standby *s, uint64_t owner)
{
    return s && is_fresh_enough(s, atomic_load(&s->fresh_at), owner);
}

bool postgres_standby_submit(struct postgres_standby *s, struct work_item *w)
{
    return postgres_standby_accepts(s, w->owner) && fair_queue_push(&s->queue, w);
}

void postgres_standby_read_stats(const struct postgres_standby *s, struct store_stats *ret)
{
    int64_t fresh_at = atomic_load(&s->fresh_at);

    ret->has_standby = true;
    ret->standby_reads = atomic_load(&s->reads);
    ret->standby_fallbacks = atomic_load(&s->fallbacks);
    ret->standby_is_used = is_fresh_enough(s, fresh_at, 0);
    ret->standby_lag_ms = fresh_at ? (clock_monotonic_ns() - fresh_at) / 1000000 : -1;
}

/* --- samples of the primary ------------------------------------------------------------ */

#define DATABASE_SQL                                                                              \
    "(select system_identifier from pg_control_system()) || ' ' || current_database() || ' ' || " \
    "coalesce(current_schema(), '')"

struct primary_state {
    int64_t position, timeline;
    char database[256];
};

static enum err read_primary_state(struct tx *tx, void *arg)
{
    struct primary_state *ret = arg;
    struct rows r;
    enum err e =
        tx_one_or(tx,
                  "select cast(pg_current_wal_insert_lsn() - '0/0' as bigint), " DATABASE_SQL
                  ", cast(cast('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) "
                  "as bit(32)) as bigint)",
                  NO_BIND, ERR_INTERNAL, &r);

    if (e)
        return e;
    struct str database = row_text(&r, 1);
    ret->position = row_int(&r, 0);
    ret->timeline = row_int(&r, 2);
    snprintf(ret->database, sizeof ret->database, "%.*s", (int)database.n, database.p);
    return OK;
}

static void take_sample(struct postgres_standby *s)
{
    struct sample sample = { .at = clock_monotonic_ns() };
    struct primary_state state;

    if (store_run_transaction_and_wait(&s->pool->store, STORE_READ, NULL, read_primary_state,
                                       &state))
        return;
    sample.position = state.position;
    pthread_mutex_lock(&s->lock);
    memcpy(s->database, state.database, sizeof s->database);
    s->timeline = state.timeline;
    s->samples[s->sample_count++ % SAMPLES] = sample;
    pthread_mutex_unlock(&s->lock);
}

/* Returns the time of the newest sample that is not above the position, or 0. */
static int64_t find_time_of_position(struct postgres_standby *s, int64_t position)
{
    int64_t at = 0;

    pthread_mutex_lock(&s->lock);
    for (uint64_t i = s->sample_count; !at && i > 0 && i + SAMPLES > s->sample_count; i--)
        if (s->samples[(i - 1) % SAMPLES].position <= position)
            at = s->samples[(i - 1) % SAMPLES].at;
    pthread_mutex_unlock(&s->lock);
    return at;
}

/* Logs once when the standby begins or ceases to be used. */
static void log_state_change(struct postgres_standby *s)
{
    int64_t now = clock_monotonic_ns();
    bool used = is_fresh_enough(s, atomic_load(&s->fresh_at), 0);
    enum standby_state state = used ? STANDBY_USED : STANDBY_UNUSED;

    if (state == s->state || (!used && s->state == STANDBY_STARTING &&
                              now - s->started_at < CONNECTED_AT_FIRST_MS * INT64_C(1000000)))
        return;
    s->state = state;
    pthread_mutex_lock(&s->lock);
    if (used)
        log_info("store: the standby is up to date; it runs reads that may be a moment old");
    else
        log_warn("store: the standby is not used (%s); the primary runs all reads", s->trouble);
    pthread_mutex_unlock(&s->lock);
}

/* Waits for an interval. Returns false if the threads must end. */
static bool wait_for_next_sample(struct postgres_standby *s)
{
    struct timespec until = timespec_after_ms(s->interval_ns / 1000000);
    int timed_out = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->stops && !timed_out)
        timed_out = pthread_cond_timedwait(&s->stopped, &s->lock, &until);
    bool stops = s->stops;
    pthread_mutex_unlock(&s->lock);
    return !stops;
}

static void *run_sampler_thread(void *arg)
{
    struct postgres_standby *s = arg;

    do {
        take_sample(s);
        log_state_change(s);
    } while (wait_for_next_sample(s));
    return NULL;
}

/* --- connections to the standby --------------------------------------------------------- */

static void set_trouble(struct postgres_standby *s, const char *why)
{
    pthread_mutex_lock(&s->lock);
    s->trouble = why;
    pthread_mutex_unlock(&s->lock);
}

/* Closes the connection. Until a connection has proved again that it is fresh, the primary runs
 * all reads, so that none waits for a standby that does not answer. */
static void stop_using_connection(struct standby_worker *w, const char *why)
{
    struct postgres_standby *s = w->standby;

    postgres_worker_disconnect(&w->worker);
    w->fresh_at = 0;
    w->connect_at = clock_monotonic_ns() + RECONNECT_MS * INT64_C(1000000);
    atomic_store(&s->fresh_at, 0);
    set_trouble(s, why);
}

/* Checks that the server behind the connection is a copy of the primary's database. */
static const char *check_database_of_standby(struct standby_worker *w)
{
    char database[sizeof w->standby->database];

    if (postgres_conn_query_text(&w->worker.conn, "select " DATABASE_SQL, database,
                                 sizeof database))
        return "it does not answer";
    pthread_mutex_lock(&w->standby->lock);
    bool same = strcmp(database, w->standby->database) == 0;
    pthread_mutex_unlock(&w->standby->lock);
    return same ? NULL : "it has another database than the primary";
}

static void connect_to_standby(struct standby_worker *w)
{
    struct postgres_conn *c = &w->worker.conn;

    if (!find_time_of_position(w->standby, INT64_MAX) || clock_monotonic_ns() < w->connect_at)
        return;
    if (!postgres_conn_open(c, w->standby->where, false)) {
        stop_using_connection(w, "it cannot be reached");
        return;
    }
    c->answer_timeout_ms = STANDBY_ANSWER_TIMEOUT_MS;
    c->prefetcher = &w->standby->pool->prefetcher;
    c->round_trips = &w->standby->pool->store.round_trips;
    c->time_limit.has_short_timeout = true; /* so that check_connection sets the timeout */
    const char *trouble =
        pq.setnonblocking(c->pg, 1) == 0 ? check_database_of_standby(w) : "it cannot be reached";
    if (trouble)
        stop_using_connection(w, trouble);
}

/* The position and the timeline that the standby has replayed; position -1 if it is not a standby.
 * A checkpoint or the writing of a changed page records the timeline. */
static const char REPLAYED_SQL[] =
    "select case when pg_is_in_recovery() then cast(pg_last_wal_replay_lsn() - '0/0' as bigint) "
    "else -1 end || ' ' || greatest((select timeline_id from pg_control_checkpoint()), "
    "(select min_recovery_end_timeline from pg_control_recovery()))";

/* Returns why the standby cannot be used, or NULL. After a failover, a standby of the former
 * primary may have replayed more than the new primary has written; its position is then no measure
 * of how old its rows are. */
static const char *check_replayed_position(struct postgres_standby *s, const char *replayed,
                                           int64_t *ret)
{
    char *end;

    *ret = strtoll(replayed, &end, 10);
    if (*ret < 0)
        return "it is not a standby";
    pthread_mutex_lock(&s->lock);
    bool same = strtoll(end, NULL, 10) == s->timeline;
    pthread_mutex_unlock(&s->lock);
    return same ? NULL : "it has not followed the primary to its timeline";
}

static void raise_shared_fresh_at(struct postgres_standby *s, int64_t fresh_at)
{
    int64_t known = atomic_load(&s->fresh_at);

    while (known < fresh_at && !atomic_compare_exchange_weak(&s->fresh_at, &known, fresh_at))
        ;
}

/* Computes how fresh the connection is. */
static void check_connection(struct standby_worker *w)
{
    char replayed[64];
    int64_t position;

    if (!w->worker.conn.pg)
        connect_to_standby(w);
    if (!w->worker.conn.pg)
        return;
    if (!postgres_conn_set_timeout(&w->worker.conn, false) ||
        postgres_conn_query_text(&w->worker.conn, REPLAYED_SQL, replayed, sizeof replayed)) {
        stop_using_connection(w, "it does not answer");
        return;
    }
    const char *trouble = check_replayed_position(w->standby, replayed, &position);
    if (trouble) {
        stop_using_connection(w, trouble);
        return;
    }
    w->checked_at = clock_monotonic_ns();
    w->fresh_at = find_time_of_position(w->standby, position);
    raise_shared_fresh_at(w->standby, w->fresh_at);
    set_trouble(w->standby, "it is too far behind"); /* if it is not used from now on */
}

/* --- reads ------------------------------------------------------------------------------ */

/* Runs a read on the standby. Returns false if the primary must run it. */
static bool run_read_on_standby(struct standby_worker *w, struct work_item *work)
{
    struct postgres_standby *s = w->standby;
    enum err e;

    if (w->worker.conn.pg && clock_monotonic_ns() - w->checked_at > s->interval_ns)
        check_connection(w);
    if (!w->worker.conn.pg || !is_fresh_enough(s, w->fresh_at, work->owner))
        return false;
    if (postgres_worker_run_read_with_time_limit(&w->worker, work, &e)) {
        work->is_long = true;
        return fair_queue_push(&s->queue, work);
    }
    if (!w->worker.conn.pg)
        stop_using_connection(w, "it does not answer");
    if (e) /* perhaps the caller or an object is newer than the standby */
        return false;
    atomic_fetch_add_explicit(&s->reads, 1, memory_order_relaxed);
    work_item_call_callbacks(&s->pool->store, work, OK);
    return true;
}

static void *run_standby_worker_thread(void *arg)
{
    struct standby_worker *w = arg;
    struct postgres_standby *s = w->standby;

    for (;;) {
        /* Without a connection, leave the reads to the other threads, if these have one. */
        bool waits = !w->worker.conn.pg && atomic_load(&s->fresh_at);
        struct work_item *work = NULL;

        if (waits && !wait_for_next_sample(s))
            atomic_store(&s->fresh_at, 0);
        else
            work =
                fair_queue_pop(&s->queue, w->worker.runs_longest_reads, s->interval_ns / 1000000);
        if (!work && !waits && fair_queue_is_closed(&s->queue))
            return NULL;
        if (!work)
            check_connection(w);
        else if (!run_read_on_standby(w, work)) {
            atomic_fetch_add_explicit(&s->fallbacks, 1, memory_order_relaxed);
            postgres_enqueue_work_item_for_workers(s->pool, work);
        }
    }
}

/* --- start and end ---------------------------------------------------------------------- */

static void start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    if (pthread_create(thread, NULL, run, arg) != 0) {
        log_error("store: cannot start a thread for the standby");
        abort();
    }
}

struct postgres_standby *postgres_standby_new(struct postgres *p, const struct store_options *o)
{
    if (!o->standby)
        return NULL;

    struct postgres_standby *s = mem_new(sizeof *s);
    s->pool = p;
    s->where = mem_dup_cstring(o->standby);
    s->limit_ns = o->standby_lag_ms * 1000000;
    s->interval_ns = s->limit_ns / SAMPLES_PER_LIMIT;
    if (s->interval_ns > SAMPLE_MS * INT64_C(1000000))
        s->interval_ns = SAMPLE_MS * INT64_C(1000000);
    s->trouble = "it cannot be reached";
    s->started_at = clock_monotonic_ns();
    fair_queue_init(&s->queue);
    pthread_mutex_init(&s->lock, NULL);
    init_condition_with_monotonic_clock(&s->stopped);
    for (unsigned i = 0; i < STANDBY_WORKERS; i++) {
        struct standby_worker *w = &s->workers[i];

        w->standby = s;
        w->worker.pool = p;
        w->worker.is_standby = true;
        w->worker.runs_long_reads = true;
        w->worker.runs_longest_reads = i == STANDBY_WORKERS - 1;
        start_thread(&w->worker.thread, run_standby_worker_thread, w);
    }
    start_thread(&s->sampler, run_sampler_thread, s);
    return s;
}

void postgres_standby_stop(struct postgres_standby *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    pthread_cond_broadcast(&s->stopped);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->sampler, NULL);
    fair_queue_close(&s->queue);
    for (unsigned i = 0; i < STANDBY_WORKERS; i++) {
        pthread_join(s->workers[i].worker.thread, NULL);
        postgres_worker_disconnect(&s->workers[i].worker);
    }
}

void postgres_standby_free(struct postgres_standby *s)
{
    if (!s)
        return;
    pthread_cond_destroy(&s->stopped);
    pthread_mutex_destroy(&s->lock);
    fair_queue_clear(&s->queue);
    mem_free(s->where);
    mem_free(s);
}
