/* routes.c - reads, edits and deletes messages of a channel; route table of the folder. */
#include "platform/messages/internal.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { BULK_DAYS = 14, BULK_LEAST = 2, BULK_MOST = 100 };

/* --- read ------------------------------------------------------------------------------- */

struct page_query {
    struct opt_id around, before, after;
    int64_t limit;
};

static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field page_fields[] = {
    { FIELD(struct page_query, around), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct page_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct page_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct page_query, limit), .type = &type_limit, .flags = OPTIONAL, .fallback = 50 },
    { 0 },
};
static const struct schema page_query = {
    .size = sizeof(struct page_query),
    .fields = page_fields,
    .doc = "Which messages. If several are present, around wins over before, before over after.",
};

static enum err reply_page(struct call *call, const struct message_page *page)
{
    struct list out, authors;
    enum err e = message_page(call->tx, call->target.channel->id, page, &out);

    if (!e)
        e = message_page_authors(call->tx, call->target.channel->id, page, &authors);
    if (!e)
        e = messages_complete_by(call, &out, &authors);
    if (e || kept_page_make(call, page, &out, &e))
        return e;
    e = messages_show(call, &out);
    if (e)
        return e;
    struct json j = call_reply_json(call);

    messages_write(&j, &out, NULL);
    return OK;
}

static struct message_page asked_page(const struct call *call)
{
    const struct page_query *q = call->query;

    return (struct message_page){ q->before.value, q->after.value, q->around.value, q->limit };
}

static enum err prefetch_messages(struct call *call)
{
    struct message_page page = asked_page(call);

    message_page_prefetch(call->tx, call_id(call, "channel.id"), &page);
    return OK;
}

/* GET /channels/{channel.id}/messages: newest first; empty without READ_MESSAGE_HISTORY. */
static enum err list_messages(struct call *call)
{
    struct message_page page = asked_page(call);

    if (!(call->target.rights & PERMISSION(READ_MESSAGE_HISTORY)))
        return call_reply(call, &(struct list){ 0 });
    const struct kept_page *kept = kept_page_find(call->tx, call->target.channel->id, &page);
    enum err e = kept ? kept_page_reply(call, kept) : reply_page(call, &page);
    return e ? e : messages_hide_content(call);
}

static enum err may_read(struct call *call)
{
    return call->target.rights & PERMISSION(READ_MESSAGE_HISTORY) ? OK : ERR_MISSING_PERMISSIONS;
}

/* GET /channels/{channel.id}/messages/{message.id} */
static enum err get_message(struct call *call)
{
    enum err e = call_reply(call, call->target.message);

    return e ? e : messages_hide_content(call);
}

/* --- greetings ------------------------------------------------------------------------ */

static const struct type type_one_sticker = {
    .kind = KIND_ARRAY, .min = 1, .max = 1, .of = &type_id, .doc = "A sticker of a sticker pack"
};
static const struct field greeting_fields[] = {
    { FIELD(struct message_body, sticker_ids), .type = &type_one_sticker },
    MESSAGE_BODY_FIELD(allowed_mentions, type_allowed_mentions),
    MESSAGE_BODY_FIELD(message_reference, type_message_reference_in),
    { 0 },
};
static const struct schema greeting_schema = {
    .name = "Greeting",
    .size = sizeof(struct message_body),
    .fields = greeting_fields,
    .doc = "A sticker that greets a new member.",
};
static const struct type greeting_body = { .kind = KIND_OBJECT, .schema = &greeting_schema };

/* POST /channels/{channel.id}/greet: always refused, because greetings need built-in stickers,
 * which this server does not have. */
static enum err send_greeting(struct call *call)
{
    (void)call;
    return ERR_INVALID_STICKER;
}

/* --- edit ------------------------------------------------------------------------------- */

