/* people.h - the members of a guild as cached JSON. */
#ifndef GATEWAY_SOURCE_PEOPLE_H
#define GATEWAY_SOURCE_PEOPLE_H

#include "model/guild.h"
#include "store/store.h"

/* Returns the first `limit` members by id. A cached result is valid until this thread caches
 * another. refers: members and users separately; else one list. */
enum err guild_people(struct tx *tx, snowflake guild_id, int64_t limit, bool refers,
                      const struct written_people **ret);

#endif
