/* commands.h - application commands: definitions, permissions, indexes.
 *
 * The folder owns the tables of commands, their permissions, uses and indexes. It uses api/, model/
 * and platform/; interactions/ uses it. Invariants: every change of a command gives it a new
 * version, rewrites the bundle of its scope and invalidates indexes, in one transaction;
 * command_judge alone decides what an index lists and what may be invoked. Start with routes.c,
 * then register.c (one command), bulk.c (a whole scope), permissions/verdict.c and
 * index/indexes.c. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "api/api.h"
#include "model/application.h"
#include "model/channel.h"
#include "model/command.h"
#include "platform/guilds/guilds.h"

/* Reads a command with options, localizations and hidden fields, from any scope.
 * ERR_UNKNOWN_COMMAND also if it belongs to another application. */
enum err command_find(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret);

/* --- permission to use a command ------------------------------------------------------ */

enum command_verdict {
    COMMAND_ALLOWED,
    COMMAND_NOT_HERE,       /* wrong context, not installed, or not launchable */
    COMMAND_NO_ACCESS,      /* lacks VIEW_CHANNEL, USE_APPLICATION_COMMANDS or send */
    COMMAND_NOT_OF_AGE,     /* age-restricted; user or channel is not */
    COMMAND_CHANNEL_DENIED, /* permission row of the channel */
    COMMAND_USER_DENIED,    /* permission row of the user or a role */
    COMMAND_DEFAULT_DENIED, /* default_member_permissions */
};

/* Input of command_judge as plain data: the command, the context, the user. */
struct command_question {
    unsigned contexts, integration_types; /* of the command: bit sets */
    bool entry_point;
    bool nsfw; /* the command is age-restricted */
    struct opt_id default_member_permissions;
    struct list of_command, of_application; /* struct command_permission */

    unsigned places;      /* contexts to check: one, or several for an index */
    unsigned installed;   /* bits of integration_type: where the app is installed for the user */
    bool in_group;        /* the app is installed in this group DM */
    bool launchable;      /* the app has an activity to launch */
    snowflake guild_id;   /* 0: outside guilds */
    snowflake channel_id; /* for a thread: its parent */
    bool thread, archived;

    snowflake user_id;
    const snowflake *roles; /* without @everyone */
    size_t role_count;
    bool administrator; /* or the owner */
    bool timed_out;     /* owners and administrators are exempt */
    uint64_t rights;    /* the user's permissions in the channel or thread */
    bool nsfw_allowed;  /* user and channel allow age-restricted commands */
};
/* Decides both whether a command is listed and whether it may be invoked. */
enum command_verdict command_judge(const struct command_question *q);
/* Bits of integration_type through which the command is available to the user, restricted to the
 * types that the command supports. An app in a group DM counts as INSTALL_GUILD. */
unsigned command_ways(const struct command_question *q);
/* Like command_judge, but without a channel: checks user rows, role rows and the default
 * permissions only (the user and default stages of verdict.c). */
enum command_verdict command_judge_person(const struct command_question *q);

/* Fills in the fields of q that follow from a member's standing. */
void command_ask_of(struct command_question *q, const struct standing *s);

/* The user who invokes a command, and where. standing is NULL outside guilds; rights are the
 * permissions in the channel. */
struct command_invoker {
    const struct user *user;
    const struct application *application;
    const struct standing *standing;
    const struct channel *channel; /* with overwrites; may be a thread */
    enum command_context context;
    uint64_t rights;
};
/* Reads the permission rows and calls command_judge. *ret_ways: the result of command_ways. */
enum err command_permit(struct tx *tx, const struct command *k, const struct command_invoker *who,
                        enum command_verdict *ret, unsigned *ret_ways);

/* Counts an invocation that was delivered to the app, for the popularity rank. Needs a write
 * transaction. */
enum err command_used(struct call *call, const struct command *k);

extern const struct domain commands_domain;
extern const struct world_parts commands_world;

#endif
