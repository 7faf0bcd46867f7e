/* schema.c - JSON schemas of guild and notification settings. */
#include "platform/guild_settings/internal.h"

#include "model/thread.h"
#include "model/fields/types.h"

static const struct enum_choice levels[] = {
    { 0, NULL, "ALL_MESSAGES", "All messages" },
    { 1, NULL, "ONLY_MENTIONS", "Mentions" },
    { 2, NULL, "NO_MESSAGES", "Nothing" },
    { NOTIFY_INHERITED, NULL, "INHERIT", "Use the setting of the guild or category" },
    { 0 },
};
static const struct enum_choice highlights[] = {
    { 0, NULL, "DEFAULT", "Chosen by the client" },
    { 1, NULL, "DISABLED", "Off" },
    { 2, NULL, "ENABLED", "On" },
    { 0 },
};
static const struct type type_level = { .kind = KIND_INT, .choices = levels };
static const struct type type_highlights = { .kind = KIND_INT, .choices = highlights };

static const struct field override_fields[] = {
    { FIELD(struct channel_override, channel_id), .type = &type_id },
    { FIELD(struct channel_override, collapsed), .type = &type_bool },
    { FIELD(struct channel_override, message_notifications), .type = &type_level },
    { FIELD(struct channel_override, muted), .type = &type_bool },
    { FIELD(struct channel_override, mute_config), .type = &type_mute_config, .flags = NULLABLE },
    { FIELD(struct channel_override, flags), .type = &type_flag_bits, .flags = OPTIONAL },
    { 0 },
};
static const struct schema override_schema = {
    .name = "ChannelOverride",
    .size = sizeof(struct channel_override),
    .fields = override_fields,
    .doc = "Notification settings of a channel that differ from the guild.",
};
static const struct type type_override = { .kind = KIND_OBJECT, .schema = &override_schema };
static const struct type type_overrides = { .kind = KIND_ARRAY,
                                            .max = INT32_MAX,
                                            .of = &type_override };

static const struct field settings_fields[] = {
    { FIELD(struct guild_settings, guild_id), .type = &type_id, .flags = NULLABLE,
      .doc = "Null: private channels" },
    { FIELD(struct guild_settings, message_notifications), .type = &type_level },
    { FIELD(struct guild_settings, muted), .type = &type_bool },
    { FIELD(struct guild_settings, mute_config), .type = &type_mute_config, .flags = NULLABLE },
    { FIELD(struct guild_settings, suppress_everyone), .type = &type_bool },
    { FIELD(struct guild_settings, suppress_roles), .type = &type_bool },
    { FIELD(struct guild_settings, hide_muted_channels), .type = &type_bool },
    { FIELD(struct guild_settings, mute_scheduled_events), .type = &type_bool },
    { FIELD(struct guild_settings, mobile_push), .type = &type_bool },
    { FIELD(struct guild_settings, notify_highlights), .type = &type_highlights },
    { FIELD(struct guild_settings, flags), .type = &type_flag_bits },
    { FIELD(struct guild_settings, channel_overrides), .type = &type_overrides },
    { FIELD(struct guild_settings, version), .type = &type_count },
    { 0 },
};
const struct schema guild_settings_schema = {
    .name = "UserGuildSettings",
    .size = sizeof(struct guild_settings),
    .fields = settings_fields,
    .doc = "Notification settings of the account in a guild.",
};
const struct type guild_settings_type = { .kind = KIND_OBJECT, .schema = &guild_settings_schema };
const struct type guild_settings_list_type = { .kind = KIND_ARRAY, .of = &guild_settings_type };

static const struct field change_fields[] = {
    { FIELD(struct channel_override_patch, collapsed), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel_override_patch, message_notifications), .type = &type_level,
      .flags = OPTIONAL },
    { FIELD(struct channel_override_patch, muted), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel_override_patch, mute_config), .type = &type_mute_config,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel_override_patch, flags), .type = &type_flag_bits, .flags = OPTIONAL },
    { 0 },
};
static const struct schema change_schema = {
    .name = "ChannelOverrideChange",
    .size = sizeof(struct channel_override_patch),
    .fields = change_fields,
    .doc = "Changes of a channel's notification settings.",
};
static const struct type type_change = { .kind = KIND_OBJECT, .schema = &change_schema };
static const struct type type_changes = {
    .kind = KIND_MAP, .max = MAX_OVERRIDES_PER_GUILD, .of = &type_change, .doc = "By channel"
};

static const struct field body_fields[] = {
    { FIELD(struct guild_settings_patch, message_notifications), .type = &type_level,
      .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, muted), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, mute_config), .type = &type_mute_config,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct guild_settings_patch, suppress_everyone), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, suppress_roles), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, hide_muted_channels), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, mute_scheduled_events), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, mobile_push), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, notify_highlights), .type = &type_highlights,
      .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, flags), .type = &type_flag_bits, .flags = OPTIONAL },
    { FIELD(struct guild_settings_patch, channel_overrides), .type = &type_changes,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema body_schema = {
    .name = "UserGuildSettingsChange",
    .size = sizeof(struct guild_settings_patch),
    .fields = body_fields,
    .doc = "Settings to change; others stay unchanged.",
};
const struct type settings_change_body = { .kind = KIND_OBJECT, .schema = &body_schema };

static const struct type type_settings_map = {
    .kind = KIND_MAP, .min = 1, .max = 200, .of = &settings_change_body, .doc = "By guild"
};
static const struct field bulk_fields[] = {
    { FIELD(struct guild_settings_bulk_request, guilds), .type = &type_settings_map },
    { 0 },
};
static const struct schema bulk_schema = {
    .name = "UserGuildSettingsBulk",
    .size = sizeof(struct guild_settings_bulk_request),
    .fields = bulk_fields,
    .doc = "Settings of several guilds.",
};
const struct type settings_bulk_body = { .kind = KIND_OBJECT, .schema = &bulk_schema };

static const struct field flags_fields[] = {
    { FIELD(struct notification_flags, flags), .type = &type_flag_bits },
    { 0 },
};
const struct schema notification_flags_schema = {
    .name = "NotificationSettings",
    .size = sizeof(struct notification_flags),
    .fields = flags_fields,
    .doc = "Global notification settings of the account.",
};
const struct type notification_flags_type = { .kind = KIND_OBJECT,
                                              .schema = &notification_flags_schema };
static const struct field flags_change_fields[] = {
    { FIELD(struct notification_flags, flags), .type = &type_flag_bits,
      .flags = OPTIONAL | NULLABLE, .doc = "Left out or null: none" },
    { 0 },
};
static const struct schema flags_change_schema = {
    .name = "NotificationSettingsChange",
    .size = sizeof(struct notification_flags),
    .fields = flags_change_fields,
    .doc = "Global notification settings of the account.",
};
const struct type notification_flags_body = { .kind = KIND_OBJECT, .schema = &flags_change_schema };
