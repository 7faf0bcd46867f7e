/* internal.h - struct interaction, and functions for its SQL, tokens and events. */
#ifndef INTERACTIONS_INTERNAL_H
#define INTERACTIONS_INTERNAL_H

#include "commands/commands.h"
#include "interactions/interactions.h"
#include "model/channel.h"
#include "model/command.h"
#include "model/message.h"
#include "platform/applications/applications.h"

enum interaction_type {
    INTERACTION_PING = 1,
    INTERACTION_COMMAND = 2,
    INTERACTION_COMPONENT = 3,
    INTERACTION_AUTOCOMPLETE = 4,
    INTERACTION_MODAL = 5,
};

enum interaction_callback_type {
    CALLBACK_PONG = 1,
    CALLBACK_MESSAGE = 4,
    CALLBACK_DEFERRED_MESSAGE = 5,
    CALLBACK_DEFERRED_UPDATE = 6,
    CALLBACK_UPDATE = 7,
    CALLBACK_CHOICES = 8,
    CALLBACK_MODAL = 9,
    CALLBACK_LAUNCH = 12,
};

enum interaction_state {
    INTERACTION_UNANSWERED = 0,
    INTERACTION_ACKNOWLEDGED = 1,
    INTERACTION_FAILED = 2
};

/* Times since the creation of an interaction, in microseconds. */
#define INTERACTION_TIMEOUT_US INT64_C(3000000) /* time limit of the first callback */
/* Lifetime of the interaction token and of an open modal. */
#define INTERACTION_TOKEN_LIFE_US INT64_C(900000000)
#define INTERACTION_ROW_LIFE_US   INT64_C(3600000000)
/* Time since an ephemeral message was last used or changed, after which it is deleted. */
#define EPHEMERAL_LIFE_US INT64_C(900000000)

struct interaction {
    snowflake id, application_id, user_id, channel_id;
    snowflake guild_id; /* 0 outside guilds */
    int64_t type;       /* enum interaction_type */
    int64_t context;    /* enum command_context */
    struct str owners;  /* JSON of authorizing_integration_owners */
    struct str locale;
    struct opt_str nonce;   /* the client's nonce: JSON string or number; GIVEN_NULL if absent */
    struct opt_str session; /* gateway session id */

    /* The fields of commands and of autocomplete follow. A modal has the values of the interaction
     * that opened it. */
    snowflake command_id, target_id; /* 0 if there is none */
    /* Type of the command; 0 if the interaction is not for a command. */
    int64_t command_type;
    int64_t handler;      /* handler of an entry point command; 0 for other commands */
    struct str name;      /* "command group subcommand" */
    int64_t focused_type; /* autocomplete: type of the option that the user is typing */

    /* Id of the message with the component that was used or that opened the modal; 0 if none. */
    snowflake message_id;
    snowflake opener_id; /* modal: id of the interaction that opened it; 0 for other types */

    int64_t state;         /* enum interaction_state */
    int64_t callback_type; /* 0 if not acknowledged */
    snowflake response_id; /* id of the app's first response message (@original), or 0 */
    bool ephemeral;        /* the callback requested an ephemeral response */
    int64_t follow_ups;
    /* The modal of the callback: {"custom_id", "title", "components"}; null after the user has
     * submitted the modal. The components have the type type_components_in, and each has its id. */
    struct opt_str modal;
};

/* --- refusal_causes.c ----------------------------------------------------------------- */

/* Explains why an app's response is refused. Called by the hook call_refused. */
enum err explain_interaction_refusal(struct call *call, const struct call_refusal_cause *refusal);

/* --- rows.c --------------------------------------------------------------------------- */

/* Returns the creation time in microseconds since 1970, from the id. */
int64_t interaction_creation_time(const struct interaction *it);

enum err read_interaction(struct tx *tx, snowflake id, struct interaction *ret);
enum err insert_interaction(struct tx *tx, const struct interaction *it);

/* Columns that are set when an interaction is acknowledged. */
struct interaction_acknowledgement {
    int64_t callback_type;
    snowflake response_id; /* id of the app's first response message (@original), or 0 */
    bool ephemeral;
    /* JSON {custom_id, components}, each component with its id; .p is NULL if there is no modal. */
    struct str modal;
};
/* Acknowledges an interaction and updates `it`; emits no event. Only the first call for an
 * interaction succeeds; later calls return ERR_ALREADY_ACKNOWLEDGED. Returns
 * ERR_UNKNOWN_INTERACTION if the interaction has failed or timed out. */
enum err acknowledge_interaction(struct call *call, struct interaction *it,
                                 const struct interaction_acknowledgement *a);

/* Counts a follow-up message; *ret is the new number of follow-ups. */
enum err count_follow_up_message(struct tx *tx, struct interaction *it, int64_t *ret);

/* --- token.c -------------------------------------------------------------------------- */

/* Returns the token of an interaction, derived from its id and the server's key. */
struct str make_interaction_token(const struct call *call, snowflake id);
/* Returns the interaction id in a token, or 0 if the token is invalid. Needs no transaction. */
snowflake interaction_id_from_token(const struct call *call, struct str token);

/* --- integration_owners.c ------------------------------------------------------------- */

/* Returns true if the app is installed only on the user's account. `owners` is the value of
 * authorizing_integration_owners. */
bool app_is_installed_only_on_user(struct str owners);

/* --- user_events.c: events to the user ------------------------------------------------ */

/* Emits an event to the gateway session that sent the interaction if it is known, else to all
 * sessions of the user. */
void emit_event_to_invoking_user(struct call *call, const struct interaction *it, enum event event,
                                 const struct schema *schema, const void *object);
void emit_interaction_created(struct call *call, const struct interaction *it);
void emit_interaction_success(struct call *call, const struct interaction *it);

enum interaction_failure_reason { FAILURE_UNKNOWN = 1, FAILURE_TIMEOUT = 2 };
/* Fails an interaction and emits INTERACTION_FAILURE. No effect if the interaction was acknowledged
 * or has failed already. */
enum err fail_interaction(struct call *call, snowflake id, enum interaction_failure_reason reason);

/* --- ephemeral.c ---------------------------------------------------------------------- */

/* Schedules the deletion of an ephemeral message in 15 minutes. Call this function when the message
 * is created, changed or used. */
enum err schedule_ephemeral_message_deletion(struct call *call, const struct message *m);
extern const struct job_kind ephemeral_deletion_job; /* in callbacks_domain */

/* --- launch.c ------------------------------------------------------------------------- */

/* Handles an entry point command with the handler COMMAND_LAUNCH_ACTIVITY: acknowledges the
 * interaction and posts a message of the app. Call it in the transaction that inserts the
 * interaction. */
enum err launch_activity_of_entry_point_command(struct call *call, struct interaction *it);

/* --- callback/inline.c, app_delivery.c: HTTP answers of the app's endpoint ------------ */

/* Applies the HTTP response of the app's endpoint as a callback, and frees the buffer of its body.
 * content_type is application/json, or multipart/form-data with payload_json and files[n]. */
void apply_http_response_as_interaction_callback(struct api *api, struct loop *loop, snowflake id,
                                                 struct str content_type, struct buf *body);
/* Fails the interaction later, in a transaction of its own. */
void fail_interaction_in_background(struct api *api, struct loop *loop, snowflake id,
                                    enum interaction_failure_reason reason);

#endif
