/* internal.h - declarations shared by the files of guild_settings/. */
#ifndef PLATFORM_GUILD_SETTINGS_INTERNAL_H
#define PLATFORM_GUILD_SETTINGS_INTERNAL_H

#include "api/hooks.h"
#include "platform/guild_settings/guild_settings.h"

enum { NOTIFY_INHERITED = 3, MAX_OVERRIDES_PER_GUILD = 1000 };

struct channel_override {
    snowflake channel_id;
    bool collapsed, muted;
    int64_t message_notifications;
    struct opt_object mute_config; /* struct mute_config */
    struct opt_int flags;
};
struct guild_settings {
    struct opt_id guild_id; /* id of the guild; null for the settings of private channels */
    int64_t message_notifications, notify_highlights, flags, version;
    bool muted, suppress_everyone, suppress_roles, hide_muted_channels, mute_scheduled_events,
        mobile_push;
    struct opt_object mute_config; /* struct mute_config */
    struct list channel_overrides; /* struct channel_override */
};

/* Fields of an override that a request body may change. */
struct channel_override_patch {
    struct opt_bool collapsed, muted;
    struct opt_int message_notifications, flags;
    struct opt_object mute_config;
};
struct channel_override_entry {
    struct str key; /* id of the channel */
    struct channel_override_patch change;
};
struct guild_settings_patch {
    struct opt_int message_notifications, notify_highlights, flags;
    struct opt_bool muted, suppress_everyone, suppress_roles, hide_muted_channels,
        mute_scheduled_events, mobile_push;
    struct opt_object mute_config;
    struct opt_list channel_overrides; /* struct channel_override_entry */
};
struct guild_settings_bulk_entry {
    struct str key; /* id of the guild, or @me */
    struct guild_settings_patch change;
};
struct guild_settings_bulk_request {
    struct list guilds; /* struct guild_settings_bulk_entry */
};
struct notification_flags {
    struct opt_int flags;
};

/* Reads an account's settings of a guild, or of private channels if guild_id is 0. */
enum err read_user_guild_settings(struct tx *tx, snowflake user_id, snowflake guild_id,
                                  struct guild_settings *ret);

extern const struct schema guild_settings_schema, notification_flags_schema;
extern const struct type guild_settings_type, guild_settings_list_type, settings_change_body,
    settings_bulk_body, notification_flags_type, notification_flags_body;

#endif
