/* budget.h - time limit for the delivery of events in one iteration of an event loop.
 *
 * Event delivery may use 5 ms of an iteration. Then the loop serves its sockets, and delivery
 * continues in the next iteration. */
#ifndef GATEWAY_SESSIONS_BUDGET_H
#define GATEWAY_SESSIONS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* BUDGET_TICKS: number of ticks between two reads of the clock (a tick is about one dispatch).
 * BUDGET_NS: time limit per iteration. */
enum { BUDGET_TICKS = 64, BUDGET_NS = 5 * 1000 * 1000 };

struct iteration_time_budget {
    bool spent;
    uint32_t ticks; /* ticks since the clock was last read */
    int64_t began;  /* start of this iteration's event delivery, in ns; 0 if not known yet */
    int64_t second; /* wall-clock time of this iteration in seconds (clock_s); 0 if not read yet */
};

/* Reads the clock and returns whether the budget of this iteration is spent. */
static inline bool iteration_time_budget_is_spent(struct iteration_time_budget *b)
{
    int64_t now = clock_monotonic_ns();

    b->ticks = 0;
    if (!b->began)
        b->began = now;
    b->spent |= now - b->began > BUDGET_NS;
    return b->spent;
}

static inline void iteration_time_budget_reset(struct iteration_time_budget *b)
{
    b->began = b->second = 0;
    b->spent = false;
}

#endif
