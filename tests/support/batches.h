/* batches.h - reads of one turn of a loop, for tests of who answers them and how. */
#ifndef TESTS_SUPPORT_BATCHES_H
#define TESTS_SUPPORT_BATCHES_H

#include "support/test_work.h"

enum { MOST_READS = 8 };

/* What it asks is up to the test. */
struct asked {
    struct test_work one;
    struct batch *batch;
    int64_t seen[4];
    int runs, questions;
    bool on_loop; /* its last run was */
};

struct batch {
    struct fixture *f;
    const char *name; /* its kind: a literal */
    int questions;
    bool measured;
    int64_t id;
    enum err (*run)(struct work *w, struct tx *tx); /* NULL: ask_some */
    sem_t finished;
    struct asked reads[MOST_READS];
    int count;
};

/* Opens the store anew for one loop, which it starts, with a counter in it. */
struct loops *batch_serve(struct fixture *f);

/* What the counter has, and one more with each question of that number. */
extern const struct sql counter_questions[4];
/* Asks as many of them as it has questions, one after the other. */
enum err ask_some(struct work *w, struct tx *tx);

/* So many reads in one turn; returns when all are done. */
void batch_ask(struct batch *b, struct loops *loops, int count);
/* On a loop: asks each of them. */
void batch_submit(struct loop *l, void *arg);
bool batch_was_on_loop(const struct batch *b);
/* Again, until all of them were on the loop: it has a connection only when something was read
 * there, and a kind that took long, on a busy machine, is the workers' for a while. */
void batch_ask_on_loop(struct batch *b, struct loops *loops, int count);

#endif
