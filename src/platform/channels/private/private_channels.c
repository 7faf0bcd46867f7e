/* private_channels.c - routes of direct channels and groups: list, open, add, remove. */
#include "platform/channels/internal.h"

#include "model/fields/ids.h"
#include "model/relationship.h"

struct private_channel_draft {
    struct opt_id recipient_id;
    struct opt_list recipients;
    struct opt_list nicks; /* nicks of the recipients: struct string_pair with user id and nick */
    struct opt_list access_tokens;
};
struct recipient_draft {
    struct opt_str nick, access_token;
};

static const struct type type_nicks = { .kind = KIND_MAP, .of = &type_nick };

static const struct field draft_fields[] = {
    { FIELD(struct private_channel_draft, recipient_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "The other user of a direct channel" },
    { FIELD(struct private_channel_draft, recipients), .type = &type_ids,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Recipients of a group besides the caller, at most 9; one recipient opens a direct "
             "channel" },
    { FIELD(struct private_channel_draft, nicks), .type = &type_nicks, .flags = OPTIONAL | NULLABLE,
      .doc = "Nicknames in the group, by user id" },
    { FIELD(struct private_channel_draft, access_tokens), .type = &type_texts,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Refused: the server does not create groups from access tokens" },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "PrivateChannelDraft",
    .size = sizeof(struct private_channel_draft),
    .fields = draft_fields,
    .doc = "A private channel to open.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field recipient_fields[] = {
    { FIELD(struct recipient_draft, nick), .type = &type_nick, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct recipient_draft, access_token), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "Refused: the server does not add recipients by access token" },
    { 0 },
};
static const struct schema recipient_schema = {
    .name = "RecipientDraft",
    .size = sizeof(struct recipient_draft),
    .fields = recipient_fields,
    .doc = "Options for adding a recipient to a group.",
};
static const struct type recipient_body = { .kind = KIND_OBJECT, .schema = &recipient_schema };

static enum err require_user_is_friend_of_caller(struct call *call, snowflake id)
{
    bool friends;
    enum err e =
        account_has_relationship(call->tx, call->caller->id, id, RELATIONSHIP_FRIEND, &friends);

    return e || friends ? e : ERR_FRIENDS_ONLY;
}

/* --- GET, POST /users/@me/channels ---------------------------------------------------- */

static void write_json_of_private_channel(void *arg, const struct channel *c,
                                          struct json_writer *out)
{
    (void)arg;
    schema_encode_object(out, &channel_schema, c);
}

static enum err list_private_channels(struct call *call)
{
    struct json_writer out = call_get_reply_json_writer(call);

    return write_user_private_channels_json(call->tx, call->caller->id,
                                            write_json_of_private_channel, NULL, &out);
}

static enum err open_direct_channel(struct call *call, snowflake with)
{
    struct channel c;
    struct user user;
    bool is_new;

    enum err e = user_find(call->tx, with, &user);
    if (e)
        return e == ERR_UNKNOWN_USER ? ERR_INVALID_RECIPIENTS : e;
    if (call->caller->kind == CALLER_BOT && user.bot.value)
        return ERR_CANNOT_MESSAGE;
    e = direct_channel_find_or_create(call->tx, call->caller->id, with, &c, &is_new);
    if (!e)
        e = private_channel_show_in_list(call, &c, call->caller->id);
    if (!e)
        e = channel_read_recipients_and_last_pin_time(call->tx, &c, call->caller->id);
    return e ? e : call_reply_with_object(call, &c);
}

/* Returns the users that a body names, without duplicates and without the caller. */
static struct list list_named_users_except_caller(struct call *call, const struct list *named)
{
    struct list others = { 0 };

    for (size_t i = 0; i < named->count; i++) {
        snowflake id = ((snowflake *)named->items)[i];

        if (id != call->caller->id && !snowflake_list_contains(&others, id))
            id_list_add(call->arena, &others, id);
    }
    return others;
}

static enum err create_group_of_friends(struct call *call, const struct list *others)
{
    const struct private_channel_draft *in = call->body;

    if (call->caller->kind == CALLER_BOT)
        return ERR_USERS_ONLY;
    if (others->count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    for (size_t i = 0; i < others->count; i++) {
        enum err e = require_user_is_friend_of_caller(call, ((snowflake *)others->items)[i]);

        if (e)
            return e;
    }
    return create_group_channel(call, others, &in->nicks.value, 0);
}

static enum err create_private_channel(struct call *call)
{
    const struct private_channel_draft *in = call->body;
    struct list named = in->recipients.value;

    if (in->access_tokens.value.count)
        return ERR_INVALID_RECIPIENTS;
    if (in->recipient_id.given == GIVEN)
        named = (struct list){ (void *)&in->recipient_id.value, 1 };
    else if (in->recipients.given != GIVEN)
        return call_add_field_error(call, "recipients", FORM_REQUIRED);

    bool self = snowflake_list_contains(&named, call->caller->id);
    struct list others = list_named_users_except_caller(call, &named);
    if (self && others.count == 0)
        return ERR_INVALID_RECIPIENTS;
    if (!self && others.count == 1)
        return open_direct_channel(call, *(snowflake *)others.items);
    return create_group_of_friends(call, &others);
}

/* --- PUT /channels/{channel.id}/recipients/{user.id} ---------------------------------- */

/* Creates a group from a direct channel; the direct channel remains unchanged. */
static enum err create_group_from_direct_channel(struct call *call, const struct channel *c,
                                                 snowflake id)
{
    const struct recipient_draft *in = call->body;
    struct list others;
    enum err e = channel_list_other_recipients(call->tx, c->id, call->caller->id, &others);

    if (e)
        return e;
    if (snowflake_list_contains(&others, id))
        return ERR_INVALID_RECIPIENTS;
    id_list_add(tx_arena(call->tx), &others, id);
    struct string_pair nick = { call_get_path_text(call, "user.id"), in->nick.value };
    struct list nicks = { &nick, in->nick.given == GIVEN };
    return create_group_channel(call, &others, &nicks, c->id);
}

static enum err add_recipient(struct call *call)
{
    const struct channel *c = call->target.channel;
    const struct user *user = call->target.user;
    const struct recipient_draft *in = call->body;
    const struct group_recipient entry = { user, call->caller->id, in->nick };
    bool is_new;

    if (!channel_is_private(c->type))
        return ERR_CHANNEL_TYPE;
    /* Only the app that manages the group can add recipients. */
    if (c->managed.given == GIVEN)
        return ERR_MISSING_PERMISSIONS;
    if (user->id == call->caller->id || in->access_token.given == GIVEN)
        return ERR_INVALID_RECIPIENTS;
    enum err e = require_user_is_friend_of_caller(call, user->id);
    if (e)
        return e;
    if (c->type == CHANNEL_DM)
        return create_group_from_direct_channel(call, c, user->id);
    call_set_status(call, 204);
    return group_channel_add_recipient(call, c, &entry, &is_new);
}

/* --- leaving a group, removing a recipient ------------------------------------------- */

static enum err remove_recipient(struct call *call)
{
    const struct channel_leave_query *query = call->query;
    const struct channel *c = call->target.channel;
    const struct user *user = call->target.user;
    enum err e;

    if (c->type != CHANNEL_GROUP)
        return c->type == CHANNEL_DM ? ERR_DM_CHANNEL : ERR_CHANNEL_TYPE;
    if (user->id != call->caller->id && c->owner_id.value != call->caller->id)
        return ERR_MISSING_PERMISSIONS;
    if (!user_is_channel_recipient(call->tx, c->id, user->id, &e))
        return e ? e : ERR_UNKNOWN_USER;
    return group_channel_remove_user(call, c, user, query->silent);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/channels",
        .name = "list_private_channels",
        .doc = "The caller's direct channels and groups, newest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_channels,
        .measured = true,
        .handle = list_private_channels,
    },
    {
        .method = POST,
        .path = "/users/@me/channels",
        .name = "create_private_channel",
        .doc = "Open a direct channel, or create a group of friends. Bots can only open direct "
               "channels with users.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &draft_body,
        .reply = &type_channel,
        .fires = (const enum event[]){ EVENT_CHANNEL_CREATE, EVENT_NONE },
        .handle = create_private_channel,
    },
    {
        .method = PUT,
        .path = "/channels/{channel.id}/recipients/{user.id}",
        .name = "add_recipient",
        .doc = "Add a friend to a group (204), or create a group from a direct channel (200).",
        .auth = AUTH_USER,
        .body = &recipient_body,
        .reply = &type_channel,
        .fires = (const enum event[]){ EVENT_CHANNEL_RECIPIENT_ADD, EVENT_CHANNEL_CREATE,
                                       EVENT_MESSAGE_CREATE, EVENT_NONE },
        .handle = add_recipient,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/recipients/{user.id}",
        .name = "remove_recipient",
        .doc = "Remove a recipient from the caller's group, or leave it.",
        .auth = AUTH_USER,
        .query = &leave_query_schema,
        .fires = (const enum event[]){ EVENT_CHANNEL_RECIPIENT_REMOVE, EVENT_CHANNEL_DELETE,
                                       EVENT_CHANNEL_UPDATE, EVENT_MESSAGE_CREATE,
                                       CALL_LEAVE_EVENTS, EVENT_NONE },
        .handle = remove_recipient,
    },
    { 0 },
};

static enum err list_recipients_or_thread_members(struct tx *tx, snowflake channel_id,
                                                  struct list *ret)
{
    enum err e = channel_list_other_recipients(tx, channel_id, 0, ret);

    /* A channel without recipients is a private thread: read its thread members. */
    return e || ret->count ? e : thread_member_ids_list(tx, channel_id, ret);
}

const struct domain private_channels_domain = {
    .name = "Private channels",
    .doc = "Direct channels and groups.",
    .routes = routes,
    .world = &private_channels_world,
    .read_private_members = list_recipients_or_thread_members,
};
