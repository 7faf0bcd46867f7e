/* private_channels.c - direct channels and groups: opening, joining, leaving. */
#include "platform/channels/internal.h"

#include "platform/messages/messages.h"

struct private_draft {
    struct opt_id recipient_id;
    struct opt_list recipients;
};
struct recipient_draft {
    struct opt_str nick;
};

static const struct field draft_fields[] = {
    { FIELD(struct private_draft, recipient_id), .type = &type_id, .flags = OPTIONAL | NULLABLE,
      .doc = "Whom a direct channel is with" },
    { FIELD(struct private_draft, recipients), .type = &type_ids, .flags = OPTIONAL | NULLABLE,
      .doc = "Who is in a group besides the caller, at most 9; a single one means a direct "
             "channel" },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "PrivateChannelDraft",
    .size = sizeof(struct private_draft),
    .fields = draft_fields,
    .doc = "A private channel to open.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

/* --- groups ---------------------------------------------------------------------------- */

/* Tells everybody in a group, each as they see it. */
static enum err tell_group(struct call *call, enum event event, const struct channel *c)
{
    struct list people;
    enum err e = channel_others(call->tx, c->id, 0, &people);

    for (size_t i = 0; !e && i < people.count; i++) {
        snowflake id = ((snowflake *)people.items)[i];
        struct channel seen = *c;

        e = channel_load_recipients(call->tx, &seen, id);
        if (!e)
            call_emit(call, event, to_user(id), &channel_schema, &seen);
    }
    return e;
}

/* A group of the caller's with these others, who may all be in it. */
static enum err make_group(struct call *call, const struct list *others, snowflake origin)
{
    const snowflake *ids = others->items;
    struct channel c = {
        .id = snowflake_new(),
        .type = CHANNEL_GROUP,
        .owner_id = given_id(call->caller->id),
    };
    int64_t groups;

    if (others->count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    enum err e = user_count_groups(call->tx, call->caller->id, &groups);
    if (!e && groups >= MAX_GROUPS)
        e = ERR_MAX_GROUP_DMS;
    if (!e)
        e = channel_insert(call->tx, &c);
    if (!e)
        e = recipient_add(call->tx, c.id, call->caller->id, false);
    for (size_t i = 0; !e && i < others->count; i++)
        e = recipient_add(call->tx, c.id, ids[i], false);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (e)
        return e;
    if (origin)
        c.origin_channel_id = given_id(origin);
    e = tell_group(call, EVENT_CHANNEL_CREATE, &c);
    if (!e)
        e = channel_load_recipients(call->tx, &c, call->caller->id);
    return e ? e : call_reply(call, &c);
}

static enum err check_friend(struct call *call, snowflake id)
{
    enum err e;

    if (users_are_friends(call->tx, call->caller->id, id, &e))
        return OK;
    return e ? e : ERR_FRIENDS_ONLY;
}

/* --- GET, POST /users/@me/channels --------------------------------------------------------- */

static enum err list_private_channels(struct call *call)
{
    struct list channels;
    enum err e = user_channels(call->tx, call->caller->id, &channels);

    return e ? e : call_reply(call, &channels);
}

static enum err open_direct(struct call *call, snowflake with)
{
    struct channel c;
    struct user user;
    bool is_new;

    enum err e = user_find(call->tx, with, &user);
    if (e)
        return e == ERR_UNKNOWN_USER ? ERR_INVALID_RECIPIENTS : e;
    if (call->caller->kind == CALLER_BOT && user.bot.value)
        return ERR_CANNOT_MESSAGE;
    e = direct_channel(call->tx, call->caller->id, with, &c, &is_new);
    if (!e)
        e = channel_open(call, &c, call->caller->id);
    if (!e)
        e = channel_load_recipients(call->tx, &c, call->caller->id);
    return e ? e : call_reply(call, &c);
}

static bool contains(const struct list *ids, snowflake id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (((snowflake *)ids->items)[i] == id)
            return true;
    return false;
}

/* Whom a body names besides the caller, each once. */
static struct list others_of(struct call *call, const struct list *named)
{
    struct list others = { 0 };

    for (size_t i = 0; i < named->count; i++) {
        snowflake id = ((snowflake *)named->items)[i];

        if (id != call->caller->id && !contains(&others, id))
            *(snowflake *)list_add(call->arena, &others, sizeof id) = id;
    }
    return others;
}

static enum err create_group(struct call *call, const struct list *others)
{
    if (call->caller->kind == CALLER_BOT)
        return ERR_USERS_ONLY;
    if (others->count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    for (size_t i = 0; i < others->count; i++) {
        enum err e = check_friend(call, ((snowflake *)others->items)[i]);

        if (e)
            return e;
    }
    return make_group(call, others, 0);
}

static enum err create_private_channel(struct call *call)
{
    const struct private_draft *in = call->body;
    struct list named = in->recipients.value;

    if (in->recipient_id.given == GIVEN)
        named = (struct list){ (void *)&in->recipient_id.value, 1 };
    else if (in->recipients.given != GIVEN)
        return call_invalid(call, "recipients", FORM_REQUIRED);

    bool self = contains(&named, call->caller->id);
    struct list others = others_of(call, &named);
    if (self && others.count == 0)
        return ERR_INVALID_RECIPIENTS;
    if (!self && others.count == 1)
        return open_direct(call, *(snowflake *)others.items);
    return create_group(call, &others);
}

/* --- PUT /channels/{channel.id}/recipients/{user.id} ------------------------------------------ */

/* From a direct channel a group begins; the direct channel stays as it is. */
static enum err group_from_direct(struct call *call, const struct channel *c, snowflake id)
{
    struct list others;
    enum err e = channel_others(call->tx, c->id, call->caller->id, &others);

    if (e)
        return e;
    if (contains(&others, id))
        return ERR_INVALID_RECIPIENTS;
    *(snowflake *)list_add(tx_arena(call->tx), &others, sizeof id) = id;
    return make_group(call, &others, c->id);
}

static void emit_recipient(struct call *call, enum event event, const struct channel *c,
                           const struct user *user, const struct list *to)
{
    struct recipient_event out = { .channel_id = c->id, .user = user };

    for (size_t i = 0; i < to->count; i++)
        call_emit(call, event, to_user(((snowflake *)to->items)[i]), &recipient_event_schema, &out);
}

enum err group_join(struct call *call, const struct channel *c, const struct user *user,
                    snowflake by, bool *ret_new)
{
    struct list people;
    struct channel seen = *c;

    enum err e = channel_others(call->tx, c->id, 0, &people);
    *ret_new = !e && !contains(&people, user->id);
    if (e || !*ret_new)
        return e;
    if (people.count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    e = recipient_add(call->tx, c->id, user->id, false);
    if (!e)
        e = channel_load_recipients(call->tx, &seen, user->id);
    if (e)
        return e;
    emit_recipient(call, EVENT_CHANNEL_RECIPIENT_ADD, c, user, &people);
    call_emit(call, EVENT_CHANNEL_CREATE, to_user(user->id), &channel_schema, &seen);
    return message_system(call, c, MESSAGE_RECIPIENT_ADD, by, user->id, STR(""));
}

static enum err add_recipient(struct call *call)
{
    const struct channel *c = call->target.channel;
    const struct user *user = call->target.user;
    bool is_new;

    if (!channel_is_private(c->type))
        return ERR_CHANNEL_TYPE;
    if (user->id == call->caller->id)
        return ERR_INVALID_RECIPIENTS;
    enum err e = check_friend(call, user->id);
    if (e)
        return e;
    if (c->type == CHANNEL_DM)
        return group_from_direct(call, c, user->id);
    call_set_status(call, 204);
    return group_join(call, c, user, call->caller->id, &is_new);
}

/* --- leaving, and being made to ------------------------------------------------------------- */

/* The next in line owns the group. */
static enum err pass_on(struct call *call, const struct channel *c, const struct list *left)
{
    struct channel changed = *c;

    changed.owner_id = given_id(*(snowflake *)left->items);
    enum err e = channel_save(call->tx, &changed);
    return e ? e : tell_group(call, EVENT_CHANNEL_UPDATE, &changed);
}

static enum err take_out(struct call *call, const struct channel *c, const struct user *user,
                         bool silent)
{
    struct channel seen = *c;
    struct list left;

    enum err e = channel_load_recipients(call->tx, &seen, user->id);
    if (!e)
        e = recipient_remove(call->tx, c->id, user->id);
    if (!e)
        e = channel_others(call->tx, c->id, user->id, &left);
    if (e)
        return e;
    call_emit(call, EVENT_CHANNEL_DELETE, to_user(user->id), &channel_schema, &seen);
    if (left.count == 0)
        return channel_delete(call->tx, c->id);
    emit_recipient(call, EVENT_CHANNEL_RECIPIENT_REMOVE, c, user, &left);
    if (c->owner_id.value == user->id)
        e = pass_on(call, c, &left);
    if (!e && !silent)
        e = message_system(call, c, MESSAGE_RECIPIENT_REMOVE, call->caller->id, user->id, STR(""));
    return e;
}

/* DELETE /channels/{channel.id}/recipients/{user.id} */
static enum err remove_recipient(struct call *call)
{
    const struct leave_query *query = call->query;
    const struct channel *c = call->target.channel;
    const struct user *user = call->target.user;
    enum err e;

    if (c->type != CHANNEL_GROUP)
        return c->type == CHANNEL_DM ? ERR_DM_CHANNEL : ERR_CHANNEL_TYPE;
    if (user->id != call->caller->id && c->owner_id.value != call->caller->id)
        return ERR_MISSING_PERMISSIONS;
    if (!channel_is_recipient(call->tx, c->id, user->id, &e))
        return e ? e : ERR_UNKNOWN_USER;
    return take_out(call, c, user, query->silent);
}

/* DELETE /channels/{channel.id} of a private channel: a group is left, a direct
 * channel only closed. */
enum err leave_private_channel(struct call *call, bool silent)
{
    struct channel c = *call->target.channel;
    struct user user;

    enum err e = channel_load_recipients(call->tx, &c, call->caller->id);
    if (e)
        return e;
    if (c.type == CHANNEL_GROUP) {
        e = user_find(call->tx, call->caller->id, &user);
        if (!e)
            e = take_out(call, &c, &user, silent);
    } else {
        e = recipient_close(call->tx, c.id, call->caller->id);
        if (!e)
            call_emit(call, EVENT_CHANNEL_DELETE, to_user(call->caller->id), &channel_schema, &c);
    }
    return e ? e : call_reply(call, &c);
}

/* --- PATCH /channels/{channel.id} of a group ---------------------------------------------------
 */

static enum err change_owner(struct call *call, snowflake id, struct channel *c)
{
    enum err e;

    if (c->owner_id.value != call->caller->id)
        return ERR_MISSING_PERMISSIONS;
    if (!channel_is_recipient(call->tx, c->id, id, &e))
        return e ? e : ERR_INVALID_RECIPIENTS;
    c->owner_id = given_id(id);
    return OK;
}

enum err modify_group(struct call *call, const struct edit_stages *stages)
{
    const struct channel_edit *in = call->body;
    struct channel c = *call->target.channel;
    enum err e = OK;

    if (in->owner.given == GIVEN)
        e = change_owner(call, in->owner.value, &c);
    if (e)
        return e;
    if (in->name.given != ABSENT)
        c.name = in->name;
    if (stages->icon.given != ABSENT)
        c.icon = stages->icon;
    e = channel_save(call->tx, &c);
    if (!e)
        e = tell_group(call, EVENT_CHANNEL_UPDATE, &c);
    if (!e)
        e = channel_load_recipients(call->tx, &c, call->caller->id);
    return e ? e : call_reply(call, &c);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/channels",
        .name = "list_private_channels",
        .doc = "The caller's direct channels and groups, the newest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_channels,
        .handle = list_private_channels,
    },
    {
        .method = POST,
        .path = "/users/@me/channels",
        .name = "create_private_channel",
        .doc = "Open a direct channel, or make a group of friends. Bots open direct channels "
               "with people only.",
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
        .doc = "Add a friend to a group (204), or make a group from a direct channel (200).",
        .auth = AUTH_USER,
        .reply = &type_channel,
        .fires = (const enum event[]){ EVENT_CHANNEL_RECIPIENT_ADD, EVENT_CHANNEL_CREATE,
                                       EVENT_MESSAGE_CREATE, EVENT_NONE },
        .handle = add_recipient,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/recipients/{user.id}",
        .name = "remove_recipient",
        .doc = "Take somebody out of the caller's group, or leave it.",
        .auth = AUTH_USER,
        .query = &leave_query_schema,
        .fires = (const enum event[]){ EVENT_CHANNEL_RECIPIENT_REMOVE, EVENT_CHANNEL_DELETE,
                                       EVENT_CHANNEL_UPDATE, EVENT_MESSAGE_CREATE, EVENT_NONE },
        .handle = remove_recipient,
    },
    { 0 },
};

const struct domain private_channels_domain = {
    .name = "Private channels",
    .doc = "Direct channels and groups.",
    .routes = routes,
};
