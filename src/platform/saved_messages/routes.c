/* routes.c - routes of saved messages. An account saves at most MOST_SAVED messages, so each
 * statement reads or deletes at most that many rows. The rows have no foreign key to messages:
 * otherwise the deletion of a message that 100,000 accounts have saved would delete as many rows at
 * once and block the writer. */
#include "platform/saved_messages/saved_messages.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"
#include "platform/messages/messages.h"

enum { MOST_SAVED = 200 };

static const struct path_resolver resolvers[] = {
    {
        .name = "saved_channel.id",
        .field = "channel_id",
        .prefix = "",
        .doc = "The channel of a saved message; it may be deleted or hidden.",
    },
    {
        .name = "saved_message.id",
        .field = "message_id",
        .prefix = "",
        .doc = "A saved message; it may be deleted or hidden.",
    },
    { 0 },
};

/* --- schemas -------------------------------------------------------------------------- */

struct save_body {
    struct opt_int due_at;
};
static const struct field save_body_fields[] = {
    { FIELD(struct save_body, due_at), .type = &type_time, .flags = OPTIONAL | NULLABLE,
      .doc = "When clients remind the user of the message" },
    { 0 },
};
static const struct schema save_body_schema = { .name = "SaveMessageBody",
                                                .size = sizeof(struct save_body),
                                                .fields = save_body_fields,
                                                .doc = "The time of a reminder." };
static const struct type save_body_type = { .kind = KIND_OBJECT, .schema = &save_body_schema };

struct save_data {
    snowflake channel_id, message_id;
    struct opt_id guild_id;
    int64_t saved_at;
    struct opt_int due_at;
    struct str author_summary, channel_summary, message_summary, notes;
};
static const struct field save_data_fields[] = {
    { FIELD(struct save_data, channel_id), .type = &type_id },
    { FIELD(struct save_data, message_id), .type = &type_id },
    { FIELD(struct save_data, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct save_data, saved_at), .type = &type_time },
    { FIELD(struct save_data, author_summary), .type = &type_text, .doc = "Always empty" },
    { FIELD(struct save_data, channel_summary), .type = &type_text, .doc = "Always empty" },
    { FIELD(struct save_data, message_summary), .type = &type_text, .doc = "Always empty" },
    { FIELD(struct save_data, notes), .type = &type_text, .doc = "Always empty" },
    { FIELD(struct save_data, due_at), .type = &type_time, .flags = NULLABLE },
    { 0 },
};
static const struct schema save_data_schema = { .name = "SaveData",
                                                .size = sizeof(struct save_data),
                                                .fields = save_data_fields,
                                                .doc = "When a message was saved." };
static const struct type save_data_type = { .kind = KIND_OBJECT, .schema = &save_data_schema };

struct saved_message {
    const struct message
        *message; /* saved message; NULL if it was deleted or is not visible to the caller */
    const struct save_data *save_data;
};
static const struct field saved_message_fields[] = {
    { FIELD(struct saved_message, message), .type = &type_message, .flags = NULLABLE,
      .doc = "null if the message was deleted or the caller may no longer read it" },
    { FIELD(struct saved_message, save_data), .type = &save_data_type },
    { 0 },
};
static const struct schema saved_message_schema = { .name = "SavedMessage",
                                                    .size = sizeof(struct saved_message),
                                                    .fields = saved_message_fields,
                                                    .doc = "A message that the caller saved." };
static const struct type saved_message_type = { .kind = KIND_OBJECT,
                                                .schema = &saved_message_schema };
static const struct type saved_messages_type = { .kind = KIND_ARRAY, .of = &saved_message_type };

struct saved_message_list {
    struct list results; /* struct saved_message */
};
static const struct field list_fields[] = {
    { FIELD(struct saved_message_list, results), .type = &saved_messages_type },
    { 0 },
};
static const struct schema list_schema = { .name = "SavedMessageList",
                                           .size = sizeof(struct saved_message_list),
                                           .fields = list_fields,
                                           .doc = "Saved messages, last saved first." };
static const struct type list_type = { .kind = KIND_OBJECT, .schema = &list_schema };

