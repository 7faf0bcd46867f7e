/* writer.c - the SQLite writer thread.
 *
 * The writer runs all waiting work items in one transaction and commits once. During the commit the
 * next work items queue up: the slower the disk, the larger the batch. The writer never waits to
 * fill a batch.
 *
 * Savepoints are expensive: SQLite copies every page that changes after a savepoint. So a batch
 * runs without savepoints. Most work items that fail have not written yet. If a work item fails
 * after it has written, the transaction is rolled back and the batch runs again with a savepoint
 * for each work item. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

enum {
    MAX_BATCH = 512, /* maximum number of work items per batch; limits how long the first work item
                      * waits for the commit */
    IDLE_MS = 50,    /* if no work arrives for this many ms, the writer counts as idle */
    LOG_DELETE_ROWS = 128, /* number of old event log rows that one statement deletes */
    /* Number of batches that run with savepoints after a batch needed them. */
    SAVEPOINT_BATCHES = 64,
};

static enum err writer_begin(struct sqlite_conn *c)
{
    int code = sqlite_conn_run(c, "begin immediate");

    return code == SQLITE_OK ? OK : sqlite_error_from_code(c, code, "begin immediate");
}

static void writer_rollback(struct sqlite_conn *c)
{
    if (!sqlite3_get_autocommit(c->db))
        sqlite_conn_run(c, "rollback");
}

static enum err writer_commit(struct sqlite *q)
{
    /* Set the number of the commit before readers can see its rows: a reader that has returned
     * cached rows must not combine them with rows of this commit. After a failed commit the number
     * is reused. */
    atomic_store_explicit(&q->versions.committing, q->store.commits + 1, memory_order_release);
    int code = sqlite_conn_run(q->writer, "commit");

    if (code != SQLITE_OK) {
        enum err e = sqlite_error_from_code(q->writer, code, "commit");

        writer_rollback(q->writer);
        return e == ERR_STORAGE_FULL ? e : ERR_UNAVAILABLE;
    }
    /* Count the commit before callers get replies, because the next read of a caller must see this
     * commit. */
    atomic_fetch_add_explicit(&q->store.commits, 1, memory_order_release);
    return OK;
}

/* Inserts the transaction's event into the event log. Also deletes some old rows of the log. */
static enum err insert_event_log_row(struct sqlite *q, struct tx *tx)
{
    struct work_item *w = tx->work;
    enum err e = tx_exec(tx, "insert into log (body) values ($1)", BIND(v_bytes(w->log)), NULL);

    if (e)
        return e;
    w->position = sqlite3_last_insert_rowid(q->writer->db);
    return w->position % LOG_DELETE_ROWS
               ? OK
               : tx_exec(tx, "delete from log where position <= $1",
                         BIND(v_int(w->position - STORE_LOG_ROWS_RETAINED)), NULL);
}

static enum err run_transaction_function(struct sqlite *q, struct work_item *w)
{
    struct tx tx = { .store = &q->store, .work = w, .connection = q->writer };

    w->log = (struct str){ 0 };
    w->ordered_ids = NULL;
    w->position = 0;
    enum err e = tx_run_work_item(&tx);
    return !e && w->log.n ? insert_event_log_row(q, &tx) : e;
}

static enum err run_and_measure_work_item(struct sqlite *q, struct work_item *w)
{
    /* A work item without a name belongs to a tool or a migration and is not measured, because no
     * caller waits for it. */
    if (!w->name)
        return run_transaction_function(q, w);
    stall_meter_begin_measuring_activity(&q->meter, w->name);
    enum err e = run_transaction_function(q, w);
    stall_meter_pause(&q->meter);
    return e;
}

enum err sqlite_run_work_item_alone(struct store *s, struct work_item *w)
{
    struct sqlite *q = (struct sqlite *)s;
    enum err e = writer_begin(q->writer);

    if (e)
        return e;
    e = run_and_measure_work_item(q, w);
    if (e) {
        writer_rollback(q->writer);
        return e;
    }
    return writer_commit(q);
}

/* Runs one work item of a batch in a savepoint. Returns false if the whole transaction was rolled
 * back, as SQLite does when the disk is full. */
static bool run_work_item_in_savepoint(struct sqlite *q, struct work_item *w)
{
    struct sqlite_conn *c = q->writer;

    if (sqlite_conn_run(c, "savepoint work") != SQLITE_OK)
        return false;
    w->result = run_and_measure_work_item(q, w);
    if (sqlite3_get_autocommit(c->db))
        return false;
    if (w->result && sqlite_conn_run(c, "rollback to work") != SQLITE_OK)
        return false;
    return sqlite_conn_run(c, "release work") == SQLITE_OK;
}

