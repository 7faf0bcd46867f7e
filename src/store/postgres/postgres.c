/* postgres.c - the PostgreSQL engine: opening, closing, and the pool of workers. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/standby/standby.h"

enum { DEFAULT_WORKERS = 4, LONG_READ_WORKERS = 2 };

static struct postgres *postgres_of_store(struct store *s)
{
    return (struct postgres *)s;
}

void postgres_enqueue_work_item_for_workers(struct postgres *p, struct work_item *w)
{
    if (w->mode != STORE_READ || (!w->in_background && !w->measured))
        work_queue_push(&p->queue, w);
    else if (!fair_queue_push(&p->long_reads, w))
        work_item_call_callbacks(&p->store, w, ERR_UNAVAILABLE);
}

static void postgres_submit(struct store *s, struct work_item *w)
{
    struct postgres *p = postgres_of_store(s);

    w->since = clock_monotonic_ns();
    w->by_itself = false;
    if (w->may_read_standby && p->standby && postgres_standby_submit(p->standby, w))
        return;
    if (w->in_background || !postgres_run_read_on_loop(p, w))
        postgres_enqueue_work_item_for_workers(p, w);
}

static bool postgres_may_read_standby(const struct store *s, uint64_t owner)
{
    return postgres_standby_accepts(((const struct postgres *)s)->standby, owner);
}

static void postgres_on_write_ended(struct store *s, uint64_t owner)
{
    struct postgres *p = postgres_of_store(s);

    if (p->standby)
        postgres_standby_record_write(p->standby, owner);
}

static void postgres_add_stats(const struct store *s, struct store_stats *ret)
{
    const struct postgres *p = (const struct postgres *)s;

    if (p->standby)
        postgres_standby_read_stats(p->standby, ret);
}

static void postgres_on_loop_iteration_end(struct store *s, struct loop *loop)
{
    (void)s, (void)loop; /* nothing to do: on PostgreSQL a snapshot ends with its work item */
}

static unsigned postgres_tx_counter_shard(const struct tx *tx)
{
    const struct postgres_conn *c = tx->connection;

    return c->counter_shard;
}

/* Makes the running read leave its loop and restart on a worker thread, because a loop's connection
 * is for short reads only. */
static bool postgres_move_to_background(struct tx *tx)
{
    struct postgres_conn *c = tx->connection;

    c->must_leave = c->must_leave || c->on_loop;
    return c->on_loop;
}

static bool postgres_is_reachable(struct store *s)
{
    return atomic_load(&postgres_of_store(s)->connected) > 0;
}

static enum err run_function_on_first_worker(struct store *s, struct work_item *w)
{
    w->since = clock_monotonic_ns();
    return postgres_worker_run_work_item(&postgres_of_store(s)->workers[0], w);
}

/* Applies migrations and registers the server. Holds the start lock until other nodes can see this
 * server. Migrations run without a timeout. */
static enum err migrate_and_register(struct postgres *p, const struct store_options *o)
{
    struct postgres_conn *c = &p->workers[0].conn;
    enum err e = postgres_conn_run_command(c, "select pg_advisory_lock(7166182019423)");

    if (e)
        return e;
    e = migrations_apply(&p->store, o->as_is, run_function_on_first_worker);
    p->serves = o->serves;
    p->shared = o->serves && o->shared;
    if (!e && !o->as_is && !o->read_only_tool && !o->moves)
        e = postgres_check_blob_location(p, c);
    if (!e && p->shared && !p->store.remote_blobs)
        e = postgres_check_nodes_share_blob_folder(p, c);
    if (!e && o->serves && !postgres_conn_register_server(c, p))
        e = ERR_UNAVAILABLE;
    if (c->pg)
        postgres_conn_run_command(c, "select pg_advisory_unlock(7166182019423)");
    return e;
}

/* A server that does not share the database may cache rows. The statements of the first connection
 * are prepared again, because their tables were not known yet. */
static void know_tables(struct postgres *p)
{
    struct postgres_conn *c = &p->workers[0].conn;

    table_versions_load(&p->versions, c);
    c->rows.versions = table_versions_or_null(&p->versions);
    postgres_free_prepared_statements(c);
    postgres_conn_run_command(c, "deallocate all");
}

