/* serve.h - runs the server, for `serve` and `demo`. */
#ifndef TOOLS_SERVE_H
#define TOOLS_SERVE_H

#include "tools/tools.h"

/* Runs the server until a signal stops it. Prints the URL as the first line, then calls `ready`
 * (which may be NULL). SIGHUP reloads the settings; if `settings` is NULL, SIGHUP stops the
 * server. */
int serve_until_stopped(const struct config *config, const struct command_settings *settings,
                        void (*ready)(void *arg, const char *url), void *arg);

#endif