struct saved_message_key {
    snowflake channel_id, message_id;
};
static const struct field key_fields[] = {
    { FIELD(struct saved_message_key, channel_id), .type = &type_id },
    { FIELD(struct saved_message_key, message_id), .type = &type_id },
    { 0 },
};
static const struct schema key_schema = { .name = "SavedMessageDeleted",
                                          .size = sizeof(struct saved_message_key),
                                          .fields = key_fields,
                                          .doc = "A message that is no longer saved." };

/* --- listing -------------------------------------------------------------------------- */

static const char READ_SAVED[] =
    "select channel_id, message_id, saved_at, due_at from saved_messages where user_id = $1 "
    "order by saved_at desc, message_id desc";

static void save_data_from_row(const struct rows *r, void *ret)
{
    struct save_data *d = ret;

    *d = (struct save_data){ .channel_id = row_id(r, 0),
                             .message_id = row_id(r, 1),
                             .saved_at = row_int(r, 2),
                             .due_at = { .given = GIVEN_NULL },
                             .author_summary = STR(""),
                             .channel_summary = STR(""),
                             .message_summary = STR(""),
                             .notes = STR("") };
    if (!row_column_is_null(r, 3))
        d->due_at = opt_int_present(row_int(r, 3));
}

static struct opt_id guild_id_of_channel(const struct channel *c)
{
    return channel_is_private(c->type) ? (struct opt_id){ 0 } : opt_id_or_null(c->guild_id.value);
}

