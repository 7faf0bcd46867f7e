/* commands.h - application commands: definitions, permissions, indexes. The folder owns the tables
 * of commands, command permissions, use counts and indexes. It uses api/, model/ and platform/;
 * interactions/ uses it. Invariants: every change of a command gives it a new version, rewrites the
 * bundle (all commands of a guild, or all global commands, in one row) and invalidates indexes, in
 * one transaction; evaluate_command_permission alone decides what an index lists and what may be
 * invoked. Start with routes.c, then create_command.c (one command), bulk_overwrite.c (all
 * commands), permissions/evaluate.c and index/index_routes.c. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "api/api.h"
#include "model/application.h"
#include "model/channel.h"
#include "model/command.h"
#include "platform/guilds/guilds.h"

/* Reads a guild or global command with options, localizations, and the fields that replies omit.
 * Returns ERR_UNKNOWN_COMMAND if the command does not exist or belongs to another application. */
enum err read_command(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret);

/* --- permission to use a command ------------------------------------------------------ */

enum command_permission_result {
    COMMAND_ALLOWED,
    /* wrong context, or the app is not installed, or its activity cannot be launched */
    COMMAND_NOT_HERE,
    /* the user lacks VIEW_CHANNEL, USE_APPLICATION_COMMANDS or a permission to send */
    COMMAND_NO_ACCESS,
    /* the command is age-restricted, and the user or the channel does not allow this */
    COMMAND_NOT_OF_AGE,
    COMMAND_CHANNEL_DENIED, /* a permission row of the channel denies the command */
    COMMAND_USER_DENIED,    /* a permission row of the user or a role denies the command */
    COMMAND_DEFAULT_DENIED, /* the user lacks default_member_permissions */
};

/* Input of evaluate_command_permission: fields of the command, of the context and of the user. */
struct command_permission_input {
    unsigned contexts, integration_types; /* bit sets of the command */
    bool entry_point;
    bool nsfw; /* the command is age-restricted */
    struct opt_id default_member_permissions;
    struct list of_command, of_application; /* struct command_permission */

    /* Bit set of the contexts to check; an index checks several at once. */
    unsigned contexts_to_check;
    /* Bit set of integration_type values with which the app is installed for the user. */
    unsigned installed;
    bool in_group;        /* The channel is a group DM, and the app is installed in it. */
    bool launchable;      /* the app has an activity that can be launched */
    snowflake guild_id;   /* 0 outside guilds */
    snowflake channel_id; /* channel id; for a Discord thread, the id of its parent */
    bool thread, archived;

    snowflake user_id;
    const snowflake *roles; /* without @everyone */
    size_t role_count;
    bool administrator;        /* has ADMINISTRATOR or owns the guild */
    bool timed_out;            /* false for owners and administrators */
    uint64_t user_permissions; /* the user's permissions in the channel or Discord thread */
    bool nsfw_allowed;         /* user and channel allow age-restricted commands */
};
/* Decides whether an index lists a command, and whether the user may invoke the command. */
enum command_permission_result evaluate_command_permission(
    const struct command_permission_input *q);
/* Returns a bit set of integration_type: how the app is installed for the user, as far as the
 * command supports it. An app in a group DM counts as INSTALL_GUILD. */
unsigned command_get_usable_install_types(const struct command_permission_input *q);
/* Evaluates the permission rows of the user and of roles, and the default permissions, without a
 * channel. */
enum command_permission_result evaluate_command_user_permission(
    const struct command_permission_input *q);

/* Sets the fields of q that describe the member and the member's roles. */
void command_permission_input_set_member(struct command_permission_input *q,
                                         const struct member_access *s);

/* The user who invokes a command, and the channel. Outside guilds member_access is NULL. */
struct command_invoker {
    const struct user *user;
    const struct application *application;
    const struct member_access *member_access;
    const struct channel *channel; /* with overwrites; may be a thread */
    enum command_context context;
    uint64_t permissions;
};
/* Reads the permission rows and calls evaluate_command_permission. *ret_install_types is the result
 * of command_get_usable_install_types. */
enum err check_command_permission(struct tx *tx, const struct command *k,
                                  const struct command_invoker *invoker,
                                  enum command_permission_result *ret, unsigned *ret_install_types);

/* Call it in a write transaction that has inserted the first uses of commands of the application on
 * a day (in days since 1970) in command_uses, from which the popularity rank is computed, and has
 * set commands.used_day, by which queries find the used commands. */
enum err record_first_command_uses_of_day(struct call *call, snowflake application_id, int64_t day);

extern const struct domain commands_domain;
extern const struct world_file_fields commands_world;

#endif
