/* query.c - tests pipelined queries, and reads that restart when they query more than predicted. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"

static void more_queries_than_the_statement_cache_holds_work(void **state)
{
    enum { COUNT = 600 };
    static char sql[COUNT][40];
    struct fixture *f = *state;

    for (int i = 0; i < COUNT; i++)
        snprintf(sql[i], sizeof sql[i], "select %d", i);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(store_number(f->store, sql[i]), i);
}

static uint64_t install_types_of(struct fixture *f)
{
    struct store_stats stats;

    store_stats(f->store, &stats);
    return stats.round_trips;
}

static enum err query_and_write(struct tx *tx, void *arg)
{
    static const char first[] = "select n from counter", second[] = "select n + 1 from counter",
                      third[] = "select n + 2 from counter",
                      more[] = "update counter set n = n + 1";
    static const struct sql all[] = { { &first }, { &second }, { &third } };
    struct rows r;
    bool found;

    (void)arg;
    for (int i = 1; i < 3; i++)
        tx_prefetch(tx, all[i], NO_BIND);
    for (int i = 0; i < 3; i++)
        no_error(tx_one(tx, all[i], NO_BIND, &r, &found));
    for (int i = 0; i < 3; i++)
        no_error(tx_exec_deferred(tx, more, NO_BIND));
    return OK;
}

/* Three queries take one round trip, three writes and the commit another. Each connection
 * prepares its statements, and threads may still connect, which takes round trips too. */
static void independent_queries_share_a_round_trip(void **state)
{
    enum { TRIES = 500 };
    struct fixture *f = *state;
    uint64_t before;
    int tries = 0;

    counter_make(f);
    do {
        assert_in_range(++tries, 1, TRIES);
        before = install_types_of(f);
        no_error(store_run(f->store, STORE_WRITE, NULL, query_and_write, NULL));
    } while (install_types_of(f) - before != 2);
    assert_int_equal(store_number(f->store, "select n from counter"), tries * 3);
}

/* --- number of queries ---------------------------------------------------------------- */

static struct {
    int runs, asks; /* number of runs, and queries per run */
    int64_t first, last;
} sometimes;

static enum err run_variable_queries(struct work_item *w, struct tx *tx)
{
    static const char first[] = "select n from counter", then[] = "select n + $1 from counter";
    struct rows r;
    bool found;
    enum err e = tx_one(tx, first, NO_BIND, &r, &found);

    (void)w;
    sometimes.runs++;
    if (!e)
        sometimes.first = row_int(&r, 0);
    for (int i = 1; !e && i < sometimes.asks; i++) {
        e = tx_one(tx, then, BIND(v_int(i)), &r, &found);
        if (!e)
            sometimes.last = row_int(&r, 0);
    }
    return e;
}

static void run_named_read(struct fixture *f, const char *name, bool again, int asks)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    sometimes.runs = 0;
    sometimes.asks = asks;
    one->work.mode = STORE_READ;
    one->work.name = name;
    one->work.is_idempotent = again;
    one->work.run = run_variable_queries;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static void run_repeatable_read(struct fixture *f, int asks)
{
    run_named_read(f, "sometimes", true, asks);
}

/* Uses one connection, which has the prepared statements after the first run. */
static void reopen_with_one_connection(struct fixture *f)
{
    store_close(f->store);
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

/* A read that had one query before ends its transaction with it; a second query restarts the
 * read. */
static void read_with_more_queries_than_before_is_restarted(void **state)
{
    struct fixture *f = *state;

    reopen_with_one_connection(f);
    for (int i = 0; i < 3; i++) {
        run_repeatable_read(f, 1);
        assert_int_equal(sometimes.runs, 1);
    }
    no_error(store_do(f->store, "update counter set n = 5"));
    run_repeatable_read(f, 3);
    assert_int_equal(sometimes.runs, 2);
    assert_int_equal(sometimes.first, 5);
    assert_int_equal(sometimes.last, 7);
    run_repeatable_read(f, 3); /* which is learned from now on */
    assert_int_equal(sometimes.runs, 1);
    run_repeatable_read(f, 1);
    assert_int_equal(sometimes.runs, 1);
}

static void read_with_side_effects_is_never_restarted(void **state)
{
    struct fixture *f = *state;
    static const char name[] = "leaves something";

    reopen_with_one_connection(f);
    for (int i = 0; i < 3; i++)
        run_named_read(f, name, false, 1);
    run_named_read(f, name, false, 3);
    assert_int_equal(sometimes.runs, 1);
    assert_int_equal(sometimes.last, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(more_queries_than_the_statement_cache_holds_work),
        store_test(independent_queries_share_a_round_trip),
        store_test(read_with_more_queries_than_before_is_restarted),
        store_test(read_with_side_effects_is_never_restarted),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_query", tests);
}
