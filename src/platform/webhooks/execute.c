/* execute.c - sends, edits and deletes messages of webhooks. */
#include "platform/webhooks/internal.h"

#include "model/permissions/permissions.h"
#include "platform/channels/channels.h"
#include "platform/messages/body.h"
#include "platform/threads/threads.h"

/* Resolves the webhook's channel, or a thread of that channel that the query names. */
static enum err find_place(struct call *call)
{
    const struct execute_query *q = call->query;
    const struct webhook *h = call->target.webhook;
    struct channel *c = call->target.channel = arena_alloc(call->arena, sizeof *c);
    bool threaded = q && q->thread_id.given == GIVEN;
    enum err e = channel_find(call->tx, threaded ? q->thread_id.value : h->channel_id, c);

    if (!e && threaded && (!channel_is_thread(c->type) || c->parent_id.value != h->channel_id))
        e = ERR_UNKNOWN_CHANNEL;
    return e;
}

/* Resolves {webhook.message.id}: a message of the channel that this webhook sent. */
enum err resolve_webhook_message(struct call *call)
{
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);
    snowflake id;
    enum err e = call_text_id(call, "webhook.message.id", &id);

    if (!e)
        e = find_place(call);
    if (!e)
        e = message_find(call, call->target.channel->id, id, m);
    if (!e && m->webhook_id.value != call->target.webhook->id)
        e = ERR_UNKNOWN_MESSAGE;
    return e;
}

static struct sender webhook_sender(const struct call *call)
{
    const struct webhook *h = call->target.webhook;
    const struct execute_query *q = call->query;

    return (struct sender){ .channel = call->target.channel,
                            .rights = PERMISSIONS_ALL,
                            .rich = true,
                            .bare = h->application_id.given != GIVEN && !q->with_components,
                            .user_id = h->user_id,
                            .application_id = h->application_id.value };
}

/* --- components ----------------------------------------------------------------------- */

static bool component_acts(const struct component *c);

static bool components_act(const struct list *list)
{
    const struct component *c = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (component_acts(&c[i]))
            return true;
    return false;
}

static bool component_acts(const struct component *c)
{
    bool pressed = c->type == BUTTON && c->style.value != BUTTON_LINK;

    return pressed || component_is_select(c->type) || components_act(&c->components.value) ||
           (c->accessory.value && component_acts(c->accessory.value));
}

/* Interactive components need an application that receives their interactions. */
static enum err check_webhook_components(struct call *call, const struct sender *from)
{
    const struct message_body *in = message_sending_of(call)->in;

    if (from->bare || from->application_id || !components_act(&in->components.value))
        return OK;
    return call_invalid(call, "components", "BASE_TYPE_INVALID",
                        "Only webhooks of applications can send interactive components.");
}

/* --- new messages --------------------------------------------------------------------- */

static enum err check_new(struct call *call)
{
    return check_uploads(call, &(struct list){ 0 });
}

enum err prepare_execute_webhook(struct call *call)
{
    return prepare_sending(call, check_new);
}

enum err prepare_webhook_service(struct call *call, const struct message_body *in)
{
    /* Errors of the body are reported later, because errors of the path take precedence. */
    if (form_failed(&call->form))
        call->decoded = ERR_INVALID_FORM_BODY;
    return prepare_sending_part(call, in, NULL, check_new);
}

static enum err check_name(struct call *call)
{
    const struct message_body *in = message_sending_of(call)->in;

    if (in->username.given != GIVEN || webhook_name_holds(in->username.value))
        return OK;
    return call_invalid(call, "username", "USERNAME_INVALID_CONTAINS",
                        "Username cannot contain \"clyde\"");
}

static enum err check_avatar(struct call *call)
{
    const struct message_body *in = message_sending_of(call)->in;

    if (in->avatar_url.given != GIVEN)
        return OK;
    if (!picture_address_allowed(call, in->avatar_url.value))
        return call_invalid(call, "avatar_url", "URL_TYPE_INVALID_URL",
                            "The URL must point to a public host.");
    if (picture_address_fits(in->avatar_url.value))
        return OK;
    return call_invalid(call, "avatar_url", "BASE_TYPE_BAD_LENGTH",
                        "Must be 4096 or fewer bytes in length.");
}

static struct opt_str shown_name(const struct call *call)
{
    const struct message_body *in = message_sending_of(call)->in;
    const struct webhook *h = call->target.webhook;

    if (in->username.given == GIVEN)
        return in->username;
    return h->name.given == GIVEN ? h->name : given_str(STR("Webhook"));
}

/* Reads the avatar of the message's URL, else of the webhook. */
static enum err shown_avatar(const struct call *call, struct opt_str *ret)
{
    const struct message_body *in = message_sending_of(call)->in;
    const struct webhook *h = call->target.webhook;

    *ret = h->avatar;
    return in->avatar_url.given == GIVEN
               ? picture_note_address(call->tx, h->id, in->avatar_url.value, ret)
               : OK;
}

