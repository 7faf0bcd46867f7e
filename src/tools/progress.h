/* progress.h - progress output: a bar with an estimate on a terminal, lines otherwise.
 *
 * A terminal shows nothing for tasks of less than two seconds. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/worlds/worlds.h"

struct progress_output {
    const char *name; /* name of the command */
    bool terminal;
    const char *what;          /* current unit, a string literal */
    int printed_tenths;        /* tenths of the total printed so far; only for line output */
    int64_t since, unit_since; /* start of the task, and of the current unit */
    bool is_shown;             /* a bar is on the terminal */
};

void progress_begin(struct progress_output *m, const char *name);
/* Prints progress. `what` is the unit, a literal such as "rows"; a new unit starts a new bar. */
void progress_print(struct progress_output *m, const char *what, int64_t done, int64_t total);
void progress_end(struct progress_output *m);

/* --- tasks that report nothing themselves ------------------------------------------------ */

enum progress_source {
    PROGRESS_TIME,   /* only the time so far */
    PROGRESS_WORLD,  /* entries of a world file */
    PROGRESS_READ,   /* bytes that this process has read since the start of the watch */
    PROGRESS_WRITTEN /* bytes that it has written */
};
struct progress_watch {
    struct progress_output output;
    enum progress_source source;
    int64_t total, before;
    struct world_file_progress world; /* counted by the task; only PROGRESS_WORLD */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_running, is_over;
};

/* Prints the progress of a task from another thread, until progress_watch_end. Without a terminal
 * nothing is printed. `total` is the expected number of bytes; 0 means unknown. */
void progress_watch_begin(struct progress_watch *w, const char *name, enum progress_source source,
                          int64_t total);
void progress_watch_end(struct progress_watch *w);

/* Returns the size of a file, or of all files below a folder; 0 if there is none. */
int64_t progress_size_of(const char *path);

#endif
