/* batches.h - sends several reads in one loop iteration, for tests of where they run. */
#ifndef TESTS_SUPPORT_BATCHES_H
#define TESTS_SUPPORT_BATCHES_H

#include "support/test_work.h"

enum { READS_PER_ROUND_TRIP = 8 };

/* A read of a batch; the test chooses its queries. */
struct asked {
    struct test_work one;
    struct batch *batch;
    int64_t seen[4];
    int runs, questions;
    bool on_loop; /* whether its last run was on the loop */
};

struct batch {
    struct fixture *f;
    const char *name; /* name of the read: a string literal */
    int questions;
    bool measured;
    int64_t id;
    enum err (*run)(struct work_item *w, struct tx *tx); /* NULL: ask_some */
    sem_t finished;
    struct asked reads[READS_PER_ROUND_TRIP];
    int count;
};

/* Opens the store again for one loop, which it starts, and creates the counter. batch_serve opens
 * it as a node of a cluster, which caches no rows, batch_serve_alone as the only server. */
struct loops *batch_serve(struct fixture *f);
struct loops *batch_serve_alone(struct fixture *f);

/* Queries of the counter's value plus 0 to 3. */
extern const struct sql counter_questions[4];
/* Runs as many of these queries as the batch says, one after the other. */
enum err ask_some(struct work_item *w, struct tx *tx);

/* Runs `count` reads in one loop iteration and waits for all of them. */
void batch_ask(struct batch *b, struct loops *loops, int count);
/* Submits each read; runs on a loop. */
void batch_submit(struct loop *l, void *arg);
bool batch_was_on_loop(const struct batch *b);
/* Repeats the batch until all reads ran on the loop: a loop connects only after its first read,
 * and slow reads run on workers for a while. */
void batch_ask_on_loop(struct batch *b, struct loops *loops, int count);

#endif