/* Runs a batch with savepoints. If a failure ended the whole transaction, returns the work item
 * that failed, otherwise NULL. */
static struct work_item *run_batch_with_savepoints(struct sqlite *q, struct work_item *batch)
{
    for (struct work_item *w = batch; w; w = w->next)
        if (!run_work_item_in_savepoint(q, w))
            return w;
    return NULL;
}

/* Runs a batch without savepoints. Returns false if a work item failed after it had written, so
 * that the transaction must be rolled back. */
static bool run_batch_without_savepoints(struct sqlite *q, struct work_item *batch)
{
    for (struct work_item *w = batch; w; w = w->next) {
        q->writer->has_written = false;
        w->result = run_and_measure_work_item(q, w);
        if ((w->result && q->writer->has_written) || sqlite3_get_autocommit(q->writer->db))
            return false;
    }
    return true;
}

/* Runs each work item in its own transaction, so that one failure does not affect the others. */
static void run_each_item_in_own_transaction(struct sqlite *q, struct work_item *batch,
                                             struct work_item *culprit)
{
    for (struct work_item *w = batch; w; w = w->next)
        if (w != culprit || !w->result)
            w->result = sqlite_run_work_item_alone(&q->store, w);
}

static void set_result_of_work_items_in_batch(struct work_item *batch, enum err e)
{
    for (struct work_item *w = batch; w; w = w->next)
        w->result = e;
}

static void commit_batch_of_work_items(struct sqlite *q, struct work_item *batch)
{
    enum err e = writer_commit(q);

    /* A failed commit fails the whole batch, including refused work items: they may have read rows
     * that the batch wrote. */
    if (e)
        set_result_of_work_items_in_batch(batch, e);
}

static void run_and_commit_batch_of_work_items(struct sqlite *q, struct work_item *batch)
{
    enum err e = writer_begin(q->writer);

    if (!e && !q->savepoint_batches) {
        if (run_batch_without_savepoints(q, batch)) {
            commit_batch_of_work_items(q, batch);
            return;
        }
        writer_rollback(q->writer);
        q->savepoint_batches = SAVEPOINT_BATCHES;
        e = writer_begin(q->writer);
    }
    if (e) {
        set_result_of_work_items_in_batch(batch, e);
        return;
    }
    q->savepoint_batches--;
    struct work_item *culprit = run_batch_with_savepoints(q, batch);
    if (!culprit) {
        commit_batch_of_work_items(q, batch);
        return;
    }
    writer_rollback(q->writer);
    run_each_item_in_own_transaction(q, batch, culprit);
}

/* Runs a batch and finishes its work items. Returns whether any item failed because the disk was
 * full. */
static bool run_and_finish_batch_of_work_items(struct sqlite *q, struct work_item *batch)
{
    bool was_full = false;

    if (batch->next)
        run_and_commit_batch_of_work_items(q, batch);
    else
        batch->result = sqlite_run_work_item_alone(&q->store, batch);

    while (batch) {
        struct work_item *w = batch;

        batch = w->next; /* work_item_call_callbacks may free the work item */
        was_full |= w->result == ERR_STORAGE_FULL;
        stall_meter_begin_measuring_activity(&q->meter, "after_commit");
        work_item_call_callbacks(&q->store, w, w->result);
        stall_meter_pause(&q->meter);
    }
    return was_full;
}

static void *writer_thread(void *arg)
{
    struct sqlite *q = arg;

    wal_write_buffer_begin(q->writer);
    for (;;) {
        int timeout_ms = checkpoint_is_due_when_idle(q) ? IDLE_MS : -1;
        struct work_item *batch = work_queue_pop_batch(&q->queue, MAX_BATCH, timeout_ms);

        if (batch) {
            if (run_and_finish_batch_of_work_items(q, batch))
                checkpoint_free_wal_after_full_disk(q);
            checkpoint_run_after_batch(q);
        } else if (work_queue_is_closed(&q->queue)) {
            wal_write_buffer_end();
            return NULL;
        } else {
            checkpoint_run_when_idle(q);
        }
    }
}

void sqlite_writer_start(struct sqlite *q)
{
    checkpoint_thread_start(q);
    if (pthread_create(&q->thread, NULL, writer_thread, q) != 0) {
        log_error("store: cannot start the writer thread");
        abort();
    }
    q->has_thread = true;
}

void sqlite_writer_stop(struct sqlite *q)
{
    if (!q->has_thread)
        return;
    work_queue_close(&q->queue);
    pthread_join(q->thread, NULL);
    q->has_thread = false;
    checkpoint_thread_stop(q);
}