static void start_workers(struct postgres *p)
{
    for (unsigned i = 0; i < p->count; i++) {
        struct postgres_worker *w = &p->workers[i];

        if (pthread_create(&w->thread, NULL, postgres_worker_thread, w) != 0) {
            log_error("store: cannot start a worker thread");
            abort();
        }
        w->has_thread = true;
    }
}

static void postgres_close(struct store *s)
{
    struct postgres *p = postgres_of_store(s);

    postgres_standby_stop(p->standby);
    postgres_loop_readers_close(p);
    work_queue_close(&p->queue);
    fair_queue_close(&p->long_reads);
    for (unsigned i = 0; i < p->count; i++) {
        if (p->workers[i].has_thread)
            pthread_join(p->workers[i].thread, NULL);
        postgres_conn_close(&p->workers[i].conn);
    }
    postgres_standby_free(p->standby);
    if (!p->store.remote_blobs)
        postgres_delete_node_mark_in_blob_folder(p);
    blob_connections_free(p->store.blob_connections);
    remote_blobs_clear(&p->store);
    work_queue_clear(&p->queue);
    fair_queue_clear(&p->long_reads);
    postgres_commit_order_clear(&p->commit_order);
    postgres_id_order_clear(&p->id_order);
    query_prefetcher_clear(&p->prefetcher);
    table_versions_clear(&p->versions);
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        pthread_rwlock_destroy(&p->write_locks[i]);
    mem_free(p->readers);
    mem_free(p->workers);
    mem_free(p->where);
    mem_free(s->folder);
    mem_free(p);
}

unsigned postgres_get_counter_shard_of_worker(unsigned worker)
{
    enum { MOST_WORKERS = 1 << 16 };

    return snowflake_get_node() * MOST_WORKERS + worker + 1;
}

/* Makes the locks prefer writers. By default rwlocks prefer readers, which would starve a work item
 * that wants a lock exclusively. */
static void init_write_locks(struct postgres *p)
{
    pthread_rwlockattr_t attr;

    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        pthread_rwlock_init(&p->write_locks[i], &attr);
    pthread_rwlockattr_destroy(&attr);
}

static struct postgres *postgres_new(const struct store_options *o)
{
    struct postgres *p = mem_new(sizeof *p);

    p->store.engine = &postgres_engine;
    p->store.folder = mem_dup_cstring(o->folder);
    p->store.lock = -1; /* the folder is not locked, because several nodes may share it */
    p->where = mem_dup_cstring(o->postgres);
    p->store.blob_connections = o->blobs_inside || o->objects ? blob_connections_new() : NULL;
    p->identity = postgres_identity_new(!o->shared);
    unsigned ordinary = o->workers ? o->workers : DEFAULT_WORKERS;
    p->count = ordinary + LONG_READ_WORKERS;
    p->workers = mem_new(p->count * sizeof *p->workers);
    for (unsigned i = 0; i < p->count; i++) {
        p->workers[i].pool = p;
        p->workers[i].runs_long_reads = i >= ordinary;
        p->workers[i].runs_longest_reads = i == p->count - 1;
        p->workers[i].conn.counter_shard = postgres_get_counter_shard_of_worker(i);
        p->workers[i].random = i + (unsigned)clock_monotonic_ns();
    }
    postgres_loop_readers_init(p, o->readers);
    work_queue_init(&p->queue);
    fair_queue_init(&p->long_reads);
    postgres_commit_order_init(&p->commit_order);
    postgres_id_order_init(&p->id_order);
    init_write_locks(p);
    query_prefetcher_init(&p->prefetcher);
    table_versions_init(&p->versions);
    return p;
}

static enum err postgres_open(const struct store_options *o, struct store **ret)
{
    if (!load_libpq())
        return ERR_UNAVAILABLE;

    struct postgres *p = postgres_new(o);
    enum err e = remote_blobs_init(&p->store, o);
    if (!e)
        e = folder_create(o->folder);
    if (!e)
        e = blobs_open_folder(&p->store);
    if (!e && !postgres_worker_connect(&p->workers[0], true))
        e = ERR_UNAVAILABLE;
    if (!e)
        e = migrate_and_register(p, o);
    if (e) {
        postgres_close(&p->store);
        return e;
    }
    if (o->serves && !o->shared)
        know_tables(p);
    start_workers(p);
    p->standby = postgres_standby_new(p, o);
    *ret = &p->store;
    return OK;
}

