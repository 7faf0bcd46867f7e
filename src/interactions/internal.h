/* internal.h - struct interaction, its rows, tokens and events. */
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

enum callback_type {
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
    INTERACTION_WAITS = 0,
    INTERACTION_ACKNOWLEDGED = 1,
    INTERACTION_FAILED = 2
};

/* In microseconds after the interaction's creation. */
#define INTERACTION_PATIENCE INT64_C(3000000)   /* time limit of the first callback */
#define INTERACTION_LIFE     INT64_C(900000000) /* life of the token, and of an open modal */
#define INTERACTION_KEPT     INT64_C(3600000000)
#define EPHEMERAL_LIFE       INT64_C(900000000) /* of a message, after its last use or change */

struct interaction {
    snowflake id, application_id, user_id, channel_id;
    snowflake guild_id; /* 0: outside guilds */
    int64_t type;       /* enum interaction_type */
    int64_t context;    /* enum command_context */
    struct str owners;  /* JSON: authorizing_integration_owners */
    struct str locale;
    struct opt_str nonce;   /* JSON: text or number; GIVEN_NULL: none */
    struct opt_str session; /* gateway session id */

    /* Commands and autocomplete; a modal inherits them from the interaction that opened it. */
    snowflake command_id, target_id; /* 0: none */
    int64_t command_type;            /* 0: not a command */
    int64_t handler;                 /* of entry points; else 0 */
    struct str name;                 /* "command group subcommand" */
    int64_t focused_type;            /* autocomplete: type of the focused option */

    snowflake message_id; /* of the component, also for a modal it opened; 0: none */
    snowflake opener_id;  /* modal: the interaction that opened it; 0: none */

    int64_t state;         /* enum interaction_state */
    int64_t callback_type; /* 0: not acknowledged */
    snowflake response_id; /* the @original message; 0: none */
    bool ephemeral;        /* as the callback set it */
    int64_t follow_ups;
    /* {"custom_id", "title", "components"} from the callback; null once submitted. The components
     * are of type_components_in, each with its id. */
    struct opt_str modal;
};

/* --- rows.c --------------------------------------------------------------------------- */

/* Microseconds since 1970, from the id. */
int64_t interaction_created(const struct interaction *it);

/* ERR_UNKNOWN_INTERACTION. */
enum err interaction_find(struct tx *tx, snowflake id, struct interaction *ret);
enum err interaction_insert(struct tx *tx, const struct interaction *it);

/* Columns that an acknowledgement sets. */
struct acknowledgement {
    int64_t callback_type;
    snowflake response_id; /* the @original message; 0: none */
    bool ephemeral;
    struct str modal; /* JSON: {custom_id, components}, with ids; p == NULL: none */
};
/* Only the first call succeeds: ERR_ALREADY_ACKNOWLEDGED for all others; ERR_UNKNOWN_INTERACTION if
 * it has failed or timed out. Tests and sets in one statement; updates *it. Sends no event. */
enum err interaction_acknowledge(struct call *call, struct interaction *it,
                                 const struct acknowledgement *a);

/* Counts a follow-up; *ret is the new number. */
enum err interaction_follow_up(struct tx *tx, struct interaction *it, int64_t *ret);

/* --- token.c -------------------------------------------------------------------------- */

/* Derived from the id and the server's key. */
struct str interaction_token(const struct call *call, snowflake id);
/* The id in a valid token; 0: invalid. Needs no transaction. */
snowflake interaction_of_token(const struct call *call, struct str token);

/* --- owners.c ------------------------------------------------------------------------- */

/* Whether the app is installed only on the user's account (authorizing_integration_owners). */
bool owners_only_user(struct str owners);

/* --- tell.c: events to the user ------------------------------------------------------- */

/* Sends to the session of the interaction if it is known, else to all sessions of the user. */
void interaction_tell(struct call *call, const struct interaction *it, enum event event,
                      const struct schema *schema, const void *object);
/* INTERACTION_CREATE to the user. */
void interaction_tell_created(struct call *call, const struct interaction *it);
/* INTERACTION_SUCCESS */
void interaction_tell_success(struct call *call, const struct interaction *it);

enum failure_reason { FAILURE_UNKNOWN = 1, FAILURE_TIMEOUT = 2 };
/* Sends INTERACTION_FAILURE; no effect if it was acknowledged or has failed before. */
enum err interaction_fail(struct call *call, snowflake id, enum failure_reason reason);

/* --- ephemeral.c ---------------------------------------------------------------------- */

/* Ephemeral messages are deleted 15 minutes after they were last created, changed or used. Call
 * this on each of these. */
enum err ephemeral_touch(struct call *call, const struct message *m);
extern const struct job_kind ephemeral_job; /* in callbacks_domain */

/* --- launch.c ------------------------------------------------------------------------- */

/* An entry point that the server answers itself (COMMAND_LAUNCH_ACTIVITY): acknowledges the
 * interaction and posts a message of the app. Runs in the transaction that inserted it. */
enum err interaction_launch(struct call *call, struct interaction *it);

/* --- callback_inline.c, deliver.c: HTTP answers of the app's endpoint ----------------- */

/* Handles an HTTP answer like a callback with this body; takes the body's buffer. content_type:
 * application/json, or multipart/form-data with payload_json and files[n]. */
void inline_answer_take(struct api *api, struct loop *loop, snowflake id, struct str content_type,
                        struct buf *body);
/* Starts an internal request that fails the interaction. */
void interaction_start_failing(struct api *api, struct loop *loop, snowflake id,
                               enum failure_reason reason);

#endif
