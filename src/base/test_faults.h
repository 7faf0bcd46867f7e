/* test_faults.h - faults that tests inject, to check that the tests detect them.
 *
 * Only test builds contain faults (tests/inside/test_faults.c): the environment variable
 * GUILDHALL_TEST_FAULT lists the enabled faults, separated by commas. In other builds the compiler
 * removes the checks. */
#ifndef BASE_TEST_FAULTS_H
#define BASE_TEST_FAULTS_H

#include <stdbool.h>

#include "base/test_build.h"

enum test_fault {
    TEST_FAULT_NONE,
    TEST_FAULT_EARLY_EVENTS,     /* events are published before their transaction commits */
    TEST_FAULT_NO_LOG_FOLLOWER,  /* log entries that NATS loses are not read from the event log */
    TEST_FAULT_EMPTY_JOURNAL,    /* the journal does not record events sent to a session */
    TEST_FAULT_EMPTY_REPLICA,    /* events sent to a session are not replicated to another node */
    TEST_FAULT_OFFLINE_AT_ONCE,  /* sessions of a dead node appear offline at once, which saves test
                                    time */
    TEST_FAULT_INEXACT_RECOVERY, /* sessions resume after a crash even if their visible channels
                                    changed */
    TEST_FAULT_NO_FENCING,       /* database connections of a node declared dead are not ended */
    TEST_FAULT_STALE_CREDENTIALS, /* cached credentials never become stale */
    TEST_FAULT_TWO_OWNERS,        /* taking over a session does not check its owner */
    TEST_FAULT_REPEATED_EVENTS, /* events that a store read already contained are delivered again */
    TEST_FAULT_CHECK_VIEWS,     /* not a fault: compares guild views with the store on each read */
    TEST_FAULT_LATE_LOOPS, /* not a fault: each loop receives an event 1 ms after the previous */
    TEST_FAULT_PATIENT_RESUME, /* not a fault: a RESUME waits eight times as long for replicas */
    TEST_FAULT_LATE_COMMITS, /* not a fault: delays every third message after its id was created */
    TEST_FAULT_LATE_READS,   /* not a fault: changes the order in which reads for READY end */
    TEST_FAULT_NO_ADDRESSES, /* not a fault: the node behaves like a version that does not know
                                addresses of log entries */
    TEST_FAULT_NO_SUBSCRIPTIONS, /* not a fault: the node receives addresses of log entries only */
    TEST_FAULT_UNREAD_ENTRIES,   /* loops skip entries that this node has not received */
};

#if TEST_BUILD

bool test_fault_is_enabled(enum test_fault fault);

/* For TEST_FAULT_LATE_READS: the functions sleep before and after a read. Pass the result of
 * test_fault_sleep_before_read to test_fault_sleep_after_read. */
unsigned test_fault_sleep_before_read(void);
void test_fault_sleep_after_read(unsigned read_number);

/* For TEST_FAULT_LATE_COMMITS: called in a transaction that has created the id of a message. */
void test_fault_sleep_after_new_id(void);

#else

static inline bool test_fault_is_enabled(enum test_fault fault)
{
    (void)fault;
    return false;
}

static inline unsigned test_fault_sleep_before_read(void)
{
    return 0;
}

static inline void test_fault_sleep_after_read(unsigned read_number)
{
    (void)read_number;
}

static inline void test_fault_sleep_after_new_id(void)
{
}

#endif

#endif
