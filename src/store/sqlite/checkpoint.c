/* checkpoint.c - checkpoints: copies the write-ahead log (WAL) into the database, on a separate
 * thread.
 *
 * A checkpoint of thousands of pages takes about 100 ms, during which the writer could not commit.
 * So the copier thread copies while the writer continues to append. SQLite can write to the
 * beginning of the WAL again only when all pages are copied. So the copier repeats until few pages
 * are left, and the writer copies these pages between two batches.
 *
 * A backup holds one snapshot for as long as it runs, and newer pages cannot be copied meanwhile.
 * The writer does not wait for such a reader; the copier copies the long WAL afterwards. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

enum {
    CHECKPOINT_PAGES = 4000,     /* number of pages in the WAL at which the copier thread starts */
    IDLE_CHECKPOINT_PAGES = 300, /* number of pages in the WAL at which the copier thread starts
                                  * while the writer is idle */
    WRITER_COPIES_PAGES = 100, /* maximum number of remaining pages that the writer copies itself */
    /* Number of pages by which the WAL must grow between two checkpoint attempts. */
    MIN_GROWTH_PAGES = 50,
    MAX_THREAD_PASSES = 6,  /* number of times that the copier thread copies from one WAL, after
                             * which the writer copies the rest */
    TRUNCATE_PAGES = 40000, /* number of pages in the WAL (160 MB) at which the writer waits for
                             * readers, to truncate the WAL */
    TRUNCATE_WAIT_MS = 20,  /* how long the writer waits for readers, in ms; a snapshot of a reader
                             * lasts one loop iteration */
};

/* Copies as many pages as readers allow. Returns how many pages of the WAL have been copied so far,
 * by this call and earlier ones. */
static int run_checkpoint(struct sqlite_conn *c, int mode)
{
    int pages = 0, copied = 0;
    int code = sqlite3_wal_checkpoint_v2(c->db, NULL, mode, &pages, &copied);

    if (code != SQLITE_OK && code != SQLITE_BUSY &&
        ((code & 0xff) != SQLITE_FULL || disk_full_message_may_be_logged()))
        log_warn("store: cannot copy the write-ahead log into the database (checkpoint): %s",
                 sqlite3_errmsg(c->db));
    return code == SQLITE_OK ? copied : 0;
}

static enum err open_checkpoint_connection(struct sqlite *q)
{
    struct checkpoint_thread *c = &q->copier;

    if (c->conn)
        return OK;
    enum err e = sqlite_conn_open_for_checkpoints(q->path, &c->conn);
    if (!e && !q->has_no_syncs)
        sqlite_conn_enable_write_pacing(c->conn);
    else if (!e && sqlite_conn_run(c->conn, "pragma synchronous = off") != SQLITE_OK)
        e = ERR_UNAVAILABLE;
    return e;
}

static void *checkpoint_thread_main(void *arg)
{
    struct sqlite *q = arg;
    struct checkpoint_thread *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->is_asked && !c->must_stop)
            pthread_cond_wait(&c->changed, &c->lock);
        if (c->must_stop)
            break;
        pthread_mutex_unlock(&c->lock);
        int copied =
            open_checkpoint_connection(q) ? 0 : run_checkpoint(c->conn, SQLITE_CHECKPOINT_PASSIVE);
        pthread_mutex_lock(&c->lock);
        c->copied = copied;
        c->is_asked = false;
        c->has_result = true;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void start_checkpoint_thread(struct sqlite *q)
{
    struct checkpoint_thread *c = &q->copier;

    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, checkpoint_thread_main, q) != 0) {
        log_error("store: cannot start the checkpoint thread");
        abort();
    }
    c->has_thread = true;
}

void checkpoint_thread_stop(struct sqlite *q)
{
    struct checkpoint_thread *c = &q->copier;

    if (!c->has_thread)
        return;
    pthread_mutex_lock(&c->lock);
    c->must_stop = true;
    checkpoint_set_pacing_disabled(true);
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->has_thread = false;
    sqlite_conn_close(c->conn);
    c->conn = NULL;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
}

