/* planted.h - faults that tests inject, to check that the tests detect them.
 *
 * Only test builds contain them (tests/inside/planted.c): GUILDHALL_TEST_FAULT in the environment
 * lists them, separated by commas. In other builds the compiler removes the checks. */
#ifndef BASE_PLANTED_H
#define BASE_PLANTED_H

#include <stdbool.h>

#include "base/test_build.h"

enum planted_fault {
    PLANTED_NONE,
    PLANTED_EARLY_EVENTS, /* events are published before their transaction commits */
    PLANTED_NO_TAIL,      /* frames that NATS loses are not read from the event log */
    PLANTED_BLIND_LEDGER, /* the journal does not record events sent to a session */
    PLANTED_BLIND_KEEPER, /* events sent to a session are not replicated to another node */
    PLANTED_QUICK_FADE,   /* sessions of a dead node appear offline at once; saves test time */
    PLANTED_BLIND_SIGHT,  /* sessions resume after a crash even if their visible channels changed */
    PLANTED_NO_FENCE,     /* database connections of a node declared dead are not ended */
    PLANTED_TRUSTING,     /* cached credentials never become stale */
    PLANTED_TWO_OWNERS,   /* taking over a session does not check its owner */
    PLANTED_UNKNOWING,    /* events that a store read already contained are delivered again */
    PLANTED_WATCH_VIEWS,  /* no fault: compares guild views with the store on each read */
    PLANTED_LATE_LOOPS,   /* no fault: loops receive an event 1 ms after each other */
    PLANTED_LATE_LOOKS,   /* no fault: delays reads for READY so that they end in another order */
};

#if TEST_BUILD

bool fault_planted(enum planted_fault fault);

/* For PLANTED_LATE_LOOKS: sleep before and after a read; pass the first result to the second. */
unsigned planted_wait_before(void);
void planted_wait_after(unsigned turn);

#else

static inline bool fault_planted(enum planted_fault fault)
{
    (void)fault;
    return false;
}

static inline unsigned planted_wait_before(void)
{
    return 0;
}

static inline void planted_wait_after(unsigned turn)
{
    (void)turn;
}

#endif

#endif
