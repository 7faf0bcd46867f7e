/* routes.c - reads, edits and deletes messages of a channel; route table of the folder. */
#include "platform/messages/internal.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { BULK_DAYS = 14, BULK_LEAST = 2, BULK_MOST = 100 };

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

static enum err read_and_reply_message_page(struct call *call,
                                            const struct message_page_query *page)
{
    struct list out, authors;
    enum err e = message_page_read(call->tx, call->target.channel->id, page, &out);

    if (!e)
        e = message_page_read_authors(call->tx, call->target.channel->id, page, &authors);
    if (!e)
        e = messages_read_referenced_objects_except_users(call, &out, &authors);
    if (e || reply_with_message_page_and_cache_it(call, page, &out, &e))
        return e;
    e = messages_add_caller_specific_fields(call, &out);
    if (e)
        return e;
    struct json_writer j = call_get_reply_json_writer(call);

    messages_write_json(&j, &out, NULL);
    return OK;
}

static struct message_page_query message_page_from_query(const struct call *call)
{
    const struct page_query *q = call->query;

    return (struct message_page_query){ q->before.value, q->after.value, q->around.value,
                                        q->limit };
}

/* Messages that are older than a minute may be read from a standby. */
static enum err require_primary_for_new_messages(struct call *call)
{
    enum { OLD_MS = 60 * 1000 };
    const struct page_query *q = call->query;

    call->needs_primary = !q || q->around.given || !q->before.given ||
                          q->before.value > snowflake_from_ms(clock_ms() - OLD_MS);
    return OK;
}

/* Lets the standby be read only if the handler would hide nothing from the caller. */
static enum err check_message_page_on_primary(struct call *call)
{
    bool reads_content = true;
    enum err e =
        call->caller->kind == CALLER_BOT ? read_message_content_intent(call, &reads_content) : OK;

    call->reads_standby =
        reads_content && call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY);
    return e;
}

/* GET /channels/{channel.id}/messages: newest first; empty without READ_MESSAGE_HISTORY. */
static enum err list_messages(struct call *call)
{
    struct message_page_query page = message_page_from_query(call);

