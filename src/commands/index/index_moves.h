/* index_moves.h - what changes elsewhere mean for commands: indexes that move, rows whose
 * roles, channels and people are gone. */
#ifndef COMMANDS_INDEX_MOVES_H
#define COMMANDS_INDEX_MOVES_H

#include "api/deletion.h"
#include "api/hooks.h"

/* Something that an index shows changed: the index of a guild (apps that came or went, who
 * may use what), of an account (apps on it), of a channel, or whatever has an
 * application's commands in it. */
enum err command_index_move(struct tx *tx, snowflake id);
enum err command_index_moved(struct call *call, snowflake id);

/* SQL: an app was installed in a guild with the scope that brings its commands. Its bot alone
 * does not. */
#define INTEGRATION_HAS_COMMANDS(i) i ".scopes like '%\"applications.commands\"%'"

/* Somebody has an app's commands in the direct channel with its bot while it is on the account
 * or in one of their guilds; which of them, depends on the two. These are for links of that kind
 * that come, once they are there, and that go, while they are still there: indexes of direct
 * channels move where no other guild brings the same, and those of accounts. */
enum err command_index_account(struct call *call, const struct account_app *a);
enum err command_index_member(struct call *call, const struct member *m);
enum err command_index_installed(struct call *call, const struct guild_app *a);
/* Nothing can be used where one has blocked the bot. */
enum err command_index_blocked(struct call *call, const struct block_change *b);
extern const struct job_kind command_index_job; /* goes on with command_index_installed */
/* An application goes: the next direct channels with its bot. */
enum err commands_drop_of_app(struct call *call, const struct guild_app *a);
extern const struct deletion_rule command_deletions[];

/* A role, a channel or a member is gone, and so is what rows say about it. */
enum err command_permissions_forget_role(struct call *call, const struct role *r);
enum err command_permissions_forget_channel(struct call *call, snowflake id);
enum err command_permissions_forget_member(struct call *call, const struct member_leave *leave);
/* An application left a guild: its commands come back with it, its own rows do not. */
enum err command_permissions_leave(struct call *call, const struct guild_app *a);

#endif
