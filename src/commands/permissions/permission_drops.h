/* permission_drops.h - the end of the rows that say who may use a command.
 *
 * A command may have rows in a hundred thousand guilds. Who renames or deletes it marks them all
 * (permission_drops), so that nobody sees them from then on, and they go in steps: the first is in
 * the same transaction and mostly the last, the others are a job's. How far they are is what is
 * left in the store. Rows that are written meanwhile are of the mark's round, and stay. */
#ifndef COMMANDS_PERMISSION_DROPS_H
#define COMMANDS_PERMISSION_DROPS_H

#include "api/jobs/jobs.h"
#include "commands/internal.h"

/* SQL: a row p of command_permissions that no mark hides. */
#define PERMISSION_STANDS                                                                       \
    "not exists (select 1 from permission_drops d where d.target_id = p.target_id and d.round " \
    "> p.round)"

/* What one transaction may cost, in rows; a guild counts for one more. */
enum { PERMISSION_DROPS_AT_ONCE = 400 };

/* Takes from *room what was done at once. tell: each guild hears that it has none any more. */
enum err permissions_drop(struct call *call, const struct command_row *k, bool tell, int64_t *room);
/* For tools, with no server beside: all at once, and nobody hears of it. */
enum err permissions_remove(struct tx *tx, snowflake command_id);

extern const struct job_kind permission_drop_job;

#endif
