/* progress.c - progress output: a bar on a terminal, lines otherwise. */
#include "tools/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { BAR_WIDTH = 40 };

void progress_begin(struct progress_output *m, const char *name)
{
    *m = (struct progress_output){ .name = name,
                                   .terminal = isatty(STDERR_FILENO),
                                   .since = clock_monotonic_ns() };
}

static void print_progress_line(struct progress_output *m, const char *what, int percent,
                                int64_t total, double seconds)
{
    if (percent / 10 <= m->printed_tenths)
        return;
    m->printed_tenths = percent / 10;
    fprintf(stderr, "%s: %d %% of %lld %s after %.1f s\n", m->name, percent, (long long)total, what,
            seconds);
}

void progress_print(struct progress_output *m, const char *what, int64_t done, int64_t total)
{
    double seconds = (double)(clock_monotonic_ns() - m->since) / 1e9;
    int percent = total ? (int)(done * 100 / total) : 100;
    char bar[BAR_WIDTH + 1] = { 0 };

    if (m->what != what) {
        progress_end(m);
        m->printed_tenths = 0;
    }
    m->what = what;
    if (!m->terminal) {
        print_progress_line(m, what, percent, total, seconds);
        return;
    }
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)(percent * BAR_WIDTH / 100));
    fprintf(stderr, "\r[%s] %3d %%  %lld %s  %.0f s ", bar, percent, (long long)done, what,
            seconds);
}

void progress_end(struct progress_output *m)
{
    if (m->terminal && m->what)
        fputc('\n', stderr);
    m->what = NULL;
}
