/* execute.c - sends, edits and deletes messages of webhooks. */
#include "platform/webhooks/internal.h"

#include "model/permissions/permissions.h"
#include "platform/channels/channels.h"
#include "platform/messages/message_body.h"
#include "platform/threads/threads.h"

/* Resolves the channel of the message: the webhook's channel or, if the query has a thread id, that
 * thread of the channel. */
static enum err resolve_webhook_channel(struct call *call)
{
    const struct webhook_execute_query *q = call->query;
    const struct webhook *h = call->target.webhook;
    struct channel *c = call->target.channel = arena_alloc(call->arena, sizeof *c);
    bool threaded = q && q->thread_id.given == GIVEN;
    enum err e = channel_find(call->tx, threaded ? q->thread_id.value : h->channel_id, c);

    if (!e && threaded && (!channel_is_thread(c->type) || c->parent_id.value != h->channel_id))
        e = ERR_UNKNOWN_CHANNEL;
    return e;
}

/* Resolves {webhook.message.id} to a message that this webhook has sent in the channel. */
enum err resolve_webhook_message(struct call *call)
{
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);
    snowflake id;
    enum err e = call_parse_path_id(call, "webhook.message.id", &id);

    if (!e)
        e = resolve_webhook_channel(call);
    if (!e)
        e = message_find(call, call->target.channel->id, id, m);
    if (!e && m->webhook_id.value != call->target.webhook->id)
        e = ERR_UNKNOWN_MESSAGE;
    return e;
}

static struct message_sender message_sender_of_webhook(const struct call *call)
{
    const struct webhook *h = call->target.webhook;
    const struct webhook_execute_query *q = call->query;

    return (struct message_sender){ .channel = call->target.channel,
                                    .perms = PERMISSIONS_ALL,
                                    .may_use_embeds = true,
                                    .without_components =
                                        h->application_id.given != GIVEN && !q->with_components,
                                    .user_id = h->user_id,
                                    .application_id = h->application_id.value };
}

/* --- components ----------------------------------------------------------------------- */

static bool component_is_interactive(const struct component *c);

static bool any_component_is_interactive(const struct list *list)
{
    const struct component *c = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (component_is_interactive(&c[i]))
            return true;
    return false;
}

static bool component_is_interactive(const struct component *c)
{
    bool pressed = c->type == BUTTON && c->style.value != BUTTON_LINK;

    return pressed || component_is_select(c->type) ||
           any_component_is_interactive(&c->components.value) ||
           (c->accessory.value && component_is_interactive(c->accessory.value));
}

/* Adds an error for interactive components, unless the webhook belongs to an application, which
 * receives their interactions. */
static enum err check_webhook_components(struct call *call, const struct message_sender *from)
{
    const struct message_body *in = call_get_message_send_state(call)->in;

    if (from->without_components || from->application_id ||
        !any_component_is_interactive(&in->components.value))
        return OK;
    return call_add_field_error(call, "components", "BASE_TYPE_INVALID",
                                "Only webhooks of applications can send interactive components.");
}

/* --- new messages --------------------------------------------------------------------- */

enum err schedule_storing_webhook_message_uploads(struct call *call)
{
    return schedule_storing_message_uploads(call, check_uploads_of_new_message);
}

enum err pass_on_converted_webhook_message(struct call *call, const struct message_body *in)
{
    /* Errors in the body are reported later, because an error in the path takes precedence. */
    if (form_has_errors(&call->form))
        call->decoded = ERR_INVALID_FORM_BODY;
    return schedule_storing_nested_message_uploads(call, in, NULL, check_uploads_of_new_message);
}

static enum err check_message_username(struct call *call)
{
    const struct message_body *in = call_get_message_send_state(call)->in;

    if (in->username.given != GIVEN || webhook_name_is_allowed(in->username.value))
        return OK;
    return call_add_field_error(call, "username", "USERNAME_INVALID_CONTAINS",
                                "Username cannot contain \"clyde\"");
}

static enum err check_avatar_url(struct call *call)
{
    const struct message_body *in = call_get_message_send_state(call)->in;

    if (in->avatar_url.given != GIVEN)
        return OK;
    if (!external_picture_url_is_allowed(call, in->avatar_url.value))
        return call_add_field_error(call, "avatar_url", "URL_TYPE_INVALID_URL",
                                    "The URL must point to a public host.");
    if (external_picture_url_fits_header(in->avatar_url.value))
        return OK;
    return call_add_field_error(call, "avatar_url", "BASE_TYPE_BAD_LENGTH",
                                "Must be 4096 or fewer bytes in length.");
}

static struct opt_str choose_displayed_author_name(const struct call *call)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct webhook *h = call->target.webhook;

    if (in->username.given == GIVEN)
        return in->username;
    return h->name.given == GIVEN ? h->name : opt_str_or_null(STR("Webhook"));
}

/* Reads the avatar of the message: its avatar_url or, if it has none, the webhook's avatar. */
static enum err read_displayed_avatar(const struct call *call, struct opt_str *ret)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct webhook *h = call->target.webhook;

    *ret = h->avatar;
    return in->avatar_url.given == GIVEN
               ? external_picture_insert_url(call->tx, h->id, in->avatar_url.value, ret)
               : OK;
}

