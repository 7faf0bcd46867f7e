/* progress.h - progress output: a bar on a terminal, lines otherwise. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_output {
    const char *name; /* name of the command */
    bool terminal;
    const char *what;   /* current unit, a string literal */
    int printed_tenths; /* tenths of the total printed so far; only for line output */
    int64_t since;
};

void progress_begin(struct progress_output *m, const char *name);
/* Prints progress. `what` is the unit, a literal such as "rows"; a new unit starts a new bar. */
void progress_print(struct progress_output *m, const char *what, int64_t done, int64_t total);
void progress_end(struct progress_output *m);

#endif