/* A bot is the author of its interaction replies; their webhook id is the application id. */
static bool is_author(const struct call *call)
{
    const struct message *m = call->target.message;
    bool by_webhook =
        m->webhook_id.given == GIVEN && m->webhook_id.value != call->caller->application_id;

    return m->author_id == call->caller->id && !by_webhook;
}

/* Allows moderators too; check_edit then limits them to the flags. */
static enum err may_edit(struct call *call)
{
    bool system = message_is_system(call->target.message->type);

    if (is_author(call))
        return system ? ERR_SYSTEM_MESSAGE : OK;
    if (call->target.standing && call->target.rights & PERMISSION(MANAGE_MESSAGES))
        return system ? ERR_SYSTEM_MESSAGE : OK;
    return call_lacks(call, PERMISSION(MANAGE_MESSAGES)) == ERR_GUILD_MFA_REQUIRED
               ? ERR_GUILD_MFA_REQUIRED
               : ERR_NOT_AUTHOR;
}

static enum err check_edit(struct call *call)
{
    const struct message_body *in = call->body;
    bool more = in->content.given || body_embeds(in).given || in->components.given ||
                in->attachments.given || in->allowed_mentions.given || in->poll.given == GIVEN;

    if (!is_author(call) && (more || upload_count(call)))
        return ERR_NOT_AUTHOR;
    if (upload_count(call) && !(call->target.rights & PERMISSION(ATTACH_FILES)))
        return ERR_MISSING_PERMISSIONS;
    return check_uploads(call, &call->target.message->attachments);
}

static enum err prepare_edit_message(struct call *call)
{
    return prepare_sending(call, check_edit);
}

/* PATCH /channels/{channel.id}/messages/{message.id} */
static enum err edit_message(struct call *call)
{
    struct sender from = { .channel = call->target.channel,
                           .rights = call->target.rights,
                           .rich = call->caller->kind == CALLER_BOT,
                           .user_id = call->caller->id,
                           .application_id = call->caller->application_id };
    const struct message_body *in = call->body;
    struct text_judged judged = { .channel = from.channel, .edited = true };
    enum err e = thread_check_open(call->target.channel, call->target.rights);

    if (!e)
        e = check_edit(call);
    if (in->content.given == GIVEN)
        judged.text = in->content.value;
    if (!e && judged.text.n)
        e = message_judge(call, &judged);
    if (e || judged.refused)
        return e;
    e = message_edit(call, &from, call->target.message);
    if (!e)
        e = message_judged(call, &judged, call->target.message->id);
    if (!e)
        e = call_reply(call, call->target.message);
    return e ? e : messages_hide_content(call);
}

/* --- delete ----------------------------------------------------------------------------- */

static enum err may_delete(struct call *call)
{
    bool moderates = call->target.standing && call->target.rights & PERMISSION(MANAGE_MESSAGES);

    if (!moderates && !is_author(call))
        return call->target.standing ? call_lacks(call, PERMISSION(MANAGE_MESSAGES))
                                     : ERR_DM_CHANNEL;
    if (!moderates && call->target.message->type == MESSAGE_AUTO_MODERATION)
        return call_lacks(call, PERMISSION(MANAGE_MESSAGES));
    return message_stays(call->target.message->type) ? ERR_SYSTEM_MESSAGE : OK;
}

/* Messages of an archived and locked thread cannot be deleted without MANAGE_THREADS. */
static enum err check_delete(const struct call *call, const struct channel *c)
{
    bool shut =
        channel_is_thread(c->type) && c->thread_metadata->archived && c->thread_metadata->locked;

    return shut && !(call->target.rights & PERMISSION(MANAGE_THREADS)) ? ERR_THREAD_ARCHIVED : OK;
}

/* DELETE /channels/{channel.id}/messages/{message.id} */
static enum err delete_message(struct call *call)
{
    const struct channel *c = call->target.channel;
    const struct message *m = call->target.message;
    enum err e = check_delete(call, c);

    if (!e)
        e = message_delete(call, c, m);
    struct audit_options options = { .channel_id = given_id(c->id), .count = given_str(STR("1")) };

