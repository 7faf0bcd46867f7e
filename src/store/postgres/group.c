/* group.c - group commit: runs several STORE_APPEND work items in one transaction.
 *
 * The first queries of all work items, and those that usually follow them (prefetch.c), are sent in
 * one round trip, and their writes with the one COMMIT. Nothing is written before the commit, so a
 * refused work item does not affect the others. A work item that must see its own writes, or their
 * result, runs alone afterwards. A work item that fails also runs alone; the others are retried
 * without it, up to MAX_GROUP_ATTEMPTS times.
 *
 * In a cluster, a transaction that creates an id often conflicts with another node (id_order.c).
 * Its reads stay valid: the transaction returns to a savepoint before its writes, and the work
 * items run again with the same rows and new ids. That takes one round trip; to roll back and begin
 * again takes three. So a work item that may share a transaction forms a group even if it is alone.
 *
 * A group has at most one work item per owner, sorted by owner: groups that write rows of the same
 * accounts lock them in the same order and cannot deadlock. */
#include <stdlib.h>

#include "store/postgres/postgres.h"

enum { MAX_GROUP_ATTEMPTS = 4, MAX_REPEATED_WRITES = 8 };

enum group_item_state {
    ITEM_READY,
    ITEM_RUNS_ALONE, /* the work item runs alone, after the group */
    ITEM_REFUSED,    /* the work item returned an error, which becomes its result */
    ITEM_WRITES,
};

struct commit_group {
    struct postgres_worker *worker;
    struct work_item *works[POSTGRES_GROUP_MAX];
    enum group_item_state states[POSTGRES_GROUP_MAX];
    unsigned count;
    bool broken; /* the transaction of the group has failed and must be rolled back */
    bool again;  /* the work item that caused the failure was removed: run the group again */
    bool repeats_writes; /* the group continues at its savepoint, with new ids */
    unsigned repeats;    /* how often it did so */
};

static int compare_work_item_owners(const void *a, const void *b)
{
    uint64_t one = (*(struct work_item *const *)a)->owner,
             other = (*(struct work_item *const *)b)->owner;

    return (one > other) - (one < other);
}

static void add_items_sorted_by_owner(struct commit_group *g, struct work_item *first)
{
    for (struct work_item *w = first; w; w = w->next)
        g->works[g->count++] = w;
    qsort(g->works, g->count, sizeof(g->works[0]), compare_work_item_owners);
}

static struct tx get_transaction_of_group_item(const struct commit_group *g, unsigned i)
{
    return (struct tx){ .store = &g->worker->pool->store,
                        .work = g->works[i],
                        .connection = &g->worker->conn };
}

/* Aborts the group commit and removes the work item that failed. After an id conflict (id_order.c)
 * no item is removed, because the next attempt creates new ids. If the database is unreachable or
 * full, the group is not run again, because it would fail again. */
static void abort_group_and_remove_item(struct commit_group *g, enum err e,
                                        const struct work_item *culprit)
{
    g->broken = true;
    if (g->worker->conn.lost || e == ERR_UNAVAILABLE || e == ERR_STORAGE_FULL)
        return;
    g->again = g->worker->conn.ids.conflict;
    for (unsigned i = 0; i < g->count; i++)
        if (g->works[i] == culprit) {
            g->states[i] = ITEM_RUNS_ALONE;
            g->again = true;
        }
}

static void abort_group_after_item(struct commit_group *g, unsigned i, enum err e)
{
    const struct work_item *culprit = g->worker->conn.culprit;

    abort_group_and_remove_item(g, e, culprit ? culprit : g->works[i]);
}

/* Runs a work item until its first query, which is queued and not yet sent. */
static void collect_first_query(struct commit_group *g, unsigned i)
{
    struct postgres_conn *c = &g->worker->conn;
    struct work_item *work = g->works[i];
    struct tx tx = get_transaction_of_group_item(g, i);

    c->group.collects = true;
    c->wants_more = false;
    c->arena = work->arena;
    work->prefetch.phase = PREFETCH_NOT_BEGUN;
    tx_run_work_item(&tx);
    work->arena = c->arena; /* the run may have switched arenas */
    c->group.collects = false;
    if (!c->wants_more)
        postgres_discard_statements_of_work_item(c, work);
    if (tx.failed && tx.failed != ERR_STORE_RETRY)
        abort_group_after_item(g, i, tx.failed);
}