/* Reads the message if the caller may read it at this time; otherwise *ret is NULL. */
static enum err read_saved_message(struct call *call, struct save_data *d,
                                   const struct message **ret)
{
    struct message *m = arena_alloc(call->arena, sizeof *m);
    enum err e = resolve_channel_by_id(call, d->channel_id);

    *ret = NULL;
    if (!e && !(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        e = ERR_MISSING_ACCESS;
    if (!e)
        e = message_find(call, d->channel_id, d->message_id, m);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_MESSAGE)
        return OK;
    if (!e) {
        d->guild_id = guild_id_of_channel(call->target.channel);
        *ret = m;
    }
    return e;
}

/* GET /users/@me/saved-messages. Checks the permissions of up to 200 channels, in the
 * background. */
static enum err list_saved_messages(struct call *call)
{
    struct saved_message_list out = { 0 };
    struct list saved = { 0 };
    enum err e = tx_read_list(call->tx, READ_SAVED, BIND(v_id(call->caller->id)),
                              sizeof(struct save_data), save_data_from_row, &saved);

    for (size_t i = 0; !e && i < saved.count; i++) {
        struct save_data *d = &((struct save_data *)saved.items)[i];
        struct saved_message *one = list_append(call->arena, &out.results, sizeof *one);

        one->save_data = d;
        e = read_saved_message(call, d, &one->message);
    }
    return e ? e : call_reply_with_object(call, &out);
}

/* --- saving and removing -------------------------------------------------------------- */

static const char DELETE_OF_MISSING_MESSAGES[] =
    "delete from saved_messages where user_id = $1 and not exists (select 1 from messages m "
    "where m.id = saved_messages.message_id)";
static const char COUNT_OTHERS[] =
    "select count(*) from saved_messages where user_id = $1 and message_id <> $2";
static const char SAVE[] =
    "insert into saved_messages (user_id, message_id, channel_id, saved_at, due_at) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id, message_id) do update set "
    "saved_at = excluded.saved_at, due_at = excluded.due_at";

static enum err check_saved_message_limit(struct call *call, snowflake message_id)
{
    struct rows row;
    bool found;
    enum err e = tx_exec(call->tx, DELETE_OF_MISSING_MESSAGES, BIND(v_id(call->caller->id)), NULL);

    if (!e)
        e = tx_one(call->tx, COUNT_OTHERS, BIND(v_id(call->caller->id), v_id(message_id)), &row,
                   &found);
    if (e || row_int(&row, 0) < MOST_SAVED)
        return e;
    return call_add_field_error(call, "message_id", "SAVED_MESSAGES_MAX",
                                "You have saved 200 messages. Remove one of them first.");
}

/* PUT /users/@me/saved-messages/{saved_channel.id}/{saved_message.id} */
static enum err save_message(struct call *call)
{
    const struct save_body *in = call->body;
    snowflake channel_id = call_get_path_id(call, "saved_channel.id");
    struct message m;
    enum err e = resolve_channel_by_id(call, channel_id);

    if (!e)
        e = call_require_permissions(call, PERMISSION(READ_MESSAGE_HISTORY));
    if (!e)
        e = message_find(call, channel_id, call_get_path_id(call, "saved_message.id"), &m);
    if (!e)
        e = check_saved_message_limit(call, m.id);
    if (e)
        return e;
    struct save_data data = { .channel_id = channel_id,
                              .message_id = m.id,
                              .guild_id = guild_id_of_channel(call->target.channel),
                              .saved_at = clock_us(),
                              .due_at = { .given = GIVEN_NULL },
                              .author_summary = STR(""),
                              .channel_summary = STR(""),
                              .message_summary = STR(""),
                              .notes = STR("") };
    struct saved_message out = { &m, &data };

    if (in && in->due_at.given == GIVEN)
        data.due_at = in->due_at;
    e = tx_exec(call->tx, SAVE,
                BIND(v_id(call->caller->id), v_id(m.id), v_id(channel_id), v_int(data.saved_at),
                     data.due_at.given == GIVEN ? v_int(data.due_at.value) : v_null()),
                NULL);
    if (e)
        return e;
    call_emit_event(call, EVENT_SAVED_MESSAGE_CREATE, audience_of_user(call->caller->id),
                    &saved_message_schema, &out);
    return call_reply_with_object(call, &out);
}

static const char UNSAVE[] =
    "delete from saved_messages where user_id = $1 and channel_id = $2 and message_id = $3";

/* DELETE /users/@me/saved-messages/{saved_channel.id}/{saved_message.id} */
static enum err unsave_message(struct call *call)
{
    struct saved_message_key key = { call_get_path_id(call, "saved_channel.id"),
                                     call_get_path_id(call, "saved_message.id") };
    int64_t changed;
    enum err e =
        tx_exec(call->tx, UNSAVE,
                BIND(v_id(call->caller->id), v_id(key.channel_id), v_id(key.message_id)), &changed);

    if (!e && changed)
        call_emit_event(call, EVENT_SAVED_MESSAGE_DELETE, audience_of_user(call->caller->id),
                        &key_schema, &key);
    return e;
}

static const struct rate_limit limit_saves = { .name = "saved-messages",
                                               .count = 30,
                                               .window_s = 60 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/saved-messages",
        .name = "list_saved_messages",
        .doc = "Messages that the caller has saved, last saved first.",
        .auth = AUTH_USER,
        .reply = &list_type,
        .background = true,
        .handle = list_saved_messages,
    },
    {
        .method = PUT,
        .path = "/users/@me/saved-messages/{saved_channel.id}/{saved_message.id}",
        .name = "save_message",
        .doc = "Save a message, or change its reminder. An account can save 200 messages.",
        .auth = AUTH_USER,
        .body = &save_body_type,
        .reply = &saved_message_type,
        .fires = (const enum event[]){ EVENT_SAVED_MESSAGE_CREATE, 0 },
        .limit = &limit_saves,
        .handle = save_message,
    },
    {
        .method = DELETE,
        .path = "/users/@me/saved-messages/{saved_channel.id}/{saved_message.id}",
        .name = "unsave_message",
        .doc = "Remove a message from the saved messages, also if it was deleted or is hidden.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_SAVED_MESSAGE_DELETE, 0 },
        .limit = &limit_saves,
        .handle = unsave_message,
    },
    { 0 },
};

const struct domain saved_messages_domain = {
    .name = "Saved messages",
    .doc = "Messages that users save for themselves.",
    .routes = routes,
    .resolvers = resolvers,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_WHERE(WITH_CHANNEL, "saved_messages",
                                                       "user_id, message_id", "channel_id = $1") },
                                        { DELETE_FEW(WITH_ACCOUNT, "saved_messages", "user_id") },
                                        { 0 } },
};
