/* row_cache.c - tests that a server which is alone caches rows, and never serves stale ones. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/batches.h"
#include "support/postgres.h"
#include "support/test_sql.h"

enum { PATIENCE = 2000, AFTERWARDS = 50 };

static uint64_t count_round_trips(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats.round_trips;
}

static int64_t ask_one(struct batch *b, struct loops *loops)
{
    batch_ask_on_loop(b, loops, 1);
    return b->reads[0].seen[0];
}

/* Reads until no query is sent. Rows are cached when they are read for the second time, and are
 * read again from time to time. */
static void ask_until_cached(struct batch *b, struct loops *loops)
{
    uint64_t before;
    int tries = 0;

    do {
        assert_in_range(++tries, 1, PATIENCE);
        before = count_round_trips(b->f);
        ask_one(b, loops);
    } while (count_round_trips(b->f) != before);
}

/* Reads until the value is there, then checks that no older one returns. */
static void expect_soon(struct batch *b, struct loops *loops, int64_t value)
{
    int tries = 0;

    while (ask_one(b, loops) != value) {
        assert_in_range(++tries, 1, PATIENCE);
        usleep(1000);
    }
    for (int i = 0; i < AFTERWARDS; i++)
        assert_int_equal(ask_one(b, loops), value);
}

static void rows_are_cached_until_this_server_writes(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "cached", .questions = 2 };

    for (int n = 0; n < 20; n++) {
        assert_int_equal(ask_one(&b, loops), n);
        ask_until_cached(&b, loops);
        assert_int_equal(ask_one(&b, loops), n);
        no_error(store_do(f->store, "update counter set n = n + 1"));
    }
    loops_stop(loops);
}

static void nodes_of_a_cluster_cache_nothing(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "shared", .questions = 1 };

    for (int n = 0; n < 20; n++) {
        uint64_t before = count_round_trips(f);

        test_postgres_do(f->postgres, "update counter set n = n + 1");
        assert_int_equal(ask_one(&b, loops), n + 1);
        assert_true(count_round_trips(f) > before);
    }
    loops_stop(loops);
}

/* --- writes that no statement names ---------------------------------------------------- */

static enum err count_children(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);

    a->on_loop = loop_get_current();
    return tx_read_int(tx, "select count(*) from child", NO_BIND, &a->seen[0]);
}

static void expect_children_are_seen(struct fixture *f, const char *write, int64_t after)
{
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "children", .run = count_children };

    assert_int_equal(ask_one(&b, loops), 1);
    ask_until_cached(&b, loops);
    no_error(store_do(f->store, write));
    assert_int_equal(ask_one(&b, loops), after);
    loops_stop(loops);
}

static void rows_that_a_cascade_deletes_are_not_served(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "create table parent (id bigint primary key)"));
    no_error(store_do(f->store, "create table middle (id bigint primary key references parent (id) "
                                "on delete cascade)"));
    no_error(store_do(f->store,
                      "create table child (id bigint references middle (id) on delete cascade)"));
    no_error(store_do(f->store, "insert into parent values (1)"));
    no_error(store_do(f->store, "insert into middle values (1)"));
    no_error(store_do(f->store, "insert into child values (1)"));
    expect_children_are_seen(f, "delete from parent", 0);
}

static void rows_that_a_trigger_writes_are_served(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "create table parent (id bigint)"));
    no_error(store_do(f->store, "create table child (id bigint)"));
    no_error(store_do(f->store, "insert into child values (1)"));
    no_error(store_do(f->store, "create function note_child() returns trigger language plpgsql as "
                                "$$ begin insert into child values (new.id); return null; end $$"));
    no_error(store_do(f->store, "create trigger noted after insert on parent for each row execute "
                                "function note_child()"));
    expect_children_are_seen(f, "insert into parent values (2)", 2);
}

/* --- other writers ---------------------------------------------------------------------- */

