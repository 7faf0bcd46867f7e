/* moderation.c - moderator actions on members in voice: mute, deafen, move, disconnect. */
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "voice/states.h"

/* Returns the caller's permissions in the member's voice channel, or in the guild if the member is
 * not in voice. */
static enum err read_caller_permissions_in_voice(struct call *call, const struct voice_state *s,
                                                 bool present, uint64_t *ret)
{
    struct channel channel;

    *ret = call->target.permissions;
    if (!present)
        return OK;
    enum err e = channel_find(call->tx, voice_state_get_channel_id(s), &channel);
    return e ? e
             : member_permissions_in_channel(call->tx, call->target.member_access, &channel, ret);
}

/* Checks that the caller has MOVE_MEMBERS and CONNECT in the target channel of a move. */
static enum err check_member_may_be_moved_to_channel(struct call *call, snowflake id,
                                                     struct channel *ret)
{
    uint64_t permissions;
    enum err e = channel_find(call->tx, id, ret);

    if (e)
        return e;
    if (ret->guild_id.value != call->target.guild->id)
        return ERR_UNKNOWN_CHANNEL;
    e = member_permissions_in_channel(call->tx, call->target.member_access, ret, &permissions);
    if (e)
        return e;
    /* Name only CONNECT in the error, because the other voice permissions depend on it. */
    if (!(permissions & PERMISSION(CONNECT)))
        return call_get_missing_permissions_error(call, PERMISSION(CONNECT));
    if (!(permissions & PERMISSION(MOVE_MEMBERS)))
        return call_get_missing_permissions_error(call, PERMISSION(MOVE_MEMBERS));
    return channel_is_voice(ret->type) ? OK : ERR_CHANNEL_TYPE;
}

enum err check_voice_moderation(struct call *call, const struct voice_moderation_change *in)
{
    const struct member *m = in->member;
    uint64_t needed = 0, permissions;
    struct voice_state s;
    struct channel to;

    if (in->mute.given)
        needed |= PERMISSION(MUTE_MEMBERS);
    if (in->deaf.given)
        needed |= PERMISSION(DEAFEN_MEMBERS);
    if (in->to.given)
        needed |= PERMISSION(MOVE_MEMBERS);
    enum err e = voice_state_find(call->tx, m->guild_id, m->user_id, &s);
    bool present = !e;
    if (e == ERR_UNKNOWN_VOICE_STATE)
        e = OK;
    if (!e)
        e = read_caller_permissions_in_voice(call, &s, present, &permissions);
    if (!e && (permissions & needed) != needed)
        e = call_get_missing_permissions_error(call, needed);
    if (!e && in->to.given == GIVEN)
        e = check_member_may_be_moved_to_channel(call, in->to.value, &to);
    return e || present ? e : ERR_NOT_IN_VOICE;
}

static enum err audit_record_moderation(struct call *call, enum audit_log_action action,
                                        snowflake channel_id)
{
    struct audit_log_options options = { .count = opt_str_or_null(STR("1")) };

    if (channel_id)
        options.channel_id = opt_id_or_null(channel_id);
    return audit_log_record_changes(call, call->target.guild->id, action, 0, &options,
                                    (struct list){ 0 });
}

enum err apply_voice_moderation(struct call *call, const struct voice_moderation_change *change)
{
    const struct member *m = change->member;
    struct voice_state s;
    struct channel to;

    /* Read the voice state again, because a change of roles or a timeout in the same request may
     * have changed it. */
    enum err e = voice_state_find(call->tx, m->guild_id, m->user_id, &s);
    if (e)
        return e;
    if (change->to.given == GIVEN_NULL) {
        e = voice_state_delete_and_emit(call, &s);
        return e ? e : audit_record_moderation(call, AUDIT_MEMBER_DISCONNECT, 0);
    }
    if (change->to.given == ABSENT || change->to.value == voice_state_get_channel_id(&s))
        return change->silenced ? voice_state_emit_update(call, &s, 0) : OK;
    e = channel_find(call->tx, change->to.value, &to);
    if (!e)
        e = voice_state_move_to_channel(call, &s, &to);
    return e ? e : audit_record_moderation(call, AUDIT_MEMBER_MOVE, to.id);
}
