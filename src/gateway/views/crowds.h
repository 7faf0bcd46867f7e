/* crowds.h - who of each guild is seen as being there, on all loops of the process together.
 *
 * Somebody with several sessions is counted once. Any thread may ask; loops tell. */
#ifndef GATEWAY_VIEWS_CROWDS_H
#define GATEWAY_VIEWS_CROWDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/snowflake.h"

struct crowds {
    pthread_mutex_t lock;
    struct map guilds;        /* id -> struct crowd; empty ones are not kept */
    _Atomic unsigned watched; /* crowds that somebody wants to hear of */
};

void crowds_init(struct crowds *all);
void crowds_clear(struct crowds *all);

/* A session that is seen comes to a guild, or goes. */
void crowd_enter(struct crowds *all, snowflake guild_id, snowflake user_id);
void crowd_leave(struct crowds *all, snowflake guild_id, snowflake user_id);
size_t crowd_count(struct crowds *all, snowflake guild_id);
/* Their ids, on the heap; *ret_count is how many. NULL: nobody is there. */
snowflake *crowd_ids(struct crowds *all, snowflake guild_id, size_t *ret_count);

/* Member lists of a guild begin to be kept on a loop, or end. */
void crowd_watch(struct crowds *all, snowflake guild_id, bool watch);
bool crowd_is_watched(struct crowds *all, snowflake guild_id);

#endif
