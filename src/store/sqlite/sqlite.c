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

static struct sqlite *get_sqlite_of_store(struct store *s)
{
    return (struct sqlite *)s;
}

/* Releases the snapshot, which the reads of one loop iteration share, because taking a snapshot
 * costs more than most queries. The first read after a commit takes a new snapshot, so that a
 * caller who got the reply to a write sees the written rows. */
static void release_snapshot(struct sqlite_conn *c)
{
    if (c->in_snapshot && sqlite_conn_run(c, "commit") != SQLITE_OK)
        sqlite_conn_run(c, "rollback");
    c->in_view = c->in_snapshot = c->gave_cached_rows = false;
}

static void ensure_fresh_snapshot(struct store *s, struct sqlite_conn *c)
{
    uint64_t commits = atomic_load_explicit(&s->commits, memory_order_acquire);

    c->gave_cached_rows = false;
    if (c->in_view && c->seen == commits)
        return;
    release_snapshot(c);
    c->in_view = true;
    c->seen = commits;
}

static enum err run_read_in_snapshot(struct store *s, struct work_item *w, struct sqlite_conn *c)
{
    struct tx tx = { .store = s, .work = w, .connection = c }, again = tx;
    struct arena *arena = w->arena;

    ensure_fresh_snapshot(s, c);
    enum err e = tx_run_work_item(&tx);
    if (!c->is_outdated)
        return e;
    c->is_outdated = false;
    w->arena = arena; /* restore the arena, which the aborted read may have replaced */
    return tx_run_work_item(&again);
}

/* Opens a read connection with a page cache of 16 MiB: with the default of 2 MiB large searches
 * would reread pages. The writer's cache has the default size, so that the writer writes pages
 * early: then a work item that fills the disk fails before other work items run. */
enum err sqlite_open_read_connection(const char *path, struct sqlite_conn **ret)
{
    enum err e = sqlite_conn_open(path, ret);

    if (e)
        return e;
    return sqlite_conn_run(*ret, "pragma cache_size = -16384") == SQLITE_OK ? OK : ERR_UNAVAILABLE;
}

/* Takes over the connection that the start has used for reads without a loop, so that the loop need
 * not parse the schema again. Returns NULL if there is none or if it is in use. */
static struct sqlite_conn *take_over_tool_connection(struct sqlite *q)
{
    if (pthread_mutex_trylock(&q->tool_lock) != 0)
        return NULL;
    struct sqlite_conn *c = q->tool;

    q->tool = NULL;
    pthread_mutex_unlock(&q->tool_lock);
    /* If the schema has changed, parse it now: that can exceed the time limit of a read. */
    if (c)
        sqlite_conn_run(c, "select 1 from sqlite_schema limit 0");
    return c;
}

static enum err get_read_connection_of_loop(struct sqlite *q, struct loop *loop,
                                            struct sqlite_conn **ret)
{
    unsigned i = loop_get_index(loop);
    enum err e = OK;

    assert(i < q->reader_count);
    if (!q->readers[i]) {
        q->readers[i] = take_over_tool_connection(q);
        if (!q->readers[i])
            e = sqlite_open_read_connection(q->path, &q->readers[i]);
        if (!e && q->background_readers[0].has_thread)
            sqlite_set_loop_read_time_limit(q->readers[i]);
        if (!e && q->has_thread)
            /* The query cache is safe because this process is the only writer. */
            q->readers[i]->cache = query_cache_new();
    }
    *ret = q->readers[i];
    return e;
}

/* Queues a read for the background threads; fails if the store is closing. */
static void queue_background_read(struct store *s, struct work_item *w)
{
    if (!fair_queue_push(&get_sqlite_of_store(s)->long_reads, w))
        work_item_call_callbacks(s, w, ERR_UNAVAILABLE);
}

/* Runs a read on its loop. A read that exceeds the time limit restarts on a background thread. */
static void read_on_loop(struct store *s, struct work_item *w)
{
    struct sqlite *q = get_sqlite_of_store(s);
    struct arena *arena = w->arena;
    struct sqlite_conn *c;
    enum err e = get_read_connection_of_loop(q, w->loop, &c);

    if (!e) {
        sqlite_read_time_limit_begin(c, w->measured);
        e = run_read_in_snapshot(s, w, c);
        if (sqlite_read_time_limit_end(c)) {
            w->arena = arena; /* restore the arena, which the aborted read may have replaced */
            queue_background_read(s, w);
            return;
        }
    }
    work_item_call_callbacks(s, w, e);
}

enum err sqlite_run_read_in_own_snapshot(struct store *s, struct work_item *w,
                                         struct sqlite_conn **conn)
{
    enum err e = *conn ? OK : sqlite_open_read_connection(get_sqlite_of_store(s)->path, conn);

    if (e)
        return e;
    e = run_read_in_snapshot(s, w, *conn);
    release_snapshot(*conn);
    return e;
}

static void read_with_tool_connection(struct store *s, struct work_item *w)
{
    struct sqlite *q = get_sqlite_of_store(s);

    pthread_mutex_lock(&q->tool_lock);
    enum err e = sqlite_run_read_in_own_snapshot(s, w, &q->tool);
    pthread_mutex_unlock(&q->tool_lock);
    work_item_call_callbacks(s, w, e);
}

