/* minute_stats.c - a ring buffer of per-minute statistics of the server, for the last hour. */
#include "admin/console/minute_stats.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct minute_stats {
    size_t cells;             /* number of counts per minute */
    bool begun;               /* whether there is a previous sample */
    struct stats_sample last; /* owns its array of counts */
    /* Ring buffer of minutes; the last element is the current minute. */
    struct stats_minute minutes[STATS_MINUTES + 1];
    /* Memory for the counts of all minutes. */
    uint32_t *counts;
    size_t added; /* number of minutes added in total */
};

struct minute_stats *minute_stats_new(size_t groups, size_t durations)
{
    struct minute_stats *f = mem_new(sizeof *f);

    f->cells = groups * durations;
    f->last.counts = mem_new(f->cells * sizeof *f->last.counts);
    f->counts = mem_new((STATS_MINUTES + 1) * f->cells * sizeof *f->counts);
    return f;
}

void minute_stats_free(struct minute_stats *f)
{
    if (!f)
        return;
    mem_free(f->last.counts);
    mem_free(f->counts);
    mem_free(f);
}

/* Stores the differences between the last sample and the sample `now` as the statistics of a
 * minute. */
static void minute_stats_store_difference(struct minute_stats *f, const struct stats_sample *now,
                                          size_t slot)
{
    const struct stats_sample *last = &f->last;
    uint32_t *counts = f->counts + slot * f->cells;

    for (size_t i = 0; i < f->cells; i++)
        counts[i] = (uint32_t)(now->counts[i] - last->counts[i]);
    f->minutes[slot] = (struct stats_minute){
        .at_us = last->at_us,
        .ns = now->mono_ns - last->mono_ns,
        .calls = now->calls - last->calls,
        .events = now->events - last->events,
        .writes = now->writes - last->writes,
        .commits = now->commits - last->commits,
        .sent_bytes = now->sent_bytes - last->sent_bytes,
        .sessions = now->sessions,
        .connections = now->connections,
        .memory_bytes = now->memory_bytes,
        .longest_iteration_ns = now->longest_iteration_ns,
        .counts = counts,
    };
}

void minute_stats_add_sample(struct minute_stats *f, const struct stats_sample *s)
{
    uint64_t *counts = f->last.counts;

    if (f->begun)
        minute_stats_store_difference(f, s, f->added++ % STATS_MINUTES);
    f->begun = true;
    memcpy(counts, s->counts, f->cells * sizeof *counts);
    f->last = *s;
    f->last.counts = counts;
}

size_t minute_stats_read(struct minute_stats *f, const struct stats_sample *now,
                         struct stats_minute ret[STATS_MINUTES + 1])
{
    size_t stored = f->added < STATS_MINUTES ? f->added : STATS_MINUTES;

    if (!f->begun)
        return 0;
    for (size_t i = 0; i < stored; i++)
        ret[i] = f->minutes[(f->added - stored + i) % STATS_MINUTES];
    minute_stats_store_difference(f, now, STATS_MINUTES);
    ret[stored] = f->minutes[STATS_MINUTES];
    return stored + 1;
}

int64_t duration_quantile(const uint32_t *counts, const int64_t *bounds, size_t n, double part)
{
    uint64_t all = 0, below = 0;

    for (size_t i = 0; i <= n; i++)
        all += counts[i];
    for (size_t i = 0; all && i < n; i++) {
        below += counts[i];
        if ((double)below >= (double)all * part)
            return bounds[i];
    }
    return all ? -1 : 0;
}
