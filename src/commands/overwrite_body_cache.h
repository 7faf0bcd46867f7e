/* overwrite_body_cache.h - cache of the last bulk overwrite body of each app and guild (or
 * global). Bots send the same list at every start, and nearly all the time of the call is needed to
 * decode and check it. The process caches the last body with the resulting ids and versions. The
 * same bytes have the same result as long as the rows have those versions and the application
 * supports the same installation contexts. */
#ifndef COMMANDS_OVERWRITE_BODY_CACHE_H
#define COMMANDS_OVERWRITE_BODY_CACHE_H

#include "commands/internal.h"

enum {
    KNOWN_LONGEST = 1024 * 1024, /* bytes; comparing longer bodies would block the loop */
    KNOWN_MOST = 160,            /* number of commands; more than a guild may have */
};

struct cached_overwrite_body {
    unsigned installs;
    size_t count;
    uint8_t order[KNOWN_MOST];           /* row index of each command of the body */
    unsigned char body[COMMANDS_DIGEST]; /* digest of the body */
    unsigned char rows[COMMANDS_DIGEST]; /* digest of all ids and versions */
};

/* Returns true if the last bulk overwrite had the same body as this request. */
bool overwrite_body_cache_find(const struct call *call, snowflake application_id,
                               snowflake guild_id, struct cached_overwrite_body *ret);
/* Returns true if the rows (struct command_row, by id) still are the result of the cached body. */
bool cached_overwrite_body_is_current(const struct call *call,
                                      const struct cached_overwrite_body *known,
                                      const struct list *rows);
/* Stores the body of a bulk overwrite. Call on the loop, after the commit. */
void overwrite_body_cache_store(const struct call *call, const struct prepared_command_change *d);

#endif
