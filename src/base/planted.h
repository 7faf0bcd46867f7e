/* planted.h - faults that a test plants, to see that its checker finds them.
 *
 * Only builds with tests have any (tests/inside/planted.c): GUILDHALL_TEST_FAULT in the environment
 * names them, separated by commas. In other builds the compiler removes the code that asks. */
#ifndef BASE_PLANTED_H
#define BASE_PLANTED_H

#include <stdbool.h>

#include "base/test_build.h"

enum planted_fault {
    PLANTED_NONE,
    PLANTED_EARLY_EVENTS, /* events are told before their transaction has committed */
    PLANTED_NO_TAIL,      /* what NATS loses is not read from the log */
    PLANTED_BLIND_LEDGER, /* what a session was told is not noted */
    PLANTED_BLIND_KEEPER, /* nor is another server told of it */
    PLANTED_QUICK_FADE,  /* sessions of a dead server are seen no more at once; saves a test time */
    PLANTED_BLIND_SIGHT, /* a killed server's sessions go on whatever they see now */
    PLANTED_NO_FENCE,    /* what a server had open that is taken for dead is not ended */
    PLANTED_TRUSTING,    /* what is remembered counts however long ago the log was read */
    PLANTED_TWO_OWNERS,  /* who takes a session does not look whose it is by now */
    PLANTED_UNKNOWING,   /* what a look at the store has seen is told again */
    PLANTED_WATCH_VIEWS, /* views are compared with the store when it is read: no fault, a witness
                          */
    PLANTED_LATE_LOOPS,  /* loops hear of an event one after the other: no fault, but hard luck */
    PLANTED_LATE_LOOKS,  /* looks for READY begin late and end late, in turns: the same */
};

#if TEST_BUILD

bool fault_planted(enum planted_fault fault);

/* PLANTED_LATE_LOOKS: waits before a read, and after it with the number that the first call
 * returned. */
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
