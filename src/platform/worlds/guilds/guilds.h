/* guilds.h - what of a world file is a guild's, a file a kind: its rows, the way in, the way out.
 */
#ifndef PLATFORM_WORLDS_GUILDS_GUILDS_H
#define PLATFORM_WORLDS_GUILDS_GUILDS_H

#include "platform/worlds/file/file.h"

struct world_role {
    struct opt_id id;
    struct str name;
    struct opt_str permissions, unicode_emoji, bot;
    struct opt_int color, secondary_color, tertiary_color, position, flags;
    struct opt_bool hoist, mentionable, managed;
};
struct world_overwrite {
    struct opt_str role, member, allow, deny;
};
struct world_channel {
    struct opt_id id;
    struct str name, type;
    struct opt_str parent, topic, rtc_region, owner;
    struct opt_int position, rate_limit_per_user, bitrate, user_limit, video_quality_mode, flags;
    struct opt_int default_auto_archive_duration, auto_archive_duration, archived_at;
    struct opt_bool nsfw, archived, locked;
    struct opt_list overwrites, messages; /* struct world_overwrite, world_message */
};
struct world_member {
    struct str user;
    struct opt_str nick, bio;
    struct opt_list roles; /* struct str */
    struct opt_int joined_at, premium_since, timed_out_until, flags;
    struct opt_bool mute, deaf, pending;
};
struct world_ban {
    struct str user;
    struct opt_str reason;
};
struct world_installed {
    struct opt_id id;
    struct str application;
    struct opt_str by, scopes;
    struct opt_str commands; /* JSON: those of this guild alone */
};
/* An export has their names and marks, not their files. */
struct world_emoji {
    struct opt_id id;
    struct str name;
    struct opt_bool animated;
    struct opt_list roles; /* struct str; of guilds only */
    struct opt_str by;
    struct opt_image image;
};
struct world_sticker {
    struct opt_id id;
    struct str name, tags;
    struct opt_str description, format, by;
    struct opt_image image;
};
struct world_sound {
    struct opt_id id;
    struct str name;
    struct opt_real volume;
    struct opt_str emoji, unicode_emoji;
};
struct world_rule {
    struct opt_id id;
    struct str name, by;
    int64_t trigger_type;
    struct opt_object trigger_metadata; /* struct automod_metadata */
    struct list actions;                /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* struct str */
};
struct world_guild {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, features, preferred_locale;
    struct opt_int afk_timeout, system_channel_flags, verification_level,
        default_message_notifications, explicit_content_filter;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_list roles, channels, members, bans, applications, integrations, emojis, sounds,
        stickers, automod;
    struct opt_str afk_channel, system_channel, rules_channel, public_updates_channel,
        safety_alerts_channel;
};

extern const struct type world_guild_list, world_role_list, world_member_list, world_ban_list,
    world_installed_list, world_channel_list, world_overwrite_list, world_emoji_list,
    world_application_emoji_list, world_sound_list, world_sticker_list, world_rule_list;

/* --- in ------------------------------------------------------------------------------- */

import_step import_guild;
/* The first one listed is the highest. */
enum err import_roles(struct importing *im, const struct opt_list *list, snowflake guild,
                      const struct place *up);
enum err add_everyone(struct importing *im, snowflake guild);
import_step import_member, import_ban, import_installed;
enum err add_member(struct importing *im, snowflake guild, snowflake user, bool *ret_new);
import_step import_channel, dress_channel; /* of the guild; dress: once all are there */
import_step import_emoji, import_application_emoji;
import_step import_sound, import_sticker, import_rule;

extern const struct naming emoji_naming;

/* --- out ------------------------------------------------------------------------------ */

struct named_row {
    snowflake id;
    struct str name;
};
/* A guild that is exported, and what its entry may call things by name. */
struct exporting {
    struct tx *tx;
    const struct world_parts *parts;
    snowflake guild;
    struct list roles, channels, applications; /* struct named_row */
};
/* By name where only one has it, else by id. Absent when there is no such thing. */
struct opt_str shown_reference(struct tx *tx, const struct list *things, snowflake id);

typedef enum err export_part(struct exporting *ex, struct opt_list *ret);
export_part export_roles, export_members, export_bans, export_installed, export_channels;
export_part export_guild_emojis, export_sounds, export_stickers, export_rules;

enum err export_guilds(struct tx *tx, const struct world_parts *parts, struct opt_list *ret);
enum err export_application_emojis(struct tx *tx, snowflake application, struct opt_list *ret);

#endif
