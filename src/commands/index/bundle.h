/* bundle.h - bundles: all commands of a scope in one row, for lists and indexes.
 *
 * An index may show a thousand commands. Reading one row per command costs a microsecond each; a
 * bundle has a block of numbers to filter by and one text to copy from. It is rewritten when a
 * command of its scope changes. Long texts stay in the command rows, which bounds that write.
 *
 * A bundle is derived data: if it is unreadable, readers use the command rows until it is
 * rewritten. */
#ifndef COMMANDS_BUNDLE_H
#define COMMANDS_BUNDLE_H

#include "commands/commands.h"

struct bundle_entry {
    snowflake id, version;
    uint64_t default_member_permissions; /* BUNDLE_ANYBODY: null */
    uint64_t locales;
    uint32_t length; /* length of the text in bytes; 0: unknown */
    uint32_t size;   /* size of the definition in bytes */
    uint8_t type, nsfw, contexts, integration_types;
};
#define BUNDLE_ANYBODY UINT64_MAX

struct bundle {
    snowflake application_id, guild_id;
    const struct bundle_entry *entries; /* sorted by id */
    size_t count;
    struct str texts; /* comma-separated; empty: texts are in the command rows */
    bool unreadable;  /* row not decodable: entries are from the command rows */
};

/* --- bundle_format.c: the bytes of the column `entries` ------------------------------- */

/* Encodes entries: four bytes of magic and version, then little-endian fields. */
struct str bundle_encode(struct arena *arena, const struct bundle_entry *entries, size_t count);
/* Decodes entries. Returns false if the bytes are not a valid list, or if the lengths do not match
 * the texts. */
bool bundle_decode(struct arena *arena, struct str bytes, struct str texts,
                   const struct bundle_entry **ret, size_t *ret_count);

/* --- bundle.c ------------------------------------------------------------------------- */

/* Decodes a bundle from its columns `entries` and `texts`. */
enum err bundle_read(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct str entries, struct str texts, struct bundle *ret);
/* Reads a bundle; an empty one if there is no row. */
enum err bundle_find(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct bundle *ret);
/* Rewrites the bundle from the command rows. *ret_grown: total size of all definitions if it grew,
 * else 0. */
enum err bundle_write(struct tx *tx, snowflake application_id, snowflake guild_id,
                      size_t *ret_grown);
/* Schedules the rewrite of an unreadable bundle, after the reply of this read-only call. */
void bundle_repair_later(struct call *call, const struct bundle *b);

/* --- iterating over a bundle ---------------------------------------------------------- */

struct bundle_walk {
    const struct bundle *bundle;
    size_t next;      /* index of the next entry */
    const char *text; /* start of the next text, if the bundle has texts */
    struct rows rows; /* texts from the command rows; .lent may be set */
    bool at_row;
};

enum err bundle_walk_begin(struct tx *tx, const struct bundle *b, struct bundle_walk *ret);
bool bundle_walk_next(struct bundle_walk *w, const struct bundle_entry **ret, struct str *ret_text);
enum err bundle_walk_end(struct bundle_walk *w);

#endif
