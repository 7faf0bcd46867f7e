/* hold.h - measures how long loops and the writer are blocked, and by what.
 *
 * Every client waits for event loops and for the SQLite writer, so their longest iteration bounds
 * the latency for all. A meter measures a thread's work part by part, stores the maximum of each
 * part for /metrics, and logs iterations that take too long. */
#ifndef BASE_HOLD_H
#define BASE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { HOLD_LIMIT_MS = 20 }; /* per loop iteration or unit of work on the writer */

/* Each thread has one. Names of parts must be literals, because the pointers are stored. */
struct hold_meter {
    const char *kind;  /* "turn" (loop iteration) or "write" */
    const char *part;  /* current part; NULL: none */
    int64_t part_at;   /* start of the part, in ns */
    int64_t held;      /* total of this iteration */
    int64_t longest;   /* longest part of this iteration … */
    const char *of;    /* … and its name */
    int64_t told_at_s; /* second of the last log line */
};

/* Ends the current part and starts `part`. NULL: the thread waits. */
void hold_part(struct hold_meter *m, const char *part);
/* Ends the iteration and starts the next. */
void hold_end(struct hold_meter *m);
/* Like hold_end, but time until the next part does not count. */
void hold_rest(struct hold_meter *m);

/* The maximum of each part that ever took 1 ms or more, and how often it was the longest part of an
 * iteration over the limit. From any thread. */
struct hold_record {
    const char *kind, *part;
    int64_t longest_ns;
    uint64_t over;
};
void hold_each(void (*tell)(const struct hold_record *r, void *arg), void *arg);

/* The longest part of a loop iteration since the last call with forget, or 0 if below 1 ms. From
 * any thread. */
int64_t hold_recent(bool forget);

/* For tests, before threads start: measures CPU time of the thread, so that a busy machine does not
 * matter; multiplies the limit by `times` (sanitizers are slow), and calls over, on the same
 * thread, for each iteration beyond it. NULL restores the default. */
void hold_watch(unsigned times, void (*over)(const struct hold_record *r));
/* For tests: deletes all records, which belong to an earlier server. */
void hold_forget(void);

#endif
