/* meter.c - progress output: a bar on a terminal, lines otherwise. */
#include "tools/meter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { BAR = 40 };

void meter_begin(struct meter *m, const char *name)
{
    *m = (struct meter){ .name = name, .terminal = isatty(STDERR_FILENO), .since = clock_mono() };
}

static void tell_line(struct meter *m, const char *what, int percent, int64_t total, double seconds)
{
    if (percent / 10 <= m->told)
        return;
    m->told = percent / 10;
    fprintf(stderr, "%s: %d %% of %lld %s after %.1f s\n", m->name, percent, (long long)total, what,
            seconds);
}

void meter_tell(struct meter *m, const char *what, int64_t done, int64_t total)
{
    double seconds = (double)(clock_mono() - m->since) / 1e9;
    int percent = total ? (int)(done * 100 / total) : 100;
    char bar[BAR + 1] = { 0 };

    if (m->what != what) {
        meter_end(m);
        m->told = 0;
    }
    m->what = what;
    if (!m->terminal) {
        tell_line(m, what, percent, total, seconds);
        return;
    }
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)(percent * BAR / 100));
    fprintf(stderr, "\r[%s] %3d %%  %lld %s  %.0f s ", bar, percent, (long long)done, what,
            seconds);
}

void meter_end(struct meter *m)
{
    if (m->terminal && m->what)
        fputc('\n', stderr);
    m->what = NULL;
}