    if (!e && !is_author(call))
        e = audit_with(call, c->guild_id.value, AUDIT_MESSAGE_DELETE, m->author_id, &options,
                       (struct list){ 0 });
    return e;
}

struct bulk_deletion {
    struct list messages; /* snowflakes */
};

/* The schema accepts any length, because a wrong number of ids has an error code of its own. */
static const struct type type_bulk = {
    .kind = KIND_ARRAY, .max = INT32_MAX, .of = &type_id, .doc = "2-100 messages"
};
static const struct field bulk_fields[] = {
    { FIELD(struct bulk_deletion, messages), .type = &type_bulk },
    { 0 },
};
static const struct schema bulk_schema = {
    .name = "BulkDelete",
    .size = sizeof(struct bulk_deletion),
    .fields = bulk_fields,
    .doc = "Messages to delete, none older than 14 days.",
};
static const struct type bulk_body = { .kind = KIND_OBJECT, .schema = &bulk_schema };

static void add_once(struct call *call, struct list *ids, snowflake id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (((snowflake *)ids->items)[i] == id)
            return;
    ids_add(call->arena, ids, id);
}

/* POST /channels/{channel.id}/messages/bulk-delete */
static enum err bulk_delete_messages(struct call *call)
{
    const struct bulk_deletion *in = call->body;
    const snowflake *ids = in->messages.items;
    const struct channel *c = call->target.channel;
    snowflake oldest = snowflake_at(clock_ms() - BULK_DAYS * 86400000LL);
    struct list once = { 0 };

    if (in->messages.count < BULK_LEAST || in->messages.count > BULK_MOST)
        return ERR_BULK_DELETE_SIZE;
    for (size_t i = 0; i < in->messages.count; i++) {
        if (ids[i] < oldest)
            return ERR_TOO_OLD_TO_BULK_DELETE;
        add_once(call, &once, ids[i]);
    }
    enum err e = messages_delete(call, c, &once);
    struct audit_options options = { .count =
                                         given_str(str_printf(call->arena, "%zu", once.count)) };
    return e ? e
             : audit_with(call, c->guild_id.value, AUDIT_MESSAGE_BULK_DELETE, c->id, &options,
                          (struct list){ 0 });
}

/* --- routes ----------------------------------------------------------------------------- */

/* Resolves {message.id}: a message of the channel in the path. */
static enum err resolve_message(struct call *call)
{
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);

    return message_find(call, call->target.channel->id, call_id(call, "message.id"), m);
}

static const struct resolver resolvers[] = {
    {
        .name = "message.id",
        .field = "message_id",
        .doc = "A message of the channel.",
        .resolve = resolve_message,
    },
    { 0 },
};

/* Routes that pin and unpin, used for an old and a new path. */
/* clang-format off */
#define PIN_ROUTES(path_, pin_, unpin_)                                                            \
    {                                                                                              \
        .method = PUT,                                                                             \
        .path = path_,                                                                             \
        .name = pin_,                                                                              \
        .doc = "Pin a message; needs PIN_MESSAGES or MANAGE_MESSAGES.",                            \
        .auth = AUTH_USER | AUTH_BOT,                                                              \
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, EVENT_CHANNEL_PINS_UPDATE,            \
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_MESSAGE_CREATE,   \
                                       EVENT_CHANNEL_CREATE, SPEAKING_EVENTS, 0 },                 \
        .admit = may_pin,                                                                          \
        .handle = pin_message,                                                                     \
    },                                                                                             \
    {                                                                                              \
        .method = DELETE,                                                                          \
        .path = path_,                                                                             \
        .name = unpin_,                                                                            \
        .doc = "Unpin a message.",                                                      \
        .auth = AUTH_USER | AUTH_BOT,                                                              \
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, EVENT_CHANNEL_PINS_UPDATE,            \
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, 0 },                    \
        .admit = may_pin,                                                                          \
        .handle = unpin_message,                                                                   \
    }
