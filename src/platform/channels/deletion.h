/* deletion.h - channels are marked, and deleted with all that belongs to them in steps
 * (api/deletion.h). */
#ifndef PLATFORM_CHANNELS_DELETION_H
#define PLATFORM_CHANNELS_DELETION_H

#include "api/deletion.h"

/* A channel that is no category, with its threads; a thread; a group that nobody is in. */
enum err channel_remove(struct call *call, snowflake id);

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
