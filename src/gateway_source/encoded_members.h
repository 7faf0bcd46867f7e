/* encoded_members.h - the members of a guild as cached JSON. */
#ifndef GATEWAY_SOURCE_ENCODED_MEMBERS_H
#define GATEWAY_SOURCE_ENCODED_MEMBERS_H

#include "model/guild.h"
#include "store/store.h"

/* Returns the first `limit` members of the guild, sorted by id. A result from the cache is valid
 * until this thread caches another result. If `refers` is true, members and users are encoded
 * separately; otherwise the members are one JSON list. */
enum err read_encoded_members(struct tx *tx, snowflake guild_id, int64_t limit, bool refers,
                              const struct encoded_members **ret);

#endif
