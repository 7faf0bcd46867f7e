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
#include "base/log.h"
#include "store/postgres/postgres.h"

enum {
    MAX_TRIES = 10,
    TRIES_AMONG_OTHERS = 4,
    PATIENCE_MS = 5000,  /* timeout of a work item while the database is unreachable */
    FIRST_WAIT_MS = 100, /* wait between connection attempts; doubled each time */
    LAST_WAIT_MS = 5000, /* upper limit of that wait */
    LOOK_MS = 1000,      /* interval of checks of an idle connection */
};

static void sleep_ms(int64_t ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static int64_t age_ms(const struct work *work)
{
    return (clock_mono() - work->since) / 1000000;
}

static bool open_connection(struct postgres_worker *w, bool log)
{
    if (!postgres_conn_open(&w->conn, w->pool->where, log))
        return false;
    w->conn.round_trips = &w->pool->store.round_trips;
    if (!w->pool->serves || postgres_conn_serve(&w->conn, w->pool))
        return true;
    postgres_conn_close(&w->conn);
    return false;
}

bool postgres_worker_connect(struct postgres_worker *w, bool log)
{
    if (w->conn.pg)
        return true;
    w->silences = atomic_load(&w->pool->silences);
    if (open_connection(w, log)) {
        if (atomic_fetch_add(&w->pool->connected, 1) == 0 && atomic_exchange(&w->pool->away, false))
            log_info("store: connected to PostgreSQL again");
        w->wait_ms = 0;
        w->connections++;
        return true;
    }
    w->wait_ms = w->wait_ms ? w->wait_ms * 2 : FIRST_WAIT_MS;
    if (w->wait_ms > LAST_WAIT_MS)
        w->wait_ms = LAST_WAIT_MS;
    return false;
}

void postgres_worker_hang_up(struct postgres_worker *w)
{
    if (!w->conn.pg)
        return;
    if (w->conn.silent)
        atomic_fetch_add(&w->pool->silences, 1);
    postgres_conn_close(&w->conn);
    if (atomic_fetch_sub(&w->pool->connected, 1) == 1) {
        atomic_store(&w->pool->away, true);
        log_warn("store: lost all connections to PostgreSQL; reconnecting");
    }
}

void postgres_worker_leave(struct postgres_worker *w)
{
    if (!w->conn.pg)
        return;
    postgres_conn_close(&w->conn);
    atomic_fetch_sub(&w->pool->connected, 1);
}

/* If one connection timed out, older ones are probably dead, too, and each would delay a caller. */
static void leave_silence(struct postgres_worker *w)
{
    if (w->conn.pg && w->silences != atomic_load(&w->pool->silences))
        postgres_worker_hang_up(w);
}

bool postgres_worker_connect_for(struct postgres_worker *w, const struct work *work)
{
    leave_silence(w);
    while (!w->conn.pg) {
        int64_t left = PATIENCE_MS - age_ms(work);

        if (left <= 0)
            return false;
        if (!postgres_worker_connect(w, false))
            sleep_ms(left < w->wait_ms ? left : w->wait_ms);
    }
    return true;
}

enum outcome { FINISHED, MET_ANOTHER, LOST };

static enum outcome outcome_of(struct postgres_worker *w, enum err e)
{
    if (w->conn.lost)
        return LOST;
    return e == ERR_STORE_RETRY ? MET_ANOTHER : FINISHED;
}

void postgres_void_position(struct postgres_worker *w, int64_t position)
{
    const struct store *s = &w->pool->store;
    char sql[128];

    if (s->voided)
        s->voided(s->voided_arg, position);
    snprintf(sql, sizeof sql,
             "insert into log (position) values (%" PRId64 ") on conflict do nothing", position);
    postgres_conn_do(&w->conn, sql);
}

static enum err commit_logged(struct postgres_worker *w, struct work *work)
{
    enum err e = postgres_conn_commit_logged(&w->conn, work->log, &work->position);

    if (e && !w->conn.lost)
        postgres_conn_do(&w->conn, "rollback");
    if (e && !w->conn.lost && !work->position)
        work->position = postgres_conn_untold_position(&w->conn);
    if (e && !w->conn.lost && work->position)
        postgres_void_position(w, work->position);
    return e;
}

static enum err commit_now(struct postgres_worker *w, struct work *work)
{
    return work->log.n ? commit_logged(w, work) : postgres_conn_commit(&w->conn);
}

static enum err commit_in_line(struct postgres_worker *w, struct work *work)
{
    struct commit_line *line = &w->pool->line;

    commit_line_enter(line, work);
    enum err e = commit_now(w, work);
    if (e)
        commit_line_leave(line, &w->pool->store, work);
    return e;
}

static enum outcome worker_commit(struct postgres_worker *w, struct work *work)
{
    /* A read is complete, whatever the result of its COMMIT. */
    if (!work_writes(work)) {
        postgres_conn_let_go(&w->conn);
        return FINISHED;
    }
    enum err e = work->committed ? commit_in_line(w, work) : commit_now(w, work);
    work->result = e;
    if (!e)
        atomic_fetch_add_explicit(&w->pool->store.commits, 1, memory_order_relaxed);
    if (e && w->conn.lost && !w->conn.may_be_written)
        return LOST;
    return e == ERR_STORE_RETRY ? MET_ANOTHER : FINISHED;
}

const char *const postgres_begin_words[] = {
    [STORE_READ] = "begin isolation level repeatable read read only",
    [STORE_WRITE] = "begin isolation level serializable",
    [STORE_APPEND] = "begin isolation level repeatable read",
};

static void work_begin(struct postgres_worker *w, const struct work *work)
{
    if (postgres_kind_ends_with(w->pool, work, 1))
        postgres_conn_begin_once(&w->conn, postgres_begin_words[work->mode]);
    else
        postgres_conn_begin(&w->conn, postgres_begin_words[work->mode]);
}

static void note_kind(struct postgres_worker *w, const struct work *work)
{
    if (w->conn.wants_more || w->conn.began)
        postgres_kind_note(w->pool, work, w->conn.wants_more ? 2 : w->conn.began);
}

static struct tx work_attempt(struct postgres_worker *w, struct work *work)
{
    struct tx tx = { .store = &w->pool->store, .work = work, .connection = &w->conn };

    work->log = (struct str){ 0 };
    work->position = 0;
    work_begin(w, work);
    if (work->prefetch)
        work->prefetch(work, &tx);
    work->result = tx_run(&tx);
    note_kind(w, work);
    return tx;
}

static enum outcome try_once(struct postgres_worker *w, struct work *work)
{
    struct tx tx = work_attempt(w, work);

    if (w->conn.wants_more && !w->conn.lost)
        tx = work_attempt(w, work);
    if (!work->result)
        return worker_commit(w, work);
    if (!w->conn.lost)
        postgres_conn_roll_back(&w->conn);
    return outcome_of(w, tx.failed);
}

/* Waits a random time after a conflict, longer at each attempt. */
static void step_aside(struct postgres_worker *w, unsigned tries)
{
    unsigned most_us = 1000u << (tries < 6 ? tries : 6);
    struct timespec t = { .tv_nsec = (long)(rand_r(&w->random) % most_us) * 1000 };

    nanosleep(&t, NULL);
}

/* Writes hold the lock in shared mode. After TRIES_AMONG_OTHERS conflicts a work item takes the
 * lock exclusively, so that no other work item of this process can conflict with it. */
static enum outcome try_among_others(struct postgres_worker *w, struct work *work, unsigned tries)
{
    pthread_rwlock_t *writing = &w->pool->writing;

    if (!work_writes(work) || w->is_beside)
        return try_once(w, work);
    if (tries < TRIES_AMONG_OTHERS)
        pthread_rwlock_rdlock(writing);
    else
        pthread_rwlock_wrlock(writing);
    enum outcome o = try_once(w, work);
    pthread_rwlock_unlock(writing);
    return o;
}

enum err postgres_worker_run(struct postgres_worker *w, struct work *work)
{
    for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
        if (tries) {
            /* In this order, so that a reader that sees the new count also sees the name. */
            atomic_store_explicit(&w->pool->store.retried, work->name, memory_order_relaxed);
            atomic_fetch_add_explicit(&w->pool->store.retries, 1, memory_order_release);
        }
        if (!postgres_worker_connect_for(w, work))
            return ERR_UNAVAILABLE;

        enum outcome o = try_among_others(w, work, tries);
        if (w->conn.lost)
            postgres_worker_hang_up(w);
        if (o == FINISHED || w->conn.share.is_spent)
            return work->result;
        if (o == MET_ANOTHER)
            step_aside(w, tries);
    }
    return w->conn.pg ? ERR_STORE_RETRY : ERR_UNAVAILABLE;
}