/* clang-format on */

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/channels/{channel.id}/messages",
        .name = "list_messages",
        .doc = "Messages of a channel, newest first; none without READ_MESSAGE_HISTORY.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &page_query,
        .reply = &type_messages,
        .prefetch = prefetch_messages,
        .handle = list_messages,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/messages/{message.id}",
        .name = "get_message",
        .doc = "A message; needs READ_MESSAGE_HISTORY.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_message,
        .admit = may_read,
        .handle = get_message,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages",
        .name = "create_message",
        .doc = "Create a message; needs SEND_MESSAGES, in threads SEND_MESSAGES_IN_THREADS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &message_create_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_CHANNEL_CREATE, SPEAKING_EVENTS, JUDGED_EVENTS, 0 },
        .store = ROUTE_STORE_APPEND,
        .prepare = prepare_create_message,
        .prefetch = prefetch_create_message,
        .admit = may_send,
        .handle = create_message,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/greet",
        .name = "send_greeting",
        .doc = "Greet a new member; always refused, because there are no sticker packs.",
        .auth = AUTH_USER,
        .body = &greeting_body,
        .reply = &type_message,
        .store = ROUTE_STORE_READ,
        .admit = may_send,
        .handle = send_greeting,
    },
    {
        .method = PATCH,
        .path = "/channels/{channel.id}/messages/{message.id}",
        .name = "edit_message",
        .doc = "Edit a message; of messages of others only the flags, with MANAGE_MESSAGES.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &message_edit_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, JUDGED_EVENTS, 0 },
        .prepare = prepare_edit_message,
        .admit = may_edit,
        .handle = edit_message,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/messages/{message.id}",
        .name = "delete_message",
        .doc = "Delete a message. Messages of others need MANAGE_MESSAGES.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires =
            (const enum event[]){ EVENT_MESSAGE_DELETE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, 0 },
        .admit = may_delete,
        .quiet = true,
        .handle = delete_message,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages/bulk-delete",
        .name = "bulk_delete_messages",
        .doc = "Delete 2 to 100 messages at once.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_MESSAGES),
        .body = &bulk_body,
        .fires = (const enum event[]){ EVENT_MESSAGE_DELETE_BULK,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, 0 },
        .handle = bulk_delete_messages,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/typing",
        .name = "trigger_typing",
        .doc = "Show that the caller is typing. If slow mode is active, replies 200 with "
               "`message_send_cooldown_ms`.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = (const enum event[]){ EVENT_TYPING_START, 0 },
        .admit = may_send,
        .handle = trigger_typing,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/pins",
        .name = "list_pins",
        .doc = "Pinned messages, newest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_messages,
        .handle = list_pins,
    },
    PIN_ROUTES("/channels/{channel.id}/pins/{message.id}", "pin_message", "unpin_message"),
    /* The newer paths of the three pin routes. */
    {
        .method = GET,
        .path = "/channels/{channel.id}/messages/pins",
        .name = "list_pins_page",
        .doc = "Pinned messages with the time of pinning, last pinned first.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &pins_query_schema,
        .reply = &pins_page_reply,
        .handle = list_pins_page,
    },
    PIN_ROUTES("/channels/{channel.id}/messages/pins/{message.id}", "pin_message_by_new_name",
               "unpin_message_by_new_name"),
    { 0 },
};

const struct domain messages_domain = {
    .name = "Messages",
    .doc = "Messages in channels.",
    .routes = routes,
    .world = &messages_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &message_purge, &account_purge, NULL },
    .hooks = &(const struct hooks){ .member_arrived = message_of_newcomer,
                                    .member_admitted = message_of_newcomer,
                                    .member_banned = purge_messages,
                                    .group_changed = message_of_group_change,
                                    .recipient_joined = message_of_arrival,
                                    .recipient_left = message_of_departure },
    .deletions = message_deletions,
};
