/* sqlite.c - the SQLite engine: reads on loops or background threads, writes on one thread. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static struct sqlite *sqlite_of(struct store *s)
{
    return (struct sqlite *)s;
}

/* Releases the snapshot. The reads of one loop iteration share a snapshot, because taking one costs
 * more than most queries. A commit renews it, so that a caller who got the reply of a commit sees
 * its rows. */
static void drop_snapshot(struct sqlite_conn *c)
{
    if (c->in_snapshot && sqlite_conn_do(c, "commit") != SQLITE_OK)
        sqlite_conn_do(c, "rollback");
    c->in_view = c->in_snapshot = c->has_given = false;
}

static void hold_snapshot(struct store *s, struct sqlite_conn *c)
{
    uint64_t commits = atomic_load_explicit(&s->commits, memory_order_acquire);

    c->has_given = false;
    if (c->in_view && c->seen == commits)
        return;
    drop_snapshot(c);
    c->in_view = true;
    c->seen = commits;
}

static enum err run_read(struct store *s, struct work *w, struct sqlite_conn *c)
{
    struct tx tx = { .store = s, .work = w, .connection = c }, again = tx;
    struct arena *arena = w->arena;

    hold_snapshot(s, c);
    enum err e = tx_run(&tx);
    if (!c->is_outdated)
        return e;
    c->is_outdated = false;
    w->arena = arena; /* the first run may have switched arenas */
    return tx_run(&again);
}

/* Opens a read connection with a page cache of 16 MiB: with the default of 2 MiB large searches
 * would reread pages. The writer keeps the default, so that it writes pages early, and a work item
 * that fills the disk fails before others run. */
enum err sqlite_reader_open(const char *path, struct sqlite_conn **ret)
{
    enum err e = sqlite_conn_open(path, ret);

    if (e)
        return e;
    return sqlite_conn_do(*ret, "pragma cache_size = -16384") == SQLITE_OK ? OK : ERR_UNAVAILABLE;
}

static enum err reader_of_loop(struct sqlite *q, struct loop *loop, struct sqlite_conn **ret)
{
    unsigned i = loop_index(loop);
    enum err e = OK;

    assert(i < q->reader_count);
    if (!q->readers[i]) {
        e = sqlite_reader_open(q->path, &q->readers[i]);
        if (!e && q->asides[0].has_thread)
            sqlite_share_watch(q->readers[i]);
        if (!e && q->has_thread)
            /* possible because this process is the only writer */
            q->readers[i]->cache = query_cache_new();
    }
    *ret = q->readers[i];
    return e;
}

/* Queues a read for the background threads; a closing store refuses it. */
static void read_aside(struct store *s, struct work *w)
{
    if (!lanes_push(&sqlite_of(s)->aside, w))
        work_finish(s, w, ERR_UNAVAILABLE);
}

/* Runs a read on its loop. A read that exceeds the time limit restarts on a background thread. */
static void read_on_loop(struct store *s, struct work *w)
{
    struct sqlite *q = sqlite_of(s);
    struct arena *arena = w->arena;
    struct sqlite_conn *c;
    enum err e = reader_of_loop(q, w->loop, &c);

    if (!e) {
        sqlite_share_begin(c, w->measured);
        e = run_read(s, w, c);
        if (sqlite_share_end(c)) {
            w->arena = arena; /* the aborted run may have switched arenas */
            read_aside(s, w);
            return;
        }
    }
    work_finish(s, w, e);
}

enum err sqlite_read_once(struct store *s, struct work *w, struct sqlite_conn **conn)
{
    enum err e = *conn ? OK : sqlite_reader_open(sqlite_of(s)->path, conn);

    if (e)
        return e;
    e = run_read(s, w, *conn);
    drop_snapshot(*conn);
    return e;
}

static void read_off_loop(struct store *s, struct work *w)
{
    struct sqlite *q = sqlite_of(s);

    pthread_mutex_lock(&q->tool_lock);
    enum err e = sqlite_read_once(s, w, &q->tool);
    pthread_mutex_unlock(&q->tool_lock);
    work_finish(s, w, e);
}

static void sqlite_submit(struct store *s, struct work *w)
{
    assert(!work_writes(w) || sqlite_of(s)->has_thread);
    if (work_writes(w))
        queue_push(&sqlite_of(s)->queue, w);
    else if (w->aside && sqlite_of(s)->asides[0].has_thread)
        read_aside(s, w);
    else if (w->loop)
        read_on_loop(s, w);
    else
        read_off_loop(s, w);
}