/* --- reads that may take long --------------------------------------------------------- */

/* Runs a read with a time limit. Returns whether the limit was exceeded and the read must
 * restart. */
static bool worker_run_share(struct postgres_worker *w, struct work *work, enum err *ret)
{
    bool hurry = !w->takes_long && !work->urgent && !work->is_long;
    struct arena *arena = work->arena;

    w->conn.share.is_spent = false;
    if (postgres_worker_connect_for(w, work) &&
        !postgres_conn_hurry(&w->conn, hurry, w->pool->serves))
        postgres_worker_hang_up(w);
    if (w->conn.pg)
        postgres_conn_settle(&w->conn); /* the previous COMMIT does not count towards this time
                                         * limit */
    w->conn.share.free_round_trips = LANE_FREE_ROUND_TRIPS;
    w->conn.share.until = hurry ? clock_mono() + (int64_t)LANE_SHARE_MS * 1000000 : 0;
    *ret = postgres_worker_run(w, work);
    w->conn.share.until = 0;
    work->arena = arena; /* the run may have switched arenas */
    return w->conn.share.is_spent;
}

/* Runs a long read, or queues it again if it exceeded its limit. If the store is closing, no other
 * thread takes it, so it restarts here. */
static void worker_run_aside(struct postgres_worker *w, struct work *work)
{
    enum err e;

    while (worker_run_share(w, work, &e)) {
        work->is_long = true;
        if (lanes_push(&w->pool->aside, work))
            return;
    }
    work_finish(&w->pool->store, work, e);
}

