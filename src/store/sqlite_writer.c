/* sqlite_writer.c - the one thread that writes.
 *
 * It takes every work that is waiting into one transaction and commits once.
 * While that commit waits for the disk the next works gather, so the slower the
 * disk, the bigger the batch; nothing waits on purpose. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite.h"

enum {
    MAX_BATCH = 512,       /* works: keeps the first of them from waiting long */
    BUSY_PAGES = 4000,     /* in the log: copy them between two batches */
    IDLE_PAGES = 300,      /* the same when there is nothing else to do */
    HUGE_PAGES = 40000,    /* 160 MB: readers must let us start the log afresh */
    IDLE_MS = 50,          /* quiet for that long is idle */
    TRUNCATE_WAIT_MS = 20, /* for readers, which hold a snapshot for one turn */
};

/* --- transactions --------------------------------------------------------------------- */

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
    int code = sqlite_conn_do(q->writer, "commit");

    if (code != SQLITE_OK) {
        enum err e = sqlite_error(q->writer, code, "commit");

        writer_rollback(q->writer);
        return e == ERR_STORAGE_FULL ? e : ERR_UNAVAILABLE;
    }
    /* Before anybody hears of it: their next read must renew its snapshot. */
    atomic_fetch_add_explicit(&q->store.commits, 1, memory_order_release);
    return OK;
}

static enum err writer_run(struct sqlite *q, struct work *w)
{
    struct tx tx = { .store = &q->store, .work = w, .connection = q->writer };

    /* Work without a name is a tool's or a migration's and is not measured: no caller waits for it.
     */
    if (!w->name)
        return tx_run(&tx);
    hold_part(&q->meter, w->name);
    enum err e = tx_run(&tx);
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

/* Runs one work of a batch between savepoints. False: the whole transaction is
 * gone, as happens when the disk is full in the middle of it. */
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

/* The work whose failure ended the transaction, or NULL when all were run. */
static struct work *run_all(struct sqlite *q, struct work *batch)
{
    for (struct work *w = batch; w; w = w->next)
        if (!run_among_others(q, w))
            return w;
    return NULL;
}

/* One failure must not fail its neighbours: they get a transaction each. */
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

static void run_together(struct sqlite *q, struct work *batch)
{
    enum err e = writer_begin(q->writer);

    if (e) {
        set_results(batch, e);
        return;
    }
    struct work *culprit = run_all(q, batch);
    if (culprit) {
        writer_rollback(q->writer);
        run_apart(q, batch, culprit);
        return;
    }
    /* A failed commit fails the whole batch: also calls that were refused read rows of it. */
    e = writer_commit(q);
    if (e)
        set_results(batch, e);
}

/* Returns whether the disk was full for one of them. */
static bool run_batch(struct sqlite *q, struct work *batch)
{
    bool was_full = false;

    if (batch->next)
        run_together(q, batch);
    else
        batch->result = sqlite_run_alone(&q->store, batch);

    while (batch) {
        struct work *w = batch;

        batch = w->next; /* a finished work is no longer ours */
        was_full |= w->result == ERR_STORAGE_FULL;
        hold_part(&q->meter, "after_commit");
        work_finish(&q->store, w, w->result);
        hold_rest(&q->meter);
    }
    return was_full;
}

/* --- the log -------------------------------------------------------------------------- */

static int note_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct sqlite *q = arg;

    (void)db, (void)name;
    if (pages < q->wal_pages) /* it was started afresh */
        q->wal_copied = 0;
    q->wal_pages = pages;
    return SQLITE_OK;
}

/* Copies what the log holds into the database, as far as readers allow. */
static void writer_checkpoint(struct sqlite *q, int mode)
{
    int pages = 0, copied = 0;
    int code = sqlite3_wal_checkpoint_v2(q->writer->db, NULL, mode, &pages, &copied);

    if (code != SQLITE_OK && code != SQLITE_BUSY)
        log_warn("store: checkpoint: %s", sqlite3_errmsg(q->writer->db));
    /* Noted as tried also when it failed: the next try is some pages away. */
    q->wal_copied = q->wal_pages;
    if (mode == SQLITE_CHECKPOINT_TRUNCATE && code == SQLITE_OK)
        q->wal_copied = q->wal_pages = 0;
}

static void checkpoint_when_over(struct sqlite *q, int limit)
{
    if (q->wal_pages - q->wal_copied <= limit)
        return;
    if (q->wal_pages <= HUGE_PAGES) {
        writer_checkpoint(q, SQLITE_CHECKPOINT_PASSIVE);
        return;
    }
    sqlite3_busy_timeout(q->writer->db, TRUNCATE_WAIT_MS);
    writer_checkpoint(q, SQLITE_CHECKPOINT_TRUNCATE);
    sqlite3_busy_timeout(q->writer->db, SQLITE_BUSY_MS);
}

/* --- the thread ----------------------------------------------------------------------- */

static void *write_all(void *arg)
{
    struct sqlite *q = arg;

    for (;;) {
        bool may_tidy = q->wal_pages - q->wal_copied > IDLE_PAGES;
        struct work *batch = queue_take(&q->queue, MAX_BATCH, may_tidy ? IDLE_MS : -1);

        if (batch) {
            /* On a full disk, room in the log is the room there is. */
            bool was_full = run_batch(q, batch);

            checkpoint_when_over(q, was_full ? 0 : BUSY_PAGES);
        } else if (queue_closed(&q->queue)) {
            return NULL;
        } else {
            checkpoint_when_over(q, IDLE_PAGES);
        }
    }
}

void sqlite_writer_start(struct sqlite *q)
{
    /* Takes the place of SQLite's own checkpoints, which delay a commit. */
    sqlite3_wal_hook(q->writer->db, note_pages, q);
    if (pthread_create(&q->thread, NULL, write_all, q) != 0) {
        log_error("store: cannot start the writer's thread");
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
}
