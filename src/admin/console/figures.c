/* figures.c - a ring of per-minute statistics of the server, for the last hour. */
#include "admin/console/figures.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct figures {
    size_t cells;                                     /* length of one counts array */
    bool begun;                                       /* there is a previous sample */
    struct figure_sample last;                        /* owns its counts */
    struct figure_minute minutes[FIGURE_MINUTES + 1]; /* last slot: the current minute */
    uint32_t *counts;                                 /* counts of all minutes */
    size_t added;                                     /* minutes added in total */
};

struct figures *figures_new(size_t groups, size_t durations)
{
    struct figures *f = mem_new(sizeof *f);

    f->cells = groups * durations;
    f->last.counts = mem_new(f->cells * sizeof *f->last.counts);
    f->counts = mem_new((FIGURE_MINUTES + 1) * f->cells * sizeof *f->counts);
    return f;
}

void figures_free(struct figures *f)
{
    if (!f)
        return;
    mem_free(f->last.counts);
    mem_free(f->counts);
    mem_free(f);
}

/* Stores the difference between the last sample and now in this slot. */
static void figure_between(struct figures *f, const struct figure_sample *now, size_t place)
{
    const struct figure_sample *last = &f->last;
    uint32_t *counts = f->counts + place * f->cells;

    for (size_t i = 0; i < f->cells; i++)
        counts[i] = (uint32_t)(now->counts[i] - last->counts[i]);
    f->minutes[place] = (struct figure_minute){
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
        .longest_turn_ns = now->longest_turn_ns,
        .counts = counts,
    };
}

void figures_add(struct figures *f, const struct figure_sample *s)
{
    uint64_t *counts = f->last.counts;

    if (f->begun)
        figure_between(f, s, f->added++ % FIGURE_MINUTES);
    f->begun = true;
    memcpy(counts, s->counts, f->cells * sizeof *counts);
    f->last = *s;
    f->last.counts = counts;
}

size_t figures_read(struct figures *f, const struct figure_sample *now,
                    struct figure_minute ret[FIGURE_MINUTES + 1])
{
    size_t kept = f->added < FIGURE_MINUTES ? f->added : FIGURE_MINUTES;

    if (!f->begun)
        return 0;
    for (size_t i = 0; i < kept; i++)
        ret[i] = f->minutes[(f->added - kept + i) % FIGURE_MINUTES];
    figure_between(f, now, FIGURE_MINUTES);
    ret[kept] = f->minutes[FIGURE_MINUTES];
    return kept + 1;
}

int64_t figure_quantile(const uint32_t *counts, const int64_t *bounds, size_t n, double part)
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