/* While idle: detects a lost connection, or reconnects. */
static void look_around(struct postgres_worker *w)
{
    leave_silence(w);
    if (w->conn.pg && !postgres_conn_alive(&w->conn))
        postgres_worker_hang_up(w);
    if (!w->conn.pg)
        postgres_worker_connect(w, false);
}

void postgres_worker_finish(struct postgres_worker *w, struct work *work, enum err e)
{
    if (work->in_line)
        commit_line_finish(&w->pool->line, &w->pool->store, work);
    else
        work_finish(&w->pool->store, work, e);
}

static struct work *worker_take(struct postgres_worker *w)
{
    int64_t patience = w->conn.pg ? LOOK_MS : w->wait_ms;

    return w->is_aside ? lanes_take(&w->pool->aside, w->takes_long, patience)
                       : queue_take_alike(&w->pool->queue, POSTGRES_GATHERED, patience);
}

static bool worker_is_dismissed(struct postgres_worker *w)
{
    return w->is_aside ? lanes_closed(&w->pool->aside) : queue_closed(&w->pool->queue);
}

void *postgres_worker_live(void *arg)
{
    struct postgres_worker *w = arg;

    for (;;) {
        struct work *work = worker_take(w);

        if (work && w->is_aside)
            worker_run_aside(w, work);
        else if (work && work->next)
            postgres_group_run(w, work);
        else if (work)
            postgres_worker_finish(w, work, postgres_worker_run(w, work));
        else if (worker_is_dismissed(w))
            return NULL;
        else
            look_around(w);
    }
}
