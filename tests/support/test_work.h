/* test_work.h - runs many store transactions at a time, for tests of their interaction. */
#ifndef TESTS_SUPPORT_TEST_WORK_H
#define TESTS_SUPPORT_TEST_WORK_H

#include "unit/unit.h"

#include <semaphore.h>

#include "support/stores.h"

#define no_error(call) assert_int_equal((call), OK)

/* Creates the table that transactions count in: one row, counter(id = 1, n = 0). */
void counter_make(struct fixture *f);

/* Opens the store again with this number of workers, if the engine has workers. */
void reopen_with(struct fixture *f, unsigned workers);

/* A transaction that increments the counter, unless it has another run function. */
struct test_work {
    struct work_item work;
    sem_t *finished; /* posted when done was called */
    int64_t add;
    enum err answer; /* result of run */
    enum err result; /* result that done received */
};

/* Creates transactions that are not on a loop, and initializes their semaphore. */
struct test_work *test_works_new(size_t count, sem_t *finished);
void test_works_free(struct test_work *ones, size_t count);

enum err add_to_counter(struct work_item *w, struct tx *tx);
void note_done(struct work_item *w, enum err e);
void wait_for(sem_t *s);

/* Submits them while the writer is blocked: on SQLite they form one batch, up to its maximum
 * size. Waits for all. */
void run_as_batch(struct fixture *f, struct test_work *ones, size_t count, sem_t *finished);

#endif
