/* writer.c - the SQLite writer thread.
 *
 * It runs all waiting work items in one transaction and commits once. During the commit the next
 * work items queue up: the slower the disk, the larger the batch. It never waits to fill a batch.
 *
 * Savepoints are expensive: SQLite copies every page that changes after one. So a batch runs
 * without. Most work items that fail have not written yet. If one has, the transaction is rolled
 * back and the batch runs again with a savepoint for each work item. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

enum {
    MAX_BATCH = 512, /* work items per batch; bounds the latency of the first */
    IDLE_MS = 50,    /* the writer counts as idle after this time without work */
    LOG_STEP = 128,  /* number of log rows that are deleted at once */
    WARY = 64,       /* number of batches with savepoints after one that needed them */
};

static enum err writer_begin(struct sqlite_conn *c)
{
    int code = sqlite_conn_do(c, "begin immediate");

    return code == SQLITE_OK ? OK : sqlite_error(c, code, "begin immediate");
}

static void writer_rollback(struct sqlite_conn *c)
{
    if (!sqlite3_get_autocommit(c->db))
        sqlite_conn_do(c, "rollback");
}

static enum err writer_commit(struct sqlite *q)
{
    /* Set before readers can see the rows: a reader that has returned cached rows must not combine
     * them with newer ones. If this commit fails, the next one gets the same number. */
    atomic_store_explicit(&q->versions.committing, q->store.commits + 1, memory_order_release);
    int code = sqlite_conn_do(q->writer, "commit");

    if (code != SQLITE_OK) {
        enum err e = sqlite_error(q->writer, code, "commit");

        writer_rollback(q->writer);
        return e == ERR_STORAGE_FULL ? e : ERR_UNAVAILABLE;
    }
    /* Set before callers get their replies, because their next read must renew its snapshot. */
    atomic_fetch_add_explicit(&q->store.commits, 1, memory_order_release);
    return OK;
}

/* Inserts the event of the transaction into the log, and deletes old log rows in steps. */
static enum err writer_log(struct sqlite *q, struct tx *tx)
{
    struct work *w = tx->work;
    enum err e = tx_exec(tx, "insert into log (body) values ($1)", BIND(v_bytes(w->log)), NULL);

    if (e)
        return e;
    w->position = sqlite3_last_insert_rowid(q->writer->db);
    return w->position % LOG_STEP ? OK
                                  : tx_exec(tx, "delete from log where position <= $1",
                                            BIND(v_int(w->position - STORE_LOG_KEPT)), NULL);
}

static enum err writer_tx(struct sqlite *q, struct work *w)
{
    struct tx tx = { .store = &q->store, .work = w, .connection = q->writer };

    w->log = (struct str){ 0 };
    w->position = 0;
    enum err e = tx_run(&tx);
    return !e && w->log.n ? writer_log(q, &tx) : e;
}

static enum err writer_run(struct sqlite *q, struct work *w)
{
    /* Work without a name belongs to a tool or a migration and is not measured: no caller waits for
     * it. */
    if (!w->name)
        return writer_tx(q, w);
    hold_part(&q->meter, w->name);
    enum err e = writer_tx(q, w);
    hold_rest(&q->meter);
    return e;
}

enum err sqlite_run_alone(struct store *s, struct work *w)
{
    struct sqlite *q = (struct sqlite *)s;
    enum err e = writer_begin(q->writer);

    if (e)
        return e;
    e = writer_run(q, w);
    if (e) {
        writer_rollback(q->writer);
        return e;
    }
    return writer_commit(q);
}

/* Runs one work item of a batch in a savepoint. False: the whole transaction was rolled back, as
 * SQLite does when the disk is full. */
static bool run_among_others(struct sqlite *q, struct work *w)
{
    struct sqlite_conn *c = q->writer;

    if (sqlite_conn_do(c, "savepoint work") != SQLITE_OK)
        return false;
    w->result = writer_run(q, w);
    if (sqlite3_get_autocommit(c->db))
        return false;
    if (w->result && sqlite_conn_do(c, "rollback to work") != SQLITE_OK)
        return false;
    return sqlite_conn_do(c, "release work") == SQLITE_OK;
}

