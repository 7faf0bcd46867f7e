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
enum { MANY_CONFLICTS = 12, CLOCK_STEP_MS = 40 };

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

/* By how much this node's newest id is ahead of the clock, because of the ids of other nodes. */
static int64_t newest_id_ahead_ms(void)
{
    int64_t ahead = snowflake_newest_ms() - clock_ms();

    return ahead > 0 ? ahead : 0;
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

/* --- conflicts in a cluster ----------------------------------------------------------- */

static struct {
    struct fixture *f;
    unsigned conflicts; /* how many of the runs conflict with another node */
    enum err last;      /* result of the run that follows */
    unsigned runs;      /* runs that have read the counter */
    int64_t seen;       /* sum of the counter's values that were read */
} repeated;

static enum err read_counter(struct tx *tx, struct sql query, int64_t *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, query, BIND(v_int(1)), &r, &found);

    if (!e)
        *ret = row_int(&r, 0);
    return e;
}

/* Reads the counter and inserts a new id. While runs conflict, another node changes the counter and
 * commits a greater id. The run that follows also sends another query, unless it is refused. */
static enum err insert_new_id_after_conflicts(struct work_item *w, struct tx *tx)
{
    int64_t n;
    enum err e = read_counter(tx, SQL("select n from counter where id = $1"), &n);

    if (!e && repeated.runs >= repeated.conflicts && repeated.conflicts && !repeated.last)
        e = read_counter(tx, SQL("select n + 0 from counter where id = $1"), &n);
    if (e)
        return e;
    repeated.seen += n;
    if (repeated.runs++ >= repeated.conflicts)
        return repeated.last ? repeated.last : insert_new_id(w, tx);
    test_postgres_do(repeated.f->postgres, "update counter set n = n + 1");
    e = insert_new_id(w, tx);
    commit_id_of_other_node(repeated.f, newest_id_ahead_ms() + CLOCK_STEP_MS);
    return e;
}

static struct test_work *cluster_work_new(struct fixture *f, sem_t *finished)
{
    f->options.shared = true;
    struct test_work *ones = id_works_new(f, 1, finished);

    repeated.f = f;
    ones[0].work.run = insert_new_id_after_conflicts;
    return ones;
}

static void run_with_conflicts(struct fixture *f, struct test_work *one, unsigned conflicts,
                               enum err last)
{
    no_error(store_do(f->store, "delete from ids"));
    repeated.conflicts = conflicts;
    repeated.last = last;
    repeated.runs = 0;
    repeated.seen = 0;
    store_submit_work_item(f->store, &one->work);
    wait_for(one->finished);
}

/* Both runs see the same snapshot, also the second one's query that the first one did not send. */
static void id_conflict_repeats_the_writes_with_the_same_rows(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = cluster_work_new(f, &finished);

    for (int64_t n = 0; n < 3; n++) {
        uint64_t before = retries_of(f);
        run_with_conflicts(f, ones, 1, OK);
        assert_int_equal(ones[0].result, OK);
        assert_int_equal(repeated.runs, 2);
        assert_int_equal(repeated.seen, 2 * n);
        assert_int_equal(retries_of(f) - before, 1);
        assert_int_equal(store_number(f->store, "select count(*) from ids"), 1);
        assert_int_equal(store_number(f->store, "select n from counter"), n + 1);
    }
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

/* Reads the counter and inserts a new id. */
static enum err read_and_insert_new_id(struct work_item *w, struct tx *tx)
{
    int64_t n;
    enum err e = read_counter(tx, SQL("select n from counter where id = $1"), &n);

    return e ? e : insert_new_id(w, tx);
}

static void id_conflict_of_a_group_takes_one_round_trip(void **state)
{
    enum { ROUND_TRIPS = 3, TRIES = 100 };
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = cluster_work_new(f, &finished);
    struct store_stats before, after;
    int tries = 0;

    for (unsigned i = 0; i < COUNT; i++)
        ones[i].work.run = read_and_insert_new_id;
    run_as_batch(f, ones, COUNT, &finished); /* prepares the statements */
    do { /* other threads may still connect, which also takes round trips */
        assert_in_range(++tries, 1, TRIES);
        no_error(store_do(f->store, "delete from ids"));
        snowflake other = commit_id_of_other_node(f, OTHER_CLOCK_MS);
        store_read_stats(f->store, &before);
        run_as_batch(f, ones, COUNT, &finished);
        store_read_stats(f->store, &after);
        for (unsigned i = 0; i < COUNT; i++)
            assert_int_equal(ones[i].result, OK);
        char sql[96];
        snprintf(sql, sizeof sql, "select count(*) from ids where id > %" PRIu64, other);
        assert_int_equal(store_number(f->store, sql), COUNT);
    } while (after.retries == before.retries ||
             after.round_trips - before.round_trips > ROUND_TRIPS);
    assert_int_equal(after.retries - before.retries, 1);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static void transaction_that_is_refused_after_an_id_conflict_writes_nothing(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = cluster_work_new(f, &finished);

    run_with_conflicts(f, ones, 1, ERR_MISSING_ACCESS);
    assert_int_equal(ones[0].result, ERR_MISSING_ACCESS);
    assert_int_equal(repeated.runs, 2);
    assert_int_equal(store_number(f->store, "select count(*) from ids"), 0);
    run_with_conflicts(f, ones, 0, OK); /* the connection can be used again */
    assert_int_equal(ones[0].result, OK);
    assert_int_equal(store_number(f->store, "select count(*) from ids"), 1);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static void transaction_with_many_id_conflicts_begins_again(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = cluster_work_new(f, &finished);

    run_with_conflicts(f, ones, MANY_CONFLICTS, OK);
    assert_int_equal(ones[0].result, OK);
    assert_int_equal(store_number(f->store, "select count(*) from ids"), 1);
    assert_true(repeated.seen > 0); /* the last transaction saw the other node's updates */
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(id_is_created_again_if_a_greater_one_was_committed),
        store_test(ids_continue_after_those_of_a_node_whose_clock_is_ahead),
        store_test(id_of_a_node_with_a_wrong_clock_is_ignored),
        store_test(id_conflict_repeats_the_writes_with_the_same_rows),
        store_test(id_conflict_of_a_group_takes_one_round_trip),
        store_test(transaction_that_is_refused_after_an_id_conflict_writes_nothing),
        store_test(transaction_with_many_id_conflicts_begins_again),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_id_order", tests);
}
