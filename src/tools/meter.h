/* meter.h - how far something long is: a bar on a terminal, lines in a file. */
#ifndef TOOLS_METER_H
#define TOOLS_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
    const char *name; /* of the command */
    bool terminal;
    const char *what; /* of which the last was told, a literal */
    int told;         /* tenths of it, for those who read lines */
    int64_t since;
};

void meter_begin(struct meter *m, const char *name);
/* what: a literal, "rows"; another one begins anew. */
void meter_tell(struct meter *m, const char *what, int64_t done, int64_t total);
void meter_end(struct meter *m);

#endif
