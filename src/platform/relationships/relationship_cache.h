/* relationship_cache.h - cached JSON of a user's relationships. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIP_CACHE_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIP_CACHE_H

#include "model/guild.h"
#include "store/store.h"

/* Reads the JSON of all relationships. A cached result is valid until this thread caches another
 * result. refers: separate entries that refer to users (READY); else one list. */
enum err relationships_read_json(struct tx *tx, snowflake user_id, bool refers,
                                 const struct encoded_members **ret);

#endif
