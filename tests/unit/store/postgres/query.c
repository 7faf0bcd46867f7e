/* query.c - tests pipelined queries, and reads that restart when they query more than predicted. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

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

static uint64_t count_round_trips(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats.round_trips;
}

static enum err query_and_write(struct work_item *w, struct tx *tx)
{
    static const char first[] = "select n from counter", second[] = "select n + 1 from counter",
                      third[] = "select n + 2 from counter",
                      more[] = "update counter set n = n + 1";
    static const struct sql all[] = { { &first }, { &second }, { &third } };
    struct rows r;
    bool found;

    (void)w;
    for (int i = 0; i < 3; i++)
        no_error(tx_one(tx, all[i], NO_BIND, &r, &found));
    for (int i = 0; i < 3; i++)
        no_error(tx_exec_deferred(tx, more, NO_BIND));
    return OK;
}

static void run_work_item_with_name(struct fixture *f, struct work_item work)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    one->work.mode = work.mode;
    one->work.name = work.name;
    one->work.is_idempotent = work.is_idempotent;
    one->work.run = work.run;
    memcpy(one->work.ids, work.ids, sizeof work.ids);
    one->work.id_count = work.id_count;
    store_submit_work_item(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

/* Once the queries are learned, all take one round trip, and three writes and the commit another.
 * Before that, each connection prepares its statements, which takes round trips, too. */
static void learned_queries_of_a_write_share_a_round_trip(void **state)
{
    enum { TRIES = 500 };
    struct fixture *f = *state;
    uint64_t before;
    int tries = 0;

    counter_make(f);
    do {
        assert_in_range(++tries, 1, TRIES);
        before = count_round_trips(f);
        run_work_item_with_name(
            f, (struct work_item){ .mode = STORE_WRITE, .name = "writes", .run = query_and_write });
    } while (count_round_trips(f) - before != 2);
    assert_int_equal(store_number(f->store, "select n from counter"), tries * 3);
}

/* Uses one connection, which has the prepared statements after the first run. */
static void reopen_with_one_connection(struct fixture *f)
{
    store_close(f->store);
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

/* --- ids of the request --------------------------------------------------------------- */

/* Reads a row by the first id, another by the id that it has, and a third one by the same id. */
static enum err query_related_id(struct work_item *w, struct tx *tx)
{
    static const char parent_of[] = "select parent from children where id = $1",
                      name_of[] = "select name from parents where id = $1",
                      age_of[] = "select age from parents where id = $1 and id < $2";
    struct rows r;
    bool found;

    no_error(tx_one(tx, parent_of, BIND(v_id(w->ids[0])), &r, &found));
    snowflake parent = row_id(&r, 0);
    no_error(tx_one(tx, name_of, BIND(v_id(parent)), &r, &found));
    assert_int_equal(row_int(&r, 0), parent % 10);
    no_error(tx_one(tx, age_of, BIND(v_id(parent), v_id(w->ids[1] - 1)), &r, &found));
    assert_int_equal(row_int(&r, 0), parent % 10 + 20);
    return OK;
}

static uint64_t count_trips_of_child(struct fixture *f, snowflake id)
{
    static snowflake newest = 98765432109;
    uint64_t before = count_round_trips(f);

    newest += 10;
    run_work_item_with_name(f, (struct work_item){ .mode = STORE_READ,
                                                   .name = "related",
                                                   .is_idempotent = true,
                                                   .run = query_related_id,
                                                   .ids = { id, newest },
                                                   .id_count = 2 });
    return count_round_trips(f) - before;
}

/* The parent of a child is not in the request. It is known after the first read of that child; a
 * read of another child still sends both queries about its parent together. */
static void related_id_is_predicted_once_it_was_seen(void **state)
{
    enum { TRIES = 100 };
    static const snowflake first = 12345678901, other = 12345678902, third = 12345678903;
    struct fixture *f = *state;

    reopen_with_one_connection(f);
    no_error(store_do(f->store, "create table children (id bigint, parent bigint)"));
    no_error(store_do(f->store, "create table parents (id bigint, name bigint, age bigint)"));
    no_error(store_do(f->store, "insert into children (id, parent) values (12345678901, "
                                "22345678901), (12345678902, 22345678902), (12345678903, "
                                "22345678903)"));
    no_error(store_do(f->store, "insert into parents (id, name, age) values (22345678901, 1, 21), "
                                "(22345678902, 2, 22), (22345678903, 3, 23)"));
    for (int tries = 0; count_trips_of_child(f, first) != 1;)
        assert_in_range(++tries, 1, TRIES);
    count_trips_of_child(f, other); /* may restart, because one round trip was predicted */
    assert_int_equal(count_trips_of_child(f, other), 1);
    assert_int_equal(count_trips_of_child(f, third), 2);
    assert_int_equal(count_trips_of_child(f, third), 1);
    no_error(store_do(f->store, "update children set parent = 22345678901"));
    assert_in_range(count_trips_of_child(f, other), 2, 3); /* a stale prediction does no harm */
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

static void run_read_with_name(struct fixture *f, const char *name, bool again, int asks)
{
    sometimes.runs = 0;
    sometimes.asks = asks;
    run_work_item_with_name(f, (struct work_item){ .mode = STORE_READ,
                                                   .name = name,
                                                   .is_idempotent = again,
                                                   .run = run_variable_queries });
}

static void run_repeatable_read(struct fixture *f, int asks)
{
    run_read_with_name(f, "sometimes", true, asks);
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
        run_read_with_name(f, name, false, 1);
    run_read_with_name(f, name, false, 3);
    assert_int_equal(sometimes.runs, 1);
    assert_int_equal(sometimes.last, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(more_queries_than_the_statement_cache_holds_work),
        store_test(learned_queries_of_a_write_share_a_round_trip),
        store_test(related_id_is_predicted_once_it_was_seen),
        store_test(read_with_more_queries_than_before_is_restarted),
        store_test(read_with_side_effects_is_never_restarted),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_query", tests);
}
