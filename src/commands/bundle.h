/* bundle.h - the commands of a scope in one row, as lists and indexes show them.
 *
 * An index may show a thousand commands. As a row each they would cost a microsecond each
 * to be found; in a bundle they are a block of numbers to choose by and one text to copy
 * from. It is made anew whenever a command of its scope changes. */
#ifndef COMMANDS_BUNDLE_H
#define COMMANDS_BUNDLE_H

#include "commands/commands.h"

/* One command of a bundle. */
struct bundle_entry {
    snowflake id;
    uint64_t default_member_permissions; /* BUNDLE_ANYBODY: null */
    uint64_t locales;
    uint32_t length; /* of its text */
    uint8_t type, nsfw, contexts, integration_types;
};
#define BUNDLE_ANYBODY UINT64_MAX

struct bundle {
    snowflake application_id, guild_id;
    const struct bundle_entry *entries;
    size_t count;
    struct str texts; /* with a comma between two */
};

/* From the columns `entries` and `texts`. */
struct bundle bundle_read(struct arena *arena, snowflake application_id, snowflake guild_id,
                          struct str entries, struct str texts);
/* Empty when there is none. */
enum err bundle_find(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct bundle *ret);
/* From the rows of its commands. */
enum err bundle_write(struct tx *tx, snowflake application_id, snowflake guild_id);

#endif
