/* deletion.h - deletes channels: marks the row first, then deletes in steps (api/deletion.h). */
#ifndef PLATFORM_CHANNELS_DELETION_H
#define PLATFORM_CHANNELS_DELETION_H

#include "api/deletion.h"

/* Deletes a channel (not a category) with its threads, a thread, or an empty group. */
enum err channel_delete(struct call *call, snowflake id);

/* SQL condition: the channel or thread with this id is being deleted, because its row or that of
 * its parent is marked (archived threads and threads of a deleted guild are not marked themselves).
 * Queries that return rows of a channel without reading the channel must exclude such channels. */
#define CHANNEL_BEING_DELETED(id)                                                        \
    " exists (select 1 from channels del_c where del_c.id = " id " and (del_c.type < 0 " \
    "or" PARENT_BEING_DELETED("del_c.parent_id") "))"
/* SQL condition on parent_id: true while the parent channel is being deleted. */
#define PARENT_BEING_DELETED(parent_id) \
    " exists (select 1 from channels del_p where del_p.id = " parent_id " and del_p.type < 0)"

#endif
