/* known_bodies.h - what a scope's commands were last made of.
 *
 * Bots send the same list at every start, and reading and checking it is nearly all that such a
 * call costs. So a process keeps the last body of a scope with what it came to: ids and versions,
 * which every change of a command moves. The same bytes come to the same again
 * while the rows have those, and the application can be installed as it could then. */
#ifndef COMMANDS_KNOWN_BODIES_H
#define COMMANDS_KNOWN_BODIES_H

#include "commands/internal.h"

enum {
    KNOWN_LONGEST = 1024 * 1024, /* longer bodies would take a loop too long to look at */
    KNOWN_MOST = 160,            /* commands; more than a scope has */
};

struct known_body {
    unsigned installs;
    size_t count;
    uint8_t order[KNOWN_MOST];           /* of each command of the body: its place among the rows */
    unsigned char body[COMMANDS_DIGEST]; /* of its bytes */
    unsigned char rows[COMMANDS_DIGEST]; /* of all rows' ids and versions */
};

/* Is it what the scope was last overwritten with? */
bool known_body_find(const struct call *call, snowflake application_id, snowflake guild_id,
                     struct known_body *ret);
/* Whether the rows (struct command_row, by id) are what the body came to. */
bool known_body_holds(const struct call *call, const struct known_body *known,
                      const struct list *rows);
/* On the loop, after the commit. */
void known_body_note(const struct call *call, const struct command_drafts *d);

#endif
