/* responses.h - responses of apps: callbacks, follow-ups, and the messages that they create. */
#ifndef INTERACTIONS_RESPONSES_H
#define INTERACTIONS_RESPONSES_H

#include "interactions/internal.h"
#include "platform/messages/message_body.h"

/* --- callback/schema.c ---------------------------------------------------------------- */

/* The data of a callback; the callback's type decides which members apply. */
struct interaction_callback_data {
    struct message_body message; /* must be first, because it uses the field table of messages */
    struct opt_list choices;     /* struct command_choice */
    struct opt_str custom_id, title;
};
struct interaction_callback {
    int64_t type;
    struct opt_object data; /* struct interaction_callback_data */
};
struct interaction_callback_query {
    bool with_response;
};

/* The interaction in the reply, if the query has `with_response`. */
struct interaction_in_callback_reply {
    snowflake id, channel_id;
    int64_t type;
    struct opt_id guild_id, response_message_id;
    struct opt_bool response_message_loading, response_message_ephemeral;
    struct opt_str activity_instance_id;
};
struct activity_in_callback_reply {
    struct str id;
};
struct interaction_callback_resource {
    int64_t type;
    const struct message *message;
    const struct activity_in_callback_reply *activity_instance;
};
struct interaction_callback_reply {
    const struct interaction_in_callback_reply *interaction;
    const struct interaction_callback_resource *resource; /* NULL if the callback created nothing */
};

extern const struct type callback_body, callback_reply, follow_up_body;
extern const struct schema callback_query;

/* --- callback/modal.c ----------------------------------------------------------------- */

enum { MODAL_CUSTOM_ID_MAX = 100, MODAL_TITLE_MAX = 45 }; /* characters */

/* Validates a modal. Adds errors to the form, below `here`, which is the path of the callback's
 * data. */
void validate_modal(struct form *form, const struct json_path *here,
                    const struct interaction_callback_data *in);
/* Encodes the modal for the database: {"custom_id", "title", "components"}. */
struct str encode_modal(struct arena *arena, const struct interaction_callback_data *in);
void emit_modal_create(struct call *call, const struct interaction *it, const struct application *a,
                       const struct interaction_callback_data *in);

/* --- callback/choices.c --------------------------------------------------------------- */

/* Validates the choices: their type must be that of the option that the user is typing; also checks
 * their localized names. */
enum err validate_autocomplete_choices(struct call *call, const struct interaction *it,
                                       const struct list *choices);
/* Emits APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE. */
void emit_autocomplete_choices(struct call *call, const struct interaction *it,
                               const struct list *choices);

/* --- responses.c: messages ------------------------------------------------------------ */

/* The app, user and channel of a response to an interaction. */
struct interaction_response_context {
    const struct interaction *it;
    struct application application;
    struct channel channel;
    struct user user;     /* the user who invoked the interaction */
    struct str user_text; /* partial user object as JSON, for response_metadata.c */
    /* The app as the sender in the channel; its permissions are read only when they are needed. */
    struct message_sender from;
    bool by_user_only;      /* whether the app is installed only on the user's account */
    snowflake follow_up_to; /* id of the first response; 0 if this is the first */
    /* Reason why the response must be ephemeral; absent if it need not be. */
    struct opt_int forced;
};

/* Reads the app, user and channel for a response. `in` is the message body, or NULL. */
enum err read_interaction_response_context(struct call *call, const struct interaction *it,
                                           const struct message_body *in,
                                           struct interaction_response_context *ret);

/* Builds a new message with the content of the request body (call_get_message_send_state). */
enum err build_interaction_response_message(struct call *call,
                                            const struct interaction_response_context *r,
                                            struct new_message *ret);
/* Completes a message that already has its content: sets id, author, type, references, interaction
 * metadata and visibility. The message is ephemeral if the app requests it, or if the user may not
 * post it publicly (then r->forced has the reason). */
enum err complete_interaction_response_message(struct call *call,
                                               struct interaction_response_context *r,
                                               struct new_message *draft);

/* Creates the message and emits MESSAGE_CREATE. */
enum err create_interaction_response_message(struct call *call, const struct new_message *draft,
                                             struct message *ret);

/* Edits a message with the request body (call_get_message_send_state). If the message is ephemeral,
 * postpones its deletion by 15 minutes. */
enum err update_interaction_response_message(struct call *call,
                                             const struct interaction_response_context *r,
                                             struct message *m);

/* --- response_metadata.c: interaction data of a message ------------------------------- */

/* Encode `interaction` (for older clients) and `interaction_metadata` of a message as JSON. */
enum err encode_message_interaction(struct call *call, const struct interaction_response_context *r,
                                    struct str *ret);
enum err encode_interaction_metadata(struct call *call,
                                     const struct interaction_response_context *r, struct str *ret);
bool message_is_response_to_interaction(struct arena *arena, const struct message *m,
                                        snowflake interaction_id);

/* --- callback/callback.c -------------------------------------------------------------- */

/* Resolves {interaction.callback.token}: the token must belong to the interaction in the path. */
enum err resolve_interaction_callback_token(struct call *call);
enum err check_can_acknowledge_interaction(struct call *call);
enum err prepare_interaction_callback(struct call *call);
enum err create_interaction_response(struct call *call);
/* Applies a callback, without a reply to the HTTP request. */
enum err apply_interaction_callback(struct call *call, struct interaction *it,
                                    const struct interaction_callback *in);

/* --- followups.c ---------------------------------------------------------------------- */

enum err resolve_interaction_follow_up_token(struct call *call);
enum err resolve_interaction_response_message(struct call *call);
enum err prepare_follow_up_message(struct call *call);
enum err create_follow_up(struct call *call);
enum err get_response_message(struct call *call);
enum err prepare_edit_interaction_response(struct call *call);
enum err edit_response_message(struct call *call);
enum err delete_response_message(struct call *call);

#endif
