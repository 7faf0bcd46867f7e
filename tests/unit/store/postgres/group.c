/* group.c - tests that append-only transactions share one PostgreSQL transaction. */
#include "unit/unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

enum { COUNT = 10 };

static const char notes_table[] =
    "create table jotted (owner bigint primary key, n bigint not null)";
static const char counted[] = "select n from counter where id = $1";
static const char note_it[] = "insert into jotted (owner, n) values ($1, $2)";
static const char noted[] = "select n from jotted where owner = $1";

static struct {
    unsigned count;
    const struct work_item *works[2 * COUNT];
} said;

static void record_committed_work_item(struct work_item *w)
{
    said.works[said.count++] = w;
}

/* Inserts the counter's value for the owner. */
static enum err insert_counter_value(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, counted, BIND(v_int(1)), &r, &found);

    if (!e)
        e = tx_exec_deferred(tx, note_it, BIND(v_id(w->owner), v_int(row_int(&r, 0) + o->add)));
    return e ? e : o->answer;
}

/* Inserts a row and reads it. */
static enum err insert_and_read(struct work_item *w, struct tx *tx)
{
    struct rows r;
    bool found = false;
    enum err e = insert_counter_value(w, tx);

    if (!e)
        e = tx_one(tx, noted, BIND(v_id(w->owner)), &r, &found);
    return e ? e : found ? OK : ERR_INTERNAL;
}

/* Inserts a row and waits for the result of the statement. */
static enum err add_now(struct work_item *w, struct tx *tx)
{
    return tx_exec(tx, note_it, BIND(v_id(w->owner), v_int(1)), NULL);
}

static struct test_work *adders_new(size_t count, sem_t *finished)
{
    struct test_work *ones = test_works_new(count, finished);

    for (size_t i = 0; i < count; i++) {
        ones[i].work.mode = STORE_APPEND;
        ones[i].work.owner = count - i; /* the group is sorted by owner */
        ones[i].work.may_share = true;
        ones[i].work.run = insert_counter_value;
        ones[i].work.committed = record_committed_work_item;
    }
    said.count = 0;
    return ones;
}

static void adders_free(struct test_work *ones, size_t count, sem_t *finished)
{
    test_works_free(ones, count);
    sem_destroy(finished);
}

/* Opens the store with one connection, for which all transactions wait. */
static void group_open(struct fixture *f)
{
    store_close(f->store);
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
    no_error(store_do(f->store, notes_table));
}

static struct store_stats group_stats(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats;
}

static void delete_inserted_rows(struct fixture *f)
{
    no_error(store_do(f->store, "delete from jotted"));
}

static void waiting_transactions_share_their_round_trips(void **state)
{
    enum { MAX_VARIANTS = 3, MOST_TRIES = 100 };
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);
    struct store_stats before, after;
    int tries = 0;

    group_open(f);
    run_as_batch(f, ones, COUNT, &finished); /* prepares the statements */
    do { /* other threads may still connect, which also takes round trips */
        assert_in_range(++tries, 1, MOST_TRIES);
        delete_inserted_rows(f);
        said.count = 0;
        before = group_stats(f);
        run_as_batch(f, ones, COUNT, &finished);
        after = group_stats(f);
    } while (after.round_trips - before.round_trips > MAX_VARIANTS);
    /* The transaction that blocks the connection has its own commit. */
    assert_int_equal(after.commits - before.commits, 2);
    /* A statement may be prepared again. */
    assert_in_range(after.round_trips - before.round_trips, 2, MAX_VARIANTS);
    assert_int_equal(after.retries - before.retries, 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where n = 1"), COUNT);
    assert_int_equal(said.count, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(said.works[i], &ones[COUNT - 1 - i].work);
    adders_free(ones, COUNT, &finished);
}

static void refused_transaction_does_not_fail_its_group(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    ones[3].answer = ERR_MISSING_ACCESS;
    struct store_stats before = group_stats(f);
    run_as_batch(f, ones, COUNT, &finished);
    assert_int_equal(group_stats(f).commits - before.commits, 2);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, i == 3 ? ERR_MISSING_ACCESS : OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted"), COUNT - 1);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where owner = 7"), 0);
    assert_int_equal(said.count, COUNT - 1);
    adders_free(ones, COUNT, &finished);
}

