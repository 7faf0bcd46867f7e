/* planted.c - faults that a test plants: by words in the environment. */
#include "base/planted.h"

#include <pthread.h>
#include <stdlib.h>

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

static void planted_choose(struct str word)
{
    for (size_t i = 1; i < sizeof fault_words / sizeof *fault_words; i++)
        if (str_is(word, fault_words[i]))
            chosen[i] = true;
}

static void planted_read(void)
{
    const char *words = getenv("GUILDHALL_TEST_FAULT");
    struct str rest = words ? str_of(words) : STR("");

    while (rest.n)
        planted_choose(str_cut(&rest, ','));
}

bool planted(enum planted_fault fault)
{
    pthread_once(&once, planted_read);
    return chosen[fault];
}
