/* kept_lists.h - a person's relationships, written out. */
#ifndef PLATFORM_RELATIONSHIPS_KEPT_LISTS_H
#define PLATFORM_RELATIONSHIPS_KEPT_LISTS_H

#include "model/guild.h"
#include "store/store.h"

/* All of an account; of those that are kept until this thread keeps something else. refers: one by
 * one, each beside its user; else as one list. */
enum err relationships_written(struct tx *tx, snowflake user_id, bool refers,
                               const struct written_people **ret);

#endif
