/* people.h - everybody in a guild, written out. */
#ifndef GATEWAY_SOURCE_PEOPLE_H
#define GATEWAY_SOURCE_PEOPLE_H

#include "model/guild.h"
#include "store/store.h"

/* The first so many, by id; of those that are kept until this thread keeps something else. refers:
 * one by one, each beside their user; else as one list. */
enum err guild_people(struct tx *tx, snowflake guild_id, int64_t limit, bool refers,
                      const struct written_people **ret);

#endif
