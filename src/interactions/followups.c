/* followups.c - follow-up messages of an app: /webhooks/{application.id}/{token}. The interaction
 * token is the only credential and is valid for 15 minutes. */
#include "interactions/responses.h"

#include "base/clock.h"

enum { MOST_BY_USER = 5 };

/* --- path ----------------------------------------------------------------------------- */

/* Resolves {interaction.token}. The interaction must belong to this app and be acknowledged, and
 * the token must not have expired. */
enum err resolve_interaction_follow_up_token(struct call *call)
{
    snowflake id = interaction_id_from_token(call, call_get_path_text(call, "interaction.token"));
    struct interaction *it = call->target.interaction = arena_alloc(call->arena, sizeof *it);

    if (!id)
        return ERR_UNKNOWN_WEBHOOK;
    it->id = id;
    call_set_application_in_traffic_record(call,
                                           call_get_path_id(call, "interaction.application.id"));
    /* The interaction's row may already be deleted, so its id gives the creation time. */
    if (clock_us() > interaction_creation_time(it) + INTERACTION_TOKEN_LIFE_US)
        return ERR_INVALID_WEBHOOK_TOKEN;
    enum err e = read_interaction(call->tx, id, it);
    if (e)
        return e == ERR_UNKNOWN_INTERACTION ? ERR_UNKNOWN_WEBHOOK : e;
    if (it->application_id != call_get_path_id(call, "interaction.application.id") ||
        it->state != INTERACTION_ACKNOWLEDGED)
        return ERR_UNKNOWN_WEBHOOK;
    return OK;
}

static enum err parse_response_message_id(struct call *call, snowflake *ret)
{
    *ret = call->target.interaction->response_id;
    if (str_is(call_get_path_text(call, "response.message.id"), "@original"))
        return *ret ? OK : ERR_UNKNOWN_MESSAGE;
    return call_parse_path_id(call, "response.message.id", ret);
}

/* Resolves {response.message.id}: a message that this interaction created, or @original. */
enum err resolve_interaction_response_message(struct call *call)
{
    const struct interaction *it = call->target.interaction;
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);
    snowflake id;
    enum err e = parse_response_message_id(call, &id);

    if (!e)
        e = message_find_even_ephemeral(call, it->channel_id, id, m);
    if (!e && id != it->response_id && !message_is_response_to_interaction(call->arena, m, it->id))
        e = ERR_UNKNOWN_MESSAGE;
    return e;
}

/* --- new follow-up -------------------------------------------------------------------- */

enum err prepare_follow_up_message(struct call *call)
{
    return schedule_storing_message_uploads(call, check_uploads_of_new_message);
}

/* Reads the deferred message (callback type 5) of an interaction. Sets ret_found to true if a
 * deferred message without content exists. */
static enum err read_deferred_message(struct call *call, const struct interaction *it,
                                      struct message *ret, bool *ret_found)
{
    enum err e = ERR_UNKNOWN_MESSAGE;

    if (it->callback_type == CALLBACK_DEFERRED_MESSAGE)
        e = message_find_even_ephemeral(call, it->channel_id, it->response_id, ret);
    *ret_found = !e && ret->flags & MESSAGE_LOADING;
    return e == ERR_UNKNOWN_MESSAGE ? OK : e;
}

/* Counts a follow-up. If the app is installed only on the user's account, it may send at most
 * MOST_BY_USER of them. */
static enum err count_and_limit_follow_up(struct call *call, struct interaction *it,
                                          const struct interaction_response_context *r)
{
    int64_t number;
    enum err e = count_follow_up_message(call->tx, it, &number);

    return !e && r->by_user_only && number > MOST_BY_USER ? ERR_MAX_FOLLOW_UPS : e;
}

/* POST /webhooks/{interaction.application.id}/{interaction.token} */
enum err create_follow_up(struct call *call)
{
    struct interaction *it = call->target.interaction;
    struct new_message draft;
    struct interaction_response_context r;
    struct message m;
    bool is_deferred;

    /* Messages cannot be responses to an autocomplete interaction. */
    if (it->type == INTERACTION_AUTOCOMPLETE)
        return ERR_UNKNOWN_WEBHOOK;
    enum err e = read_interaction_response_context(call, it, call->body, &r);
    if (!e)
        e = read_deferred_message(call, it, &m, &is_deferred);
    if (e)
        return e;
    if (is_deferred) {
        e = update_interaction_response_message(call, &r, &m);
        /* If the message still has the flag LOADING after the edit, it got no content. */
        if (!e && m.flags & MESSAGE_LOADING)
            e = ERR_EMPTY_MESSAGE;
        return e ? e : call_reply_with_object(call, &m);
    }

    r.follow_up_to = it->response_id;
    e = count_and_limit_follow_up(call, it, &r);
    if (!e)
        e = build_interaction_response_message(call, &r, &draft);
    if (!e)
        e = complete_interaction_response_message(call, &r, &draft);
    if (!e)
        e = create_interaction_response_message(call, &draft, &m);
    return e ? e : call_reply_with_object(call, &m);
}

/* --- existing responses --------------------------------------------------------------- */

/* GET …/messages/{response.message.id} */
enum err get_response_message(struct call *call)
{
    return call_reply_with_object(call, call->target.message);
}

enum err prepare_edit_interaction_response(struct call *call)
{
    return schedule_storing_message_uploads(call, check_uploads_of_edit);
}

/* PATCH …/messages/{response.message.id} */
enum err edit_response_message(struct call *call)
{
    struct message *m = call->target.message;
    struct interaction_response_context r;
    enum err e = read_interaction_response_context(call, call->target.interaction, call->body, &r);

    if (!e)
        e = update_interaction_response_message(call, &r, m);
    return e ? e : call_reply_with_object(call, m);
}

/* DELETE …/messages/{response.message.id} */
enum err delete_response_message(struct call *call)
{
    struct message *m = call->target.message;
    struct interaction_response_context r;
    enum err e = read_interaction_response_context(call, call->target.interaction, NULL, &r);

    return e ? e : message_delete(call, &r.channel, m);
}
