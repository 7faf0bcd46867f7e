/* stall_meter.h - measures how long event loops and the SQLite writer are blocked, and by what.
 *
 * Every client waits for event loops and for the SQLite writer, so their longest iteration bounds
 * the latency for all. A meter measures a thread's work part by part, stores the maximum of each
 * part for /metrics, and logs iterations that take too long. */
#ifndef BASE_STALL_METER_H
#define BASE_STALL_METER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STALL_LIMIT_MS = 20
}; /* limit of the duration of a loop iteration, or of one unit of work of the SQLite writer */

/* Each thread has one meter. Names of parts must be string literals, because the pointers are
 * stored. */
struct stall_meter {
    const char *kind; /* "turn" for a loop iteration, "write" for work of the SQLite writer */
    const char *part; /* name of the current part of the work; NULL if the thread waits */
    int64_t part_at;  /* time at which the current part of the work started, in ns */
    int64_t total;    /* measured duration of this iteration so far, in ns */
    int64_t longest;  /* duration of the longest part of this iteration, in ns */
    const char *longest_part; /* name of the longest part */
    int64_t logged_at_s;      /* time at which a slow iteration was last logged, in seconds */
};

/* Ends the measurement of the current part of the work, and starts the measurement of the part with
 * this name; NULL means that the thread waits. */
void stall_meter_begin_measuring_activity(struct stall_meter *m, const char *part);
/* Ends the current loop iteration or unit of work, and starts the next one. */
void stall_meter_end_iteration(struct stall_meter *m);
/* Ends the iteration. The time until the next call of stall_meter_begin_measuring_activity is not
 * measured. */
void stall_meter_pause(struct stall_meter *m);

/* Statistics of one part of the work: its longest duration, and the number of iterations over the
 * limit in which it was the longest part. Parts that never took 1 ms are not recorded. */
struct stall_record {
    const char *kind, *part;
    int64_t longest_ns;
    uint64_t over;
};
void stall_records_visit(void (*each)(const struct stall_record *r, void *arg), void *arg);

/* Returns the duration of the longest part of a loop iteration since the last call with reset =
 * true, or 0 if below 1 ms. May be called from any thread. */
int64_t stall_longest_part_ns(bool reset);

/* For tests; call before threads start. In test mode, meters measure CPU time instead of real time,
 * because the machine may be busy. The limit is multiplied by `times`, because sanitizers are slow.
 * `over` is called for each iteration over the limit; if it is NULL, test mode ends. */
void stall_meter_set_test_mode(unsigned times, void (*over)(const struct stall_record *r));
/* Deletes all records, for tests that start several servers in one process. */
void stall_records_clear(void);

#endif
