/* guild_settings.h - what people want to be notified of, in each guild and everywhere.
 *
 * Clients follow these settings themselves; the server keeps them, tells the account's other
 * sessions, and heeds two of them when it counts mentions (read_states/). There is a row only
 * where something differs from the defaults. Begin with settings.c. */
#ifndef PLATFORM_GUILD_SETTINGS_GUILD_SETTINGS_H
#define PLATFORM_GUILD_SETTINGS_GUILD_SETTINGS_H

#include "platform/accounts/accounts.h"

extern const struct domain guild_settings_domain;

/* The keys "user_guild_settings" and "notification_settings" of READY. */
enum err ready_guild_settings(struct tx *tx, snowflake user_id, bool entries, struct json *out);

#endif
