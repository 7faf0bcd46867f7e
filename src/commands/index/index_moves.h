/* index_moves.h - invalidates command indexes and deletes permission rows after changes
 * elsewhere. */
#ifndef COMMANDS_INDEX_MOVES_H
#define COMMANDS_INDEX_MOVES_H

#include "api/deletion.h"
#include "api/hooks.h"

/* Gives an index a new version: of a guild, an account or a channel, or all indexes that show an
 * application's commands (id: the application). */
enum err command_index_move(struct tx *tx, snowflake id);
enum err command_index_moved(struct call *call, snowflake id);

/* SQL: the app was installed in the guild with the scope applications.commands, not as a bot
 * only. */
#define INTEGRATION_HAS_COMMANDS(i) i ".scopes like '%\"applications.commands\"%'"

/* A user has an app's commands in the direct channel with its bot if the app is installed on the
 * account or in one of the user's guilds. Call these after such a link is added and before it is
 * removed: they invalidate the indexes of the account and of the direct channels, except where
 * another guild of the user has the app. */
enum err command_index_account(struct call *call, const struct account_app *a);
enum err command_index_member(struct call *call, const struct member *m);
enum err command_index_installed(struct call *call, const struct guild_app *a);
/* A user who blocks a bot cannot use its commands in the direct channel. */
enum err command_index_blocked(struct call *call, const struct block_change *b);
extern const struct job_kind command_index_job; /* continues command_index_installed */
/* Deletes the guild's commands, bundle and permission rows of an app that was removed from it. */
enum err commands_drop_of_app(struct call *call, const struct guild_app *a);
extern const struct deletion_rule command_deletions[];

/* Delete the permission rows that name a deleted role or channel, or a member who left. */
enum err command_permissions_forget_role(struct call *call, const struct role *r);
enum err command_permissions_forget_channel(struct call *call, snowflake id);
enum err command_permissions_forget_member(struct call *call, const struct member_leave *leave);
/* Deletes the app's own permission rows in a guild that it left; those of its commands stay. */
enum err command_permissions_leave(struct call *call, const struct guild_app *a);

#endif
