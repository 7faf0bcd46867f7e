/* commands.h - application commands: definitions, permissions, indexes. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "api/api.h"
#include "model/application.h"
#include "model/channel.h"
#include "model/command.h"
#include "platform/guilds/guilds.h"
#include "platform/worlds/worlds.h"

/* A command with its options, dictionaries and all that nobody is shown, global or of any
 * guild. ERR_UNKNOWN_COMMAND; also when it is another application's. */
enum err command_find(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret);

/* --- who may use it ------------------------------------------------------------------- */

enum command_verdict {
    COMMAND_ALLOWED,
    COMMAND_NO_ACCESS,      /* cannot view the channel, use commands or send there */
    COMMAND_NOT_OF_AGE,     /* age-restricted: the person or the place is not */
    COMMAND_CHANNEL_DENIED, /* by a row for the channel */
    COMMAND_USER_DENIED,    /* by a row for the person or its roles */
    COMMAND_DEFAULT_DENIED, /* default_member_permissions */
};

/* All that the verdict depends on, as plain data. */
struct command_question {
    snowflake guild_id; /* 0: outside guilds */
    snowflake user_id;
    const snowflake *roles; /* without @everyone */
    size_t role_count;
    bool administrator;   /* or the owner */
    bool timed_out;       /* owners and administrators are exempt */
    uint64_t rights;      /* of the person in the channel, or thread, itself */
    snowflake channel_id; /* a thread's parent */
    bool thread, archived;
    bool by_user_install; /* nothing but the person's own install brings it here */
    bool nsfw;            /* the command is age-restricted */
    bool nsfw_allowed;    /* the person and the place are of age for it */
    struct opt_id default_member_permissions;
    struct list of_command, of_application; /* struct command_permission */
};
enum command_verdict command_judge(const struct command_question *q);
/* The same without a channel: can the person use it at all, with these rights? (Stages U
 * and D of the interface's order.) */
enum command_verdict command_judge_person(const struct command_question *q);

/* Gathers the rows and judges. standing: NULL outside guilds; rights: the invoker's in the
 * channel. own_bot: a direct channel with the app's own bot. */
struct command_invoker {
    const struct user *user;
    const struct standing *standing;
    const struct channel *channel; /* with overwrites; a thread is one */
    uint64_t rights;
    bool own_bot;
    bool by_user_install;
};
enum err command_permit(struct tx *tx, const struct command *k, const struct command_invoker *who,
                        enum command_verdict *ret);

/* A command was invoked, and its app was told: counts for its popularity. In a writing
 * transaction. */
enum err command_used(struct call *call, const struct command *k);

/* --- in world files: the same JSON as the body that registers them -------------------- */

enum err commands_import(struct tx *tx, struct world_scope scope, struct str json,
                         struct form *form, const struct place *at, struct world_count *count);
enum err commands_export(struct tx *tx, struct world_scope scope, struct opt_str *ret);

extern const struct domain commands_domain; /* registering, permissions and indexes */

#endif
