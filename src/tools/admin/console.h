/* console.h - the console's routes, called from the command line.
 *
 * Whoever may open files in the data folder is the operator: the control socket says where
 * the server listens, and what the console's key is. */
#ifndef TOOLS_ADMIN_CONSOLE_H
#define TOOLS_ADMIN_CONSOLE_H

#include "tools/tools.h"
#include "tools/wire/wire.h"

/* The server that runs on the data folder, with the key as its token. NULL: none does; says
 * so. */
struct wire *console_reach(const struct config *config, struct arena *arena);

/* One call to a route of the console; its answer, or an answer with status 0 after having said
 * why there is none. body: JSON, or p == NULL. */
struct wire_answer console_call(const struct config *config, struct arena *arena,
                                const char *method, const char *path, struct str body);

/* "15m", "3s", "250ms", "2h", "1d", or seconds. False: it is none of these. */
bool read_duration(const char *text, int64_t *ret_ms);

#endif
