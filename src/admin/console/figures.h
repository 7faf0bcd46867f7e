/* figures.h - how a server did, minute by minute: the last hour, in memory that does not grow.
 *
 * A sample has counters as they stand; a minute is what lies between two of them. Whoever has
 * one sees to it that nobody else uses it meanwhile. */
#ifndef ADMIN_CONSOLE_FIGURES_H
#define ADMIN_CONSOLE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

enum { FIGURE_MINUTES = 60 };

struct figure_sample {
    int64_t mono_ns, at_us;
    uint64_t calls, events, writes, commits, sent_bytes; /* since the server began */
    uint64_t sessions, connections, memory_bytes;        /* now */
    int64_t longest_turn_ns;                             /* since the sample before */
    uint64_t *counts; /* calls since the server began: of each group, so many of each duration */
};

struct figure_minute {
    int64_t at_us, ns; /* when it began, and how long it was */
    uint64_t calls, events, writes, commits, sent_bytes;
    uint64_t sessions, connections, memory_bytes; /* at its end */
    int64_t longest_turn_ns;
    const uint32_t *counts;
};

struct figures;

/* durations: into how many kinds the calls of a group fall. */
struct figures *figures_new(size_t groups, size_t durations);
void figures_free(struct figures *f);

/* A minute is over, or with the first sample the first one begins. Copies it. */
void figures_add(struct figures *f, const struct figure_sample *s);

/* The minutes that are kept, the oldest first, and behind them the one at hand, up to now;
 * good until the next call. Returns how many; 0 before the first sample. */
size_t figures_read(struct figures *f, const struct figure_sample *now,
                    struct figure_minute ret[FIGURE_MINUTES + 1]);

/* Within what time that part (0.5, 0.99) of calls was answered: one of the bounds, 0 without
 * calls, -1 beyond the last bound. counts has one more than there are bounds. */
int64_t figure_quantile(const uint32_t *counts, const int64_t *bounds, size_t n, double part);

#endif
