/* settings.h - user settings. */
#ifndef PLATFORM_ACCOUNTS_SETTINGS_H
#define PLATFORM_ACCOUNTS_SETTINGS_H

#include "platform/accounts/accounts.h"

/* Bits that say which users may send friend requests to a user. */
enum friend_request_source_bits {
    FRIEND_FROM_MUTUAL_FRIENDS = 2,
    FRIEND_FROM_MUTUAL_GUILDS = 4,
    FRIEND_FROM_ANYBODY = 8, /* includes the other two bits */
};

struct friend_request_sources {
    struct opt_bool all, mutual_friends, mutual_guilds;
};
struct custom_status {
    struct opt_str text, emoji_name;
    struct opt_id emoji_id;
    struct opt_int expires_at;
};

/* Sound that POST …/custom-call-sounds plays. guild_id is null for a default sound. */
struct call_sound {
    snowflake sound_id;
    struct opt_id guild_id;
};

struct user_settings {
    struct opt_str locale, theme, status;
    struct opt_object custom_status, friend_source_flags, custom_call_sound;
    struct opt_int
        slayer_sdk_receive_dms_in_game; /* users whose direct messages a game shows; 3: nobody */
    struct opt_int friend_discovery_flags, explicit_content_filter, afk_timeout, timezone_offset;
    struct opt_list restricted_guilds, guild_folders;
    struct opt_bool default_guilds_restricted, allow_game_friend_dms, stream_notifications_enabled,
        view_nsfw_commands, view_nsfw_guilds, show_current_game, developer_mode,
        message_display_compact, animate_emoji, inline_attachment_media, inline_embed_media,
        render_embeds, gif_auto_play;
};

extern const struct schema user_settings_schema;
extern const struct type type_user_settings;

/* Reads all settings of a user, with defaults for settings that are not stored. Returns
 * ERR_UNKNOWN_USER if the user does not exist. */
enum err user_settings_find(struct tx *tx, snowflake user_id, struct user_settings *ret);
/* Decodes the JSON of a user's settings and adds the defaults. document.p is NULL if the user has
 * stored none. The locale is not included, because it is a column of users. */
enum err user_settings_from_json(struct arena *arena, struct str document,
                                 struct user_settings *ret);

enum err write_ready_settings_proto(struct tx *tx, snowflake user_id, struct json_writer *out);

/* Bits of friend_discovery_flags: data by which other users can find the user. */
enum friend_discovery_bits { FOUND_BY_PHONE = 2, FOUND_BY_EMAIL = 4 };

/* Returns the bits of enum friend_request_source_bits that the user allows. */
int64_t user_settings_friend_sources(const struct user_settings *s);

/* Returns where direct messages from game friends are delivered, as enum game_friend_dm_visibility.
 */
int64_t user_settings_game_dm_access(const struct user_settings *s);
enum err game_friend_dm_access_find(struct tx *tx, snowflake user_id, int64_t *ret);

#endif
