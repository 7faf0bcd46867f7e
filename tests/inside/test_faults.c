/* test_faults.c - enables deliberate faults for tests, named in GUILDHALL_TEST_FAULT. */
#include "base/test_faults.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"

static const char *const fault_words[] = {
    [TEST_FAULT_NONE] = "",
    [TEST_FAULT_EARLY_EVENTS] = "early-events",
    [TEST_FAULT_NO_LOG_FOLLOWER] = "no-tail",
    [TEST_FAULT_EMPTY_JOURNAL] = "blind-ledger",
    [TEST_FAULT_EMPTY_REPLICA] = "blind-keeper",
    [TEST_FAULT_OFFLINE_AT_ONCE] = "offline-at-once",
    [TEST_FAULT_INEXACT_RECOVERY] = "blind-sight",
    [TEST_FAULT_NO_FENCING] = "no-fence",
    [TEST_FAULT_STALE_CREDENTIALS] = "trusting",
    [TEST_FAULT_TWO_OWNERS] = "two-owners",
    [TEST_FAULT_REPEATED_EVENTS] = "unknowing",
    [TEST_FAULT_CHECK_VIEWS] = "watch-views",
    [TEST_FAULT_LATE_LOOPS] = "late-loops",
    [TEST_FAULT_PATIENT_RESUME] = "patient-resume",
    [TEST_FAULT_LATE_COMMITS] = "late-commits",
    [TEST_FAULT_LATE_READS] = "late-looks",
    [TEST_FAULT_NO_ADDRESSES] = "no-addresses",
    [TEST_FAULT_NO_SUBSCRIPTIONS] = "no-subscriptions",
    [TEST_FAULT_UNREAD_ENTRIES] = "unread-entries",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool chosen[sizeof fault_words / sizeof *fault_words];

static void enable_planted_fault(struct str word)
{
    for (size_t i = 1; i < sizeof fault_words / sizeof *fault_words; i++)
        if (str_is(word, fault_words[i]))
            chosen[i] = true;
}

static void read_planted_faults(void)
{
    const char *words = getenv("GUILDHALL_TEST_FAULT");
    struct str rest = words ? str_of(words) : STR("");

    while (rest.n)
        enable_planted_fault(str_cut(&rest, ','));
}

bool test_fault_is_enabled(enum test_fault fault)
{
    pthread_once(&once, read_planted_faults);
    return chosen[fault];
}

/* Delays three reads that start together so that one reads first and ends last. */
static void sleep_for_planted_fault(unsigned turn, bool at_end)
{
    static const unsigned wait_ms[3][2] = { { 0, 600 }, { 300, 0 }, { 200, 0 } };

    nanosleep(&(struct timespec){ .tv_nsec = wait_ms[turn % 3][at_end] * 1000000L }, NULL);
}

unsigned test_fault_sleep_before_read(void)
{
    static _Atomic unsigned turns;

    if (!test_fault_is_enabled(TEST_FAULT_LATE_READS))
        return 0;
    unsigned turn = atomic_fetch_add(&turns, 1);

    sleep_for_planted_fault(turn, false);
    return turn;
}

void test_fault_sleep_after_read(unsigned turn)
{
    if (test_fault_is_enabled(TEST_FAULT_LATE_READS))
        sleep_for_planted_fault(turn, true);
}

void test_fault_sleep_after_new_id(void)
{
    static _Atomic unsigned turns;

    if (test_fault_is_enabled(TEST_FAULT_LATE_COMMITS) && atomic_fetch_add(&turns, 1) % 3 == 0)
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000000L }, NULL);
}
