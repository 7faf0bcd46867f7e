/* index_invalidation.h - invalidates command indexes and deletes permission rows when apps, guilds,
 * members, roles or channels change. */
#ifndef COMMANDS_INDEX_MOVES_H
#define COMMANDS_INDEX_MOVES_H

#include "api/deletion.h"
#include "api/hooks.h"

/* Invalidates an index by giving it a new version. `id` is a guild, account or channel. For the id
 * of an application, all indexes that list its commands are invalidated. */
enum err invalidate_command_index(struct tx *tx, snowflake id);
enum err on_command_index_changed(struct call *call, snowflake id);

/* SQL condition: the app was installed in the guild with the scope applications.commands. */
#define INTEGRATION_HAS_COMMANDS(i) i ".scopes like '%\"applications.commands\"%'"

/* Invalidate the indexes of an account and of its DM channels with bots, except where another guild
 * of the user has the app. Must be called after an app was installed and before it is removed. A
 * user has an app's commands in the DM with its bot if the app is installed on the account or in a
 * guild of the user. */
enum err invalidate_command_indexes_of_account(struct call *call,
                                               const struct account_app_installation *a);
enum err invalidate_command_indexes_of_member(struct call *call, const struct member *m);
enum err invalidate_command_indexes_of_guild_app(struct call *call,
                                                 const struct guild_app_installation *a);
/* Invalidates the index of the DM channel with a bot that the user blocked: the bot's commands
 * cannot be used there. */
enum err invalidate_command_index_of_blocked_bot(struct call *call,
                                                 const struct user_block_change *b);
extern const struct job_kind
    command_index_invalidation_job; /* continues invalidate_command_indexes_of_guild_app */
/* Deletes the commands, bundle and permission rows of an app that was removed from a guild. */
enum err delete_guild_commands_of_app(struct call *call, const struct guild_app_installation *a);
extern const struct deletion_rule command_deletions[];

/* Delete the permission rows that name a deleted role or channel, or a member who left. */
enum err delete_command_permissions_of_role(struct call *call, const struct role *r);
enum err delete_command_permissions_of_channel(struct call *call, snowflake id);
enum err delete_command_permissions_of_member(struct call *call,
                                              const struct member_leaving_guild *leave);
/* Deletes an app's own permission rows when it left a guild; rows of its commands stay. */
enum err delete_command_permissions_of_app(struct call *call,
                                           const struct guild_app_installation *a);

#endif
