/* bundle.h - command bundles: all commands of a guild, or all global commands, of an app in one
 * row. An index may list a thousand commands. Reading a row costs a microsecond per command. A
 * bundle has a block of numbers, by which readers filter commands, and one text, from which readers
 * copy commands. A change of a command rewrites its bundle. Long texts stay in the command rows, so
 * that rewriting a bundle is a small write. If a bundle cannot be decoded, readers use the command
 * rows until it is rewritten. */
#ifndef COMMANDS_BUNDLE_H
#define COMMANDS_BUNDLE_H

#include "commands/commands.h"

struct command_bundle_entry {
    snowflake id, version;
    uint64_t default_member_permissions; /* BUNDLE_NO_DEFAULT_PERMISSIONS means null */
    uint64_t locales;
    uint32_t length; /* length of the command's JSON text in bytes; 0 if unknown */
    uint32_t size;   /* size of the definition in bytes */
    uint8_t type, nsfw, contexts, integration_types;
};
#define BUNDLE_NO_DEFAULT_PERMISSIONS UINT64_MAX

struct command_bundle {
    snowflake application_id, guild_id;
    const struct command_bundle_entry *entries; /* sorted by id */
    size_t count;
    struct str texts; /* JSON texts separated by commas; empty if only the command rows have them */
    /* The entries were read from the command rows, because the bundle row cannot be decoded. */
    bool unreadable;
};

/* --- bundle_format.c: the bytes of the column `entries` ------------------------------- */

/* Encodes the entries of a bundle: four bytes of magic and version, then little-endian fields. */
struct str encode_command_bundle_entries(struct arena *arena,
                                         const struct command_bundle_entry *entries, size_t count);
/* Decodes the entries of a bundle. Returns false if the bytes are invalid, or if the lengths do not
 * match the texts. */
bool decode_command_bundle_entries(struct arena *arena, struct str bytes, struct str texts,
                                   const struct command_bundle_entry **ret, size_t *ret_count);

/* --- bundle.c ------------------------------------------------------------------------- */

/* Decodes a bundle from its columns `entries` and `texts`. */
enum err command_bundle_decode_columns(struct tx *tx, snowflake application_id, snowflake guild_id,
                                       struct str entries, struct str texts,
                                       struct command_bundle *ret);
/* Reads a bundle. If there is no row, the result is an empty bundle. */
enum err read_command_bundle(struct tx *tx, snowflake application_id, snowflake guild_id,
                             struct command_bundle *ret);
/* Rewrites the bundle from the command rows. If the total size of all definitions has grown, sets
 * *ret_grown to this size in bytes, else to 0. */
enum err rewrite_command_bundle(struct tx *tx, snowflake application_id, snowflake guild_id,
                                size_t *ret_grown);
/* Schedules the rewrite of an unreadable bundle in another call after the reply, because this call
 * may only read. */
void schedule_command_bundle_repair(struct call *call, const struct command_bundle *b);

/* --- iterating over a bundle ---------------------------------------------------------- */

struct command_bundle_iterator {
    const struct command_bundle *bundle;
    size_t next;      /* index of the next entry */
    const char *text; /* start of the next command's text; used if the bundle has texts */
    struct rows rows; /* command rows, read if the bundle has no texts */
    bool at_row;
};

enum err command_bundle_iterator_begin(struct tx *tx, const struct command_bundle *b,
                                       struct command_bundle_iterator *ret);
bool command_bundle_iterator_next(struct command_bundle_iterator *w,
                                  const struct command_bundle_entry **ret, struct str *ret_text);
enum err command_bundle_iterator_end(struct command_bundle_iterator *w);

#endif
