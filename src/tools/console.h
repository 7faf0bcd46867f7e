/* console.h - the console's routes, called from the command line.
 *
 * Whoever may open files in the data folder is the operator: the control socket says where
 * the server listens, and what the console's key is. */
#ifndef TOOLS_CONSOLE_H
#define TOOLS_CONSOLE_H

#include "tools/tools.h"
#include "tools/wire.h"

/* The server that runs on the data folder, with the key as its token. NULL: none does; says
 * so. */
struct wire *console_reach(const struct config *config, struct arena *arena);

#endif
