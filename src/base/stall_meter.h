/* stall_meter.h - measures how long event loops and the SQLite writer are blocked, and by what.
 *
 * Every client waits for event loops and for the SQLite writer, so their longest iteration bounds
 * the latency for all. A meter measures a thread's work part by part, stores the maximum of each
 * part for /metrics, and logs iterations that take too long. */
#ifndef BASE_STALL_METER_H
#define BASE_STALL_METER_H

#include <stdbool.h>
#include <stdint.h>

enum { STALL_LIMIT_MS = 20 }; /* for one loop iteration or one unit of work of the writer */

/* Each thread has one meter. Names of parts must be string literals, because the pointers are
 * stored. */
struct stall_meter {
    const char *kind;         /* "turn" (loop iteration) or "write" */
    const char *part;         /* current part; NULL: none */
    int64_t part_at;          /* start of the part, in ns */
    int64_t total;            /* duration of this iteration so far, in ns */
    int64_t longest;          /* duration of the longest part of this iteration */
    const char *longest_part; /* name of the longest part */
    int64_t logged_at_s;      /* second in which the last line was logged */
};

/* Ends the current part and starts `part`; NULL means that the thread waits. */
void stall_meter_begin_part(struct stall_meter *m, const char *part);
/* Ends the current iteration of the thread and starts the next. */
void stall_meter_end_iteration(struct stall_meter *m);
/* Ends the iteration; the time until the next part does not count. */
void stall_meter_pause(struct stall_meter *m);

/* Longest duration of a part (only parts that ever took 1 ms), and how often the part was the
 * longest of an iteration over the limit. */
struct stall_record {
    const char *kind, *part;
    int64_t longest_ns;
    uint64_t over;
};
void stall_records_each(void (*each)(const struct stall_record *r, void *arg), void *arg);

/* Returns the duration of the longest part of a loop iteration since the last call with forget, or
 * 0 if below 1 ms. May be called from any thread. */
int64_t stall_longest_recent_ns(bool reset);

/* For tests, before threads start: measures CPU time of the thread, because the machine may be
 * busy; multiplies the limit by `times`, because sanitizers are slow; calls `over` for each
 * iteration beyond the limit. NULL restores the default. */
void stall_meter_watch(unsigned times, void (*over)(const struct stall_record *r));
/* For tests: deletes all records of the previous server. */
void stall_records_clear(void);

#endif
