/* clock_watch.h - notices a wall clock that is wrong.
 *
 * Ids carry the time of the wall clock, and lists are ordered by id. If the clock is behind the
 * newest id of the database, what is written now is listed before what was written earlier. The
 * server cannot repair that, so it says it: in the log, in /readyz and in /metrics. */
#ifndef BASE_CLOCK_WATCH_H
#define BASE_CLOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/snowflake.h"

/* Behind the newest id by more than this is reported. */
enum { CLOCK_BEHIND_MS = 60 * 1000 };

/* At the start: the newest id of the database. If it is ahead by at most CLOCK_BEHIND_MS, new ids
 * follow it; else they carry the time of the clock, because ids of a far future would never end. */
void clock_watch_begin(snowflake newest);
/* About once a second, on one thread: compares the wall clock with the steady one; logs steps. */
void clock_watch_look(void);

struct clock_health {
    int64_t behind_ms; /* how far the wall clock is behind the newest id; 0: not at all */
    uint64_t steps;    /* how often it was stepped since the start, by more than five seconds */
};
/* From any thread. */
struct clock_health clock_watch_read(void);
/* A sentence for operators if the clock is too far behind; else NULL. */
const char *clock_watch_warning(void);

#endif