static void run_work_item_of_group(struct commit_group *g, unsigned i)
{
    struct postgres_conn *c = &g->worker->conn;
    struct work_item *work = g->works[i];
    struct tx tx = get_transaction_of_group_item(g, i);

    work->log = (struct str){ 0 };
    work->ordered_ids = NULL;
    work->position = 0;
    c->must_leave = false;
    c->arena = work->arena;
    work->result = tx_run_work_item(&tx);
    if (!work->result) {
        g->states[i] = ITEM_WRITES;
        return;
    }
    postgres_discard_statements_of_work_item(c, work);
    if (c->must_leave)
        g->states[i] = ITEM_RUNS_ALONE;
    else if (tx.failed)
        abort_group_after_item(g, i, tx.failed);
    else
        g->states[i] = ITEM_REFUSED;
}

static unsigned collect_items_with_state_writes(const struct commit_group *g,
                                                struct work_item **ret)
{
    unsigned count = 0;

    for (unsigned i = 0; i < g->count; i++)
        if (g->states[i] == ITEM_WRITES)
            ret[count++] = g->works[i];
    return count;
}

static void roll_back_writing_items(struct commit_group *g, struct work_item *const *writers,
                                    unsigned count)
{
    struct postgres_worker *w = g->worker;
    int64_t unreported = 0;

    if (!w->conn.lost) {
        postgres_conn_run_command(&w->conn, "rollback");
        /* The transaction has at most one unreported position, because statements after a failed
         * one do not run. */
        unreported = postgres_conn_unreported_log_position(&w->conn);
    }
    if (!w->conn.lost && unreported)
        postgres_mark_log_position_aborted(w, unreported);
    for (unsigned i = 0; i < count; i++) {
        if (!w->conn.lost && writers[i]->position)
            postgres_mark_log_position_aborted(w, writers[i]->position);
        if (writers[i]->in_commit_order)
            postgres_commit_order_remove_work_item(&w->pool->commit_order, &w->pool->store,
                                                   writers[i]);
    }
}

/* After an id conflict: makes the writing items ready to run again in the same transaction. Returns
 * false if the transaction must be rolled back. */
static bool prepare_to_repeat_writes(struct commit_group *g, struct work_item *const *writers,
                                     unsigned count)
{
    struct postgres *p = g->worker->pool;

    if (g->repeats == MAX_REPEATED_WRITES || !postgres_conn_return_to_savepoint(&g->worker->conn))
        return false;
    g->repeats++;
    g->repeats_writes = true;
    atomic_fetch_add_explicit(&p->store.retries, 1, memory_order_relaxed);
    for (unsigned i = 0; i < count; i++)
        if (writers[i]->in_commit_order)
            postgres_commit_order_remove_work_item(&p->commit_order, &p->store, writers[i]);
    for (unsigned i = 0; i < g->count; i++)
        if (g->states[i] == ITEM_WRITES)
            g->states[i] = ITEM_READY;
    return true;
}

/* Commits the group. If the connection is lost before the result of COMMIT arrived, it is unknown
 * whether the transaction committed, unless may_be_written is false. */
