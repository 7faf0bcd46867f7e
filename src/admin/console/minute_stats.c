/* minute_stats.c - a ring buffer of per-minute statistics of the server, for the last hour. */
#include "admin/console/minute_stats.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct minute_stats {
    size_t cells;                                       /* number of elements of one counts array */
    bool begun;                                         /* whether there is a previous sample */
    struct minute_stats_sample last;                    /* owns its array of counts */
    struct one_minute_stats minutes[STATS_MINUTES + 1]; /* the last element is the current minute */
    uint32_t *counts[STATS_MINUTES + 1]; /* counts of minutes with calls; allocated at first use */
    uint32_t *zeros;                     /* counts of minutes without calls */
    size_t added;                        /* number of minutes added in total */
};

struct minute_stats *minute_stats_new(size_t groups, size_t durations)
{
    struct minute_stats *f = mem_new(sizeof *f);

    f->cells = groups * durations;
    f->last.counts = mem_new(f->cells * sizeof *f->last.counts);
    f->zeros = mem_new(f->cells * sizeof *f->zeros);
    return f;
}

void minute_stats_free(struct minute_stats *f)
{
    if (!f)
        return;
    mem_free(f->last.counts);
    mem_free(f->zeros);
    for (size_t i = 0; i < COUNT_OF(f->counts); i++)
        mem_free(f->counts[i]);
    mem_free(f);
}

/* Returns how many calls there were since the last sample, per domain and bucket. */
static const uint32_t *minute_stats_subtract_counts(struct minute_stats *f, const uint64_t *now,
                                                    size_t slot)
{
    const uint64_t *last = f->last.counts;

    if (memcmp(now, last, f->cells * sizeof *now) == 0)
        return f->zeros;
    if (!f->counts[slot])
        f->counts[slot] = mem_new(f->cells * sizeof *f->counts[slot]);
    for (size_t i = 0; i < f->cells; i++)
        f->counts[slot][i] = (uint32_t)(now[i] - last[i]);
    return f->counts[slot];
}

/* Stores the difference between the last sample and now as the statistics of one minute. */
static void minute_stats_store_difference(struct minute_stats *f,
                                          const struct minute_stats_sample *now, size_t slot)
{
    const struct minute_stats_sample *last = &f->last;

    f->minutes[slot] = (struct one_minute_stats){
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
        .counts = minute_stats_subtract_counts(f, now->counts, slot),
    };
}

void minute_stats_add_sample(struct minute_stats *f, const struct minute_stats_sample *s)
{
    uint64_t *counts = f->last.counts;

    if (f->begun)
        minute_stats_store_difference(f, s, f->added++ % STATS_MINUTES);
    f->begun = true;
    memcpy(counts, s->counts, f->cells * sizeof *counts);
    f->last = *s;
    f->last.counts = counts;
}

size_t minute_stats_read(struct minute_stats *f, const struct minute_stats_sample *now,
                         struct one_minute_stats ret[STATS_MINUTES + 1])
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
