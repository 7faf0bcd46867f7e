/* clock_check.h - decides whether the clock of this node is wrong.
 *
 * A node is not ready while its clock is wrong. A clock that agrees with the database's clock is
 * right. If the two clocks differ, the database's clock may be the wrong one: for example, after a
 * failover to a standby with another clock. In this case no node would be ready. So a clock is also
 * right if it agrees with the majority of all known clocks, including the clock of the database.
 * A single sample does not show that a clock is wrong, because other nodes may have reported their
 * offsets before a clock was set. */
#ifndef CLUSTER_CLOCK_CHECK_H
#define CLUSTER_CLOCK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Maximum offset between two clocks that are right, in ms; network delays are smaller. */
    CLOCK_OFFSET_MAX_MS = 250,
    /* Time for which a clock must differ until it counts as wrong, in ms. */
    CLOCK_WRONG_AFTER_MS = 3000,
    CLOCK_JUMP_MS = 1000, /* in ms; a greater step of the database's clock counts as a jump */
};

/* A sample of the database's clock. It was read between `before` and `after`
 * (clock_monotonic_ns). */
struct database_clock_sample {
    int64_t before, after, database_ms;
};

struct node_clock_check {
    struct database_clock_sample
        last; /* the last sample; last.after is 0 before the first sample */
    /* Time when this node's clock became wrong (clock_monotonic_ns); 0 if the clock is right. */
    int64_t off_since;
    bool is_off;
};

/* Returns whether this node's clock is right. offset_ms says how far it is ahead of the database's
 * clock; `others` has the same offsets of the other living nodes. */
bool node_clock_is_correct(int64_t offset_ms, const int64_t *others, size_t count);
/* Returns whether the database's clock jumped by more than CLOCK_JUMP_MS since the last sample. */
bool database_clock_jumped(const struct node_clock_check *w,
                           const struct database_clock_sample *now);
/* Records a sample, and in `agrees` whether node_clock_is_correct found this node's clock right.
 * The clock counts as wrong if the first sample is wrong, or after CLOCK_WRONG_AFTER_MS of wrong
 * samples. */
void node_clock_check_record_sample(struct node_clock_check *w,
                                    const struct database_clock_sample *now, bool agrees);

#endif
