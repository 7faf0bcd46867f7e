/* permission_deletion.h - deletes the permission rows of a renamed or deleted command. A command
 * may have rows in a hundred thousand guilds. A row in permission_drops with a new round number
 * hides all permission rows with smaller rounds at once; hidden rows are then deleted in steps. The
 * transaction runs the first step, and a job runs the other steps. Rows that are written meanwhile
 * have the new round and stay. */
#ifndef COMMANDS_PERMISSION_DROPS_H
#define COMMANDS_PERMISSION_DROPS_H

#include "api/jobs/jobs.h"
#include "commands/internal.h"

/* SQL condition: no pending deletion hides the row p of command_permissions. */
#define PERMISSION_NOT_DELETED                                                                  \
    "not exists (select 1 from permission_drops d where d.target_id = p.target_id and d.round " \
    "> p.round)"

/* Maximum number of permission rows that one transaction deletes. Each guild counts as one
 * additional row. */
enum { PERMISSION_DELETIONS_PER_STEP = 400 };

/* Deletes at most `room` permission rows of a command, and subtracts their number from `room`. If
 * emit_events is set, emits the permissions event with an empty list to each guild. */
enum err delete_command_permissions(struct call *call, const struct command_row *k,
                                    bool emit_events, int64_t *room);
/* Deletes all permission rows of a command in one step, without events; for offline tools. */
enum err delete_all_command_permissions(struct tx *tx, snowflake command_id);

extern const struct job_kind permission_deletion_job;

#endif