static void transaction_that_reads_its_own_write_runs_alone(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    ones[2].work.run = insert_and_read;
    ones[5].work.run = add_now;
    struct store_stats before = group_stats(f);
    run_as_batch(f, ones, COUNT, &finished);
    assert_int_equal(group_stats(f).commits - before.commits, 4);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted"), COUNT);
    assert_int_equal(said.count, COUNT);
    adders_free(ones, COUNT, &finished);
}

static struct {
    sem_t began, go;
    _Atomic int met;
} parting;

/* Occupies a connection until the first of the others runs alone. */
static enum err occupy_connection(struct work_item *w, struct tx *tx)
{
    (void)w, (void)tx;
    sem_post(&parting.began);
    wait_for(&parting.go);
    return OK;
}

/* Leaves its group; when it runs alone, it waits for the other transaction that left. */
static enum err leave_group_and_wait_for_other(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);

    if (o->add++ <= 2) /* a group runs it twice */
        return insert_and_read(w, tx);
    sem_post(&parting.go);
    atomic_fetch_add(&parting.met, 1);
    for (int left = 30000; atomic_load(&parting.met) < 2 && left; left--)
        usleep(1000);
    return atomic_load(&parting.met) < 2 ? ERR_INTERNAL : add_now(w, tx);
}

static void transactions_that_leave_a_group_run_in_parallel(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT + 1, &finished), *busy = &ones[COUNT];

    group_open(f);
    store_close(f->store);
    f->options.workers = 2;
    no_error(store_open(&f->options, &f->store));
    sem_init(&parting.began, 0, 0);
    sem_init(&parting.go, 0, 0);
    atomic_store(&parting.met, 0);
    ones[2].work.run = leave_group_and_wait_for_other;
    ones[5].work.run = leave_group_and_wait_for_other;
    busy->work.run = occupy_connection;
    store_submit_work_item(f->store, &busy->work);
    wait_for(&parting.began);
    run_as_batch(f, ones, COUNT, &finished);
    wait_for(&finished);
    for (int i = 0; i <= COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted"), COUNT);
    sem_destroy(&parting.began);
    sem_destroy(&parting.go);
    adders_free(ones, COUNT + 1, &finished);
}

static enum err add_and_announce(struct work_item *w, struct tx *tx)
{
    tx_set_event_log_row(tx, w->owner % 2 ? STR("odd") : STR("even!"), STR(""));
    return insert_counter_value(w, tx);
}

/* Each transaction with events has a log position; one without events has none. */
static void events_of_a_group_are_logged_with_its_commit(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    int64_t before = store_number(f->store, "select count(*) from log");
    for (int i = 0; i < COUNT - 1; i++)
        ones[i].work.run = add_and_announce;
    ones[3].answer = ERR_MISSING_ACCESS;
    struct store_stats stats = group_stats(f);
    run_as_batch(f, ones, COUNT, &finished);
    assert_int_equal(group_stats(f).commits - stats.commits, 2);
    assert_int_equal(store_number(f->store, "select count(*) from log") - before, COUNT - 2);
    assert_int_equal(ones[COUNT - 1].work.position, 0);
    /* Positions are in the order of owners, which is reversed. */
    for (int i = COUNT - 2, last = 0; i >= 0; i--) {
        if (i == 3)
            continue;
        assert_true(ones[i].work.position > last);
        last = (int)ones[i].work.position;
    }
    assert_int_equal(store_number(f->store, "select count(*) from log where length(body) = 3"), 3);
    adders_free(ones, COUNT, &finished);
}

