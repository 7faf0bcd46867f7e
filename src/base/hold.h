/* hold.h - how long a thread that others wait for was held, and by what.
 *
 * Loops and the writer serve everybody, so the longest of their turns is what everybody may
 * have to wait. A meter notes what a thread does part by part, keeps the longest of each for
 * /metrics and says so in the log when a turn was too long. */
#ifndef BASE_HOLD_H
#define BASE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { HOLD_LIMIT_MS = 20 }; /* of a loop's turn, or of one work on the writer */

/* A thread's own. Names of parts are literals: they are kept. */
struct hold_meter {
    const char *kind;  /* "turn" or "write" */
    const char *part;  /* what is being done; NULL: nothing that we know of */
    int64_t part_at;   /* since when, nanoseconds */
    int64_t held;      /* in this turn, by all parts */
    int64_t longest;   /* part of this turn … */
    const char *of;    /* … and which */
    int64_t told_at_s; /* in the log */
};

/* What follows is done for `part`; what came before has ended. NULL: the thread waits. */
void hold_part(struct hold_meter *m, const char *part);
/* The turn is over; the next one begins. */
void hold_end(struct hold_meter *m);
/* The same where nobody's turn follows: what is done until the next part does not count. */
void hold_rest(struct hold_meter *m);

/* The longest so far of each part that ever took a millisecond or more, and how often it
 * was the reason for a turn that was too long. From any thread. */
struct hold_record {
    const char *kind, *part;
    int64_t longest_ns;
    uint64_t over;
};
void hold_each(void (*tell)(const struct hold_record *r, void *arg), void *arg);

/* The longest part of a loop's turn since this was last asked with forget, or 0 below a
 * millisecond. From any thread. */
int64_t hold_recent(bool forget);

/* For tests, before threads start: turns count in the thread's own processor time, so that a
 * busy machine does not matter; `times` as much is allowed (sanitizers are slow), and
 * whoever takes more is reported on its own thread. NULL: as ever. */
void hold_watch(unsigned times, void (*over)(const struct hold_record *r));
/* For tests: what was noted so far was another server's. */
void hold_forget(void);

#endif
