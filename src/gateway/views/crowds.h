/* crowds.h - the visible online members of each guild, over all loops of the process.
 *
 * A user with several sessions counts once. Any thread may query; loops update. */
#ifndef GATEWAY_VIEWS_CROWDS_H
#define GATEWAY_VIEWS_CROWDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/snowflake.h"

struct crowds {
    pthread_mutex_t lock;
    struct map guilds;        /* id -> struct crowd; empty ones are removed */
    _Atomic unsigned watched; /* guilds with member lists on some loop */
};

void crowds_init(struct crowds *all);
void crowds_clear(struct crowds *all);

/* A visible session joins or leaves a guild. */
void crowd_enter(struct crowds *all, snowflake guild_id, snowflake user_id);
void crowd_leave(struct crowds *all, snowflake guild_id, snowflake user_id);
size_t crowd_count(struct crowds *all, snowflake guild_id);
/* The user ids, on the heap. NULL: nobody is online. */
snowflake *crowd_ids(struct crowds *all, snowflake guild_id, size_t *ret_count);

/* A loop starts or stops maintaining member lists of a guild. */
void crowd_watch(struct crowds *all, snowflake guild_id, bool watch);
bool crowd_is_watched(struct crowds *all, snowflake guild_id);

#endif
