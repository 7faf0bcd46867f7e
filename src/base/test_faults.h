/* test_faults.h - faults that can be injected into the server, to check that the tests detect such
 * faults.
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
    TEST_FAULT_EARLY_EVENTS,    /* fault: events are published before their transaction commits */
    TEST_FAULT_NO_LOG_FOLLOWER, /* fault: log entries that were lost in NATS are not read from the
                                 * event log */
    TEST_FAULT_EMPTY_JOURNAL, /* fault: the journal does not record the events sent to a session */
    TEST_FAULT_EMPTY_REPLICA, /* fault: events sent to a session are not replicated to another
                               * node */
    TEST_FAULT_OFFLINE_AT_ONCE,  /* not a fault: sessions of a dead node appear offline at once,
                                  * which saves test time */
    TEST_FAULT_INEXACT_RECOVERY, /* fault: a session resumes after a crash even if the channels that
                                  * it can see have changed */
    TEST_FAULT_NO_FENCING, /* fault: the database connections of a node that was declared dead are
                            * not ended */
    TEST_FAULT_STALE_CREDENTIALS, /* fault: cached credentials never become stale */
    TEST_FAULT_TWO_OWNERS, /* fault: a node takes over a session without checking which node owns
                            * it */
    TEST_FAULT_REPEATED_EVENTS, /* fault: events that were already contained in what a session has
                                 * read from the store are delivered again */
    TEST_FAULT_CHECK_VIEWS,     /* not a fault: compares guild views with the store on each read */
    TEST_FAULT_LATE_LOOPS,      /* not a fault: each loop receives an event 1 ms after the previous
                                 * loop */
    TEST_FAULT_PATIENT_RESUME,  /* not a fault: a RESUME waits eight times as long for replicas
                                 * (copies of journals) */
    TEST_FAULT_LATE_COMMITS, /* not a fault: every third message is committed later after its id was
                              * created */
    TEST_FAULT_LATE_READS,   /* not a fault: the reads of the data for READY end in another order */
    TEST_FAULT_NO_ADDRESSES, /* not a fault: the node behaves like a version that does not know log
                              * addresses (cluster/log_address.h) */
    TEST_FAULT_NO_SUBSCRIPTIONS, /* not a fault: of each log entry the node receives only its
                                  * address (cluster/log_address.h) */
    TEST_FAULT_UNREAD_ENTRIES,   /* fault: loops skip log entries that this node has not received */
};

#if TEST_BUILD

bool test_fault_is_enabled(enum test_fault fault);

/* For TEST_FAULT_LATE_READS: sleep before and after a read, for different times. Pass the result of
 * test_fault_sleep_before_read to test_fault_sleep_after_read. */
unsigned test_fault_sleep_before_read(void);
void test_fault_sleep_after_read(unsigned read_number);

/* For TEST_FAULT_LATE_COMMITS: sleeps. Called in a transaction after it has created the id of a
 * message. */
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
