/* invoke.h - shared declarations of `guildhall invoke`.
 *
 *   invoke.c           authentication and sequence of steps (start here)
 *   steps.c            command, component press, form
 *   command_line.c     parses "/weather city:Oslo" into a request body
 *   find_by_name.c     finds channels, users and roles by name
 *   wait_for_reply.c   gateway events of an invocation
 *   failure_reason.c   why there was no reply
 *   print_result.c     output as text or JSON */
#ifndef TOOLS_INVOKE_INVOKE_H
#define TOOLS_INVOKE_INVOKE_H

#include "json/schema.h"
#include "model/fields/types.h"
#include "platform/message_parts/component.h"
#include "tools/tools.h"
#include "tools/wire/api_client.h"

/* Exit status. */
enum invoke_exit_status {
    INVOKE_REPLIED = 0,
    INVOKE_ERROR = 1,   /* other errors, such as no server or an unknown account */
    INVOKE_USAGE = 2,   /* the command, one of its options, or the channel is unknown */
    INVOKE_REFUSED = 3, /* the server refused the request */
    INVOKE_FAILED = 4,  /* the app's reply is invalid */
    INVOKE_TIMED_OUT = 5,
};

enum { INVOKE_MAX_FILES = 25 };

struct invoke_command_state {
    const struct invoke_options *options;
    const struct config *config; /* configuration with the data folder of the running server */
    struct arena *arena;
    struct api_client *wire;
    snowflake channel_id, guild_id; /* guild_id is 0 in a private channel */
    struct api_client_file files[INVOKE_MAX_FILES];
    size_t file_count;
    bool app_replied; /* whether the app replied in the previous step */
    bool filled;      /* whether a form was filled with the values of --fill */
};

/* Sends a GET request and decodes the response; prints an error and returns NULL on failure. */
void *invoke_get_json(struct invoke_command_state *v, const struct type *type, const char *path);
/* Connects and authenticates with --as or --token; prints an error and returns false on failure.
 * The caller frees v->wire. */
bool invoke_connect(struct invoke_command_state *v, const struct config *config);
void invoke_revoke_token(struct invoke_command_state *v);
bool print_invoke_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- find_by_name.c ------------------------------------------------------------------- */

bool find_channel_of_option(struct invoke_command_state *v);
/* Find an object of the guild by id, mention or name; print an error and return 0 on failure. */
snowflake find_user_by_text(struct invoke_command_state *v, struct str text);
snowflake find_role_by_text(struct invoke_command_state *v, struct str text);
snowflake find_mentionable_by_text(struct invoke_command_state *v, struct str text);
snowflake find_channel_by_text(struct invoke_command_state *v, struct str text);

/* --- command_line.c ------------------------------------------------------------------- */

/* A pair key:value of the command line. A value in quotes may contain spaces. */
struct key_value_pair {
    struct str key, value;
    bool used;
};
bool parse_key_value_pairs(struct invoke_command_state *v, const char *line, struct list *ret);

/* Parses a command line. Sets *ret_data to the data of the interaction and *ret_application to the
 * application of the command. */
bool parse_command_line(struct invoke_command_state *v, const char *line,
                        snowflake *ret_application, struct str *ret_data);

/* --- wait_for_reply.c ----------------------------------------------------------------- */

struct received_user {
    snowflake id;
    struct str username;
    struct opt_str global_name;
};
/* The fields of a message that this tool uses. `raw` is the complete JSON of the message. */
struct received_message {
    snowflake id;
    struct opt_id application_id;
    const struct received_user *author;
    struct str content, embeds, components, attachments; /* the last three are JSON */
    int64_t flags;
    struct opt_str nonce;
    struct opt_object interaction_metadata; /* struct received_interaction_metadata */
    struct str raw;
};
struct received_interaction_metadata {
    snowflake id;
    struct opt_id original_response_message_id;
};
struct received_modal {
    snowflake id;
    struct str custom_id, title, components;
    /* The app that responded; only its id is used, which is the application's id. */
    const struct received_user *application;
    struct str raw;
};

/* Result of one step: a command, autocomplete, the press of a button, or a form. */
struct invocation_step_outcome {
    const char *step; /* "command", "complete", "press", "fill" */
    enum invoke_exit_status status;
    snowflake interaction_id; /* id of the interaction; 0 if it was not created */
    snowflake pressed;        /* id of the message with the pressed component; 0 in other steps */
    const struct received_message *message;
    const struct received_modal *modal;
    struct list choices;    /* struct received_autocomplete_choice */
    struct list follow_ups; /* items: const struct received_message * */
    struct str choices_raw;
    bool acknowledged;
    const char *reason; /* why the app did not reply, as text; NULL if unknown */
    int http_status;    /* HTTP status if the server refused the request, otherwise 0 */
    struct str refusal;
};
struct received_autocomplete_choice {
    struct str name, value; /* value: JSON */
    struct opt_str name_localized;
};

const struct received_message *decode_received_message(struct invoke_command_state *v,
                                                       struct str json);

void wait_for_interaction_outcome(struct invoke_command_state *v, struct str nonce,
                                  struct invocation_step_outcome *out);

/* --- failure_reason.c ----------------------------------------------------------------- */

/* Finds in the running server's traffic log why there is no reply; returns NULL if unknown. An
 * invalid reply sets INVOKE_FAILED, even if the server still waits for another reply. */
const char *find_reason_of_missing_reply(struct invoke_command_state *v,
                                         struct invocation_step_outcome *out);

/* --- steps.c -------------------------------------------------------------------------- */

struct invocation_step {
    const char *name;
    int64_t type; /* interaction type */
    snowflake application_id;
    struct str data;                        /* JSON */
    const struct received_message *message; /* message that contains the component */
    /* Id of the message with the pressed component, if a form follows; otherwise 0. */
    snowflake pressed;
};

/* Sends the interaction, waits for the outcome and prints it. */
struct invocation_step_outcome run_invocation_step(struct invoke_command_state *v,
                                                   const struct invocation_step *s);
struct invocation_step_outcome press_message_component(struct invoke_command_state *v,
                                                       const struct received_message *m);
/* Submits the form that the step returned, if --fill is set. */
struct invocation_step_outcome submit_modal_if_requested(struct invoke_command_state *v,
                                                         struct invocation_step_outcome before);
/* Returns the message that --message names; prints an error and returns NULL on failure. */
const struct received_message *fetch_message_named_by_option(struct invoke_command_state *v);

/* --- show.c --------------------------------------------------------------------------- */

/* Prints the outcome as text, or with --json as a line of JSON. */
void print_interaction_outcome(struct invoke_command_state *v,
                               const struct invocation_step_outcome *out);

#endif
