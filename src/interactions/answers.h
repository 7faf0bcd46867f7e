/* answers.h - what an app sends back: callbacks, follow-ups, and the messages they make. */
#ifndef INTERACTIONS_ANSWERS_H
#define INTERACTIONS_ANSWERS_H

#include "interactions/internal.h"
#include "platform/messages/body.h"

/* --- callback_schema.c ---------------------------------------------------------------- */

/* Which of it counts depends on the callback's type. */
struct callback_data {
    struct message_body message; /* first: its rows hold for it too */
    struct opt_list choices;     /* struct command_choice */
    struct opt_str custom_id, title;
};
struct callback {
    int64_t type;
    struct opt_object data; /* struct callback_data */
};
struct callback_query {
    bool with_response;
};

/* What `with_response` shows. */
struct callback_interaction {
    snowflake id, channel_id;
    int64_t type;
    struct opt_id guild_id, response_message_id;
    struct opt_bool response_message_loading, response_message_ephemeral;
    struct opt_str activity_instance_id;
};
struct callback_instance {
    struct str id;
};
struct callback_resource {
    int64_t type;
    const struct message *message;
    const struct callback_instance *activity_instance;
};
struct callback_answer {
    const struct callback_interaction *interaction;
    const struct callback_resource *resource; /* NULL: none */
};

extern const struct type callback_body, callback_reply, follow_up_body;
extern const struct schema callback_query;

/* --- callback_modal.c ----------------------------------------------------------------- */

/* What a modal must be; a problem is noted below here, which is the callback's data. */
void modal_check(struct form *form, const struct place *here, const struct callback_data *in);
/* As it is kept until it is submitted: {"custom_id", "title", "components"}. */
struct str modal_text(struct arena *arena, const struct callback_data *in);
/* INTERACTION_MODAL_CREATE */
void modal_tell(struct call *call, const struct interaction *it, const struct application *a,
                const struct callback_data *in);

/* --- callback_choices.c --------------------------------------------------------------- */

/* Is each choice what the option that is being typed takes? */
enum err choices_check(struct call *call, const struct interaction *it, const struct list *choices);
/* APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE */
void choices_tell(struct call *call, const struct interaction *it, const struct list *choices);

/* --- responses.c: the messages -------------------------------------------------------- */

/* Who answers whom, and where. */
struct response {
    const struct interaction *it;
    struct application application;
    struct channel channel;
    struct user user;       /* who asked */
    struct str user_text;   /* JSON: the same as others see it, for response_words.c */
    struct sender from;     /* the app, in the channel; its rights only where they count */
    bool by_user_only;      /* nothing but the person's own install brings it here */
    snowflake follow_up_to; /* the answer before it; 0: it is the first */
    struct opt_int forced;  /* why it is for one account only, whatever the app wants */
};

/* in: what is said, as far as it came from outside; NULL: nothing. */
enum err response_load(struct call *call, const struct interaction *it,
                       const struct message_body *in, struct response *ret);

/* The content of a new message, from the body that call->passed has (message_sending_of). */
enum err response_draft(struct call *call, const struct response *r, struct message_draft *ret);
/* Completes a draft that has its content: author, type, references, what it answers, and
 * who sees it: only the one who asked where the app wants it so, or where that one may
 * not show it to others (then r->forced says why). Its id is minted, so that it can be
 * told before it is there. */
enum err response_fill(struct call *call, struct response *r, struct message_draft *draft);

/* Writes and announces it. */
enum err response_send(struct call *call, const struct message_draft *draft, struct message *ret);

/* Changes a message as message_sending_of(call) says; one that is for one account is kept longer.
 */
enum err response_edit(struct call *call, const struct response *r, struct message *m);

/* --- response_words.c: what a message says of the interaction ------------------------- */

/* `interaction` (older clients) and `interaction_metadata`, as JSON. */
enum err response_interaction(struct call *call, const struct response *r, struct str *ret);
enum err response_metadata(struct call *call, const struct response *r, struct str *ret);
/* Did this interaction make the message? */
bool response_is_of(struct arena *arena, const struct message *m, snowflake interaction_id);

/* --- callback.c ----------------------------------------------------------------------- */

/* {interaction.callback.token}: of the interaction in the path. */
enum err resolve_callback_token(struct call *call);
enum err may_acknowledge(struct call *call);
enum err prepare_callback(struct call *call);
enum err create_interaction_response(struct call *call);
/* What the route's handler does, but for the reply. */
enum err callback_apply(struct call *call, struct interaction *it, const struct callback *in);

/* --- followups.c ---------------------------------------------------------------------- */

enum err resolve_follow_up_token(struct call *call);
enum err resolve_response_message(struct call *call);
enum err prepare_follow_up(struct call *call);
enum err create_follow_up(struct call *call);
enum err get_response_message(struct call *call);
enum err prepare_edit_response(struct call *call);
enum err edit_response_message(struct call *call);
enum err delete_response_message(struct call *call);

#endif
