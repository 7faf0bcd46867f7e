/* postgres.c - the PostgreSQL engine: opening, closing, and the pool of workers. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

enum { DEFAULT_WORKERS = 4, ASIDE_WORKERS = 2 };

static struct postgres *postgres_of(struct store *s)
{
    return (struct postgres *)s;
}

void postgres_hand_over(struct postgres *p, struct work *w)
{
    if (w->mode != STORE_READ || (!w->aside && !w->measured))
        queue_push(&p->queue, w);
    else if (!lanes_push(&p->aside, w))
        work_finish(&p->store, w, ERR_UNAVAILABLE);
}

static void postgres_submit(struct store *s, struct work *w)
{
    struct postgres *p = postgres_of(s);

    w->since = clock_mono();
    w->by_itself = false;
    if (w->aside || !postgres_reader_take(p, w))
        postgres_hand_over(p, w);
}

static void postgres_turn_end(struct store *s, struct loop *loop)
{
    (void)s, (void)loop; /* a snapshot ends with its work item */
}

static unsigned postgres_lane(const struct tx *tx)
{
    const struct postgres_conn *c = tx->connection;

    return c->lane;
}

/* Makes a read leave its loop, whose connection is for short reads only. */
static bool postgres_go_aside(struct tx *tx)
{
    struct postgres_conn *c = tx->connection;

    c->leaves = c->leaves || c->on_loop;
    return c->on_loop;
}

static bool postgres_ready(struct store *s)
{
    return atomic_load(&postgres_of(s)->connected) > 0;
}

static enum err run_on_first(struct store *s, struct work *w)
{
    w->since = clock_mono();
    return postgres_worker_run(&postgres_of(s)->workers[0], w);
}

/* Applies migrations and registers the server, while holding a lock until other nodes can see this
 * one. Migrations have no timeout. */
static enum err postgres_begin(struct postgres *p, const struct store_options *o)
{
    struct postgres_conn *c = &p->workers[0].conn;
    enum err e = postgres_conn_do(c, "select pg_advisory_lock(7166182019423)");

    if (e)
        return e;
    e = migrations_apply(&p->store, o->as_is, run_on_first);
    p->serves = o->serves;
    p->shared = o->serves && o->shared;
    if (!e && !o->as_is && !o->beside && !o->moves)
        e = postgres_blobs_check(p, c);
    if (!e && p->shared && !p->store.inside)
        e = postgres_files_share(p, c);
    if (!e && o->serves && !postgres_conn_serve(c, p))
        e = ERR_UNAVAILABLE;
    if (c->pg)
        postgres_conn_do(c, "select pg_advisory_unlock(7166182019423)");
    return e;
}

static void start_workers(struct postgres *p)
{
    for (unsigned i = 0; i < p->count; i++) {
        struct postgres_worker *w = &p->workers[i];

        if (pthread_create(&w->thread, NULL, postgres_worker_live, w) != 0) {
            log_error("store: cannot start a worker thread");
            abort();
        }
        w->has_thread = true;
    }
}

static void postgres_close(struct store *s)
{
    struct postgres *p = postgres_of(s);

    postgres_readers_end(p);
    queue_close(&p->queue);
    lanes_close(&p->aside);
    for (unsigned i = 0; i < p->count; i++) {
        if (p->workers[i].has_thread)
            pthread_join(p->workers[i].thread, NULL);
        postgres_conn_close(&p->workers[i].conn);
    }
    if (!p->store.inside)
        postgres_files_leave(p);
    blob_sides_free(p->store.inside);
    blob_cache_free(p->store.cache);
    queue_clear(&p->queue);
    lanes_clear(&p->aside);
    commit_line_clear(&p->line);
    pthread_rwlock_destroy(&p->writing);
    mem_free(p->readers);
    mem_free(p->workers);
    mem_free(p->where);
    mem_free(s->folder);
    mem_free(p);
}

unsigned postgres_lane_of(unsigned worker)
{
    enum { MOST_WORKERS = 1 << 16 };

    return snowflake_node() * MOST_WORKERS + worker + 1;
}

/* By default rwlocks prefer readers, which would starve a work item that wants the lock
 * exclusively. */
static void init_writing(pthread_rwlock_t *writing)
{
    pthread_rwlockattr_t attr;

    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(writing, &attr);
    pthread_rwlockattr_destroy(&attr);
}

static struct postgres *postgres_new(const struct store_options *o)
{
    struct postgres *p = mem_new(sizeof *p);

