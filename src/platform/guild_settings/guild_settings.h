/* guild_settings.h - notification settings of users, per guild and global.
 *
 * Clients apply these settings themselves. The server stores the settings, sends changes to the
 * account's other sessions, uses two of the settings to count mentions (read_states/), and applies
 * them to push messages (web_push/, with channel_notification_settings_find). A row
 * exists only if a setting differs from the defaults. The folder owns the tables
 * user_guild_settings and notification_settings and may use invites/ and the folders below it.
 * Start with settings.c. */
#ifndef PLATFORM_GUILD_SETTINGS_GUILD_SETTINGS_H
#define PLATFORM_GUILD_SETTINGS_GUILD_SETTINGS_H

#include "model/channel.h"
#include "platform/accounts/accounts.h"

extern const struct domain guild_settings_domain;

/* Writes the READY fields "user_guild_settings" and "notification_settings". */
enum err write_ready_user_guild_settings(struct tx *tx, snowflake user_id, bool entries,
                                         struct json_writer *out);

/* Which notifications of a channel a user wants, with the settings of channel, category and guild
 * combined. */
struct channel_notification_settings {
    bool none; /* muted, or the level is "nothing" */
    bool suppress_everyone, suppress_roles;
};
enum err channel_notification_settings_find(struct tx *tx, snowflake user_id,
                                            const struct channel *c,
                                            struct channel_notification_settings *ret);

#endif
