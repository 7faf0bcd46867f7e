/* store.c - opens a store and submits work items to its engine. */
#include "store/store.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

static enum err refuse_partly_moved_database(struct tx *tx, void *arg)
{
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, "select 1 from move_source", NO_BIND, &row, &found);

    (void)arg;
    if (!found)
        return e;
    log_error("store: this database is the target of an unfinished move; run 'guildhall move' "
              "again until it is complete");
    return ERR_UNAVAILABLE;
}

/* Logs only the scheme of the address, because the rest may contain a password. */
static enum err check_database_address(const char *address)
{
    const char *colon = strstr(address, "://");
    struct str scheme = { address, colon ? (size_t)(colon - address) : strlen(address) };

    if (str_is(scheme, "postgres") || str_is(scheme, "postgresql") ||
        (!colon && strchr(address, '=')))
        return OK;
    log_error("store: the database type '%.*s' is not supported: use "
              "postgres://USER@HOST/DATABASE, or leave 'store' unset for SQLite in the data folder",
              STR_ARGS(scheme));
    return ERR_UNAVAILABLE;
}

enum err store_open(const struct store_options *options, struct store **ret)
{
    if (options->postgres && check_database_address(options->postgres))
        return ERR_UNAVAILABLE;
    const struct store_engine *engine = options->postgres ? &postgres_engine : &sqlite_engine;
    struct store *s = NULL;
    enum err e = engine->open(options, &s);

    /* A read-only tool may find an older schema without the table move_source. */
    if (!e && !options->moves && !options->read_only_tool)
        e = store_run_transaction_and_wait(s, STORE_READ, NULL, refuse_partly_moved_database, NULL);
    if (!e && !options->moves && !options->read_only_tool)
        e = blobs_compare_or_store_location(s, false);
    if (e)
        store_close(s);
    else
        *ret = s;
    return e;
}

void store_close(struct store *s)
{
    if (s)
        s->engine->close(s);
}

void store_set_aborted_log_position_callback(struct store *s,
                                             void (*aborted)(void *arg, int64_t position),
                                             void *arg)
{
    s->position_aborted = aborted;
    s->position_aborted_arg = arg;
}

bool store_has_postponed_migrations(const struct store *s)
{
    return atomic_load(&s->unfinished);
}

bool store_schema_is_too_new(const struct store *s)
{
    return atomic_load(&s->outgrown);
}

const char *store_engine_name(const struct store *s)
{
    return s->engine->name;
}

bool store_has_locked_data_folder(const struct store *s)
{
    return s->lock >= 0;
}

bool store_is_reachable(struct store *s)
{
    return s->engine->ready(s);
}

void store_release_snapshot_of_loop_iteration(struct store *s, struct loop *loop)
{
    s->engine->iteration_end(s, loop);
}

enum err store_lock_exclusive(struct store *s)
{
    return s->engine->lock_exclusive ? s->engine->lock_exclusive(s) : OK;
}

enum err store_check_integrity(struct store *s)
{
    return s->engine->check(s);
}

void store_read_stats(struct store *s, struct store_stats *ret)
{
    *ret = (struct store_stats){
        .reads = s->reads,
        .writes = s->writes,
        .commits = s->commits,
        .retries = s->retries,
        .failures = s->failures,
        .round_trips = s->round_trips,
        .damaged_files = s->damaged_files,
        .corruptions = sqlite_count_corruptions(),
        .retried = s->retried,
    };
    if (s->engine->add_stats)
        s->engine->add_stats(s, ret);
}

bool store_may_read_standby(const struct store *s, uint64_t owner)
{
    return s->engine->may_read_standby && s->engine->may_read_standby(s, owner);
}

static void call_done_callback_of_work_item(struct loop_message *p)
{
    struct work_item *w = container_of(p, struct work_item, post);

    w->done(w, w->result);
}

/* Returns whether an error is a failure of the store. All other errors are results of the work
 * item, such as errors of Discord's API. */
static bool is_store_failure(enum err e)
{
    return e == ERR_STORAGE_FULL || e == ERR_UNAVAILABLE || e == ERR_STORE_RETRY;
}

void work_item_call_callbacks(struct store *s, struct work_item *w, enum err result)
{
    if (is_store_failure(result))
        atomic_fetch_add_explicit(&s->failures, 1, memory_order_relaxed);
    if (result == ERR_STORAGE_FULL)
        store_set_disk_full(s);
    else if (!result && work_item_is_write(w))
        store_clear_disk_full(s);
    w->result = result;
    if (s->engine->write_ended && work_item_is_write(w))
        s->engine->write_ended(s, w->owner);
    if (!result && w->committed && work_item_is_write(w))
        w->committed(w);
    if (!w->loop || w->loop == loop_get_current()) {
        w->done(w, result);
        return;
    }
    w->post.run = call_done_callback_of_work_item;
    loop_post_message(w->loop, &w->post);
}

void store_submit_work_item(struct store *s, struct work_item *w)
{
    assert(w->mode != STORE_NONE);
    assert(w->arena);
    atomic_fetch_add_explicit(w->mode == STORE_READ ? &s->reads : &s->writes, 1,
                              memory_order_relaxed);
    s->engine->submit(s, w);
}

/* --- blocking calls ------------------------------------------------------------------- */

struct blocking_work_item {
    struct work_item work;
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool is_finished;
};

static enum err run_blocking_work_item(struct work_item *w, struct tx *tx)
{
    struct blocking_work_item *waiting = container_of(w, struct blocking_work_item, work);

    return waiting->run(tx, waiting->arg);
}

static void wake_caller_that_waits_for_store(struct work_item *w, enum err e)
{
    struct blocking_work_item *waiting = container_of(w, struct blocking_work_item, work);

    (void)e;
    pthread_mutex_lock(&waiting->lock);
    waiting->is_finished = true;
    pthread_cond_signal(&waiting->finished);
    pthread_mutex_unlock(&waiting->lock);
}

enum err store_run_transaction_and_wait(struct store *s, enum transaction_mode mode,
                                        struct arena *arena,
                                        enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct arena *own = arena ? NULL : arena_new();
    struct blocking_work_item w = {
        .work = { .mode = mode,
                  .run = run_blocking_work_item,
                  .done = wake_caller_that_waits_for_store,
                  .arena = arena ? arena : own },
        .run = run,
        .arg = arg,
    };

    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.finished, NULL);
    store_submit_work_item(s, &w.work);
    pthread_mutex_lock(&w.lock);
    while (!w.is_finished)
        pthread_cond_wait(&w.finished, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_cond_destroy(&w.finished);
    pthread_mutex_destroy(&w.lock);
    arena_free(own);
    return w.work.result;
}
