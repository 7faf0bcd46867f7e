/* planted.h - faults that a test plants, to see that its checker finds them.
 *
 * Only builds with tests have any (planted.c); in others nothing is ever planted (planted_none.c),
 * and the compiler drops what asks. The environment names one: GUILDHALL_TEST_FAULT. */
#ifndef BASE_PLANTED_H
#define BASE_PLANTED_H

#include <stdbool.h>

enum planted_fault {
    PLANTED_NONE,
    PLANTED_EARLY_EVENTS, /* events are told before their transaction has committed */
    PLANTED_NO_TAIL,      /* what NATS loses is not read from the log */
    PLANTED_BLIND_LEDGER, /* what a session was told is not noted */
    PLANTED_BLIND_KEEPER, /* nor is another server told of it */
    PLANTED_QUICK_FADE,  /* sessions of a dead server are seen no more at once; saves a test time */
    PLANTED_BLIND_SIGHT, /* a killed server's sessions go on whatever they see now */
    PLANTED_LATE_LOOPS,  /* loops hear of an event one after the other: no fault, but hard luck */
};

bool planted(enum planted_fault fault);

#endif
