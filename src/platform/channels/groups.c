/* groups.c - group direct messages: create, add, remove, rename, change of owner. */
#include "platform/channels/deletion.h"
#include "platform/channels/internal.h"

bool ids_contain(const struct list *ids, snowflake id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (((snowflake *)ids->items)[i] == id)
            return true;
    return false;
}

/* Emits the event to every recipient of a group, each with its own view of the channel. */
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

/* Finds the nick of a user in pairs of id and nick. */
static struct opt_str nick_of(const struct list *nicks, snowflake id)
{
    const struct pair *p = nicks->items;
    snowflake named;

    for (size_t i = 0; i < nicks->count; i++)
        if (snowflake_parse(p[i].key, &named) && named == id)
            return given_str(p[i].value);
    return (struct opt_str){ .given = ABSENT };
}

enum err group_make(struct call *call, const struct list *others, const struct list *nicks,
                    snowflake origin)
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
        e = recipient_add(call->tx, c.id, call->caller->id, nick_of(nicks, call->caller->id));
    for (size_t i = 0; !e && i < others->count; i++)
        e = recipient_add(call->tx, c.id, ids[i], nick_of(nicks, ids[i]));
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

/* --- add -------------------------------------------------------------------------------- */

static void emit_recipient(struct call *call, enum event event, struct recipient_event out,
                           const struct list *to)
{
    for (size_t i = 0; i < to->count; i++)
        call_emit(call, event, to_user(((snowflake *)to->items)[i]), &recipient_event_schema, &out);
}

enum err group_add(struct call *call, const struct channel *c, const struct group_entry *in,
                   bool *ret_new)
{
    struct recipient_event event = { .channel_id = c->id, .user = in->user };
    struct list people;
    struct channel seen = *c;

    enum err e = channel_others(call->tx, c->id, 0, &people);
    *ret_new = !e && !ids_contain(&people, in->user->id);
    if (e || !*ret_new)
        return e;
    if (people.count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    e = recipient_add(call->tx, c->id, in->user->id, in->nick);
    if (!e)
        e = channel_load_recipients(call->tx, &seen, in->user->id);
    if (e)
        return e;
    if (in->nick.given == GIVEN && in->nick.value.n)
        event.nick = in->nick;
    emit_recipient(call, EVENT_CHANNEL_RECIPIENT_ADD, event, &people);
    call_emit(call, EVENT_CHANNEL_CREATE, to_user(in->user->id), &channel_schema, &seen);
    return hook_recipient_joined(call,
                                 &(struct recipient_change){ c, in->user->id, in->by, false });
}

enum err group_join(struct call *call, const struct channel *c, const struct user *user,
                    snowflake by, bool *ret_new)
{
    return group_add(call, c, &(struct group_entry){ .user = user, .by = by }, ret_new);
}

/* --- leave and remove ------------------------------------------------------------------- */

/* The recipient who joined first becomes the owner. */
static enum err pass_on(struct call *call, const struct channel *c, const struct list *left)
{
    struct channel changed = *c;

    changed.owner_id = given_id(*(snowflake *)left->items);
    enum err e = channel_save(call->tx, &changed);
    return e ? e : tell_group(call, EVENT_CHANNEL_UPDATE, &changed);
}

enum err group_take_out(struct call *call, const struct channel *c, const struct user *user,
                        bool silent)
{
    struct channel seen = *c;
    struct recipient_change change = { c, user->id, call->caller->id, silent };
    struct list left;

    enum err e = hook_recipient_leaving(call, &change);
    if (!e)
        e = channel_load_recipients(call->tx, &seen, user->id);
    if (!e)
        e = recipient_remove(call->tx, c->id, user->id);
    if (!e)
        e = channel_others(call->tx, c->id, user->id, &left);
    if (e)
        return e;
    call_emit(call, EVENT_CHANNEL_DELETE, to_user(user->id), &channel_schema, &seen);
    if (left.count == 0)
        return channel_remove(call, c->id);
    emit_recipient(call, EVENT_CHANNEL_RECIPIENT_REMOVE,
                   (struct recipient_event){ .channel_id = c->id, .user = user }, &left);
    if (c->owner_id.value == user->id)
        e = pass_on(call, c, &left);
    return e ? e : hook_recipient_left(call, &change);
}

/* Leaves a group, or hides a direct channel from the caller's list. */
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
            e = group_take_out(call, &c, &user, silent);
    } else {
        e = recipient_close(call->tx, c.id, call->caller->id);
        if (!e)
            call_emit(call, EVENT_CHANNEL_DELETE, to_user(call->caller->id), &channel_schema, &c);
    }
    return e ? e : call_reply(call, &c);
}

/* --- PATCH /channels/{channel.id} of a group ------------------------------------------ */

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
    if (stages->icon.given != ABSENT) {
        e = picture_replace(call, "channel-icons", c.id, &c.icon, &stages->icon);
        c.icon = stages->icon;
    }
    if (!e)
        e = channel_save(call->tx, &c);
    if (!e)
        e = tell_group(call, EVENT_CHANNEL_UPDATE, &c);
    if (!e)
        e = hook_group_changed(call, &(struct group_change){ call->target.channel, &c });
    if (!e)
        e = channel_load_recipients(call->tx, &c, call->caller->id);
    return e ? e : call_reply(call, &c);
}
