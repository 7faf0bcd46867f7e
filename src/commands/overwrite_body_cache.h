/* overwrite_body_cache.h - cache of the last bulk overwrite body of each app and guild (or global).
 * Bots send the same list at every start, and nearly all the time of the call is needed to decode
 * and check it. The process caches the last body with the resulting ids and versions. If the same
 * bytes are sent again, the result is the same while the rows have these versions and the
 * application supports the same installation contexts. */
#ifndef COMMANDS_OVERWRITE_BODY_CACHE_H
#define COMMANDS_OVERWRITE_BODY_CACHE_H

#include "commands/internal.h"

enum {
    /* Maximum size of a cached body in bytes; longer comparisons would block the event loop. */
    KNOWN_LONGEST = 1024 * 1024,
    /* Maximum number of commands in a cached body: more than a guild may have. */
    KNOWN_MOST = 160,
};

struct cached_bulk_overwrite_body {
    unsigned installs;
    size_t count;
    uint8_t order[KNOWN_MOST];           /* index of the stored row of each command in the body */
    unsigned char body[COMMANDS_DIGEST]; /* digest of the body */
    unsigned char rows[COMMANDS_DIGEST]; /* digest of all ids and versions */
};

/* Returns whether the last bulk overwrite had the same body as this request. */
bool bulk_overwrite_body_cache_find(const struct call *call, snowflake application_id,
                                    snowflake guild_id, struct cached_bulk_overwrite_body *ret);
/* Returns whether the rows (struct command_row, sorted by id) are still those that resulted from
 * the cached body. */
bool cached_bulk_overwrite_body_is_current(const struct call *call,
                                           const struct cached_bulk_overwrite_body *known,
                                           const struct list *rows);
/* Stores the body of a bulk overwrite. Must be called on the event loop, after the commit. */
void bulk_overwrite_body_cache_store(const struct call *call,
                                     const struct prepared_command_change *d);

#endif
