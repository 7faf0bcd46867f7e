/* progress.h - prints progress: on a terminal as a bar with an estimate, otherwise as lines.
 * Nothing is printed on a terminal for tasks of less than two seconds. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/worlds/worlds.h"

struct progress_output {
    const char *name; /* name of the command */
    bool terminal;
    const char *what; /* current unit, a string literal */
    /* Only without a terminal: tenths of the total that were printed so far. */
    int printed_tenths;
    int64_t since, unit_since; /* start time of the task and of its current unit */
    bool is_shown;             /* a bar is on the terminal */
};

void progress_begin(struct progress_output *m, const char *name);
/* Prints progress. `what` is the unit, a string literal such as "rows". A new unit starts a new
 * bar. */
void progress_print(struct progress_output *m, const char *what, int64_t done, int64_t total);
void progress_end(struct progress_output *m);

/* --- progress of tasks that do not report their progress -------------------------------- */

enum progress_source {
    PROGRESS_TIME,   /* only the time so far */
    PROGRESS_WORLD,  /* entries of a world file */
    PROGRESS_READ,   /* bytes that this process has read since progress_watch_begin */
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

/* Prints the progress of a task from another OS thread, until progress_watch_end is called. Prints
 * nothing without a terminal. `total` is the expected number of bytes; 0 means unknown. */
void progress_watch_begin(struct progress_watch *w, const char *name, enum progress_source source,
                          int64_t total);
void progress_watch_end(struct progress_watch *w);

/* Returns the size of a file, or of all files below a folder, in bytes. Returns 0 if it does not
 * exist. */
int64_t read_size_of_file_or_folder(const char *path);

#endif
