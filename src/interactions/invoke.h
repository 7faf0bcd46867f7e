/* invoke.h - declarations shared by the files that handle POST /interactions. */
#ifndef INTERACTIONS_INVOKE_H
#define INTERACTIONS_INVOKE_H

#include "interactions/internal.h"
#include "platform/messages/message_body.h"
#include "platform/message_parts/component.h"

/* --- schema.c: the body --------------------------------------------------------------- */

enum { INVOKE_MAX_FILES = 25 };

struct submitted_option {
    int64_t type;
    struct str name;
    struct opt_str value;    /* JSON value */
    struct opt_list options; /* struct submitted_option */
    struct opt_bool focused;
};

struct submitted_component {
    int64_t type;
    struct opt_str custom_id;
    struct opt_str value;       /* JSON string or boolean */
    struct opt_list values;     /* struct str */
    struct opt_list components; /* struct submitted_component */
    struct opt_object component;
};

/* The field `data` of a request. The interaction's type decides which fields are set. */
struct interaction_request_data {
    struct opt_id id, version, target_id;
    struct opt_str name, custom_id;
    struct opt_int type, component_type;
    struct opt_list options;     /* struct submitted_option */
    struct opt_list attachments; /* struct attachment_in_body */
    struct opt_list values;      /* struct str */
    struct opt_list components;  /* struct submitted_component */
};

struct interaction_request_body {
    int64_t type;
    snowflake application_id, channel_id;
    struct opt_id guild_id, message_id;
    struct opt_str session_id, nonce; /* nonce is JSON */
    const struct interaction_request_data *data;
};

extern const struct type invocation_body;

/* --- state of the call ---------------------------------------------------------------- */

/* Objects to which the payload refers, by id. */
struct resolved_objects {
    struct opt_list users, members, roles, channels, messages, attachments;
};

/* A command option in the payload that the app gets. */
struct interaction_payload_option {
    int64_t type;
    struct str name;
    struct opt_str value;    /* JSON value */
    struct opt_list options; /* struct interaction_payload_option */
    struct opt_bool focused; /* true or absent */
};

/* A file that the user uploaded for an option or in a modal. */
struct submitted_interaction_file {
    const struct multipart_part *part;
    struct attachment_in_body description;
    /* The stored attachment; until the file is stored, only its id is set. */
    struct attachment stored;
};

/* State of a request POST /interactions, shared by the functions that handle it. */
struct invocation_state {
    bool again; /* Whether the client repeats a request that was accepted; then no other field is
                   set. */
    struct interaction it;
    struct application application;
    struct command command;
    struct user user; /* the user who invokes the interaction */
    struct resolved_objects resolved;
    struct list options;    /* struct interaction_payload_option */
    struct list files;      /* struct submitted_interaction_file */
    struct message message; /* message that has the component; its id is 0 for other interactions */
    struct str data;        /* JSON of the payload's data, without `resolved` */
    bool embedded_launch;   /* whether the server itself answers this entry point command */

    /* In a guild: whether the app's bot is a member; its permissions. */
    bool bot_is_member;
    struct member_access bot;

    struct payload_context *payload_context; /* private to payload.c */
    struct str payload;                      /* JSON of INTERACTION_CREATE for the app */
};

static inline struct invocation_state *call_get_invocation_state(const struct call *call)
{
    return call_get_stage_data(call, "invocation_state");
}

/* Refuses the call with error 50035 at the field `data`. `code` is the error code, which clients
 * read. */
static inline enum err refuse_interaction_data(struct call *call, const char *code,
                                               const char *message)
{
    return call_add_field_error(call, "data", code, message);
}

/* --- commands.c, options.c: commands and autocomplete --------------------------------- */

/* Reads the command and checks its version, permissions, target and options. */
enum err read_and_check_invoked_command(struct call *call);
/* Checks that the command has not changed since read_and_check_invoked_command. Call this function
 * in the handler. */
enum err check_command_version_again(struct call *call);
/* Checks the submitted options against the command's definition. Sets options, files and resolved
 * objects, and adds the names of sub-command group and sub-command to the command name. */
enum err parse_submitted_command_options(struct call *call);

