/* worker.c - tests that transactions that lose their connection or conflict are neither lost nor
 * applied twice. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

static enum err add_and_be_killed(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    struct rows r;
    bool found;
    enum err e = add_to_counter(w, tx);

    if (e || o->add++ > 1) /* the first attempt is rolled back */
        return e;
    return tx_one(tx, "select pg_terminate_backend(pg_backend_pid())", NO_BIND, &r, &found);
}

static void transaction_that_lost_its_connection_is_retried(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);
    struct store_stats stats;

    counter_make(f);
    one->work.run = add_and_be_killed;
    store_submit_work_item(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    store_read_stats(f->store, &stats);
    assert_true(stats.retries >= 1);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

/* A trigger ends the connection during the commit, so the result is unknown. */
static void commit_with_unknown_result_is_not_retried(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    counter_make(f);
    test_postgres_do(f->postgres,
                     "create function leave() returns trigger language plpgsql as $$ begin "
                     "perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
                     "create constraint trigger leave after update on counter "
                     "deferrable initially deferred for each row execute function leave()");
    store_submit_work_item(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, ERR_UNAVAILABLE);

    struct store_stats stats;
    store_read_stats(f->store, &stats);
    assert_int_equal(stats.retries, 0);
    assert_int_equal(stats.failures, 1);
    test_postgres_do(f->postgres, "drop trigger leave on counter");
    no_error(store_do(f->store, "update counter set n = n + 1"));
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static const char *ended_on; /* the database */

/* The write is pipelined until the commit, and on the first attempt the session ends before it. */
static enum err add_soon_and_be_ended(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    struct rows r;
    bool found;
    char sql[64];
    enum err e = tx_one(tx, "select pg_backend_pid()", NO_BIND, &r, &found);

    if (!e)
        e = tx_exec_deferred(tx, "update counter set n = n + 1", NO_BIND);
    if (e || o->add++ > 1)
        return e;
    snprintf(sql, sizeof sql, "select pg_terminate_backend(%d, 60000)", (int)row_int(&r, 0));
    test_postgres_do(ended_on, sql);
    return OK;
}

static enum err announce_and_be_ended(struct work_item *w, struct tx *tx)
{
    tx_set_event_log_row(tx, STR("said"), STR(""));
    return add_soon_and_be_ended(w, tx);
}

static void transaction_is_retried_if_the_connection_ends_before_its_commit(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(2, &finished);

    counter_make(f);
    ended_on = f->postgres;
    int64_t said = store_number(f->store, "select count(*) from log");
    ones[0].work.run = add_soon_and_be_ended;
    ones[1].work.run = announce_and_be_ended;
    for (int i = 0; i < 2; i++) {
        store_submit_work_item(f->store, &ones[i].work);
        wait_for(&finished);
        assert_int_equal(ones[i].result, OK);
        assert_int_equal(ones[i].add, 3);
    }
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    assert_int_equal(store_number(f->store, "select count(*) from log") - said, 1);
    test_works_free(ones, 2);
    sem_destroy(&finished);
}

static enum err add_slowly(struct work_item *w, struct tx *tx)
{
    enum err e = tx_exec(tx, "select n, pg_sleep(0.002) from counter where id = 1", NO_BIND, NULL);

    return e ? e : add_to_counter(w, tx);
}

/* All transactions update the same row and last long enough to conflict with all others. */
static void conflicting_transactions_are_retried_until_all_succeed(void **state)
{
    enum { COUNT = 160 };
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    reopen_with(f, 16);
    struct test_work *ones = test_works_new(COUNT, &finished);
    for (int i = 0; i < COUNT; i++)
        ones[i].work.run = add_slowly;
    for (int i = 0; i < COUNT; i++)
        store_submit_work_item(f->store, &ones[i].work);
    for (int i = 0; i < COUNT; i++)
        wait_for(&finished);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(store_number(f->store, "select n from counter"), COUNT);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static enum err add_during(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "update counter set n = n + 1", NO_BIND, NULL);
}

static void internal_transactions_do_not_wait_for_exclusive_writers(void **state)
{
    struct fixture *f = *state;
    struct postgres *p = container_of(f->store, struct postgres, store);
    struct store_connection *side = store_connection_new(f->store);
    struct arena *arena = arena_new();

    counter_make(f);
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        pthread_rwlock_wrlock(&p->write_locks[i]);
    enum err e = store_connection_run_transaction(side, STORE_APPEND, arena, add_during, NULL);
    for (unsigned i = 0; i < POSTGRES_WRITE_LOCKS; i++)
        pthread_rwlock_unlock(&p->write_locks[i]);
    assert_int_equal(e, OK);
    assert_int_equal(store_number(f->store, "select n from counter"), 1);
    store_connection_free(side);
    arena_free(arena);
}

/* Only work items with the same first id wait for the one that conflicted too often. */
static void writers_of_other_rows_do_not_wait_for_exclusive_writers(void **state)
{
    struct fixture *f = *state;
    struct postgres *p = container_of(f->store, struct postgres, store);
    sem_t finished;
    struct test_work *ones = test_works_new(2, &finished);

    counter_make(f);
    for (unsigned i = 0; i < 2; i++) {
        ones[i].work.ids[0] = 1000 + i;
        ones[i].work.id_count = 1;
    }
    pthread_rwlock_t *lock = &p->write_locks[postgres_get_write_lock_index(&ones[0].work)];
    assert_ptr_not_equal(lock, &p->write_locks[postgres_get_write_lock_index(&ones[1].work)]);
    pthread_rwlock_wrlock(lock);
    for (unsigned i = 0; i < 2; i++)
        store_submit_work_item(f->store, &ones[i].work);
    wait_for(&finished);
    assert_int_equal(store_number(f->store, "select n from counter"), 1);
    pthread_rwlock_unlock(lock);
    wait_for(&finished);
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    test_works_free(ones, 2);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(transaction_that_lost_its_connection_is_retried),
        store_test(commit_with_unknown_result_is_not_retried),
        store_test(transaction_is_retried_if_the_connection_ends_before_its_commit),
        store_test(conflicting_transactions_are_retried_until_all_succeed),
        store_test(internal_transactions_do_not_wait_for_exclusive_writers),
        store_test(writers_of_other_rows_do_not_wait_for_exclusive_writers),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_worker", tests);
}
