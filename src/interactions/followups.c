/* followups.c - follow-up messages of an app: /webhooks/{application.id}/{token}.
 *
 * The token is the only credential and is valid for 15 minutes. */
#include "interactions/answers.h"

#include "base/clock.h"

enum { MOST_BY_USER = 5 };

/* --- path ----------------------------------------------------------------------------- */

/* Resolves {interaction.token}, which must belong to this app, be acknowledged and not expired. */
enum err resolve_follow_up_token(struct call *call)
{
    snowflake id = interaction_of_token(call, call_text(call, "interaction.token"));
    struct interaction *it = call->target.interaction = arena_alloc(call->arena, sizeof *it);

    if (!id)
        return ERR_UNKNOWN_WEBHOOK;
    it->id = id;
    /* The row may already be deleted, so the creation time comes from the id in the token. */
    if (clock_us() > interaction_created(it) + INTERACTION_LIFE)
        return ERR_INVALID_WEBHOOK_TOKEN;
    enum err e = interaction_find(call->tx, id, it);
    if (e)
        return e == ERR_UNKNOWN_INTERACTION ? ERR_UNKNOWN_WEBHOOK : e;
    if (it->application_id != call_id(call, "interaction.application.id") ||
        it->state != INTERACTION_ACKNOWLEDGED)
        return ERR_UNKNOWN_WEBHOOK;
    return OK;
}

static enum err wanted_message(struct call *call, snowflake *ret)
{
    *ret = call->target.interaction->response_id;
    if (str_is(call_text(call, "response.message.id"), "@original"))
        return *ret ? OK : ERR_UNKNOWN_MESSAGE;
    return call_text_id(call, "response.message.id", ret);
}

/* Resolves {response.message.id}, a message that this interaction created, or its @original. */
enum err resolve_response_message(struct call *call)
{
    const struct interaction *it = call->target.interaction;
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);
    snowflake id;
    enum err e = wanted_message(call, &id);

    if (!e)
        e = message_find_ephemeral(call, it->channel_id, id, m);
    if (!e && id != it->response_id && !response_is_of(call->arena, m, it->id))
        e = ERR_UNKNOWN_MESSAGE;
    return e;
}

/* --- new follow-up -------------------------------------------------------------------- */

static enum err check_new(struct call *call)
{
    return check_uploads(call, &(struct list){ 0 });
}

enum err prepare_follow_up(struct call *call)
{
    return prepare_sending(call, check_new);
}

/* Reads the deferred message (callback type 5) that has no content yet; *ret_found: there is
 * one. */
static enum err find_promised(struct call *call, const struct interaction *it, struct message *ret,
                              bool *ret_found)
{
    enum err e = ERR_UNKNOWN_MESSAGE;

    if (it->callback_type == CALLBACK_DEFERRED_MESSAGE)
        e = message_find_ephemeral(call, it->channel_id, it->response_id, ret);
    *ret_found = !e && ret->flags & MESSAGE_LOADING;
    return e == ERR_UNKNOWN_MESSAGE ? OK : e;
}

/* Counts a follow-up. An app that is installed only on the user's account may send MOST_BY_USER of
 * them. */
static enum err followup_count(struct call *call, struct interaction *it, const struct response *r)
{
    int64_t number;
    enum err e = interaction_follow_up(call->tx, it, &number);

    return !e && r->by_user_only && number > MOST_BY_USER ? ERR_MAX_FOLLOW_UPS : e;
}

/* POST /webhooks/{interaction.application.id}/{interaction.token} */
enum err create_follow_up(struct call *call)
{
    struct interaction *it = call->target.interaction;
    struct message_draft draft;
    struct response r;
    struct message m;
    bool promised;

    /* An autocomplete interaction has no message responses. */
    if (it->type == INTERACTION_AUTOCOMPLETE)
        return ERR_UNKNOWN_WEBHOOK;
    enum err e = response_load(call, it, call->body, &r);
    if (!e)
        e = find_promised(call, it, &m, &promised);
    if (e)
        return e;
    if (promised) {
        e = response_edit(call, &r, &m);
        /* If the message is still loading after the edit, it got no content. */
        if (!e && m.flags & MESSAGE_LOADING)
            e = ERR_EMPTY_MESSAGE;
        return e ? e : call_reply(call, &m);
    }

    r.follow_up_to = it->response_id;
    e = followup_count(call, it, &r);
    if (!e)
        e = response_draft(call, &r, &draft);
    if (!e)
        e = response_fill(call, &r, &draft);
    if (!e)
        e = response_send(call, &draft, &m);
    return e ? e : call_reply(call, &m);
}

/* --- existing responses --------------------------------------------------------------- */

/* GET …/messages/{response.message.id} */
enum err get_response_message(struct call *call)
{
    return call_reply(call, call->target.message);
}

static enum err check_edit(struct call *call)
{
    return check_uploads(call, &call->target.message->attachments);
}

enum err prepare_edit_response(struct call *call)
{
    return prepare_sending(call, check_edit);
}

/* PATCH …/messages/{response.message.id} */
enum err edit_response_message(struct call *call)
{
    struct message *m = call->target.message;
    struct response r;
    enum err e = response_load(call, call->target.interaction, call->body, &r);

    if (!e)
        e = response_edit(call, &r, m);
    return e ? e : call_reply(call, m);
}

/* DELETE …/messages/{response.message.id} */
enum err delete_response_message(struct call *call)
{
    struct message *m = call->target.message;
    struct response r;
    enum err e = response_load(call, call->target.interaction, NULL, &r);

    return e ? e : message_delete(call, &r.channel, m);
}
