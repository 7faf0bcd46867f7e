/* meter.h - progress output: a bar on a terminal, lines otherwise. */
#ifndef TOOLS_METER_H
#define TOOLS_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
    const char *name; /* name of the command */
    bool terminal;
    const char *what; /* current unit, a literal */
    int told;         /* tenths printed so far; only for line output */
    int64_t since;
};

void meter_begin(struct meter *m, const char *name);
/* Prints progress. what: the unit as a literal, such as "rows"; a new unit starts a new bar. */
void meter_tell(struct meter *m, const char *what, int64_t done, int64_t total);
void meter_end(struct meter *m);

#endif