static void write_of_a_tool_empties_the_cache(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "tool", .questions = 1 };
    struct store_options options = f->options;
    struct store *tool;

    options.serves = false;
    ask_until_cached(&b, loops);
    no_error(store_open(&options, &tool));
    for (int n = 1; n < 10; n++) {
        no_error(store_do(tool, "update counter set n = n + 1"));
        expect_soon(&b, loops, n);
        ask_until_cached(&b, loops);
    }
    store_close(tool);
    loops_stop(loops);
}

/* While the server has no connection, another one may start, write and stop. */
static void lost_connection_empties_the_cache(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "lost", .questions = 1 };

    ask_until_cached(&b, loops);
    test_postgres_do(f->postgres, "update counter set n = 7");
    test_postgres_do(f->postgres,
                     "select pg_terminate_backend(pid) from pg_stat_activity where datname = "
                     "current_database() and pid <> pg_backend_pid()");
    expect_soon(&b, loops, 7);
    loops_stop(loops);
}

/* The COMMIT fails, so its transaction changed nothing, and its rows are cached again. */
static void failed_commit_leaves_rows_cacheable(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "create table later (id bigint, constraint once unique (id) "
                                "deferrable initially deferred)"));
    no_error(store_do(f->store, "insert into later values (1)"));
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "failed", .questions = 1 };

    assert_int_not_equal(store_do(f->store, "with n as (update counter set n = 5 returning id) "
                                            "insert into later select id from n"),
                         OK);
    ask_until_cached(&b, loops);
    assert_int_equal(ask_one(&b, loops), 0);
    loops_stop(loops);
}

/* --- concurrent writes ------------------------------------------------------------------ */

static atomic_bool must_stop;

static enum err add_to_both(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = tx_exec(tx, "update counter set n = n + 1", NO_BIND, NULL);

    return e ? e : tx_exec(tx, "update other set n = n + 1", NO_BIND, NULL);
}

static void *add_until_stopped(void *arg)
{
    struct fixture *f = arg;

    while (!must_stop)
        store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, add_to_both, NULL);
    return NULL;
}

static enum err read_both(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);

    a->on_loop = loop_get_current();
    enum err e = tx_read_int(tx, "select n from counter", NO_BIND, &a->seen[0]);
    return e ? e : tx_read_int(tx, "select n from other", NO_BIND, &a->seen[1]);
}

/* The two tables are always equal, and never become older, whether they are cached or not. */
static void reads_during_writes_are_consistent(void **state)
{
    enum { WRITERS = 2, READS = 1500 };
    struct fixture *f = *state;
    pthread_t writers[WRITERS];
    int64_t last = 0;

    no_error(store_do(f->store, "create table other (n bigint)"));
    no_error(store_do(f->store, "insert into other values (0)"));
    struct loops *loops = batch_serve_alone(f);
    struct batch b = { .f = f, .name = "both", .run = read_both };
    must_stop = false;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, add_until_stopped, f), 0);
    for (int i = 0; i < READS; i++) {
        batch_ask(&b, loops, 1);
        assert_int_equal(b.reads[0].one.result, OK);
        assert_int_equal(b.reads[0].seen[0], b.reads[0].seen[1]);
        assert_true(b.reads[0].seen[0] >= last);
        last = b.reads[0].seen[0];
    }
    must_stop = true;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    assert_int_equal(ask_one(&b, loops), store_number(f->store, "select n from counter"));
    loops_stop(loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(rows_are_cached_until_this_server_writes),
        store_test(nodes_of_a_cluster_cache_nothing),
        store_test(rows_that_a_cascade_deletes_are_not_served),
        store_test(rows_that_a_trigger_writes_are_served),
        store_test(write_of_a_tool_empties_the_cache),
        store_test(lost_connection_empties_the_cache),
        store_test(failed_commit_leaves_rows_cacheable),
        store_test(reads_during_writes_are_consistent),
    };

    return run_on_postgres("row cache", tests);
}
