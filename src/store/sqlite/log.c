/* log.c - checkpoints: copies the write-ahead log (WAL) into the database, on a separate thread.
 *
 * A checkpoint of thousands of pages takes about 100 ms, during which the writer could not commit.
 * So the copier thread runs it while the writer continues to append. Pages that were appended
 * meanwhile prevent SQLite from restarting the WAL at its beginning: the copier repeats until few
 * pages are left, and the writer copies those between two batches.
 *
 * A backup holds one snapshot for as long as it runs, and newer pages cannot be copied meanwhile.
 * The writer does not wait for such a reader; the copier copies the long WAL afterwards. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

enum {
    BUSY_PAGES = 4000,     /* WAL pages at which the copier starts */
    IDLE_PAGES = 300,      /* WAL pages at which the copier starts while the writer is idle */
    SHORT_PAGES = 100,     /* remaining pages that the writer copies itself */
    LEAST_PAGES = 50,      /* WAL growth between two attempts */
    MOST_PASSES = 6,       /* passes of the copier over one WAL before the writer copies the rest */
    HUGE_PAGES = 40000,    /* 160 MB: wait for readers, so that the WAL can restart */
    TRUNCATE_WAIT_MS = 20, /* timeout for readers, which hold a snapshot for one loop iteration */
};

/* Copies as many pages as readers allow. Returns how many pages of the WAL are in the database. */
static int log_copy(struct sqlite_conn *c, int mode)
{
    int pages = 0, copied = 0;
    int code = sqlite3_wal_checkpoint_v2(c->db, NULL, mode, &pages, &copied);

    if (code != SQLITE_OK && code != SQLITE_BUSY &&
        ((code & 0xff) != SQLITE_FULL || space_may_log()))
        log_warn("store: a checkpoint failed: %s", sqlite3_errmsg(c->db));
    return code == SQLITE_OK ? copied : 0;
}

static enum err copier_open(struct sqlite *q)
{
    struct sqlite_copier *c = &q->copier;

    if (c->conn)
        return OK;
    enum err e = sqlite_conn_open(q->path, &c->conn);
    if (!e && !q->has_no_syncs)
        sqlite_conn_pace(c->conn);
    else if (!e && sqlite_conn_do(c->conn, "pragma synchronous = off") != SQLITE_OK)
        e = ERR_UNAVAILABLE;
    return e;
}

static void *copier_live(void *arg)
{
    struct sqlite *q = arg;
    struct sqlite_copier *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->is_asked && !c->must_stop)
            pthread_cond_wait(&c->changed, &c->lock);
        if (c->must_stop)
            break;
        pthread_mutex_unlock(&c->lock);
        int copied = copier_open(q) ? 0 : log_copy(c->conn, SQLITE_CHECKPOINT_PASSIVE);
        pthread_mutex_lock(&c->lock);
        c->copied = copied;
        c->is_asked = false;
        c->has_news = true;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void copier_start(struct sqlite *q)
{
    struct sqlite_copier *c = &q->copier;

    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, copier_live, q) != 0) {
        log_error("store: cannot start the checkpoint thread");
        abort();
    }
    c->has_thread = true;
}

void sqlite_log_stop(struct sqlite *q)
{
    struct sqlite_copier *c = &q->copier;

    if (!c->has_thread)
        return;
    pthread_mutex_lock(&c->lock);
    c->must_stop = true;
    sqlite_pace_hurry(true);
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    c->has_thread = false;
    sqlite_conn_close(c->conn);
    c->conn = NULL;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
}

static int note_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_log *log = &((struct sqlite *)arg)->log;

    (void)db, (void)name;
    if (pages < log->pages) /* the WAL was restarted */
        *log = (struct sqlite_log){ .number = log->number + 1 };
    log->pages = pages;
    return SQLITE_OK;
}

/* Reads the result of the copier. Returns whether the copier still runs. */
static bool copier_busy(struct sqlite *q)
{
    struct sqlite_copier *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    bool is_busy = c->is_asked;
    /* Ignores results for an earlier WAL. A pass that copied nothing because of a reader does not
     * count. */
    if (c->has_news && c->number == q->log.number) {
        q->log.passes += c->copied > q->log.copied;
        q->log.copied = c->copied;
    }
    c->has_news = false;
    pthread_mutex_unlock(&c->lock);
    return is_busy;
}

static void copier_ask(struct sqlite *q)
{
    struct sqlite_copier *c = &q->copier;

    pthread_mutex_lock(&c->lock);
    /* If the copier falls behind the writer, it runs without pauses. */
    sqlite_pace_hurry(q->log.passes >= MOST_PASSES);
    c->is_asked = true;
    c->number = q->log.number;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    q->log.tried = q->log.pages;
}

static void copy_between_batches(struct sqlite *q)
{
    hold_part(&q->meter, "copy_log");
    q->log.copied = log_copy(q->writer, SQLITE_CHECKPOINT_PASSIVE);
    hold_rest(&q->meter);
    q->log.tried = q->log.pages;
    q->log.passes = 0;
}

/* Waits for readers up to TRUNCATE_WAIT_MS. After a failure the next attempt waits for more
 * pages. */
static void log_truncate(struct sqlite *q)
{
    sqlite3_busy_timeout(q->writer->db, TRUNCATE_WAIT_MS);
    log_copy(q->writer, SQLITE_CHECKPOINT_TRUNCATE);
    sqlite3_busy_timeout(q->writer->db, SQLITE_BUSY_MS);
    q->log.tried = q->log.waited = q->log.pages;
}

void sqlite_log_start(struct sqlite *q)
{
    /* Replaces SQLite's automatic checkpoints, which delay a commit. */
    sqlite3_wal_hook(q->writer->db, note_pages, q);
    copier_start(q);
}

/* After an attempt that readers cut short, waits until the WAL has grown. */
bool sqlite_log_wants_rest(const struct sqlite *q)
{
    return q->log.pages - q->log.copied > IDLE_PAGES && q->log.pages > q->log.tried;
}

void sqlite_log_rest(struct sqlite *q)
{
    if (!copier_busy(q) && sqlite_log_wants_rest(q))
        copier_ask(q);
}

void sqlite_log_make_room(struct sqlite *q)
{
    if (!copier_busy(q))
        copy_between_batches(q);
}

/* Whether few pages are left, which limits the time that the writer spends on them. */
static bool rest_is_bounded(const struct sqlite_log *log)
{
    return log->pages - log->copied <= BUSY_PAGES;
}

static bool writer_should_copy(const struct sqlite_log *log)
{
    return (log->copied && log->pages - log->copied <= SHORT_PAGES) ||
           (log->passes >= MOST_PASSES && rest_is_bounded(log));
}

void sqlite_log_tend(struct sqlite *q)
{
    const struct sqlite_log *log = &q->log;

    if (log->pages <= BUSY_PAGES || copier_busy(q) || log->pages - log->tried < LEAST_PAGES)
        return;
    if (log->pages > HUGE_PAGES && rest_is_bounded(log) && log->pages - log->waited > BUSY_PAGES)
        log_truncate(q);
    else if (writer_should_copy(log))
        copy_between_batches(q);
    else
        copier_ask(q);
}
