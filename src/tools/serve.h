/* serve.h - the server, for the tools that run one. */
#ifndef TOOLS_SERVE_H
#define TOOLS_SERVE_H

#include "tools/tools.h"

/* Serves until a signal asks it to stop. The first line it prints says where it
 * listens; ready (may be NULL) is called after it and may print more. SIGHUP makes it read its
 * settings again; NULL: there are none to read, and it stops. */
int serve_until_stopped(const struct config *config, const struct settings *settings,
                        void (*ready)(void *arg, const char *url), void *arg);

#endif
