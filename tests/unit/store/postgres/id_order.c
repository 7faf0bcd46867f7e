/* id_order.c - tests that ids of one stream are committed in increasing order
 * (tx_make_ids_visible_in_order). */
#include "unit/unit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/snowflake.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

enum { STREAM = 7, COUNT = 6, OTHER_CLOCK_MS = 400, HOUR_MS = 3600 * 1000 };

static sem_t id_created, other_committed;

static uint64_t retries_of(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats.retries;
}

/* Inserts a new id; `add` counts the runs. */
static enum err insert_new_id(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    snowflake id = snowflake_new();

    o->add++;
    tx_make_ids_visible_in_order(tx, STREAM, id);
    return tx_exec_deferred(tx, "insert into ids (owner, id) values ($1, $2)",
                            BIND(v_id(w->owner), v_id(id)));
}

/* The first run waits, after it has created its id, until the other transaction has committed. */
static enum err insert_new_id_late(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    bool first = o->add == 0;
    enum err e = insert_new_id(w, tx);

    if (first) {
        sem_post(&id_created);
        wait_for(&other_committed);
    }
    return e;
}

static struct test_work *id_works_new(struct fixture *f, unsigned workers, sem_t *finished)
{
    reopen_with(f, workers);
    counter_make(f);
    no_error(store_do(f->store, "create table ids (owner bigint primary key, id bigint not null)"));
    struct test_work *ones = test_works_new(COUNT, finished);
    for (unsigned i = 0; i < COUNT; i++) {
        ones[i].add = 0;
        ones[i].work.mode = STORE_APPEND;
        ones[i].work.owner = i + 1;
        ones[i].work.may_share = true;
        ones[i].work.run = insert_new_id;
    }
    return ones;
}

/* Simulates that a node whose clock is ahead has committed an id of each stream. */
static snowflake commit_id_of_other_node(struct fixture *f, int64_t ahead_ms)
{
    snowflake id = snowflake_from_ms(clock_ms() + ahead_ms);
    char sql[160];

    snprintf(sql, sizeof sql,
             "select setval(cast('id_order_' || part as regclass), %" PRIu64 ") "
             "from generate_series(0, 63) part",
             id);
    test_postgres_do(f->postgres, sql);
    return id;
}

static void id_is_created_again_if_a_greater_one_was_committed(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = id_works_new(f, 2, &finished);

    sem_init(&id_created, 0, 0);
    sem_init(&other_committed, 0, 0);
    ones[0].work.run = insert_new_id_late;
    ones[0].work.may_share = false;
    store_submit_work_item(f->store, &ones[0].work);
    wait_for(&id_created);
    store_submit_work_item(f->store, &ones[1].work);
    wait_for(&finished);
    assert_int_equal(ones[1].result, OK);
    sem_post(&other_committed);
    wait_for(&finished);
    assert_int_equal(ones[0].result, OK);
    assert_int_equal(ones[0].add, 2);
    assert_int_equal(ones[1].add, 1);
    assert_int_equal(store_number(f->store, "select owner from ids order by id desc limit 1"), 1);
    assert_int_equal(store_number(f->store, "select count(*) from ids"), 2);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
    sem_destroy(&id_created);
    sem_destroy(&other_committed);
}

static void ids_continue_after_those_of_a_node_whose_clock_is_ahead(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = id_works_new(f, 1, &finished);
    char sql[96];

    run_as_batch(f, ones, COUNT, &finished);
    no_error(store_do(f->store, "delete from ids"));
    snowflake other = commit_id_of_other_node(f, OTHER_CLOCK_MS);
    uint64_t before = retries_of(f);
    run_as_batch(f, ones, COUNT, &finished);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    /* The whole group is run again, once, unless the other clock was passed before. */
    assert_true(retries_of(f) - before <= 1);
    snprintf(sql, sizeof sql, "select count(*) from ids where id > %" PRIu64, other);
    assert_int_equal(store_number(f->store, sql), COUNT);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static void id_of_a_node_with_a_wrong_clock_is_ignored(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = id_works_new(f, 1, &finished);
    char sql[96];

    snowflake other = commit_id_of_other_node(f, HOUR_MS);
    uint64_t before = retries_of(f);
    run_as_batch(f, ones, COUNT, &finished);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(retries_of(f) - before, 0);
    snprintf(sql, sizeof sql, "select count(*) from ids where id < %" PRIu64, other);
    assert_int_equal(store_number(f->store, sql), COUNT);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(id_is_created_again_if_a_greater_one_was_committed),
        store_test(ids_continue_after_those_of_a_node_whose_clock_is_ahead),
        store_test(id_of_a_node_with_a_wrong_clock_is_ignored),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_id_order", tests);
}
