/* kept_lists.h - cached JSON of a user's relationships. */
#ifndef PLATFORM_RELATIONSHIPS_KEPT_LISTS_H
#define PLATFORM_RELATIONSHIPS_KEPT_LISTS_H

#include "model/guild.h"
#include "store/store.h"

/* Reads the JSON of all relationships. A cached result is valid until this thread caches another
 * result. refers: separate entries that refer to users (READY); else one list. */
enum err relationships_written(struct tx *tx, snowflake user_id, bool refers,
                               const struct written_people **ret);

#endif
