/* clock_check.h - decides whether the clock of this node is wrong.
 *
 * A node is not ready while its clock is wrong. A clock that agrees with the database's clock is
 * right. If the two clocks differ, the database's clock may be the wrong one: for example, after a
 * failover to a standby with another clock. Then no node would be ready. So a clock is also right
 * if it agrees with the majority of all known clocks, including the database's. One sample is not
 * enough to find a clock wrong, because other nodes may have reported their offsets before a clock
 * was set. */
#ifndef CLUSTER_CLOCK_CHECK_H
#define CLUSTER_CLOCK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* In ms; network delays cannot explain a greater difference of two clocks. */
    CLOCK_OFFSET_MAX_MS = 250,
    /* In ms; a clock counts as wrong after it differed for this long. */
    CLOCK_WRONG_AFTER_MS = 3000,
    CLOCK_JUMP_MS = 1000, /* in ms; if the database's clock is stepped by more, it has jumped */
};

/* A sample of the database's clock. It was read between `before` and `after`
 * (clock_monotonic_ns). */
struct database_clock_sample {
    int64_t before, after, database_ms;
};

struct node_clock_check {
    struct database_clock_sample
        last; /* the last sample; last.after is 0 before the first sample */
    /* When this node's clock became wrong (clock_monotonic_ns); 0 if it is right. */
    int64_t off_since;
    bool is_off;
};

/* Returns whether this node's clock is right. offset_ms is by how much it is ahead of the
 * database's clock; `others` are these offsets of the other living nodes. */
bool node_clock_is_correct(int64_t offset_ms, const int64_t *others, size_t count);
/* Returns whether the database's clock jumped (by more than CLOCK_JUMP_MS) since the last
 * sample. */
bool database_clock_jumped(const struct node_clock_check *w,
                           const struct database_clock_sample *now);
/* Records a sample and the result of node_clock_is_correct (`agrees`). This node's clock counts as
 * wrong if the first sample is wrong, or after CLOCK_WRONG_AFTER_MS of wrong samples. */
void clock_check_record_database_sample(struct node_clock_check *w,
                                        const struct database_clock_sample *now, bool agrees);

#endif
