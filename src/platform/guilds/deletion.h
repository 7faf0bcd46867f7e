/* deletion.h - guilds and roles are marked, and deleted with all that belongs to them in steps
 * (api/deletion.h). */
#ifndef PLATFORM_GUILDS_DELETION_H
#define PLATFORM_GUILDS_DELETION_H

#include "api/deletion.h"

enum err guild_remove(struct call *call, snowflake id);
/* Until the last step members may be shown with its id; it gives them nothing. */
enum err role_remove(struct call *call, snowflake id);

extern const struct job_kind guild_leftovers, role_leftovers;
extern const struct deletion_rule guild_deletions[];

#endif