    p->store.engine = &postgres_engine;
    p->store.folder = mem_dupz(o->folder);
    p->store.lock = -1; /* no lock: nodes may share the folder */
    p->where = mem_dupz(o->postgres);
    p->store.inside = o->blobs_inside ? blob_sides_new() : NULL;
    p->store.cache = o->blobs_inside ? blob_cache_new(o->blob_cache) : NULL;
    p->identity = postgres_identity(!o->shared);
    unsigned ordinary = o->workers ? o->workers : DEFAULT_WORKERS;
    p->count = ordinary + ASIDE_WORKERS;
    p->workers = mem_new(p->count * sizeof *p->workers);
    for (unsigned i = 0; i < p->count; i++) {
        p->workers[i].pool = p;
        p->workers[i].is_aside = i >= ordinary;
        p->workers[i].takes_long = i == p->count - 1;
        p->workers[i].conn.lane = postgres_lane_of(i);
        p->workers[i].random = i + (unsigned)clock_mono();
    }
    postgres_readers_init(p, o->readers);
    queue_init(&p->queue);
    lanes_init(&p->aside);
    commit_line_init(&p->line);
    init_writing(&p->writing);
    return p;
}

static enum err postgres_open(const struct store_options *o, struct store **ret)
{
    if (!libpq_load())
        return ERR_UNAVAILABLE;

    struct postgres *p = postgres_new(o);
    enum err e = folder_make(o->folder);
    if (!e)
        e = blobs_open(&p->store);
    if (!e && !postgres_worker_connect(&p->workers[0], true))
        e = ERR_UNAVAILABLE;
    if (!e)
        e = postgres_begin(p, o);
    if (e) {
        postgres_close(&p->store);
        return e;
    }
    start_workers(p);
    *ret = &p->store;
    return OK;
}

uint32_t store_identity(const struct store *s)
{
    return ((const struct postgres *)s)->identity;
}

/* --- separate connections ------------------------------------------------------------- */

struct store_side {
    struct postgres_worker worker;
};

struct store_side *store_side_new(struct store *s)
{
    struct store_side *side = mem_new(sizeof *side);
    struct postgres *p = postgres_of(s);

    side->worker.pool = p;
    side->worker.is_beside = true;
    side->worker.conn.lane = postgres_lane_of(p->count);
    side->worker.random = (unsigned)clock_mono();
    return side;
}

void store_side_free(struct store_side *side)
{
    if (side)
        postgres_worker_leave(&side->worker);
    mem_free(side);
}

unsigned store_side_connections(const struct store_side *side)
{
    return side->worker.connections;
}

struct side_work {
    struct work work;
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
};

static enum err run_side_work(struct work *w, struct tx *tx)
{
    struct side_work *side = container_of(w, struct side_work, work);

    return side->run(tx, side->arg);
}

enum err store_side_run(struct store_side *side, enum store_mode mode, struct arena *arena,
                        enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct side_work w = {
        .work = { .mode = mode, .run = run_side_work, .arena = arena, .since = clock_mono() },
        .run = run,
        .arg = arg,
    };

    return postgres_worker_run(&side->worker, &w.work);
}

/* --- delayed migrations --------------------------------------------------------------- */

static enum err run_on_side(struct store *s, struct work *w)
{
    w->since = clock_mono();
    return postgres_worker_run(postgres_of(s)->finishing, w);
}

static enum err end_older(struct tx *tx, void *arg)
{
    (void)arg;
    return postgres_end_older(tx, store_schema());
}

enum err store_side_finish(struct store_side *side)
{
    struct postgres *p = side->worker.pool;
    struct arena *arena = arena_new();

    p->finishing = &side->worker;
    enum err e = migrations_finish(&p->store, run_on_side);
    if (!e && !store_unfinished(&p->store))
        e = store_side_run(side, STORE_APPEND, arena, end_older, NULL);
    arena_free(arena);
    return e;
}

static enum err keep_servers_out(struct tx *tx, void *arg)
{
    (void)arg;
    return postgres_keep_servers_out(tx);
}

static enum err postgres_take(struct store *s)
{
    return store_run(s, STORE_WRITE, NULL, keep_servers_out, NULL);
}

static enum err ask_anything(struct tx *tx, void *arg)
{
    struct rows r;
    bool found;

    (void)arg;
    return tx_one(tx, "select count(*) from migrations", NO_BIND, &r, &found);
}

/* Checks that a query works; pg_amcheck can check the rest. */
static enum err postgres_check(struct store *s)
{
    return store_run(s, STORE_READ, NULL, ask_anything, NULL);
}

const struct engine postgres_engine = {
    .name = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .ready = postgres_ready,
    .submit = postgres_submit,
    .turn_end = postgres_turn_end,
    .check = postgres_check,
    .take = postgres_take,
    .query = postgres_query,
    .next = postgres_next,
    .end = postgres_end,
    .prefetch = postgres_prefetch,
    .exec_soon = postgres_exec_soon,
    .lane = postgres_lane,
    .go_aside = postgres_go_aside,
    .script = postgres_script,
    .id_word = "bigint primary key",
    .clustered_word = "",
    .step_words = "set local lock_timeout = '500ms'",
    .has_older = postgres_has_older,
};
