/* thread_sync.h - sends THREAD_LIST_SYNC and THREAD_MEMBER_LIST_UPDATE to a session. */
#ifndef GATEWAY_FANOUT_THREAD_SYNC_H
#define GATEWAY_FANOUT_THREAD_SYNC_H

#include <stddef.h>

#include "base/snowflake.h"

struct session;

/* Sends THREAD_LIST_SYNC with the Discord threads of `count` channels that became visible to the
 * session; count 0 means all channels of the guild. */
void begin_sending_thread_list_sync(struct session *s, snowflake guild_id,
                                    const snowflake *channels, size_t count);
/* Sends THREAD_MEMBER_LIST_UPDATE, with the thread's members, if the session can view the thread.
 */
void begin_sending_thread_member_list_update(struct session *s, snowflake guild_id,
                                             snowflake thread_id);

#endif
