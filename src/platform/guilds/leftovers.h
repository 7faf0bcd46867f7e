/* leftovers.h - the end of what very many rows may hang on.
 *
 * A guild may have half a million members, a channel a million messages. Whoever ends one
 * marks its row, so that nothing finds it from then on, and leaves the rest to steps of a few
 * hundred rows: the first is in the same transaction and mostly the last, the others are a
 * job's. How far they are is what is left in the store, so a process that dies leaves nothing
 * undone. */
#ifndef PLATFORM_GUILDS_LEFTOVERS_H
#define PLATFORM_GUILDS_LEFTOVERS_H

#include "api/jobs/jobs.h"

enum { LEFTOVERS_AT_ONCE = 300 }; /* rows of one step: a few milliseconds of the writer */

/* A channel that is no category, with its threads; a thread; a group that nobody is in. */
enum err channel_remove(struct call *call, snowflake id);
enum err guild_remove(struct call *call, snowflake id);
/* Until the last step members may be shown with its id; it gives them nothing. */
enum err role_remove(struct call *call, snowflake id);

extern const struct job_kind channel_leftovers, guild_leftovers, role_leftovers;
extern const struct job_kind message_orphans; /* orphans.c */

/* SQL, for a column with the id of a channel or thread: is it being deleted? Its row is marked, or
 * that of its channel: archived threads are not marked themselves, nor threads of a guild that is
 * being deleted. Statements that show rows of a channel without having read the channel leave out
 * rows for which this is true. */
#define CHANNEL_BEING_DELETED(id)                                                        \
    " exists (select 1 from channels del_c where del_c.id = " id " and (del_c.type < 0 " \
    "or" PARENT_BEING_DELETED("del_c.parent_id") "))"
/* The second half of that, for statements that read the channel. */
#define PARENT_BEING_DELETED(parent_id) \
    " exists (select 1 from channels del_p where del_p.id = " parent_id " and del_p.type < 0)"

#endif
