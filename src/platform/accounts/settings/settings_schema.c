/* settings_schema.c - JSON schema and default values of the user settings. */
#include "platform/accounts/internal.h"

#define WORD(word)          \
    {                       \
        0, word, word, word \
    }

static const struct enum_choice themes[] = {
    WORD("dark"), WORD("light"), WORD("darker"), WORD("midnight"), { 0 }
};
static const struct enum_choice statuses[] = {
    WORD("online"), WORD("idle"), WORD("dnd"), WORD("invisible"), { 0 }
};

static const struct type type_theme = { .kind = KIND_STRING, .choices = themes };
static const struct type type_status = { .kind = KIND_STRING, .choices = statuses };
static const struct type type_status_text = { .kind = KIND_STRING, .max = 128 };
static const struct type type_discovery = {
    .kind = KIND_INT, .min = 0, .max = 6, .doc = "Found by: 2 phone, 4 email"
};
static const struct type type_game_messages = {
    .kind = KIND_INT,
    .min = 0,
    .max = 3,
    .doc = "Messages in games: 0 unset, 1 from all, 2 from users with the game, 3 none"
};
static const struct type type_filter = { .kind = KIND_INT, .min = 0, .max = 2 };
static const struct type type_afk = { .kind = KIND_INT, .min = 60, .max = 600 };
static const struct type type_offset = {
    .kind = KIND_INT, .min = -720, .max = 840, .doc = "Minutes west of UTC"
};
static const struct type type_guild_ids = { .kind = KIND_ARRAY, .of = &type_id, .max = 200 };
static const struct type type_folders = {
    .kind = KIND_ARRAY, .of = &type_raw, .max = 200, .doc = "At most 32 KiB together"
};

static const struct field sources_fields[] = {
    { FIELD(struct friend_request_sources, all), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct friend_request_sources, mutual_friends), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct friend_request_sources, mutual_guilds), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema sources_schema = {
    .name = "FriendSources",
    .size = sizeof(struct friend_request_sources),
    .fields = sources_fields,
    .doc = "Who may send friend requests.",
};
static const struct type type_sources = { .kind = KIND_OBJECT, .schema = &sources_schema };

static const struct field status_fields[] = {
    { FIELD(struct custom_status, text), .type = &type_status_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct custom_status, emoji_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct custom_status, emoji_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct custom_status, expires_at), .type = &type_time, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema status_schema = {
    .name = "CustomStatus",
    .size = sizeof(struct custom_status),
    .fields = status_fields,
    .doc = "A custom status.",
};
static const struct type type_custom_status = { .kind = KIND_OBJECT, .schema = &status_schema };

static const struct field sound_fields[] = {
    { FIELD(struct call_sound, sound_id), .type = &type_id },
    { FIELD(struct call_sound, guild_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema sound_schema = {
    .name = "CallSound",
    .size = sizeof(struct call_sound),
    .fields = sound_fields,
    .doc = "The sound that plays when the user joins a call.",
};
static const struct type type_call_sound = { .kind = KIND_OBJECT, .schema = &sound_schema };

/* clang-format off */
#define SETTING(name_, type_) \
    { FIELD(struct user_settings, name_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field settings_fields[] = {
    SETTING(locale, type_locale),
    SETTING(theme, type_theme),
    SETTING(status, type_status),
    SETTING(custom_status, type_custom_status),
    SETTING(custom_call_sound, type_call_sound),
    SETTING(friend_source_flags, type_sources),
    SETTING(friend_discovery_flags, type_discovery),
    SETTING(restricted_guilds, type_guild_ids),
    SETTING(default_guilds_restricted, type_bool),
    SETTING(guild_folders, type_folders),
    SETTING(allow_game_friend_dms, type_bool),
    SETTING(slayer_sdk_receive_dms_in_game, type_game_messages),
    SETTING(stream_notifications_enabled, type_bool),
    SETTING(view_nsfw_commands, type_bool),
    SETTING(view_nsfw_guilds, type_bool),
    SETTING(show_current_game, type_bool),
    SETTING(explicit_content_filter, type_filter),
    SETTING(afk_timeout, type_afk),
    SETTING(timezone_offset, type_offset),
    SETTING(developer_mode, type_bool),
    SETTING(message_display_compact, type_bool),
    SETTING(animate_emoji, type_bool),
    SETTING(inline_attachment_media, type_bool),
    SETTING(inline_embed_media, type_bool),
    SETTING(render_embeds, type_bool),
    SETTING(gif_auto_play, type_bool),
    { 0 },
};
const struct schema user_settings_schema = {
    .name = "UserSettings",
    .size = sizeof(struct user_settings),
    .fields = settings_fields,
    .doc = "Settings of a user.",
};
const struct type type_user_settings = { .kind = KIND_OBJECT, .schema = &user_settings_schema };

const struct user_settings user_settings_defaults = {
    .theme = { GIVEN, STR_INIT("dark") },
    .status = { GIVEN, STR_INIT("online") },
    .custom_status = { .given = GIVEN_NULL },
    .custom_call_sound = { .given = GIVEN_NULL },
    .friend_source_flags = { GIVEN, &(struct friend_request_sources){ { GIVEN, true },
                                                                      { GIVEN, true },
                                                                      { GIVEN, true } } },
    .friend_discovery_flags = { GIVEN, 0 },
    .restricted_guilds = { .given = GIVEN },
    .default_guilds_restricted = { GIVEN, false },
    .guild_folders = { .given = GIVEN },
    .allow_game_friend_dms = { GIVEN, true },
    .slayer_sdk_receive_dms_in_game = { GIVEN, 0 },
    .stream_notifications_enabled = { GIVEN, true },
    .view_nsfw_commands = { GIVEN, false },
    .view_nsfw_guilds = { GIVEN, false },
    .show_current_game = { GIVEN, true },
    .explicit_content_filter = { GIVEN, 1 },
    .afk_timeout = { GIVEN, 600 },
    .timezone_offset = { GIVEN, 0 },
    .developer_mode = { GIVEN, false },
    .message_display_compact = { GIVEN, false },
    .animate_emoji = { GIVEN, true },
    .inline_attachment_media = { GIVEN, true },
    .inline_embed_media = { GIVEN, true },
    .render_embeds = { GIVEN, true },
    .gif_auto_play = { GIVEN, true },
};
