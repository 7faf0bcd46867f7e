/* clock_watch.h - detects a wall clock that is wrong.
 *
 * Ids contain the wall-clock time, and lists are ordered by id. If the clock is behind the newest
 * id in the database, new objects are listed before older ones. The server cannot correct the
 * machine's clock, so it warns in the log, in /readyz and in /metrics. */
#ifndef BASE_CLOCK_WATCH_H
#define BASE_CLOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/snowflake.h"

/* The server warns if the wall clock is behind the newest id by more than this. */
enum { CLOCK_BEHIND_MS = 60 * 1000 };

/* Call at start with the newest id of the database. If that id is ahead of the clock by at most
 * CLOCK_BEHIND_MS, new ids continue after it. If it is further ahead, new ids use the clock, so
 * that one wrong id does not move all later ids into the far future. */
void clock_watch_start(snowflake newest);
/* Call about once a second, on one thread: compares wall clock and steady clock and logs steps. */
void clock_watch_check(void);

struct clock_health {
    int64_t behind_ms; /* how far the wall clock is behind the newest id, in ms; 0 if it is not
                        * behind */
    uint64_t steps;    /* number of clock steps of more than 5 s since the start */
};
struct clock_health clock_watch_get_health(void);
/* Returns a warning for operators if the clock is too far behind the newest id, otherwise NULL. */
const char *clock_watch_get_warning(void);

#endif
