/* thread_sync.h - open threads that a session sees, when it comes to see their channels. */
#ifndef GATEWAY_FANOUT_THREAD_SYNC_H
#define GATEWAY_FANOUT_THREAD_SYNC_H

#include <stddef.h>

#include "base/snowflake.h"

struct session;

/* THREAD_LIST_SYNC for channels that have come into view; none: of all of the guild. */
void thread_sync_begin(struct session *s, snowflake guild_id, const snowflake *channels,
                       size_t count);
/* THREAD_MEMBER_LIST_UPDATE: who is in a thread that the session sees. */
void thread_people_begin(struct session *s, snowflake guild_id, snowflake thread_id);

#endif
