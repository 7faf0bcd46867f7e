/* invoke.h - what the files behind POST /interactions share. */
#ifndef INTERACTIONS_INVOKE_H
#define INTERACTIONS_INVOKE_H

#include "interactions/internal.h"
#include "platform/messages/body.h"
#include "platform/message_parts/component.h"

/* --- schema.c: the body --------------------------------------------------------------- */

enum { INVOKE_MOST_FILES = 25 };

struct option_in {
    int64_t type;
    struct str name;
    struct opt_str value;    /* JSON */
    struct opt_list options; /* struct option_in */
    struct opt_bool focused;
};

/* A part of a modal that was filled in. */
struct entry_in {
    int64_t type;
    struct opt_str custom_id;
    struct opt_str value;       /* JSON: text or a boolean */
    struct opt_list values;     /* struct str */
    struct opt_list components; /* struct entry_in */
    struct opt_object component;
};

/* What it has depends on the interaction's type. */
struct data_in {
    struct opt_id id, version, target_id;
    struct opt_str name, custom_id;
    struct opt_int type, component_type;
    struct opt_list options;     /* struct option_in */
    struct opt_list attachments; /* struct attachment_in */
    struct opt_list values;      /* struct str */
    struct opt_list components;  /* struct entry_in */
};

struct invocation {
    int64_t type;
    snowflake application_id, channel_id;
    struct opt_id guild_id, message_id;
    struct opt_str session_id, nonce; /* nonce: JSON */
    const struct data_in *data;
};

extern const struct type invocation_body;

/* --- the call as it goes on ----------------------------------------------------------- */

/* What the payload says about others, keyed by their ids. */
struct resolved {
    struct opt_list users, members, roles, channels, messages, attachments;
};

/* An option as the app gets it. */
struct option_out {
    int64_t type;
    struct str name;
    struct opt_str value;    /* JSON */
    struct opt_list options; /* struct option_out */
    struct opt_bool focused; /* true or absent */
};

/* A file that an option or a modal speaks of. */
struct file_out {
    const struct part *part;
    struct attachment_in words;
    struct attachment kept; /* its id from the start, the rest once it is kept */
};

/* What the stages pass on, from the first to the last. */
struct invoking {
    bool again; /* a repetition of what was accepted; nothing else is filled in */
    struct interaction it;
    struct application application;
    struct command command;
    struct user user; /* who asks */
    struct resolved resolved;
    struct list options;    /* struct option_out */
    struct list files;      /* struct file_out */
    struct message message; /* of a component; id 0: none */
    struct str data;        /* JSON, for the payload, without what is resolved */
    bool embedded_launch;   /* answered by the server itself */

    /* In a guild: where the app's bot stands, if it is there. */
    bool bot_is_member;
    struct standing bot;

    struct around *around; /* the payload's */
    struct str payload;    /* JSON: what the app gets */
};

static inline struct invoking *invoking_of(const struct call *call)
{
    return call_passed(call, "invoking");
}

/* 50035 at `data`: clients read the code. */
static inline enum err refuse_data(struct call *call, const char *code, const char *message)
{
    return call_invalid(call, "data", code, message);
}

/* --- commands.c, options.c: commands and autocomplete --------------------------------- */

/* Steps 4 to 9 of the interface's order. */
enum err look_at_command(struct call *call);
/* In the handler: is it still the command that was looked at? */
enum err command_recheck(struct call *call);
/* What was chosen and typed, against the command's options: fills in options, files,
 * resolved and the rest of the name. */
enum err options_take(struct call *call);

/* --- owners.c: how the app came here -------------------------------------------------- */

/* it.context: in a guild, with the app's own bot, in another private channel. */
enum err context_find(struct call *call);
/* it.owners for a command, from command_ways. Outside guilds (with the bot, in a group that has
 * the app) the guild is 0. */
struct str owners_write(struct arena *arena, unsigned ways, snowflake guild_id, snowflake user_id);
/* The map of the interaction that a message answered, or of the message's place. */
struct str owners_of_message(struct call *call, const struct message *m);

/* --- menus.c -------------------------------------------------------------------------- */

/* The one with this custom_id, in the whole tree (list of struct component); NULL: none. */
const struct component *component_find(const struct list *components, struct str custom_id);
/* Can these values (struct str) be chosen there? What they name is resolved, and *ret_values
 * is what the app gets; *ret_good: false when they cannot. */
enum err menu_take(struct call *call, const struct component *menu, const struct list *values,
                   struct list *ret_values, bool *ret_good);

/* --- components.c, modals.c ----------------------------------------------------------- */

enum err look_at_component(struct call *call);
enum err look_at_modal(struct call *call);
/* In the handler: it can be submitted once. ERR_UNKNOWN_INTERACTION. */
enum err modal_take(struct call *call);

/* --- resolved.c ----------------------------------------------------------------------- */

/* Each adds what an id names, once; *ret_found is false when there is nothing of the kind
 * that the invoker could have meant. */
enum err resolve_user(struct call *call, snowflake id, bool *ret_found);
enum err resolve_role(struct call *call, snowflake id, bool *ret_found);
enum err resolve_mentionable(struct call *call, snowflake id, bool *ret_found);
/* types: int64_t; empty: all. */
enum err resolve_channel(struct call *call, snowflake id, const struct list *types,
                         bool *ret_found);
void resolve_message(struct call *call, const struct message *m);
void resolve_attachment(struct call *call, const struct attachment *a);
/* An object as JSON of whatever size; what is written to the store is kept smaller. */
struct str object_text(struct call *call, const struct type *type, const void *object);
/* What was resolved, as JSON; p == NULL: nothing. */
struct str resolved_text(struct call *call);

/* --- files.c -------------------------------------------------------------------------- */

/* The n-th file that came along, with these endings (struct str) only; false: there is
 * none, or of another kind. */
bool file_take(struct call *call, uint64_t number, const struct list *file_types,
               struct file_out **ret);
/* In a compute stage: to the disk, and into resolved. */
enum err files_keep(struct call *call);
/* In the handler: as the interaction's, or not after all. */
enum err files_insert(struct call *call);
enum err files_drop(struct call *call);

/* --- payload.c, deliver.c ------------------------------------------------------------- */

/* What the app gets, with everything around it loaded: payload_gather in the transaction,
 * payload_write when the files are kept. */
enum err payload_gather(struct call *call);
void payload_write(struct call *call);

/* In the handler: tells the app when it has committed. */
void interaction_deliver(struct call *call);

/* --- keep.c --------------------------------------------------------------------------- */

/* Who does not answer in time fails, whatever happens to the process. */
enum err deadline_set(struct call *call, const struct interaction *it);
extern const struct job_kind *const interaction_jobs[];

#endif
