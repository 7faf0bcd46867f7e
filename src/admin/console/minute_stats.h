/* minute_stats.h - per-minute statistics of the server for the last hour, in constant memory.
 *
 * A sample contains the current values of the counters; the statistics of a minute are the
 * difference of two samples. The functions are not thread-safe. */
#ifndef ADMIN_CONSOLE_MINUTE_STATS_H
#define ADMIN_CONSOLE_MINUTE_STATS_H

#include <stddef.h>
#include <stdint.h>

enum { STATS_MINUTES = 60 };

struct minute_stats_sample {
    int64_t mono_ns, at_us;
    uint64_t calls, events, writes, commits, sent_bytes; /* totals since the start of the server */
    uint64_t sessions, connections, memory_bytes;        /* current values */
    int64_t longest_iteration_ns; /* duration of the longest loop iteration since the last sample */
    /* Number of calls since the start, per domain (feature folder) and bucket of duration. */
    uint64_t *counts;
};

struct one_minute_stats {
    int64_t at_us, ns; /* start time (µs since 1970) and length (ns) of the minute */
    uint64_t calls, events, writes, commits, sent_bytes;
    uint64_t sessions, connections, memory_bytes; /* values at the end of the minute */
    int64_t longest_iteration_ns;
    const uint32_t *counts;
};

struct minute_stats;

/* Creates statistics for `groups` domains (feature folders) with `durations` buckets of call
 * durations each. */
struct minute_stats *minute_stats_new(size_t groups, size_t durations);
void minute_stats_free(struct minute_stats *f);

/* Ends a minute and copies the sample. The first call starts the first minute. */
void minute_stats_add_sample(struct minute_stats *f, const struct minute_stats_sample *s);

/* Writes the minutes to ret, oldest first, and returns their number (0 before the first sample).
 * The last one is the current minute up to now. The result is valid until the next call. */
size_t minute_stats_read(struct minute_stats *f, const struct minute_stats_sample *now,
                         struct one_minute_stats ret[STATS_MINUTES + 1]);

/* Returns a quantile of call durations: the bound below which this fraction (such as 0.99) of the
 * calls stayed. Returns 0 if there were no calls, or -1 if the quantile is above the last bound.
 * `counts` has n + 1 elements. */
int64_t duration_quantile(const uint32_t *counts, const int64_t *bounds, size_t n, double part);

#endif
