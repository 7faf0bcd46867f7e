/* internal.h - what the files of interactions/ share. */
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

/* Microseconds after its creation. */
#define INTERACTION_PATIENCE INT64_C(3000000)   /* to be acknowledged */
#define INTERACTION_LIFE     INT64_C(900000000) /* of the token; of an open modal, too */
#define INTERACTION_KEPT     INT64_C(3600000000)
#define EPHEMERAL_LIFE       INT64_C(900000000) /* of a message, after its last touch */

struct interaction {
    snowflake id, application_id, user_id, channel_id;
    snowflake guild_id; /* 0: outside guilds */
    int64_t type;       /* enum interaction_type */
    int64_t context;    /* enum command_context */
    struct str owners;  /* JSON: authorizing_integration_owners */
    struct str locale;
    struct opt_str nonce;   /* JSON: text or number; GIVEN_NULL: none */
    struct opt_str session; /* of the gateway */

    /* Commands and autocomplete; a modal has those of the interaction that opened it. */
    snowflake command_id, target_id; /* 0: none */
    int64_t command_type;            /* 0: not a command */
    int64_t handler;                 /* of entry points; else 0 */
    struct str name;                 /* "command group subcommand" */
    int64_t focused_type;            /* autocomplete: of the option that is being typed */

    snowflake message_id; /* whose component was used, also before a modal; 0: none */
    snowflake opener_id;  /* of a modal: the interaction that it answers; 0: none */

    int64_t state;         /* enum interaction_state */
    int64_t callback_type; /* 0: not acknowledged */
    snowflake response_id; /* the message behind @original; 0: none */
    bool ephemeral;        /* what the callback said */
    int64_t follow_ups;
    /* {"custom_id", "title", "components"}, as the callback put it there; null once submitted.
     * The components are of type_components_in, each with its id. */
    struct opt_str modal;
};

/* --- rows.c --------------------------------------------------------------------------- */

/* Microseconds since 1970: from the id. */
int64_t interaction_created(const struct interaction *it);

/* ERR_UNKNOWN_INTERACTION. */
enum err interaction_find(struct tx *tx, snowflake id, struct interaction *ret);
enum err interaction_insert(struct tx *tx, const struct interaction *it);

/* What is kept when it is acknowledged. */
struct acknowledgement {
    int64_t callback_type;
    snowflake response_id; /* what @original is; 0: nothing */
    bool ephemeral;
    struct str modal; /* JSON: {custom_id, components}, with ids; p == NULL: none */
};
/* The first one wins: ERR_ALREADY_ACKNOWLEDGED for all others; ERR_UNKNOWN_INTERACTION when
 * it failed, or waited longer than it may. Tests and sets in one statement; updates *it.
 * Nobody is told. */
enum err interaction_acknowledge(struct call *call, struct interaction *it,
                                 const struct acknowledgement *a);

/* Counts one more follow-up; *ret is the number with it. */
enum err interaction_follow_up(struct tx *tx, struct interaction *it, int64_t *ret);

/* --- token.c -------------------------------------------------------------------------- */

/* Follows from the id and the server's key. */
struct str interaction_token(const struct call *call, snowflake id);
/* The id in a token of ours, or 0: then it is none. Needs no transaction. */
snowflake interaction_of_token(const struct call *call, struct str token);

/* --- owners.c ------------------------------------------------------------------------- */

/* authorizing_integration_owners: nothing but the person's own install brings it here. */
bool owners_only_user(struct str owners);

/* --- tell.c --------------------------------------------------------------------------- */

/* To the session that asked, or to all of the account's. */
void interaction_tell(struct call *call, const struct interaction *it, enum event event,
                      const struct schema *schema, const void *object);
/* INTERACTION_CREATE, as the one who asked gets it. */
void interaction_tell_created(struct call *call, const struct interaction *it);
/* INTERACTION_SUCCESS */
void interaction_tell_success(struct call *call, const struct interaction *it);

enum failure_reason { FAILURE_UNKNOWN = 1, FAILURE_TIMEOUT = 2 };
/* INTERACTION_FAILURE; nothing when it was acknowledged or failed before. */
enum err interaction_fail(struct call *call, snowflake id, enum failure_reason reason);

/* --- ephemeral.c ---------------------------------------------------------------------- */

/* Messages for one account are kept for 15 minutes after they were last touched: made,
 * changed, or used. What makes, changes or uses one calls this. */
enum err ephemeral_touch(struct call *call, const struct message *m);
extern const struct job_kind ephemeral_job; /* of callbacks_domain */

/* --- launch.c ------------------------------------------------------------------------- */

/* An entry point that the server answers itself (COMMAND_LAUNCH_ACTIVITY): acknowledges it,
 * tells so, and says in the channel, as the app, that it was started. In the transaction
 * that inserted it. */
enum err interaction_launch(struct call *call, struct interaction *it);

/* --- callback_inline.c, deliver.c: what came back from the app's address ---------------- */

/* An answer that came inline does the same as a callback with this body, which is taken over.
 * content_type: application/json, or multipart/form-data with payload_json and files[n]. */
void inline_answer_take(struct api *api, struct loop *loop, snowflake id, struct str content_type,
                        struct buf *body);
/* There was none. */
void interaction_start_failing(struct api *api, struct loop *loop, snowflake id,
                               enum failure_reason reason);

#endif
