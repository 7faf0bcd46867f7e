/* groups.c - group direct messages: create, add, remove, rename, change of owner. */
#include "platform/channels/deletion.h"
#include "platform/channels/internal.h"

bool snowflake_list_contains(const struct list *ids, snowflake id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (((snowflake *)ids->items)[i] == id)
            return true;
    return false;
}

/* Emits the event to every recipient of a group. The channel object for a recipient lists only the
 * other recipients. */
static enum err emit_event_to_group(struct call *call, enum event event, const struct channel *c)
{
    struct list recipients;
    enum err e = channel_list_other_recipients(call->tx, c->id, 0, &recipients);

    for (size_t i = 0; !e && i < recipients.count; i++) {
        snowflake id = ((snowflake *)recipients.items)[i];
        struct channel seen = *c;

        e = channel_read_recipients_and_last_pin_time(call->tx, &seen, id);
        if (!e)
            call_emit_event(call, event, audience_of_user(id), &channel_schema, &seen);
    }
    return e;
}

static struct opt_str find_recipient_nick(const struct list *nicks, snowflake id)
{
    const struct string_pair *p = nicks->items;
    snowflake named;

    for (size_t i = 0; i < nicks->count; i++)
        if (snowflake_parse(p[i].key, &named) && named == id)
            return opt_str_or_null(p[i].value);
    return (struct opt_str){ .given = ABSENT };
}