static void commit_group_items(struct commit_group *g)
{
    struct postgres_worker *w = g->worker;
    struct work_item *writers[POSTGRES_GROUP_MAX];
    unsigned count = collect_items_with_state_writes(g, writers);

    if (!count) {
        postgres_conn_commit_without_waiting(&w->conn);
        return;
    }
    struct tx tx = { .store = &w->pool->store, .work = writers[0], .connection = &w->conn };
    if (postgres_enqueue_id_order_check(&tx, writers, count)) {
        g->broken = true;
        postgres_conn_roll_back(&w->conn);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        if (writers[i]->committed)
            postgres_commit_order_add_work_item(&w->pool->commit_order, writers[i]);
    enum err e = postgres_conn_commit_group(&w->conn, writers, count);
    if (!e) {
        atomic_fetch_add_explicit(&w->pool->store.commits, 1, memory_order_relaxed);
        return;
    }
    if (prepare_to_repeat_writes(g, writers, count))
        return;
    if (!w->conn.lost || !w->conn.rows.may_be_written || e != ERR_UNAVAILABLE)
        abort_group_and_remove_item(g, e, w->conn.culprit);
    roll_back_writing_items(g, writers, count);
    for (unsigned i = 0; i < count; i++)
        writers[i]->result = e;
}

static void run_ready_items_and_commit(struct commit_group *g)
{
    struct postgres_conn *c = &g->worker->conn;

    g->repeats_writes = false;
    c->group.runs = true;
    for (unsigned i = 0; i < g->count && !g->broken; i++)
        if (g->states[i] == ITEM_READY)
            run_work_item_of_group(g, i);
    c->group.runs = false;
    if (!g->broken)
        commit_group_items(g);
    else if (!c->lost)
        postgres_conn_roll_back(c);
    postgres_wake_waiters_for_earlier_ids(g->worker->pool, c);
}

static void run_and_commit_group_once(struct commit_group *g)
{
    struct postgres_conn *c = &g->worker->conn;

    postgres_conn_begin_transaction(c, postgres_begin_sql[STORE_APPEND]);
    c->group.runs = true;
    c->group.retains_rows = g->worker->pool->shared;
    for (unsigned i = 0; i < g->count && !g->broken; i++)
        if (g->states[i] == ITEM_READY)
            collect_first_query(g, i);
    do
        run_ready_items_and_commit(g);
    while (g->repeats_writes);
    c->group.retains_rows = false;
    postgres_discard_queued_statements(c);
}

/* After one work item has failed, resets the other items of the group to ready. Returns whether
 * more than one item is left, so that a group commit makes sense. */
static bool reset_group_for_retry(struct commit_group *g)
{
    unsigned left = 0;

    if (!g->broken || !g->again || g->worker->conn.lost)
        return false;
    for (unsigned i = 0; i < g->count; i++) {
        if (g->states[i] == ITEM_WRITES)
            g->states[i] = ITEM_READY;
        left += g->states[i] == ITEM_READY;
    }
    return left > 1;
}

/* Runs the group with the write locks of its work items. They are locked in the order of their
 * indexes, each once, so that groups cannot deadlock. */
static void run_group_with_write_locks(struct commit_group *g)
{
    pthread_rwlock_t *locks = g->worker->pool->write_locks;
    bool needed[POSTGRES_WRITE_LOCKS] = { false };

    for (unsigned i = 0; i < g->count; i++)
        needed[postgres_get_write_lock_index(g->works[i])] = true;
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        if (needed[i])
            pthread_rwlock_rdlock(&locks[i]);
    run_and_commit_group_once(g);
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        if (needed[i])
            pthread_rwlock_unlock(&locks[i]);
}

static void run_group_with_retries(struct commit_group *g)
{
    struct store *s = &g->worker->pool->store;

    for (unsigned tries = 0; tries < MAX_GROUP_ATTEMPTS; tries++) {
        if (tries)
            atomic_fetch_add_explicit(&s->retries, 1, memory_order_relaxed);
        g->broken = g->again = false;
        run_group_with_write_locks(g);
        if (!reset_group_for_retry(g))
            return;
    }
}

static bool group_item_runs_alone(const struct commit_group *g, unsigned i)
{
    return g->states[i] == ITEM_READY || g->states[i] == ITEM_RUNS_ALONE ||
           (g->states[i] == ITEM_WRITES && g->broken);
}

/* Puts the work items that run alone back at the head of the queue, where any worker may take them.
 * This thread also checks the queue afterwards, so no item is left when the store closes. */
static void requeue_items_that_run_alone(struct commit_group *g)
{
    struct work_item *first = NULL, *last = NULL;

    for (unsigned i = g->count; i-- > 0;) {
        if (!group_item_runs_alone(g, i))
            continue;
        g->works[i]->by_itself = true;
        g->works[i]->next = first;
        first = g->works[i];
        last = last ? last : first;
    }
    if (first)
        work_queue_push_front(&g->worker->pool->queue, first, last);
}

static void finish_group_items(struct commit_group *g)
{
    /* From here on the requeued items may belong to another thread. */
    requeue_items_that_run_alone(g);
    for (unsigned i = 0; i < g->count; i++)
        if (!group_item_runs_alone(g, i))
            postgres_worker_finish_work_item(g->worker, g->works[i], g->works[i]->result);
}

void postgres_run_items_in_group_commit(struct postgres_worker *w, struct work_item *first)
{
    struct commit_group g = { .worker = w };

    add_items_sorted_by_owner(&g, first);
    if (postgres_worker_connect_with_retry(w, first)) {
        run_group_with_retries(&g);
        if (w->conn.lost)
            postgres_worker_disconnect(w);
    }
    finish_group_items(&g);
}
