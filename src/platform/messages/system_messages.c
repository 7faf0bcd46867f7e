/* system_messages.c - creates system messages: members who join, changes of groups and their
 * recipients. */
#include "platform/messages/internal.h"

#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { SUPPRESS_JOIN_NOTIFICATIONS = 1 << 0 };

/* Reads the channel for join messages; *ret_found is false if the guild has disabled them. */
static enum err read_system_channel(struct call *call, snowflake guild_id, struct channel *ret,
                                    bool *ret_found)
{
    struct guild g;
    enum err e = guild_find(call->tx, guild_id, &g);

    *ret_found = false;
    if (e || g.system_channel_id.given != GIVEN ||
        g.system_channel_flags & SUPPRESS_JOIN_NOTIFICATIONS)
        return e;
    e = channel_find(call->tx, g.system_channel_id.value, ret);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    *ret_found = ret->type == CHANNEL_TEXT || ret->type == CHANNEL_ANNOUNCEMENT;
    return OK;
}

enum err send_member_join_message(struct call *call, const struct member *m)
{
    struct channel c;
    bool found;

    if (m->pending)
        return OK;
    enum err e = read_system_channel(call, m->guild_id, &c, &found);
    return e || !found
               ? e
               : message_create_system_message(call, &c, MESSAGE_USER_JOIN, m->user_id, 0, STR(""));
}

enum err send_recipient_add_message(struct call *call, const struct group_recipient_change *c)
{
    return message_create_system_message(call, c->channel, MESSAGE_RECIPIENT_ADD, c->by, c->user_id,
                                         STR(""));
}

enum err send_recipient_remove_message(struct call *call, const struct group_recipient_change *c)
{
    if (c->silent)
        return OK;
    return message_create_system_message(call, c->channel, MESSAGE_RECIPIENT_REMOVE, c->by,
                                         c->user_id, STR(""));
}

static bool optional_text_differs(const struct opt_str *a, const struct opt_str *b)
{
    bool one = a->given == GIVEN, two = b->given == GIVEN;

    return one != two || (one && !str_eq(a->value, b->value));
}

enum err send_group_change_message(struct call *call, const struct group_channel_change *g)
{
    const struct channel *now = g->after;
    snowflake by = call->caller->id;
    enum err e = OK;

    if (optional_text_differs(&g->before->name, &now->name))
        e = message_create_system_message(call, now, MESSAGE_CHANNEL_NAME_CHANGE, by, 0,
                                          now->name.given == GIVEN ? now->name.value : STR(""));
    if (!e && optional_text_differs(&g->before->icon, &now->icon))
        e = message_create_system_message(call, now, MESSAGE_CHANNEL_ICON_CHANGE, by, 0, STR(""));
    return e;
}