enum err create_group_channel(struct call *call, const struct list *others,
                              const struct list *nicks, snowflake origin)
{
    const snowflake *ids = others->items;
    struct channel c = {
        .id = snowflake_new(),
        .type = CHANNEL_GROUP,
        .owner_id = opt_id_or_null(call->caller->id),
    };
    int64_t groups;

    if (others->count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    enum err e = user_count_group_channels(call->tx, call->caller->id, &groups);
    if (!e && groups >= MAX_GROUPS)
        e = ERR_MAX_GROUP_DMS;
    if (!e)
        e = channel_insert(call->tx, &c);
    if (!e)
        e = channel_recipient_insert(call->tx, c.id, call->caller->id,
                                     find_recipient_nick(nicks, call->caller->id));
    for (size_t i = 0; !e && i < others->count; i++)
        e = channel_recipient_insert(call->tx, c.id, ids[i], find_recipient_nick(nicks, ids[i]));
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (e)
        return e;
    if (origin)
        c.origin_channel_id = opt_id_or_null(origin);
    e = emit_event_to_group(call, EVENT_CHANNEL_CREATE, &c);
    if (!e)
        e = channel_read_recipients_and_last_pin_time(call->tx, &c, call->caller->id);
    return e ? e : call_reply_with_object(call, &c);
}

static void emit_recipient_event(struct call *call, enum event event,
                                 struct channel_recipient_event out, const struct list *to)
{
    for (size_t i = 0; i < to->count; i++)
        call_emit_event(call, event, audience_of_user(((snowflake *)to->items)[i]),
                        &channel_recipient_event_schema, &out);
}

enum err group_channel_add_recipient(struct call *call, const struct channel *c,
                                     const struct group_recipient *in, bool *ret_new)
{
    struct channel_recipient_event event = { .channel_id = c->id, .user = in->user };
    struct list recipients;
    struct channel seen = *c;

    enum err e = channel_list_other_recipients(call->tx, c->id, 0, &recipients);
    *ret_new = !e && !snowflake_list_contains(&recipients, in->user->id);
    if (e || !*ret_new)
        return e;
    if (recipients.count >= MAX_RECIPIENTS)
        return ERR_MAX_RECIPIENTS;
    e = channel_recipient_insert(call->tx, c->id, in->user->id, in->nick);
    if (!e)
        e = channel_read_recipients_and_last_pin_time(call->tx, &seen, in->user->id);
    if (e)
        return e;
    if (in->nick.given == GIVEN && in->nick.value.n)
        event.nick = in->nick;
    emit_recipient_event(call, EVENT_CHANNEL_RECIPIENT_ADD, event, &recipients);
    call_emit_event(call, EVENT_CHANNEL_CREATE, audience_of_user(in->user->id), &channel_schema,
                    &seen);
    return hook_recipient_joined(
        call, &(struct group_recipient_change){ c, in->user->id, in->by, false });
}

enum err group_channel_add_user(struct call *call, const struct channel *c, const struct user *user,
                                snowflake by, bool *ret_new)
{
    return group_channel_add_recipient(call, c, &(struct group_recipient){ .user = user, .by = by },
                                       ret_new);
}

/* --- leaving a group, removing a recipient ------------------------------------------- */

static enum err transfer_group_to_oldest_recipient(struct call *call, const struct channel *c,
                                                   const struct list *left)
{
    struct channel changed = *c;

    changed.owner_id = opt_id_or_null(*(snowflake *)left->items);
    enum err e = channel_update(call->tx, &changed);
    return e ? e : emit_event_to_group(call, EVENT_CHANNEL_UPDATE, &changed);
}

enum err group_channel_remove_user(struct call *call, const struct channel *c,
                                   const struct user *user, bool silent)
{
    struct channel seen = *c;
    struct group_recipient_change change = { c, user->id, call->caller->id, silent };
    struct list left;

    enum err e = hook_recipient_leaving(call, &change);
    if (!e)
        e = channel_read_recipients_and_last_pin_time(call->tx, &seen, user->id);
    if (!e)
        e = channel_recipient_delete(call->tx, c->id, user->id);
    if (!e)
        e = channel_list_other_recipients(call->tx, c->id, user->id, &left);
    if (e)
        return e;
    call_emit_event(call, EVENT_CHANNEL_DELETE, audience_of_user(user->id), &channel_schema, &seen);
    if (left.count == 0)
        return channel_delete(call, c->id);
    emit_recipient_event(call, EVENT_CHANNEL_RECIPIENT_REMOVE,
                         (struct channel_recipient_event){ .channel_id = c->id, .user = user },
                         &left);
    if (c->owner_id.value == user->id)
        e = transfer_group_to_oldest_recipient(call, c, &left);
    return e ? e : hook_recipient_left(call, &change);
}

/* Removes the caller from a group, or hides a direct channel from the caller's list. */
enum err leave_private_channel(struct call *call, bool silent)
{
    struct channel c = *call->target.channel;
    struct user user;

    enum err e = channel_read_recipients_and_last_pin_time(call->tx, &c, call->caller->id);
    if (e)
        return e;
    if (c.type == CHANNEL_GROUP) {
        e = user_find(call->tx, call->caller->id, &user);
        if (!e)
            e = group_channel_remove_user(call, &c, &user, silent);
    } else {
        e = channel_hide_from_recipient(call->tx, c.id, call->caller->id);
        if (!e)
            call_emit_event(call, EVENT_CHANNEL_DELETE, audience_of_user(call->caller->id),
                            &channel_schema, &c);
    }
    return e ? e : call_reply_with_object(call, &c);
}

/* --- PATCH /channels/{channel.id} of a group ------------------------------------------ */

static enum err change_group_owner(struct call *call, snowflake id, struct channel *c)
{
    enum err e;

    if (c->owner_id.value != call->caller->id)
        return ERR_MISSING_PERMISSIONS;
    if (!user_is_channel_recipient(call->tx, c->id, id, &e))
        return e ? e : ERR_INVALID_RECIPIENTS;
    c->owner_id = opt_id_or_null(id);
    return OK;
}

enum err modify_group_channel(struct call *call, const struct channel_edit_results *stages)
{
    const struct channel_edit *in = call->body;
    struct channel c = *call->target.channel;
    enum err e = OK;

    if (in->owner.given == GIVEN)
        e = change_group_owner(call, in->owner.value, &c);
    if (e)
        return e;
    if (in->name.given != ABSENT)
        c.name = in->name;
    if (stages->icon.given != ABSENT) {
        e = delete_previous_picture(call, "channel-icons", c.id, &c.icon, &stages->icon);
        c.icon = stages->icon;
    }
    if (!e)
        e = channel_update(call->tx, &c);
    if (!e)
        e = emit_event_to_group(call, EVENT_CHANNEL_UPDATE, &c);
    if (!e)
        e = hook_group_changed(call, &(struct group_channel_change){ call->target.channel, &c });
    if (!e)
        e = channel_read_recipients_and_last_pin_time(call->tx, &c, call->caller->id);
    return e ? e : call_reply_with_object(call, &c);
}
