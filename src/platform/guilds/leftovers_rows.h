/* leftovers_rows.h - which rows hang on a guild, a channel or a role. */
#ifndef PLATFORM_GUILDS_LEFTOVERS_ROWS_H
#define PLATFORM_GUILDS_LEFTOVERS_ROWS_H

#include "store/store.h"

/* Rows of one table. Both statements take the object and how many, and look at the same rows:
 * the first marks the files that go with them (NULL: they have none), the second removes. */
struct leftovers {
    struct sql mark, remove; /* a text of NULL: none */
};

/* Lists end with a row of neither. Of a channel, in this order: */
extern const struct leftovers leftovers_before_messages[];
/* What hangs on the messages that go next, then these. */
extern const struct leftovers leftovers_of_messages[], leftovers_messages;
extern const struct leftovers leftovers_after_messages[];

extern const struct leftovers leftovers_of_role[];

/* Of a guild without its channels. */
extern const struct leftovers leftovers_roles_of_members[], leftovers_of_members[];
extern const struct leftovers leftovers_of_guild[];

#endif
