/* group.c - group commit: runs several STORE_APPEND work items in one transaction.
 *
 * The prefetched queries of all work items are sent in one round trip, and their writes with the
 * one COMMIT. Nothing is written before the commit, so a refused work item does not affect the
 * others. A work item that must see its own writes, or their result, runs alone afterwards. So does
 * one that fails; the others are retried without it, up to MOST_TRIES times.
 *
 * A group has at most one work item per owner, sorted by owner: groups that write rows of the same
 * accounts lock them in the same order and cannot deadlock. */
#include <stdlib.h>

#include "store/postgres/postgres.h"

enum { MOST_TRIES = 4 };

enum member_state {
    MEMBER_READY,
    MEMBER_ALONE,   /* runs alone, after the group */
    MEMBER_REFUSED, /* the work item returned an error, which is its result */
    MEMBER_WRITES,
};

struct group {
    struct postgres_worker *worker;
    struct work *works[POSTGRES_GATHERED];
    enum member_state states[POSTGRES_GATHERED];
    unsigned count;
    bool broken; /* the transaction has failed */
    bool again;  /* one work item caused the failure and was removed: try again */
};

static int owner_compare(const void *a, const void *b)
{
    uint64_t one = (*(struct work *const *)a)->owner, other = (*(struct work *const *)b)->owner;

    return (one > other) - (one < other);
}

static void group_fill(struct group *g, struct work *first)
{
    for (struct work *w = first; w; w = w->next)
        g->works[g->count++] = w;
    qsort(g->works, g->count, sizeof(g->works[0]), owner_compare);
}

static struct tx group_tx(const struct group *g, unsigned i)
{
    return (struct tx){ .store = &g->worker->pool->store,
                        .work = g->works[i],
                        .connection = &g->worker->conn };
}

/* Aborts the group and removes the work item that failed. If the database is unreachable or full, a
 * retry would fail, too. */
static void group_break(struct group *g, enum err e, const struct work *culprit)
{
    g->broken = true;
    if (g->worker->conn.lost || e == ERR_UNAVAILABLE || e == ERR_STORAGE_FULL)
        return;
    for (unsigned i = 0; i < g->count; i++)
        if (g->works[i] == culprit) {
            g->states[i] = MEMBER_ALONE;
            g->again = true;
        }
}

static void member_failed(struct group *g, unsigned i, enum err e)
{
    const struct work *culprit = g->worker->conn.culprit;

    group_break(g, e, culprit ? culprit : g->works[i]);
}

static void group_prefetch(struct group *g)
{
    for (unsigned i = 0; i < g->count && !g->broken; i++) {
        struct tx tx = group_tx(g, i);

        if (g->states[i] != MEMBER_READY)
            continue;
        g->works[i]->prefetch(g->works[i], &tx);
        if (tx.failed)
            member_failed(g, i, tx.failed);
    }
}

static void member_run(struct group *g, unsigned i)
{
    struct postgres_conn *c = &g->worker->conn;
    struct work *work = g->works[i];
    struct tx tx = group_tx(g, i);

    work->log = (struct str){ 0 };
    work->position = 0;
    c->leaves = false;
    work->result = tx_run(&tx);
    if (!work->result) {
        g->states[i] = MEMBER_WRITES;
        return;
    }
    postgres_drop_errands(c, work);
    if (c->leaves)
        g->states[i] = MEMBER_ALONE;
    else if (tx.failed)
        member_failed(g, i, tx.failed);
    else
        g->states[i] = MEMBER_REFUSED;
}

static unsigned group_writers(const struct group *g, struct work **ret)
{
    unsigned count = 0;

    for (unsigned i = 0; i < g->count; i++)
        if (g->states[i] == MEMBER_WRITES)
            ret[count++] = g->works[i];
    return count;
}

static void writers_failed(struct group *g, struct work *const *writers, unsigned count)
{
    struct postgres_worker *w = g->worker;
    int64_t untold = 0;

    if (!w->conn.lost) {
        postgres_conn_do(&w->conn, "rollback");
        /* There is at most one such position, because statements after a failed one do not run. */
        untold = postgres_conn_untold_position(&w->conn);
    }
    if (!w->conn.lost && untold)
        postgres_void_position(w, untold);
    for (unsigned i = 0; i < count; i++) {
        if (!w->conn.lost && writers[i]->position)
            postgres_void_position(w, writers[i]->position);
        if (writers[i]->in_line)
            commit_line_leave(&w->pool->line, &w->pool->store, writers[i]);
    }
}

