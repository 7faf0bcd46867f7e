/* hold.h - measures how long event loops and the SQLite writer are blocked, and by what.
 *
 * Every client waits for event loops and for the SQLite writer, so their longest iteration bounds
 * the latency for all. A meter measures a thread's work part by part, stores the maximum of each
 * part for /metrics, and logs iterations that take too long. */
#ifndef BASE_HOLD_H
#define BASE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { HOLD_LIMIT_MS = 20 }; /* for one loop iteration or one unit of work of the writer */

/* One meter per thread. Names of parts must be string literals, because the pointers are stored. */
struct hold_meter {
    const char *kind;  /* "turn" (loop iteration) or "write" */
    const char *part;  /* current part; NULL: none */
    int64_t part_at;   /* start of the part, in ns */
    int64_t held;      /* duration of this iteration so far, in ns */
    int64_t longest;   /* duration of the longest part of this iteration */
    const char *of;    /* name of the longest part */
    int64_t told_at_s; /* second in which the last line was logged */
};

/* Ends the current part and starts `part`; NULL means that the thread waits. */
void hold_part(struct hold_meter *m, const char *part);
/* Ends the current iteration of the thread and starts the next. */
void hold_end(struct hold_meter *m);
/* Ends the iteration; the time until the next part does not count. */
void hold_rest(struct hold_meter *m);

/* Longest duration of a part (only parts that ever took 1 ms), and how often the part was the
 * longest of an iteration over the limit. */
struct hold_record {
    const char *kind, *part;
    int64_t longest_ns;
    uint64_t over;
};
void hold_each(void (*tell)(const struct hold_record *r, void *arg), void *arg);

/* Returns the duration of the longest part of a loop iteration since the last call with forget, or
 * 0 if below 1 ms. May be called from any thread. */
int64_t hold_recent(bool forget);

/* For tests, before threads start: measures CPU time of the thread, because the machine may be
 * busy; multiplies the limit by `times`, because sanitizers are slow; calls `over` for each
 * iteration beyond the limit. NULL restores the default. */
void hold_watch(unsigned times, void (*over)(const struct hold_record *r));
/* For tests: deletes all records of the previous server. */
void hold_forget(void);

#endif