static void sqlite_submit(struct store *s, struct work_item *w)
{
    assert(!work_item_is_write(w) || get_sqlite_of_store(s)->has_thread);
    if (work_item_is_write(w))
        work_queue_push(&get_sqlite_of_store(s)->queue, w);
    else if (w->in_background && get_sqlite_of_store(s)->background_readers[0].has_thread)
        queue_background_read(s, w);
    else if (w->loop)
        read_on_loop(s, w);
    else
        read_with_tool_connection(s, w);
}

static void sqlite_on_loop_iteration_end(struct store *s, struct loop *loop)
{
    struct sqlite *q = get_sqlite_of_store(s);
    unsigned i = loop_get_index(loop);

    if (i >= q->reader_count || !q->readers[i])
        return;
    release_snapshot(q->readers[i]);
    q->readers[i]->read_limit.used_ns = 0;
}

static void sqlite_close(struct store *s)
{
    struct sqlite *q = get_sqlite_of_store(s);

    background_readers_stop(q);
    sqlite_writer_stop(q);
    for (unsigned i = 0; i < q->reader_count; i++)
        sqlite_conn_close(q->readers[i]);
    sqlite_conn_close(q->tool);
    /* Close the writer's connection last, because the last connection that is closed checkpoints
     * the WAL. */
    sqlite_conn_close(q->writer);
    work_queue_clear(&q->queue);
    fair_queue_clear(&q->long_reads);
    pthread_mutex_destroy(&q->tool_lock);
    remote_blobs_clear(s);
    if (s->lock >= 0)
        close(s->lock);
    mem_free(q->readers);
    mem_free(q->path);
    mem_free(s->folder);
    mem_free(q);
}

/* Creates the database file with mode 0600. SQLite gives the WAL file the same mode. */
static enum err create_private_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        log_error("store: cannot open or create the database file '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    close(fd);
    return OK;
}

/* Disables syncs, so that commits return before the data is on the disk. */
static enum err disable_syncs(struct sqlite_conn *writer)
{
    log_warn("store: syncs are disabled: a power cut loses the last commits");
    return sqlite_conn_run(writer, "pragma synchronous = off") == SQLITE_OK ? OK : ERR_UNAVAILABLE;
}

static enum err require_database_file(const struct sqlite *q)
{
    if (access(q->path, R_OK) == 0)
        return OK;
    log_error("store: there is no database in '%s'", q->store.folder);
    return ERR_UNAVAILABLE;
}

/* Opens the store as the only process that writes: locks the folder and applies migrations. */
static enum err open_database_for_writing(struct sqlite *q, const struct store_options *o)
{
    enum err e = o->as_is ? require_database_file(q) : folder_create(o->folder);

    if (!e)
        e = lock_data_folder(o->folder, &q->store.lock);
    if (!e)
        e = blobs_open_folder(&q->store);
    if (!e)
        e = create_private_file(q->path);
    if (!e)
        e = sqlite_conn_open(q->path, &q->writer);
    q->has_no_syncs = o->no_sync;
    if (!e && o->no_sync)
        e = disable_syncs(q->writer);
    if (!e)
        e = migrations_apply(&q->store, o->as_is, sqlite_run_work_item_alone);
    if (!e)
        /* Free about 2 MB of cached pages, which the migrations of a new database used. */
        sqlite3_db_release_memory(q->writer->db);
    if (!e)
        e = sqlite_install_row_version_hooks(q);
    if (!e) {
        q->writer->cache = query_cache_new();
        sqlite_writer_start(q);
        background_readers_start(q);
    }
    return e;
}

static enum err sqlite_open(const struct store_options *o, struct store **ret)
{
    struct sqlite *q = mem_new(sizeof *q);
    size_t room = strlen(o->folder) + sizeof "/guildhall.db";

    q->store.engine = &sqlite_engine;
    q->store.folder = mem_dup_cstring(o->folder);
    q->store.lock = -1;
    q->meter.kind = "write";
    q->path = mem_new(room);
    snprintf(q->path, room, "%s/guildhall.db", o->folder);
    q->reader_count = o->readers;
    q->readers = mem_new((o->readers + 1) * sizeof *q->readers);
    pthread_mutex_init(&q->tool_lock, NULL);
    work_queue_init(&q->queue);
    fair_queue_init(&q->long_reads);

    enum err e = remote_blobs_init(&q->store, o);
    if (!e)
        e = o->read_only_tool ? require_database_file(q) : open_database_for_writing(q, o);
    if (!e && o->read_only_tool && q->store.remote_blobs)
        e = blob_cache_open_folder(&q->store);
    if (e) {
        sqlite_close(&q->store);
        return e;
    }
    *ret = &q->store;
    return OK;
}

static bool sqlite_is_reachable(struct store *s)
{
    (void)s;
    return true;
}

const struct store_engine sqlite_engine = {
    .name = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .ready = sqlite_is_reachable,
    .submit = sqlite_submit,
    .iteration_end = sqlite_on_loop_iteration_end,
    .backup = sqlite_copy_database,
    .check = sqlite_check_integrity,
    .query = sqlite_query,
    .next = sqlite_rows_next,
    .end = sqlite_rows_end,
    .move_to_background = sqlite_move_read_to_background,
    .snapshot_version = sqlite_get_snapshot_version,
    .slots_unchanged = sqlite_row_version_slots_are_unchanged,
    .mark_row_changed = sqlite_mark_row_changed,
    .script = sqlite_run_script,
    .id_sql = "integer primary key",
    .clustered_sql = "without rowid",
};
