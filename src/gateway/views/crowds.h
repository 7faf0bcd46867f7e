/* crowds.h - the visible online members of each guild, over all loops of the process.
 *
 * A user with several sessions counts once. Loops update the sets; any thread may read them. */
#ifndef GATEWAY_VIEWS_CROWDS_H
#define GATEWAY_VIEWS_CROWDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/snowflake.h"

struct crowds {
    pthread_mutex_t lock;
    struct map guilds;        /* guild id -> struct crowd; removed when empty */
    _Atomic unsigned watched; /* number of guilds for which some loop maintains member lists */
};

void crowds_init(struct crowds *all);
void crowds_clear(struct crowds *all);

/* Adds or removes a visible session of the user in a guild. */
void crowd_enter(struct crowds *all, snowflake guild_id, snowflake user_id);
void crowd_leave(struct crowds *all, snowflake guild_id, snowflake user_id);
size_t crowd_count(struct crowds *all, snowflake guild_id);
/* Returns a heap copy of the online users' ids; NULL if nobody is online. */
snowflake *crowd_ids(struct crowds *all, snowflake guild_id, size_t *ret_count);

/* Records that a loop starts or stops maintaining member lists of a guild. */
void crowd_watch(struct crowds *all, snowflake guild_id, bool watch);
bool crowd_is_watched(struct crowds *all, snowflake guild_id);

#endif
