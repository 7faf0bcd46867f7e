/* command_index.h - what changes elsewhere mean for commands: indexes that move, rows whose
 * roles, channels and people are gone. */
#ifndef PLATFORM_COMMAND_INDEX_H
#define PLATFORM_COMMAND_INDEX_H

#include "base/errors.h"
#include "base/snowflake.h"
#include "json/schema.h"
#include "store/store.h"

/* Something that an index shows changed: the index of a guild (apps that came or went, who
 * may use what), of an account (apps on it), of a channel, or whatever has an
 * application's commands in it. */
enum err command_index_move(struct tx *tx, snowflake id);

/* SQL: an app was installed in a guild with the scope that brings its commands. Its bot alone
 * does not. */
#define INTEGRATION_HAS_COMMANDS(i) i ".scopes like '%\"applications.commands\"%'"

/* Somebody has an app's commands in the direct channel with its bot while it is on the account
 * or in one of their guilds; which of them, depends on the two. These are for links of that kind
 * that come, once they are there, and that go, while they are still there: indexes of direct
 * channels move where no other guild brings the same, and those of accounts. */
enum err command_index_account(struct tx *tx, snowflake user_id, snowflake application_id);
enum err command_index_member(struct tx *tx, snowflake guild_id, snowflake user_id);
enum err command_index_installed(struct tx *tx, snowflake guild_id, snowflake application_id);
/* An application goes. */
enum err command_index_application_gone(struct tx *tx, snowflake application_id);

/* A role, a channel or (in one guild) a member is gone, and so is what rows say about it.
 * guild_id: 0 for ids that are in no other guild. */
enum err command_permissions_forget(struct tx *tx, snowflake guild_id, snowflake entity_id);
/* An application left a guild: its commands come back with it, its own rows do not. */
enum err command_permissions_leave(struct tx *tx, snowflake guild_id, snowflake application_id);
/* A command as it is listed, added to a list (struct str) unless it is there already or
 * the id is no command's. */
enum err command_text_add(struct tx *tx, snowflake id, struct list *texts);

#endif
