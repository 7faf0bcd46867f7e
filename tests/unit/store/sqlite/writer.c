/* writer.c - tests that waiting transactions share a commit, and that one failure does not
 * affect the others. */
#include "unit/unit.h"

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"

static uint64_t commits(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats.commits;
}

static void waiting_transactions_share_one_commit(void **state)
{
    enum { BATCH = 512 };
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(BATCH + 1, &finished);

    counter_make(f);
    uint64_t before = commits(f);
    run_as_batch(f, ones, BATCH, &finished);
    assert_int_equal(commits(f) - before,
                     2); /* one commit is that of the transaction for which the others waited */

    before = commits(f);
    run_as_batch(f, ones, BATCH + 1, &finished);
    assert_int_equal(commits(f) - before, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 2 * BATCH + 1);
    test_works_free(ones, BATCH + 1);
    sem_destroy(&finished);
}

static int times_run; /* counted on the writer's thread */

static enum err count_and_add(struct work_item *w, struct tx *tx)
{
    times_run++;
    return add_to_counter(w, tx);
}

static enum err read_and_refuse(struct work_item *w, struct tx *tx)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, "select n from counter", NO_BIND, &row, &found);

    (void)w;
    return e ? e : ERR_FORBIDDEN;
}

/* A batch is restarted with savepoints only if a transaction fails after it has written. */
static void transaction_refused_before_writing_does_not_restart_its_batch(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(5, &finished);

    counter_make(f);
    for (size_t i = 0; i < 5; i++)
        ones[i].work.run = i % 2 ? read_and_refuse : count_and_add;
    times_run = 0;
    run_as_batch(f, ones, 5, &finished);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ones[i].result, i % 2 ? ERR_FORBIDDEN : OK);
    assert_int_equal(times_run, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 3);

    ones[2].answer = ERR_NOT_FOUND; /* fails after its write */
    times_run = 0;
    run_as_batch(f, ones, 5, &finished);
    assert_int_equal(ones[2].result, ERR_NOT_FOUND);
    assert_int_equal(times_run, 5); /* the first two attempts, and then all */
    assert_int_equal(store_number(f->store, "select n from counter"), 5);

    times_run = 0;
    run_as_batch(f, ones, 5, &finished); /* savepoints from the beginning */
    assert_int_equal(times_run, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 7);
    test_works_free(ones, 5);
    sem_destroy(&finished);
}

/* The statement succeeds, and the commit fails. */
static enum err break_commit(struct work_item *w, struct tx *tx)
{
    enum err e = tx_exec(tx, "pragma defer_foreign_keys = on", NO_BIND, NULL);

    (void)w;
    if (e)
        return e;
    return tx_exec(tx,
                   "insert into tokens (id, kind, user_id, digest, created_at) "
                   "values (x'00', 1, 77, x'00', 0)",
                   NO_BIND, NULL);
}

static void failed_commit_fails_its_batch_but_not_the_next(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(5, &finished);

    counter_make(f);
    ones[1].answer = ERR_FORBIDDEN;
    ones[2].work.run = break_commit;
    run_as_batch(f, ones, 5, &finished);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ones[i].result, ERR_UNAVAILABLE);
    assert_int_equal(store_number(f->store, "select n from counter"), 0);

    ones[2].work.run = add_to_counter;
    run_as_batch(f, ones, 5, &finished);
    assert_int_equal(store_number(f->store, "select n from counter"), 4);
    test_works_free(ones, 5);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(waiting_transactions_share_one_commit),
        store_test(transaction_refused_before_writing_does_not_restart_its_batch),
        store_test(failed_commit_fails_its_batch_but_not_the_next),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_writer", tests);
}
