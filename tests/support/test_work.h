/* test_work.h - many works at a time, for tests of what they do to each other. */
#ifndef TESTS_SUPPORT_TEST_WORK_H
#define TESTS_SUPPORT_TEST_WORK_H

#include "unit/unit.h"

#include <semaphore.h>

#include "support/stores.h"

#define no_error(call) assert_int_equal((call), OK)

/* The table that works count in: one row, counter(id = 1, n = 0). */
void counter_make(struct fixture *f);

/* Opens the store again, with so many workers where it has some. */
void reopen_with(struct fixture *f, unsigned workers);

/* A work that adds to the counter, unless it is given something else to run. */
struct test_work {
    struct work work;
    sem_t *finished; /* told when done was called */
    int64_t add;
    enum err answer; /* what run returns in the end */
    enum err result; /* what done was told */
};

/* Works that are not on a loop; sets up the semaphore they share. */
struct test_work *test_works_new(size_t count, sem_t *finished);
void test_works_free(struct test_work *ones, size_t count);

enum err add_to_counter(struct work *w, struct tx *tx);
void note_done(struct work *w, enum err e);
void wait_for(sem_t *s);

/* Submits them while the writer is kept busy: on SQLite they are one batch, as
 * far as one may be big. Returns when all are done. */
void run_as_batch(struct fixture *f, struct test_work *ones, size_t count, sem_t *finished);

#endif
