/* query.c - what travels together to PostgreSQL, and reads that begin anew when they
 * ask more. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"

/* More than a connection remembers: the oldest are prepared again. */
static void many_different_queries_are_fine(void **state)
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

static uint64_t ways_of(struct fixture *f)
{
    struct store_stats stats;

    store_stats(f->store, &stats);
    return stats.round_trips;
}

static enum err ask_and_write(struct tx *tx, void *arg)
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
        no_error(tx_exec_soon(tx, more, NO_BIND));
    return OK;
}

/* Three queries are one way, three writes and the commit another. Each connection makes the
 * statements for itself, and threads may be connecting still: those are ways, too. */
static void what_can_travel_together_does(void **state)
{
    enum { TRIES = 500 };
    struct fixture *f = *state;
    uint64_t before;
    int tries = 0;

    counter_make(f);
    do {
        assert_in_range(++tries, 1, TRIES);
        before = ways_of(f);
        no_error(store_run(f->store, STORE_WRITE, NULL, ask_and_write, NULL));
    } while (ways_of(f) - before != 2);
    assert_int_equal(store_number(f->store, "select n from counter"), tries * 3);
}

/* --- how much is asked ---------------------------------------------------------------- */

static struct {
    int runs, asks; /* how often, and how much each time */
    int64_t first, last;
} sometimes;

static enum err ask_sometimes(struct work *w, struct tx *tx)
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

static void read_by_name(struct fixture *f, const char *name, bool again, int asks)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    sometimes.runs = 0;
    sometimes.asks = asks;
    one->work.mode = STORE_READ;
    one->work.name = name;
    one->work.again = again;
    one->work.run = ask_sometimes;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static void read_sometimes(struct fixture *f, int asks)
{
    read_by_name(f, "sometimes", true, asks);
}

/* One connection, which has the statements from the first time on. */
static void one_connection(struct fixture *f)
{
    store_close(f->store);
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

/* A read that asked one thing before is over when it has it; who then asks more begins anew. */
static void a_read_that_asks_more_than_before_begins_anew(void **state)
{
    struct fixture *f = *state;

    one_connection(f);
    for (int i = 0; i < 3; i++) {
        read_sometimes(f, 1);
        assert_int_equal(sometimes.runs, 1);
    }
    no_error(store_do(f->store, "update counter set n = 5"));
    read_sometimes(f, 3);
    assert_int_equal(sometimes.runs, 2);
    assert_int_equal(sometimes.first, 5);
    assert_int_equal(sometimes.last, 7);
    read_sometimes(f, 3); /* which is known from now on */
    assert_int_equal(sometimes.runs, 1);
    read_sometimes(f, 1);
    assert_int_equal(sometimes.runs, 1);
}

static void a_read_that_may_leave_something_behind_is_run_once(void **state)
{
    struct fixture *f = *state;
    static const char name[] = "leaves something";

    one_connection(f);
    for (int i = 0; i < 3; i++)
        read_by_name(f, name, false, 1);
    read_by_name(f, name, false, 3);
    assert_int_equal(sometimes.runs, 1);
    assert_int_equal(sometimes.last, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(many_different_queries_are_fine),
        store_test(what_can_travel_together_does),
        store_test(a_read_that_asks_more_than_before_begins_anew),
        store_test(a_read_that_may_leave_something_behind_is_run_once),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_query", tests);
}
