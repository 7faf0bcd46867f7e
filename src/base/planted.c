/* planted.c - faults that a test plants: by a word in the environment. */
#include "base/planted.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const fault_words[] = {
    [PLANTED_NONE] = "",
    [PLANTED_EARLY_EVENTS] = "early-events",
    [PLANTED_NO_TAIL] = "no-tail",
    [PLANTED_BLIND_LEDGER] = "blind-ledger",
    [PLANTED_BLIND_KEEPER] = "blind-keeper",
    [PLANTED_QUICK_FADE] = "quick-fade",
    [PLANTED_BLIND_SIGHT] = "blind-sight",
    [PLANTED_LATE_LOOPS] = "late-loops",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum planted_fault chosen;

static void planted_read(void)
{
    const char *word = getenv("GUILDHALL_TEST_FAULT");

    for (size_t i = 0; word && i < sizeof fault_words / sizeof *fault_words; i++)
        if (strcmp(word, fault_words[i]) == 0)
            chosen = (enum planted_fault)i;
}

bool planted(enum planted_fault fault)
{
    pthread_once(&once, planted_read);
    return chosen == fault;
}