static void sqlite_turn_end(struct store *s, struct loop *loop)
{
    struct sqlite *q = sqlite_of(s);
    unsigned i = loop_index(loop);

    if (i >= q->reader_count || !q->readers[i])
        return;
    drop_snapshot(q->readers[i]);
    q->readers[i]->share.taken_ns = 0;
}

static void sqlite_close(struct store *s)
{
    struct sqlite *q = sqlite_of(s);

    sqlite_asides_stop(q);
    sqlite_writer_stop(q);
    for (unsigned i = 0; i < q->reader_count; i++)
        sqlite_conn_close(q->readers[i]);
    sqlite_conn_close(q->tool);
    /* The last connection that is closed checkpoints the WAL. */
    sqlite_conn_close(q->writer);
    queue_clear(&q->queue);
    lanes_clear(&q->aside);
    pthread_mutex_destroy(&q->tool_lock);
    if (s->lock >= 0)
        close(s->lock);
    mem_free(q->readers);
    mem_free(q->path);
    mem_free(s->folder);
    mem_free(q);
}

/* Creates the database file with mode 0600, which SQLite also uses for the WAL. */
static enum err make_private(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        log_error("store: cannot open '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    close(fd);
    return OK;
}

/* Disables syncs: commits then return before the data is on the disk. */
static enum err give_up_syncs(struct sqlite_conn *writer)
{
    log_warn("store: syncs are disabled: a power cut loses the last commits");
    return sqlite_conn_do(writer, "pragma synchronous = off") == SQLITE_OK ? OK : ERR_UNAVAILABLE;
}

static enum err sqlite_is_there(const struct sqlite *q)
{
    if (access(q->path, R_OK) == 0)
        return OK;
    log_error("store: there is no database in '%s'", q->store.folder);
    return ERR_UNAVAILABLE;
}

/* Opens the store for the only process that writes: locks the folder and applies migrations. */
static enum err open_to_write(struct sqlite *q, const struct store_options *o)
{
    enum err e = o->as_is ? sqlite_is_there(q) : folder_make(o->folder);

    if (!e)
        e = folder_lock(o->folder, &q->store.lock);
    if (!e)
        e = blobs_open(&q->store);
    if (!e)
        e = make_private(q->path);
    if (!e)
        e = sqlite_conn_open(q->path, &q->writer);
    q->has_no_syncs = o->no_sync;
    if (!e && o->no_sync)
        e = give_up_syncs(q->writer);
    if (!e)
        e = migrations_apply(&q->store, o->as_is, sqlite_run_alone);
    if (!e)
        e = sqlite_versions_begin(q);
    if (!e) {
        q->writer->cache = query_cache_new();
        sqlite_writer_start(q);
        sqlite_asides_start(q);
    }
    return e;
}

static enum err sqlite_open(const struct store_options *o, struct store **ret)
{
    struct sqlite *q = mem_new(sizeof *q);
    size_t room = strlen(o->folder) + sizeof "/guildhall.db";

    q->store.engine = &sqlite_engine;
    q->store.folder = mem_dupz(o->folder);
    q->store.lock = -1;
    q->meter.kind = "write";
    q->path = mem_new(room);
    snprintf(q->path, room, "%s/guildhall.db", o->folder);
    q->reader_count = o->readers;
    q->readers = mem_new((o->readers + 1) * sizeof *q->readers);
    pthread_mutex_init(&q->tool_lock, NULL);
    queue_init(&q->queue);
    lanes_init(&q->aside);

    enum err e = o->beside ? sqlite_is_there(q) : open_to_write(q, o);
    if (e) {
        sqlite_close(&q->store);
        return e;
    }
    *ret = &q->store;
    return OK;
}

static bool sqlite_ready(struct store *s)
{
    (void)s;
    return true;
}

const struct engine sqlite_engine = {
    .name = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .ready = sqlite_ready,
    .submit = sqlite_submit,
    .turn_end = sqlite_turn_end,
    .backup = sqlite_backup,
    .check = sqlite_check,
    .query = sqlite_query,
    .next = sqlite_next,
    .end = sqlite_end,
    .go_aside = sqlite_go_aside,
    .seen = sqlite_seen,
    .unchanged = sqlite_unchanged,
    .touch = sqlite_touch,
    .script = sqlite_script,
    .id_word = "integer primary key",
    .clustered_word = "without rowid",
};
