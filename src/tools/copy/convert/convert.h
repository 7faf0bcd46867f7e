/* convert.h - converts API objects of the source server to entries of world files.
 *
 * There is one function per type of object. An entry of a world file may refer only to objects that
 * exist. So the caller converts objects before those that refer to them, and records what it has
 * imported. Accounts of other people are added as placeholder accounts (world_users.c). */
#ifndef TOOLS_COPY_CONVERT_CONVERT_H
#define TOOLS_COPY_CONVERT_CONVERT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/snowflake.h"
#include "tools/copy/archive/archive.h"

/* JSON text of the entries of one list in a world file. */
struct world_entries {
    struct buf text; /* entries, separated by commas */
    size_t *ends;    /* offset after each entry */
    size_t count, capacity;
};
void world_file_entries_clear(struct world_entries *e);
/* Ends an entry that was written to .text, so that another one can follow. */
void world_file_entries_end_entry(struct world_entries *e);

/* Ids that entries may refer to. */
struct guild_copy_known_ids {
    struct map users, roles, channels, emojis;
};
struct guild_copy_conversion {
    const struct guild_archive *archive;
    snowflake guild;
    bool people, welcome_screen_enabled;
    struct guild_copy_known_ids known;
    /* Accounts to which other entries refer, so that the next import adds them first. */
    struct world_entries users;
    struct map queued; /* ids of these accounts */
    /* Id of a pinned message to the time when it was pinned, as JSON (struct str). */
    struct map pinned_at;
    /* Number of references that were omitted, because their objects no longer exist. */
    int64_t omitted;
};
/* Converts an API object and appends it as an entry. Returns false if objects of this kind are not
 * copied. */
typedef bool world_file_entry_writer(struct guild_copy_conversion *c, struct arena *arena,
                                     struct str object, struct buf *out);
world_file_entry_writer write_world_guild, write_world_role, write_world_channel,
    write_world_member, write_world_ban, write_world_emoji, write_world_sticker, write_world_sound,
    write_world_event, write_world_automod_rule, write_world_webhook, write_world_message,
    write_world_invite, write_world_welcome_screen, write_world_onboarding, write_world_widget;
/* Returns the name that world files use for a channel type. Returns NULL if channels of this type
 * are not copied. */
const char *get_world_file_name_of_channel_type(int64_t type);
/* Adds an account that an entry refers to; object is a user object of the interface. */
void add_user_to_world_file(struct guild_copy_conversion *c, struct arena *arena, struct str user);
bool guild_copy_id_is_known(const struct map *ids, snowflake id);
void guild_copy_add_known_id(struct map *ids, snowflake id);
/* Makes the queued accounts known, except those of which only the id is known. */
void mark_added_users_as_known(struct guild_copy_conversion *c);

#endif