static int on_wal_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct wal_state *log = &((struct sqlite *)arg)->log;

    (void)db, (void)name;
    if (pages < log->pages) /* the WAL was restarted */
        *log = (struct wal_state){ .number = log->number + 1 };
    log->pages = pages;
    return SQLITE_OK;
}

/* Stores the result of the copier thread, if the thread has finished its copy. Returns whether the
 * copy still runs. */
static bool collect_checkpoint_result(struct sqlite *q)
{
    struct checkpoint_thread *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    bool is_busy = c->is_asked;
    /* Ignore a result for an earlier WAL. Do not count a copy without any page, which happens if a
     * reader needs the old pages. */
    if (c->has_result && c->number == q->log.number) {
        q->log.passes += c->copied > q->log.copied;
        q->log.copied = c->copied;
    }
    c->has_result = false;
    pthread_mutex_unlock(&c->lock);
    return is_busy;
}

static void request_checkpoint(struct sqlite *q)
{
    struct checkpoint_thread *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    /* If the copier thread is slower than the writer, let it run without pauses. */
    checkpoint_set_pacing_disabled(q->log.passes >= MAX_THREAD_PASSES);
    c->is_asked = true;
    c->number = q->log.number;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    q->log.tried = q->log.pages;
}

static void run_checkpoint_on_writer(struct sqlite *q)
{
    stall_meter_begin_measuring_activity(&q->meter, "copy_log");
    q->log.copied = run_checkpoint(q->writer, SQLITE_CHECKPOINT_PASSIVE);
    stall_meter_pause(&q->meter);
    q->log.tried = q->log.pages;
    q->log.passes = 0;
}

/* Truncates the WAL; waits for readers up to TRUNCATE_WAIT_MS. After a failure, the next attempt is
 * made when the WAL has more pages. */
static void truncate_wal(struct sqlite *q)
{
    sqlite3_busy_timeout(q->writer->db, TRUNCATE_WAIT_MS);
    run_checkpoint(q->writer, SQLITE_CHECKPOINT_TRUNCATE);
    sqlite3_busy_timeout(q->writer->db, SQLITE_BUSY_TIMEOUT_MS);
    q->log.tried = q->log.waited = q->log.pages;
}

void checkpoint_thread_start(struct sqlite *q)
{
    /* Disable SQLite's automatic checkpoints, which would delay a commit. */
    sqlite3_wal_hook(q->writer->db, on_wal_commit, q);
    start_checkpoint_thread(q);
}

/* If readers stopped the last checkpoint early, returns false until the WAL has grown. */
bool checkpoint_is_due_when_idle(const struct sqlite *q)
{
    return q->log.pages - q->log.copied > IDLE_CHECKPOINT_PAGES && q->log.pages > q->log.tried;
}

void checkpoint_run_when_idle(struct sqlite *q)
{
    if (!collect_checkpoint_result(q) && checkpoint_is_due_when_idle(q))
        request_checkpoint(q);
}

void checkpoint_free_wal_after_full_disk(struct sqlite *q)
{
    if (!collect_checkpoint_result(q))
        run_checkpoint_on_writer(q);
}

/* Returns whether so few pages are left that the writer can copy them in a short time. */
static bool few_wal_pages_remain(const struct wal_state *log)
{
    return log->pages - log->copied <= CHECKPOINT_PAGES;
}

static bool writer_should_checkpoint(const struct wal_state *log)
{
    return (log->copied && log->pages - log->copied <= WRITER_COPIES_PAGES) ||
           (log->passes >= MAX_THREAD_PASSES && few_wal_pages_remain(log));
}

void checkpoint_run_after_batch(struct sqlite *q)
{
    const struct wal_state *log = &q->log;

    if (log->pages <= CHECKPOINT_PAGES || collect_checkpoint_result(q) ||
        log->pages - log->tried < MIN_GROWTH_PAGES)
        return;
    if (log->pages > TRUNCATE_PAGES && few_wal_pages_remain(log) &&
        log->pages - log->waited > CHECKPOINT_PAGES)
        truncate_wal(q);
    else if (writer_should_checkpoint(log))
        run_checkpoint_on_writer(q);
    else
        request_checkpoint(q);
}
