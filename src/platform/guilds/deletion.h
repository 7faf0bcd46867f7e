/* deletion.h - deletes guilds and roles: marks the row, then deletes in steps (api/deletion.h). */
#ifndef PLATFORM_GUILDS_DELETION_H
#define PLATFORM_GUILDS_DELETION_H

#include "api/deletion.h"

enum err guild_mark_deleted_and_run_deletion(struct call *call, snowflake id);
/* A role that is being deleted grants no permissions; its id remains in member_roles until the last
 * step. */
enum err role_mark_deleted_and_run_deletion(struct call *call, snowflake id);

extern const struct job_kind guild_deletion_job, role_deletion_job;
extern const struct deletion_rule guild_deletions[];

#endif
