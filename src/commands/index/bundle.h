/* bundle.h - the commands of a scope in one row, as lists and indexes show them.
 *
 * An index may show a thousand commands. As a row each they would cost a microsecond each
 * to be found; in a bundle they are a block of numbers to choose by and one text to copy
 * from. A bundle is made anew whenever a command of its scope changes. Where the texts are
 * large they stay with their commands, so that a change never writes much.
 *
 * A bundle is derived: one that cannot be read costs nothing but time. Its scope is read
 * from the rows of its commands until it has been made anew. */
#ifndef COMMANDS_BUNDLE_H
#define COMMANDS_BUNDLE_H

#include "commands/commands.h"

/* One command of a bundle. */
struct bundle_entry {
    snowflake id, version;
    uint64_t default_member_permissions; /* BUNDLE_ANYBODY: null */
    uint64_t locales;
    uint32_t length; /* of its text; 0: not known */
    uint32_t size;   /* of its definition, in all languages */
    uint8_t type, nsfw, contexts, integration_types;
};
#define BUNDLE_ANYBODY UINT64_MAX

struct bundle {
    snowflake application_id, guild_id;
    const struct bundle_entry *entries; /* by id */
    size_t count;
    struct str texts; /* with a comma between two; empty: they are with their commands */
    bool unreadable;  /* the row made no sense: these are from the commands' own rows */
};

/* --- bundle_format.c: the bytes of the column `entries` ------------------------------- */

/* Explicit little-endian fields behind four bytes that name the format. */
struct str bundle_encode(struct arena *arena, const struct bundle_entry *entries, size_t count);
/* False when the bytes are no such list, or not one that fits the texts beside it. */
bool bundle_decode(struct arena *arena, struct str bytes, struct str texts,
                   const struct bundle_entry **ret, size_t *ret_count);

/* --- bundle.c ------------------------------------------------------------------------- */

/* From the columns `entries` and `texts`. */
enum err bundle_read(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct str entries, struct str texts, struct bundle *ret);
/* Empty when there is none. */
enum err bundle_find(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct bundle *ret);
/* From the rows of its commands. *ret_grown: the bytes of all definitions together where
 * they are more than before, else 0. */
enum err bundle_write(struct tx *tx, snowflake application_id, snowflake guild_id,
                      size_t *ret_grown);
/* Has an unreadable bundle made anew when the call, which only reads, has been answered. */
void bundle_repair_later(struct call *call, const struct bundle *b);

/* --- walking a bundle: each command with its text ------------------------------------- */

struct bundle_walk {
    const struct bundle *bundle;
    size_t next;      /* entry */
    const char *text; /* where the next one begins, of a bundle that has them */
    struct rows rows; /* of texts that are with their commands; .lent may be set */
    bool at_row;
};

enum err bundle_walk_begin(struct tx *tx, const struct bundle *b, struct bundle_walk *ret);
bool bundle_walk_next(struct bundle_walk *w, const struct bundle_entry **ret, struct str *ret_text);
enum err bundle_walk_end(struct bundle_walk *w);

#endif