/* Runs a batch with savepoints. Returns the work item whose failure ended the transaction; NULL:
 * none. */
static struct work *run_warily(struct sqlite *q, struct work *batch)
{
    for (struct work *w = batch; w; w = w->next)
        if (!run_among_others(q, w))
            return w;
    return NULL;
}

/* Runs a batch without savepoints. False: a work item failed after it had written, so the
 * transaction must be rolled back. */
static bool run_hopefully(struct sqlite *q, struct work *batch)
{
    for (struct work *w = batch; w; w = w->next) {
        q->writer->has_written = false;
        w->result = writer_run(q, w);
        if ((w->result && q->writer->has_written) || sqlite3_get_autocommit(q->writer->db))
            return false;
    }
    return true;
}

/* Runs each work item in its own transaction, so that one failure does not affect the others. */
static void run_apart(struct sqlite *q, struct work *batch, struct work *culprit)
{
    for (struct work *w = batch; w; w = w->next)
        if (w != culprit || !w->result)
            w->result = sqlite_run_alone(&q->store, w);
}

static void set_results(struct work *batch, enum err e)
{
    for (struct work *w = batch; w; w = w->next)
        w->result = e;
}

static void commit_all(struct sqlite *q, struct work *batch)
{
    enum err e = writer_commit(q);

    /* A failed commit fails the whole batch, because refused requests may have read its rows,
     * too. */
    if (e)
        set_results(batch, e);
}

static void run_together(struct sqlite *q, struct work *batch)
{
    enum err e = writer_begin(q->writer);

    if (!e && !q->wary) {
        if (run_hopefully(q, batch)) {
            commit_all(q, batch);
            return;
        }
        writer_rollback(q->writer);
        q->wary = WARY;
        e = writer_begin(q->writer);
    }
    if (e) {
        set_results(batch, e);
        return;
    }
    q->wary--;
    struct work *culprit = run_warily(q, batch);
    if (!culprit) {
        commit_all(q, batch);
        return;
    }
    writer_rollback(q->writer);
    run_apart(q, batch, culprit);
}

/* Runs a batch and finishes its work items. Returns whether the disk was full for one of them. */
static bool run_batch(struct sqlite *q, struct work *batch)
{
    bool was_full = false;

    if (batch->next)
        run_together(q, batch);
    else
        batch->result = sqlite_run_alone(&q->store, batch);

    while (batch) {
        struct work *w = batch;

        batch = w->next; /* work_finish may free the work item */
        was_full |= w->result == ERR_STORAGE_FULL;
        hold_part(&q->meter, "after_commit");
        work_finish(&q->store, w, w->result);
        hold_rest(&q->meter);
    }
    return was_full;
}

static void *write_all(void *arg)
{
    struct sqlite *q = arg;

    sqlite_gather_begin(q->writer);
    for (;;) {
        int patience = sqlite_log_wants_rest(q) ? IDLE_MS : -1;
        struct work *batch = queue_take(&q->queue, MAX_BATCH, patience);

        if (batch) {
            if (run_batch(q, batch))
                sqlite_log_make_room(q);
            sqlite_log_tend(q);
        } else if (queue_closed(&q->queue)) {
            sqlite_gather_end();
            return NULL;
        } else {
            sqlite_log_rest(q);
        }
    }
}

void sqlite_writer_start(struct sqlite *q)
{
    sqlite_log_start(q);
    if (pthread_create(&q->thread, NULL, write_all, q) != 0) {
        log_error("store: cannot start the writer thread");
        abort();
    }
    q->has_thread = true;
}

void sqlite_writer_stop(struct sqlite *q)
{
    if (!q->has_thread)
        return;
    queue_close(&q->queue);
    pthread_join(q->thread, NULL);
    q->has_thread = false;
    sqlite_log_stop(q);
}
