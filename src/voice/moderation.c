/* moderation.c - moderator actions on members in voice: mute, deafen, move, disconnect. */
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "voice/states.h"

/* Returns the caller's permissions in the member's channel, or in the guild if the member is not in
 * voice. */
static enum err rights_there(struct call *call, const struct voice_state *s, bool present,
                             uint64_t *ret)
{
    struct channel channel;

    *ret = call->target.rights;
    if (!present)
        return OK;
    enum err e = channel_find(call->tx, voice_channel(s), &channel);
    return e ? e : standing_rights_in(call->tx, call->target.standing, &channel, ret);
}

/* The caller needs MOVE_MEMBERS and CONNECT in the target channel. */
static enum err check_target(struct call *call, snowflake id, struct channel *ret)
{
    const uint64_t needed = PERMISSION(MOVE_MEMBERS) | PERMISSION(CONNECT);
    uint64_t rights;
    enum err e = channel_find(call->tx, id, ret);

    if (e)
        return e;
    if (ret->guild_id.value != call->target.guild->id)
        return ERR_UNKNOWN_CHANNEL;
    e = standing_rights_in(call->tx, call->target.standing, ret, &rights);
    if (e)
        return e;
    if ((rights & needed) != needed)
        return ERR_MISSING_PERMISSIONS;
    return channel_is_voice(ret->type) ? OK : ERR_CHANNEL_TYPE;
}

enum err voice_order_check(struct call *call, const struct voice_order *in)
{
    const struct member *m = in->member;
    uint64_t needed = 0, rights;
    struct voice_state s;
    struct channel to;

    if (in->mute.given)
        needed |= PERMISSION(MUTE_MEMBERS);
    if (in->deaf.given)
        needed |= PERMISSION(DEAFEN_MEMBERS);
    if (in->to.given)
        needed |= PERMISSION(MOVE_MEMBERS);
    enum err e = voice_find(call->tx, m->guild_id, m->user_id, &s);
    bool present = !e;
    if (e == ERR_UNKNOWN_VOICE_STATE)
        e = OK;
    if (!e)
        e = rights_there(call, &s, present, &rights);
    if (!e && (rights & needed) != needed)
        e = ERR_MISSING_PERMISSIONS;
    if (!e && in->to.given == GIVEN)
        e = check_target(call, in->to.value, &to);
    return e || present ? e : ERR_NOT_IN_VOICE;
}

static enum err moderation_note(struct call *call, enum audit_action action, snowflake channel_id)
{
    struct audit_options options = { .count = given_str(STR("1")) };

    if (channel_id)
        options.channel_id = given_id(channel_id);
    return audit_with(call, call->target.guild->id, action, 0, &options, (struct list){ 0 });
}

enum err voice_order_obey(struct call *call, const struct voice_order *order)
{
    const struct member *m = order->member;
    struct voice_state s;
    struct channel to;

    /* Roles or a timeout in the same request may have changed the state since the check. */
    enum err e = voice_find(call->tx, m->guild_id, m->user_id, &s);
    if (e)
        return e;
    if (order->to.given == GIVEN_NULL) {
        e = voice_leave(call, &s);
        return e ? e : moderation_note(call, AUDIT_MEMBER_DISCONNECT, 0);
    }
    if (order->to.given == ABSENT || order->to.value == voice_channel(&s))
        return order->silenced ? voice_announce(call, &s, 0) : OK;
    e = channel_find(call->tx, order->to.value, &to);
    if (!e)
        e = voice_move(call, &s, &to);
    return e ? e : moderation_note(call, AUDIT_MEMBER_MOVE, to.id);
}
