/* relationship_cache.h - cached JSON of a user's relationships. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIP_CACHE_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIP_CACHE_H

#include "model/guild.h"
#include "store/store.h"

/* Reads the JSON of a user's relationships. *ret is valid until this OS thread caches another
 * result. If refers is true, the JSON has user ids instead of user objects (for READY). */
enum err relationships_read_json(struct tx *tx, snowflake user_id, bool refers,
                                 const struct encoded_members **ret);

#endif
