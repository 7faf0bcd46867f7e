/* commands.h - application commands: definitions, permissions, indexes. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "api/api.h"
#include "model/application.h"
#include "model/channel.h"
#include "model/command.h"
#include "platform/guilds/guilds.h"

/* A command with its options, dictionaries and all that nobody is shown, global or of any
 * guild. ERR_UNKNOWN_COMMAND; also when it is another application's. */
enum err command_find(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret);

/* --- who may use it ------------------------------------------------------------------- */

enum command_verdict {
    COMMAND_ALLOWED,
    COMMAND_NOT_HERE,       /* not in this context, not installed, nothing to launch */
    COMMAND_NO_ACCESS,      /* cannot view the channel, use commands or send there */
    COMMAND_NOT_OF_AGE,     /* age-restricted: the person or the place is not */
    COMMAND_CHANNEL_DENIED, /* by a row for the channel */
    COMMAND_USER_DENIED,    /* by a row for the person or its roles */
    COMMAND_DEFAULT_DENIED, /* default_member_permissions */
};

/* All that the verdict depends on, as plain data: the command, the place, the person. */
struct command_question {
    unsigned contexts, integration_types; /* of the command: sets of bits */
    bool entry_point;
    bool nsfw; /* the command is age-restricted */
    struct opt_id default_member_permissions;
    struct list of_command, of_application; /* struct command_permission */

    unsigned places;      /* the contexts that are asked about: the place's own, or several */
    unsigned installed;   /* bits of integration_type: what brings the app to the person there */
    bool in_group;        /* the app is in this group of people, for all of them */
    bool launchable;      /* the app has something to enter */
    snowflake guild_id;   /* 0: outside guilds */
    snowflake channel_id; /* a thread's parent */
    bool thread, archived;

    snowflake user_id;
    const snowflake *roles; /* without @everyone */
    size_t role_count;
    bool administrator; /* or the owner */
    bool timed_out;     /* owners and administrators are exempt */
    uint64_t rights;    /* of the person in the channel, or thread, itself */
    bool nsfw_allowed;  /* the person and the place are of age for it */
};
/* The one answer to "is it listed?" and to "may it be used?". */
enum command_verdict command_judge(const struct command_question *q);
/* The ways in which the command comes to the person there, of those that it allows: bits of
 * integration_type. A group that has the app counts as a guild. */
unsigned command_ways(const struct command_question *q);
/* The same as command_judge without a place: can the person use it at all, with these rights?
 * (Stages U and D of the interface's order.) */
enum command_verdict command_judge_person(const struct command_question *q);

/* What of a question a member's standing answers. */
void command_ask_of(struct command_question *q, const struct standing *s);

/* Gathers the rows and judges. standing: NULL outside guilds; rights: the invoker's in the
 * channel. */
struct command_invoker {
    const struct user *user;
    const struct application *application;
    const struct standing *standing;
    const struct channel *channel; /* with overwrites; a thread is one */
    enum command_context context;
    uint64_t rights;
};
/* *ret_ways: as command_ways says. */
enum err command_permit(struct tx *tx, const struct command *k, const struct command_invoker *who,
                        enum command_verdict *ret, unsigned *ret_ways);

/* A command was invoked, and its app was told: counts for its popularity. In a writing
 * transaction. */
enum err command_used(struct call *call, const struct command *k);

extern const struct domain commands_domain; /* registering, permissions and indexes */
extern const struct world_parts commands_world;

#endif