/* Uploads count for the creator, else the application, because webhook calls have no caller. */
static snowflake webhook_payer(const struct webhook *h)
{
    return h->user_id ? h->user_id : h->application_id.value ? h->application_id.value : h->id;
}

/* Checks thread_name and thread_id. In a forum, thread_name creates a post. */
static enum err check_forum(const struct call *call, bool *ret_post)
{
    const struct message_body *in = message_sending_of(call)->in;
    const struct execute_query *q = call->query;
    const struct channel *c = call->target.channel;
    bool named = in->thread_name.given == GIVEN, threaded = q->thread_id.given == GIVEN;

    *ret_post = named;
    if (named && threaded)
        return ERR_WEBHOOK_TWO_THREADS;
    if (channel_holds_posts(c->type))
        return named ? OK : ERR_WEBHOOK_NEEDS_THREAD;
    return named ? ERR_WEBHOOK_NO_FORUM : OK;
}

static enum err check_webhook_place(const struct call *call)
{
    const struct channel *c = call->target.channel;

    if (!channel_takes_messages(c->type) && !channel_holds_posts(c->type))
        return ERR_NOT_TEXT_CHANNEL;
    return channel_is_thread(c->type) && c->thread_metadata->locked ? ERR_THREAD_LOCKED : OK;
}

/* Creates a forum post with the webhook as its owner, and without members. */
static enum err open_post(struct call *call, struct message_draft *draft, struct message *ret)
{
    const struct message_body *in = message_sending_of(call)->in;
    const struct channel *forum = call->target.channel;
    struct thread_plan plan = { .parent = forum,
                                .name = in->thread_name.value,
                                .applied_tags = in->applied_tags,
                                .owner_id = call->target.webhook->id };
    struct channel post;
    enum err e = post_check_tags(call, forum, &in->applied_tags,
                                 PERMISSIONS_ALL & ~PERMISSION(MANAGE_THREADS));

    return e ? e : post_make(call, &plan, draft, &post, ret);
}

/* Creates the message of the body in the resolved channel. */
static enum err webhook_send(struct call *call, bool post, struct message *ret)
{
    const struct webhook *h = call->target.webhook;
    struct user *author = arena_alloc(call->arena, sizeof *author);
    struct message_draft draft;

    *author = (struct user){ .id = h->id };
    call->files_of = webhook_payer(h);
    struct sender from = webhook_sender(call);
    enum err e = check_webhook_components(call, &from);
    if (!e)
        e = draft_from_body(call, &from, &draft);
    if (e)
        return e;

    draft.author = author;
    draft.webhook_id = h->id;
    draft.webhook_name = shown_name(call);
    if (h->application_id.given == GIVEN)
        draft.application_id = h->application_id.value;
    e = shown_avatar(call, &draft.webhook_avatar);
    if (e)
        return e;
    return post ? open_post(call, &draft, ret) : message_create(call, &draft, ret);
}

/* POST /webhooks/{webhook.id}/{webhook.token} */
enum err execute_webhook(struct call *call)
{
    const struct execute_query *q = call->query;
    struct message m;
    bool post = false;
    enum err e = find_place(call);

    if (!e)
        e = check_name(call);
    if (!e)
        e = check_avatar(call);
    if (!e)
        e = check_webhook_place(call);
    if (!e)
        e = check_forum(call, &post);
    if (!e)
        e = webhook_send(call, post, &m);
    if (e)
        return e;
    if (q->wait)
        return call_reply(call, &m);
    call_set_status(call, 204);
    return OK;
}

enum err webhook_send_for_service(struct call *call)
{
    struct message m;
    enum err e = find_place(call);

    if (!e)
        e = check_name(call);
    if (!e)
        e = check_avatar(call);
    if (!e)
        e = check_webhook_place(call);
    if (!e && channel_holds_posts(call->target.channel->type))
        e = ERR_WEBHOOK_SERVICE_FORUM;
    return e ? e : webhook_send(call, false, &m);
}

/* --- existing messages ---------------------------------------------------------------- */

/* GET …/messages/{webhook.message.id} */
enum err get_webhook_message(struct call *call)
{
    return call_reply(call, call->target.message);
}

static enum err check_edit(struct call *call)
{
    return check_uploads(call, &call->target.message->attachments);
}

enum err prepare_edit_webhook_message(struct call *call)
{
    return prepare_sending(call, check_edit);
}

/* PATCH …/messages/{webhook.message.id} */
enum err edit_webhook_message(struct call *call)
{
    struct sender from = webhook_sender(call);

    call->files_of = webhook_payer(call->target.webhook);
    enum err e = check_webhook_components(call, &from);
    if (!e)
        e = message_edit(call, &from, call->target.message);

    return e ? e : call_reply(call, call->target.message);
}

/* DELETE …/messages/{webhook.message.id} */
enum err delete_webhook_message(struct call *call)
{
    return message_delete(call, call->target.channel, call->target.message);
}