/* Returns the id whose upload quota the message uses, because webhook calls have no caller: the
 * webhook's creator, else the application, else the webhook itself. */
static snowflake upload_quota_owner_of_webhook(const struct webhook *h)
{
    return h->user_id ? h->user_id : h->application_id.value ? h->application_id.value : h->id;
}

/* Checks thread_name and thread_id. *ret_post is true if thread_name creates a forum post. */
static enum err check_thread_name_and_id(const struct call *call, bool *ret_post)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct webhook_execute_query *q = call->query;
    const struct channel *c = call->target.channel;
    bool named = in->thread_name.given == GIVEN, threaded = q->thread_id.given == GIVEN;

    *ret_post = named;
    if (named && threaded)
        return ERR_WEBHOOK_TWO_THREADS;
    if (channel_is_forum_or_media(c->type))
        return named ? OK : ERR_WEBHOOK_NEEDS_THREAD;
    return named ? ERR_WEBHOOK_NO_FORUM : OK;
}

static enum err check_channel_accepts_message(const struct call *call)
{
    const struct channel *c = call->target.channel;

    if (!channel_accepts_messages(c->type) && !channel_is_forum_or_media(c->type))
        return ERR_NOT_TEXT_CHANNEL;
    return channel_is_thread(c->type) && c->thread_metadata->locked ? ERR_THREAD_LOCKED : OK;
}

/* Creates a forum post whose owner is the webhook. The post has no thread members. */
static enum err create_forum_post(struct call *call, struct new_message *draft, struct message *ret)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct channel *forum = call->target.channel;
    struct new_thread plan = { .parent = forum,
                               .name = in->thread_name.value,
                               .applied_tags = in->applied_tags,
                               .owner_id = call->target.webhook->id };
    struct channel post;
    enum err e = forum_post_check_tags(call, forum, &in->applied_tags,
                                       PERMISSIONS_ALL & ~PERMISSION(MANAGE_THREADS));

    return e ? e : forum_post_create_and_emit(call, &plan, draft, &post, ret);
}

/* Creates the message in the resolved channel; if `post` is true, as the first message of a new
 * forum post. */
static enum err create_webhook_message(struct call *call, bool post, struct message *ret)
{
    const struct webhook *h = call->target.webhook;
    struct user *author = arena_alloc(call->arena, sizeof *author);
    struct new_message draft;

    *author = (struct user){ .id = h->id };
    call->files_of = upload_quota_owner_of_webhook(h);
    struct message_sender from = message_sender_of_webhook(call);
    enum err e = check_webhook_components(call, &from);
    if (!e)
        e = new_message_from_body(call, &from, &draft);
    if (e)
        return e;

    draft.author = author;
    draft.webhook_id = h->id;
    draft.webhook_name = choose_displayed_author_name(call);
    if (h->application_id.given == GIVEN)
        draft.application_id = h->application_id.value;
    e = read_displayed_avatar(call, &draft.webhook_avatar);
    if (e)
        return e;
    return post ? create_forum_post(call, &draft, ret) : message_create(call, &draft, ret);
}

/* POST /webhooks/{webhook.id}/{webhook.token} */
enum err execute_webhook(struct call *call)
{
    const struct webhook_execute_query *q = call->query;
    struct message m;
    bool post = false;
    enum err e = resolve_webhook_channel(call);

    if (!e)
        e = check_message_username(call);
    if (!e)
        e = check_avatar_url(call);
    if (!e)
        e = check_channel_accepts_message(call);
    if (!e)
        e = check_thread_name_and_id(call, &post);
    if (!e)
        e = create_webhook_message(call, post, &m);
    if (e)
        return e;
    if (q->wait)
        return call_reply_with_object(call, &m);
    call_set_status(call, 204);
    return OK;
}

enum err send_converted_webhook_message(struct call *call)
{
    struct message m;
    enum err e = resolve_webhook_channel(call);

    if (!e)
        e = check_message_username(call);
    if (!e)
        e = check_avatar_url(call);
    if (!e)
        e = check_channel_accepts_message(call);
    if (!e && channel_is_forum_or_media(call->target.channel->type))
        e = ERR_WEBHOOK_SERVICE_FORUM;
    return e ? e : create_webhook_message(call, false, &m);
}

/* --- existing messages ---------------------------------------------------------------- */

/* GET …/messages/{webhook.message.id} */
enum err get_webhook_message(struct call *call)
{
    return call_reply_with_object(call, call->target.message);
}

enum err schedule_storing_edited_webhook_uploads(struct call *call)
{
    return schedule_storing_message_uploads(call, check_uploads_of_edit);
}

/* PATCH …/messages/{webhook.message.id} */
enum err edit_webhook_message(struct call *call)
{
    struct message_sender from = message_sender_of_webhook(call);

    call->files_of = upload_quota_owner_of_webhook(call->target.webhook);
    enum err e = check_webhook_components(call, &from);
    if (!e)
        e = message_edit(call, &from, call->target.message);

    return e ? e : call_reply_with_object(call, call->target.message);
}

/* DELETE …/messages/{webhook.message.id} */
enum err delete_webhook_message(struct call *call)
{
    return message_delete(call, call->target.channel, call->target.message);
}