    if (!(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        return call_reply_with_object(call, &(struct list){ 0 });
    const struct cached_message_page *cached =
        find_cached_message_page(call->tx, call->target.channel->id, &page);
    enum err e = cached ? reply_with_cached_message_page(call, cached)
                        : read_and_reply_message_page(call, &page);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

/* GET /channels/{channel.id}/messages/{message.id} */
static enum err get_message(struct call *call)
{
    enum err e = call_reply_with_object(call, call->target.message);

    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

/* --- POST /channels/{channel.id}/greet ----------------------------------------------- */

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

/* True if the caller wrote the message. For an interaction response, the author is the bot of the
 * app whose id is the message's webhook id. */
static bool caller_is_message_author(const struct call *call)
{
    const struct message *m = call->target.message;
    bool by_webhook =
        m->webhook_id.given == GIVEN && m->webhook_id.value != call->caller->application_id;

    return m->author_id == call->caller->id && !by_webhook;
}

/* Returns OK for the author and for moderators. Moderators may change only the flags, which
 * check_edited_fields checks. */
static enum err check_edit_permission(struct call *call)
{
    bool system = message_is_system(call->target.message->type);

    if (caller_is_message_author(call))
        return system ? ERR_SYSTEM_MESSAGE : OK;
    if (call->target.member_access && call->target.permissions & PERMISSION(MANAGE_MESSAGES))
        return system ? ERR_SYSTEM_MESSAGE : OK;
    return call_get_missing_permissions_error(call, PERMISSION(MANAGE_MESSAGES)) ==
                   ERR_GUILD_MFA_REQUIRED
               ? ERR_GUILD_MFA_REQUIRED
               : ERR_NOT_AUTHOR;
}

static enum err check_edited_fields(struct call *call)
{
    const struct message_body *in = call->body;
    bool more = in->content.given || message_body_get_embeds(in).given || in->components.given ||
                in->attachments.given || in->allowed_mentions.given || in->poll.given == GIVEN;

    if (!caller_is_message_author(call) && (more || count_uploaded_files(call)))
        return ERR_NOT_AUTHOR;
    if (count_uploaded_files(call) && !(call->target.permissions & PERMISSION(ATTACH_FILES)))
        return call_get_missing_permissions_error(call, PERMISSION(ATTACH_FILES));
    return check_uploads_of_edit(call);
}

static enum err schedule_storing_edit_uploads(struct call *call)
{
    return schedule_storing_message_uploads(call, check_edited_fields);
}

/* PATCH /channels/{channel.id}/messages/{message.id} */
static enum err edit_message(struct call *call)
{
    struct message_sender from = { .channel = call->target.channel,
                                   .perms = call->target.permissions,
                                   .may_use_embeds = call->caller->kind == CALLER_BOT,
                                   .user_id = call->caller->id,
                                   .application_id = call->caller->application_id };
    const struct message_body *in = call->body;
    struct automod_checked_text judged = { .channel = from.channel, .edited = true };
    enum err e = check_thread_is_open(call->target.channel, call->target.permissions);

    if (!e)
        e = check_edited_fields(call);
    if (in->content.given == GIVEN)
        judged.text = in->content.value;
    if (!e && judged.text.n)
        e = message_check_text_with_automod(call, &judged);
    if (e || judged.refused)
        return e;
    e = message_edit(call, &from, call->target.message);
    if (!e)
        e = message_run_automod_actions(call, &judged, call->target.message->id);
    if (!e)
        e = call_reply_with_object(call, call->target.message);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

static enum err check_delete_permission(struct call *call)
{
    bool moderates =
        call->target.member_access && call->target.permissions & PERMISSION(MANAGE_MESSAGES);

    if (!moderates && !caller_is_message_author(call))
        return call->target.member_access
                   ? call_get_missing_permissions_error(call, PERMISSION(MANAGE_MESSAGES))
                   : ERR_DM_CHANNEL;
    if (!moderates && call->target.message->type == MESSAGE_AUTO_MODERATION)
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_MESSAGES));
    return message_cannot_be_deleted(call->target.message->type) ? ERR_SYSTEM_MESSAGE : OK;
}

/* Messages of an archived and locked thread cannot be deleted without MANAGE_THREADS. */
static enum err check_thread_allows_deletion(const struct call *call, const struct channel *c)
{
    bool shut =
        channel_is_thread(c->type) && c->thread_metadata->archived && c->thread_metadata->locked;

    return shut && !(call->target.permissions & PERMISSION(MANAGE_THREADS)) ? ERR_THREAD_ARCHIVED
                                                                            : OK;
}

/* DELETE /channels/{channel.id}/messages/{message.id} */
static enum err delete_message(struct call *call)
{
    const struct channel *c = call->target.channel;
    const struct message *m = call->target.message;
    enum err e = check_thread_allows_deletion(call, c);

    if (!e)
        e = message_delete(call, c, m);
    struct audit_log_options options = { .channel_id = opt_id_or_null(c->id),
                                         .count = opt_str_or_null(STR("1")) };

    if (!e && !caller_is_message_author(call))
        e = audit_log_record_changes(call, c->guild_id.value, AUDIT_MESSAGE_DELETE, m->author_id,
                                     &options, (struct list){ 0 });
    return e;
}

struct bulk_deletion {
    struct list messages; /* snowflakes */
};

/* The schema accepts lists of any length, because a list that is too short or too long has its own
 * error code. */
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

static void add_message_id_once(struct call *call, struct list *ids, snowflake id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (((snowflake *)ids->items)[i] == id)
            return;
    id_list_add(call->arena, ids, id);
}

/* POST /channels/{channel.id}/messages/bulk-delete */
static enum err bulk_delete_messages(struct call *call)
{
    const struct bulk_deletion *in = call->body;
    const snowflake *ids = in->messages.items;
    const struct channel *c = call->target.channel;
    snowflake oldest = snowflake_from_ms(clock_ms() - BULK_DAYS * 86400000LL);
    struct list once = { 0 };

    if (in->messages.count < BULK_LEAST || in->messages.count > BULK_MOST)
        return ERR_BULK_DELETE_SIZE;
    for (size_t i = 0; i < in->messages.count; i++) {
        if (ids[i] < oldest)
            return ERR_TOO_OLD_TO_BULK_DELETE;
        add_message_id_once(call, &once, ids[i]);
    }
    enum err e = messages_delete_bulk(call, c, &once);
    struct audit_log_options options = { .count = opt_str_or_null(
                                             str_printf(call->arena, "%zu", once.count)) };
    return e ? e
             : audit_log_record_changes(call, c->guild_id.value, AUDIT_MESSAGE_BULK_DELETE, c->id,
                                        &options, (struct list){ 0 });
}

/* Resolves {message.id} to a message of the channel in the path. */
static enum err resolve_message(struct call *call)
{
    struct message *m = call->target.message = arena_alloc(call->arena, sizeof *m);

    return message_find(call, call->target.channel->id, call_get_path_id(call, "message.id"), m);
}

static const struct path_resolver resolvers[] = {
    {
        .name = "message.id",
        .field = "message_id",
        .doc = "A message of the channel.",
        .resolve = resolve_message,
    },
    { 0 },
};

/* Rows for the two routes that pin and unpin a message. The macro is used for both the old and the
 * new path. */
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
                                       EVENT_CHANNEL_CREATE, THREAD_MESSAGE_EVENTS, 0 },                 \
        .admit = check_pin_permission,                                                                          \
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
        .admit = check_pin_permission,                                                                          \
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
        .prepare = require_primary_for_new_messages,
        .before_standby = check_message_page_on_primary,
        .handle = list_messages,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/messages/{message.id}",
        .name = "get_message",
        .doc = "A message; needs READ_MESSAGE_HISTORY.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_message,
        .admit = require_read_message_history,
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
        .fires =
            (const enum event[]){ EVENT_CHANNEL_CREATE, THREAD_MESSAGE_EVENTS, AUTOMOD_EVENTS, 0 },
        .store = ROUTE_STORE_APPEND,
        .prepare = validate_message_create_request,
        .admit = check_send_permission,
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
        .admit = check_send_permission,
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
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, AUTOMOD_EVENTS, 0 },
        .prepare = schedule_storing_edit_uploads,
        .admit = check_edit_permission,
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
        .admit = check_delete_permission,
        .allowed_when_restricted = true,
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
        .admit = check_send_permission,
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
    /* Routes of pins with the newer paths. */
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
    .jobs = (const struct job_kind *const[]){ &message_purge_job, &account_purge_job, NULL },
    .hooks = &(const struct hook_listeners){ .member_add_emitted = send_member_join_message,
                                             .member_admitted = send_member_join_message,
                                             .member_banned = purge_messages_of_user,
                                             .group_changed = send_group_change_message,
                                             .recipient_joined = send_recipient_add_message,
                                             .recipient_left = send_recipient_remove_message },
    .deletions = message_deletions,
};
