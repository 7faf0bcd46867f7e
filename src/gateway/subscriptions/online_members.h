/* online_members.h - the visible online members of each guild, over all loops of the process.
 *
 * A user with several sessions counts once. Loops update the sets; any thread may read them. */
#ifndef GATEWAY_SUBSCRIPTIONS_ONLINE_MEMBERS_H
#define GATEWAY_SUBSCRIPTIONS_ONLINE_MEMBERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/snowflake.h"

struct online_members {
    pthread_mutex_t lock;
    /* Guilds with online members: guild id -> struct guild_online_members. */
    struct map guilds;
    _Atomic unsigned watched; /* number of guilds for which a loop has member lists */
};

void online_members_init(struct online_members *all);
void online_members_free(struct online_members *all);

/* Adds or removes a visible session of the user in a guild. */
void online_members_add_session(struct online_members *all, snowflake guild_id, snowflake user_id);
void online_members_remove_session(struct online_members *all, snowflake guild_id,
                                   snowflake user_id);
size_t online_members_count(struct online_members *all, snowflake guild_id);
/* Returns the ids of the guild's online users, allocated on the heap; NULL if nobody is online. */
snowflake *online_members_copy_ids(struct online_members *all, snowflake guild_id,
                                   size_t *ret_count);

/* Records whether a loop has member lists of a guild. */
void guild_record_whether_member_lists_exist(struct online_members *all, snowflake guild_id,
                                             bool watch);
bool guild_has_member_lists(struct online_members *all, snowflake guild_id);

#endif