uint32_t store_process_identity(const struct store *s)
{
    return ((const struct postgres *)s)->identity;
}

/* --- separate connections ------------------------------------------------------------- */

struct store_connection {
    struct postgres_worker worker;
};

struct store_connection *store_connection_new(struct store *s)
{
    struct store_connection *side = mem_new(sizeof *side);
    struct postgres *p = postgres_of_store(s);

    side->worker.pool = p;
    side->worker.is_separate = true;
    side->worker.conn.counter_shard = postgres_get_counter_shard_of_worker(p->count);
    side->worker.random = (unsigned)clock_monotonic_ns();
    return side;
}

void store_connection_free(struct store_connection *side)
{
    if (side)
        postgres_worker_close_connection(&side->worker);
    mem_free(side);
}

unsigned store_connection_count_connects(const struct store_connection *side)
{
    return side->worker.connections;
}

struct connection_work_item {
    struct work_item work;
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
};

static enum err run_function_of_connection_work_item(struct work_item *w, struct tx *tx)
{
    struct connection_work_item *side = container_of(w, struct connection_work_item, work);

    return side->run(tx, side->arg);
}

enum err store_connection_run_transaction(struct store_connection *side, enum transaction_mode mode,
                                          struct arena *arena,
                                          enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct connection_work_item w = {
        .work = { .mode = mode,
                  .run = run_function_of_connection_work_item,
                  .arena = arena,
                  .since = clock_monotonic_ns() },
        .run = run,
        .arg = arg,
    };

    return postgres_worker_run_work_item(&side->worker, &w.work);
}

/* --- delayed migrations --------------------------------------------------------------- */

static enum err run_on_worker_that_finishes_migrations(struct store *s, struct work_item *w)
{
    w->since = clock_monotonic_ns();
    return postgres_worker_run_work_item(postgres_of_store(s)->finishing, w);
}

static enum err terminate_older_servers(struct tx *tx, void *arg)
{
    (void)arg;
    return postgres_terminate_older_servers(tx, store_schema_number());
}

enum err store_connection_apply_postponed_migrations(struct store_connection *side)
{
    struct postgres *p = side->worker.pool;
    struct arena *arena = arena_new();

    p->finishing = &side->worker;
    enum err e = migrations_apply_postponed(&p->store, run_on_worker_that_finishes_migrations);
    if (!e && !store_has_postponed_migrations(&p->store))
        e = store_connection_run_transaction(side, STORE_APPEND, arena, terminate_older_servers,
                                             NULL);
    arena_free(arena);
    return e;
}

static enum err lock_out_servers(struct tx *tx, void *arg)
{
    (void)arg;
    return postgres_prevent_server_connections(tx);
}

static enum err postgres_lock_exclusive(struct store *s)
{
    return store_run_transaction_and_wait(s, STORE_WRITE, NULL, lock_out_servers, NULL);
}

static enum err read_migration_count(struct tx *tx, void *arg)
{
    struct rows r;
    bool found;

    (void)arg;
    return tx_one(tx, "select count(*) from migrations", NO_BIND, &r, &found);
}

/* Only checks that a query works. To check the data, operators can use pg_amcheck. */
static enum err postgres_check_integrity(struct store *s)
{
    return store_run_transaction_and_wait(s, STORE_READ, NULL, read_migration_count, NULL);
}

const struct store_engine postgres_engine = {
    .name = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .ready = postgres_is_reachable,
    .submit = postgres_submit,
    .may_read_standby = postgres_may_read_standby,
    .write_ended = postgres_on_write_ended,
    .add_stats = postgres_add_stats,
    .iteration_end = postgres_on_loop_iteration_end,
    .check = postgres_check_integrity,
    .lock_exclusive = postgres_lock_exclusive,
    .query = postgres_query,
    .next = postgres_rows_next,
    .end = postgres_rows_end,
    .exec_deferred = postgres_exec_deferred,
    .order_id = postgres_record_created_stream_id,
    .counter_shard = postgres_tx_counter_shard,
    .move_to_background = postgres_move_to_background,
    .script = postgres_run_script,
    .id_sql = "bigint primary key",
    .clustered_sql = "",
    .before_migration_sql =
        "set local lock_timeout = '500ms'; select pg_notify(" ROWS_CHANNEL ", 'schema')",
    .has_older = postgres_read_whether_older_servers_run,
};
