/* progress.c - prints progress: on a terminal as a bar with an estimate, otherwise as lines. */
#include "tools/progress.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { BAR_WIDTH = 40, SHOWN_AFTER_S = 2, PRINT_EVERY_NS = 500000000 };

void progress_begin(struct progress_output *m, const char *name)
{
    *m = (struct progress_output){ .name = name,
                                   .terminal = isatty(STDERR_FILENO),
                                   .since = clock_monotonic_ns() };
    m->unit_since = m->since;
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

/* Estimates the remaining time from the average speed so far. */
static double estimate_seconds_left(double seconds, int64_t done, int64_t total)
{
    return done > 0 && total > done ? seconds * (double)(total - done) / (double)done : 0;
}

void progress_print(struct progress_output *m, const char *what, int64_t done, int64_t total)
{
    double seconds = (double)(clock_monotonic_ns() - m->since) / 1e9;
    int percent = total ? (int)(done * 100 / total) : 100;
    char bar[BAR_WIDTH + 1] = { 0 };

    if (m->what != what) {
        if (m->what)
            m->unit_since = clock_monotonic_ns();
        progress_end(m);
        m->printed_tenths = 0;
    }
    m->what = what;
    if (!m->terminal) {
        print_progress_line(m, what, percent, total, seconds);
        return;
    }
    if (seconds < SHOWN_AFTER_S)
        return;
    m->is_shown = true;
    percent = percent > 100 ? 100 : percent;
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)(percent * BAR_WIDTH / 100));
    fprintf(
        stderr, "\r[%s] %3d %%  %lld %s  %.0f s, about %.0f s left ", bar, percent, (long long)done,
        what, seconds,
        estimate_seconds_left((double)(clock_monotonic_ns() - m->unit_since) / 1e9, done, total));
}

void progress_end(struct progress_output *m)
{
    if (m->is_shown)
        fputc('\n', stderr);
    m->is_shown = false;
    m->what = NULL;
}

/* --- progress of tasks that do not report their progress ----------------------------------- */

static int64_t bytes_so_far(enum progress_source source)
{
    const char *key = source == PROGRESS_READ ? "rchar: " : "wchar: ";
    FILE *f = fopen("/proc/self/io", "r");
    char line[128];
    long long n = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            n = strtoll(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

/* Prints the progress of a world file import. Returns whether it has counted anything yet. */
static bool print_world_file_progress(struct progress_watch *w)
{
    const char *what = atomic_load(&w->world.what);
    int64_t total = atomic_load(&w->world.total);

    if (!what || !total)
        return false;
    progress_print(&w->output, what, atomic_load(&w->world.done), total);
    return true;
}

static void print_watched_progress(struct progress_watch *w)
{
    if (w->source == PROGRESS_WORLD && print_world_file_progress(w))
        return;
    double seconds = (double)(clock_monotonic_ns() - w->output.since) / 1e9;

    if (w->source != PROGRESS_TIME && w->source != PROGRESS_WORLD && w->total > 0) {
        progress_print(&w->output, "bytes", bytes_so_far(w->source) - w->before, w->total);
    } else if (seconds >= SHOWN_AFTER_S) {
        fprintf(stderr, "\r%s: %.0f s so far ", w->output.name, seconds);
        w->output.is_shown = true;
    }
}

static void *watch_progress(void *arg)
{
    struct progress_watch *w = arg;
    struct timespec until;

    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PRINT_EVERY_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->ended, &w->lock, &until);
        if (!w->is_over)
            print_watched_progress(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void progress_watch_begin(struct progress_watch *w, const char *name, enum progress_source source,
                          int64_t total)
{
    *w = (struct progress_watch){ .source = source, .total = total };
    progress_begin(&w->output, name);
    if (!w->output.terminal)
        return;
    if (source == PROGRESS_READ || source == PROGRESS_WRITTEN)
        w->before = bytes_so_far(source);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->is_running = pthread_create(&w->thread, NULL, watch_progress, w) == 0;
}

void progress_watch_end(struct progress_watch *w)
{
    if (!w->is_running)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ended);
    progress_end(&w->output);
}

static int64_t size_sum;

static int add_file_size(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)path, (void)at;
    if (kind == FTW_F)
        size_sum += s->st_size;
    return 0;
}

int64_t read_size_of_file_or_folder(const char *path)
{
    size_sum = 0;
    nftw(path, add_file_size, 16, FTW_PHYS);
    return size_sum;
}