static void failed_transactions_are_removed_and_the_group_is_retried(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    no_error(store_do(f->store, "insert into jotted (owner, n) values (4, 7), (8, 7)"));
    struct store_stats before = group_stats(f);
    run_as_batch(f, ones, COUNT, &finished);
    assert_int_equal(group_stats(f).commits - before.commits, 2);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result,
                         i == COUNT - 4 || i == COUNT - 8 ? ERR_STORE_CONFLICT : OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where n = 1"), COUNT - 2);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where n = 7"), 2);
    assert_int_equal(said.count, COUNT - 2);
    adders_free(ones, COUNT, &finished);
}

static void transactions_run_alone_if_most_of_the_group_fail(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    no_error(store_do(f->store, "insert into jotted (owner, n) select o, 7 from "
                                "generate_series(1, 9) o"));
    run_as_batch(f, ones, COUNT, &finished);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, i ? ERR_STORE_CONFLICT : OK);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where n = 1"), 1);
    assert_int_equal(said.count, 1);
    adders_free(ones, COUNT, &finished);
}

static const char *ended_on; /* the database to shut down; NULL: end only the session */

static enum err add_and_be_ended(struct work_item *w, struct tx *tx)
{
    struct rows r;
    bool found;
    char sql[64];
    enum err e = tx_one(tx, "select pg_backend_pid()", NO_BIND, &r, &found);

    if (!e)
        e = insert_counter_value(w, tx);
    if (e || !ended_on)
        return e;
    snprintf(sql, sizeof sql, "select pg_terminate_backend(%d, 60000)", (int)row_int(&r, 0));
    test_postgres_do(ended_on, sql);
    ended_on = NULL;
    return OK;
}

/* The last transaction of the group: only the commit follows. */
static void group_is_retried_if_the_connection_ends_before_the_commit(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    ones[0].work.run = add_and_be_ended;
    run_as_batch(f, ones, COUNT, &finished); /* prepares the statements */
    delete_inserted_rows(f);
    said.count = 0;
    ended_on = f->postgres;
    run_as_batch(f, ones, COUNT, &finished);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_null(ended_on);
    assert_int_equal(store_number(f->store, "select count(*) from jotted where n = 1"), COUNT);
    assert_int_equal(said.count, COUNT);
    adders_free(ones, COUNT, &finished);
}

/* The connection ends during the commit, so its result is unknown. */
static void group_commit_with_unknown_result_is_not_retried(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(COUNT, &finished);

    group_open(f);
    test_postgres_do(f->postgres,
                     "create function leave() returns trigger language plpgsql as $$ begin "
                     "perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
                     "create constraint trigger leave after insert on jotted "
                     "deferrable initially deferred for each row execute function leave()");
    struct store_stats before = group_stats(f);
    run_as_batch(f, ones, COUNT, &finished);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, ERR_UNAVAILABLE);
    assert_int_equal(group_stats(f).retries - before.retries, 0);
    assert_int_equal(store_number(f->store, "select count(*) from jotted"), 0);
    assert_int_equal(said.count, 0);
    adders_free(ones, COUNT, &finished);
}

static void group_contains_one_transaction_per_owner(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = adders_new(2, &finished);

    group_open(f);
    ones[0].work.owner = 2;
    ones[1].work.owner = 2;
    struct store_stats before = group_stats(f);
    run_as_batch(f, ones, 2, &finished);
    assert_int_equal(group_stats(f).commits - before.commits, 2);
    assert_int_equal(ones[0].result, OK);
    assert_int_equal(ones[1].result, ERR_STORE_CONFLICT);
    adders_free(ones, 2, &finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(waiting_transactions_share_their_round_trips),
        store_test(refused_transaction_does_not_fail_its_group),
        store_test(transaction_that_reads_its_own_write_runs_alone),
        store_test(transactions_that_leave_a_group_run_in_parallel),
        store_test(events_of_a_group_are_logged_with_its_commit),
        store_test(failed_transactions_are_removed_and_the_group_is_retried),
        store_test(transactions_run_alone_if_most_of_the_group_fail),
        store_test(group_is_retried_if_the_connection_ends_before_the_commit),
        store_test(group_commit_with_unknown_result_is_not_retried),
        store_test(group_contains_one_transaction_per_owner),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/group", tests);
}