/* --- integration_owners.c: context and installation of the app ------------------------ */

/* Sets it.context: guild, DM with the app's bot, or private channel. */
enum err determine_interaction_context(struct call *call);
/* Encodes authorizing_integration_owners of a command as JSON. install_types are the bits from
 * check_command_permission. Outside guilds (DM with the bot, group with the app) the guild is 0. */
struct str encode_integration_owners(struct arena *arena, unsigned install_types,
                                     snowflake guild_id, snowflake user_id);
/* Returns authorizing_integration_owners for a component: from the metadata of its message, or else
 * the guild. */
struct str get_integration_owners_of_message(struct call *call, const struct message *m);

/* --- select_menus.c ------------------------------------------------------------------- */

/* Finds a component by custom_id in a tree (list of struct component). Returns NULL if there is
 * none. */
const struct component *find_component_by_custom_id(const struct list *components,
                                                    struct str custom_id);
/* Checks the selected values (struct str) and resolves the ids among them. Sets ret_values to the
 * values for the app, and ret_good to false if one of the values cannot be selected. */
enum err parse_select_menu_values(struct call *call, const struct component *menu,
                                  const struct list *values, struct list *ret_values,
                                  bool *ret_good);

/* --- components.c, modals.c ----------------------------------------------------------- */

enum err read_and_check_used_component(struct call *call);
enum err read_and_check_submitted_modal(struct call *call);
/* Marks the modal as submitted. Returns ERR_UNKNOWN_INTERACTION if it was submitted before. */
enum err mark_modal_submitted(struct call *call);

/* --- resolved.c ----------------------------------------------------------------------- */

/* Add the object with this id to `resolved`, unless it is already there. Set ret_found to false if
 * the user may not refer to such an object. */
enum err resolve_user_option(struct call *call, snowflake id, bool *ret_found);
enum err resolve_role_option(struct call *call, snowflake id, bool *ret_found);
enum err resolve_mentionable_option(struct call *call, snowflake id, bool *ret_found);
/* Adds a channel to `resolved`. `types` lists the permitted channel types (int64_t); if it is
 * empty, all are permitted. */
enum err resolve_channel_option(struct call *call, snowflake id, const struct list *types,
                                bool *ret_found);
void add_resolved_message(struct call *call, const struct message *m);
void add_resolved_attachment(struct call *call, const struct attachment *a);
/* Encodes an object as JSON. Its size may exceed the limit of database columns. */
struct str encode_interaction_payload_object_json(struct call *call, const struct type *type,
                                                  const void *object);
/* Encodes the resolved objects as JSON. If there are none, the result has p == NULL. */
struct str encode_resolved_objects_json(struct call *call);

/* --- files.c -------------------------------------------------------------------------- */

/* Accepts the uploaded file with this number if its extension is in file_types (struct str).
 * Returns false if there is no such file, or if its type is not allowed. */
bool accept_uploaded_interaction_file(struct call *call, uint64_t number,
                                      const struct list *file_types,
                                      struct submitted_interaction_file **ret);
/* Stores the uploaded files and adds them to `resolved`. Call this function on the thread pool
 * (COMPUTE stage). */
enum err store_interaction_files(struct call *call);
/* Insert the rows of the uploaded files, or delete the files. Call these functions in the
 * handler. */
enum err insert_interaction_files(struct call *call);
enum err delete_interaction_files(struct call *call);

/* --- payload.c, app_delivery.c -------------------------------------------------------- */

/* Build the payload for the app. read_interaction_payload_objects reads the objects in the
 * transaction. encode_interaction_payload encodes the payload after the files are stored. */
enum err read_interaction_payload_objects(struct call *call);
void encode_interaction_payload(struct call *call);

/* Sends the interaction to the app after the commit. Call this function in the handler. */
void deliver_interaction_to_app(struct call *call);

/* --- timeouts.c: timeouts and cleanup ------------------------------------------------- */

/* Schedules the timeout of an unanswered interaction. The job is stored, so it survives a
 * restart. */
enum err schedule_interaction_timeout(struct call *call, const struct interaction *it);
extern const struct job_kind *const interaction_jobs[];

#endif
