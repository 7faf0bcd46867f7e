/* planted.c - enables deliberate faults for tests, named in GUILDHALL_TEST_FAULT. */
#include "base/planted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"

static const char *const fault_words[] = {
    [PLANTED_NONE] = "",
    [PLANTED_EARLY_EVENTS] = "early-events",
    [PLANTED_NO_TAIL] = "no-tail",
    [PLANTED_BLIND_LEDGER] = "blind-ledger",
    [PLANTED_BLIND_KEEPER] = "blind-keeper",
    [PLANTED_QUICK_FADE] = "quick-fade",
    [PLANTED_BLIND_SIGHT] = "blind-sight",
    [PLANTED_NO_FENCE] = "no-fence",
    [PLANTED_TRUSTING] = "trusting",
    [PLANTED_TWO_OWNERS] = "two-owners",
    [PLANTED_UNKNOWING] = "unknowing",
    [PLANTED_WATCH_VIEWS] = "watch-views",
    [PLANTED_LATE_LOOPS] = "late-loops",
    [PLANTED_LATE_LOOKS] = "late-looks",
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

bool fault_planted(enum planted_fault fault)
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

unsigned planted_wait_before(void)
{
    static _Atomic unsigned turns;

    if (!fault_planted(PLANTED_LATE_LOOKS))
        return 0;
    unsigned turn = atomic_fetch_add(&turns, 1);

    sleep_for_planted_fault(turn, false);
    return turn;
}

void planted_wait_after(unsigned turn)
{
    if (fault_planted(PLANTED_LATE_LOOKS))
        sleep_for_planted_fault(turn, true);
}
