/* as_discord.h - `serve --as-discord`: runs the server, and a command for which Discord's host
 * names lead to this server. */
#ifndef TOOLS_AS_DISCORD_H
#define TOOLS_AS_DISCORD_H

#include "tools/tools.h"

/* Runs the server until a signal stops it or the command ends. command may be NULL. Returns the
 * exit status of the command; without a command, that of the server. */
int serve_as_discord(const struct command_settings *s, char **command);

#endif