/* If the connection is lost without a result, it is unknown whether the transaction committed; if
 * may_be_written is false, it did not. */
static void group_commit(struct group *g)
{
    struct postgres_worker *w = g->worker;
    struct work *writers[POSTGRES_GATHERED];
    unsigned count = group_writers(g, writers);

    if (!count) {
        postgres_conn_let_go(&w->conn);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        if (writers[i]->committed)
            commit_line_enter(&w->pool->line, writers[i]);
    enum err e = postgres_conn_commit_group(&w->conn, writers, count);
    if (!e) {
        atomic_fetch_add_explicit(&w->pool->store.commits, 1, memory_order_relaxed);
        return;
    }
    if (!w->conn.lost || !w->conn.may_be_written || e != ERR_UNAVAILABLE)
        group_break(g, e, w->conn.culprit);
    writers_failed(g, writers, count);
    for (unsigned i = 0; i < count; i++)
        writers[i]->result = e;
}

static void group_attempt(struct group *g)
{
    struct postgres_conn *c = &g->worker->conn;

    postgres_conn_begin(c, postgres_begin_words[STORE_APPEND]);
    c->gathers = true;
    group_prefetch(g);
    for (unsigned i = 0; i < g->count && !g->broken; i++)
        if (g->states[i] == MEMBER_READY)
            member_run(g, i);
    c->gathers = false;
    if (!g->broken)
        group_commit(g);
    else if (!c->lost)
        postgres_conn_roll_back(c);
}

/* Resets the other work items to ready after one has failed. Returns whether more than one is
 * left. */
static bool group_gathers_again(struct group *g)
{
    unsigned left = 0;

    if (!g->broken || !g->again || g->worker->conn.lost)
        return false;
    for (unsigned i = 0; i < g->count; i++) {
        if (g->states[i] == MEMBER_WRITES)
            g->states[i] = MEMBER_READY;
        left += g->states[i] == MEMBER_READY;
    }
    return left > 1;
}

static void group_try(struct group *g)
{
    struct store *s = &g->worker->pool->store;

    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        if (tries)
            atomic_fetch_add_explicit(&s->retries, 1, memory_order_relaxed);
        g->broken = g->again = false;
        pthread_rwlock_rdlock(&g->worker->pool->writing);
        group_attempt(g);
        pthread_rwlock_unlock(&g->worker->pool->writing);
        if (!group_gathers_again(g))
            return;
    }
}

static bool goes_alone(const struct group *g, unsigned i)
{
    return g->states[i] == MEMBER_READY || g->states[i] == MEMBER_ALONE ||
           (g->states[i] == MEMBER_WRITES && g->broken);
}

/* Puts the work items that run alone back at the head of the queue, for any worker. This thread
 * checks the queue afterwards, so none is left when the store closes. */
static void group_disband(struct group *g)
{
    struct work *first = NULL, *last = NULL;

    for (unsigned i = g->count; i-- > 0;) {
        if (!goes_alone(g, i))
            continue;
        g->works[i]->by_itself = true;
        g->works[i]->next = first;
        first = g->works[i];
        last = last ? last : first;
    }
    if (first)
        queue_push_back(&g->worker->pool->queue, first, last);
}

static void group_end(struct group *g)
{
    group_disband(g); /* from here on another thread may own the requeued work items */
    for (unsigned i = 0; i < g->count; i++)
        if (!goes_alone(g, i))
            postgres_worker_finish(g->worker, g->works[i], g->works[i]->result);
}

void postgres_group_run(struct postgres_worker *w, struct work *first)
{
    struct group g = { .worker = w };

    group_fill(&g, first);
    if (postgres_worker_connect_for(w, first)) {
        group_try(&g);
        if (w->conn.lost)
            postgres_worker_hang_up(w);
    }
    group_end(&g);
}
