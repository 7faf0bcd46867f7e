/* remove.c - DELETE …/reactions: removes reactions from a message. */
#include "platform/reactions/internal.h"

#include "platform/channels/channels.h"

/* --- of one user ---------------------------------------------------------------------- */

enum err reaction_remove_user_and_emit(struct call *call, const struct reaction_emoji_name *name,
                                       snowflake user_id, bool burst)
{
    const struct message *m = call->target.message;
    struct reaction_line line;
    bool gone = false;
    enum err e = OK;

    if (find_reaction_by_emoji_key(call, name->key, &line))
        e = reaction_remove_user(call->tx, line.id, burst, user_id, &gone);
    if (e || !gone)
        return e;
    if (line.normal + line.burst > 1)
        e = reaction_update_count(call->tx, m, line.id, burst, user_id, -1);
    else
        e = reaction_delete_if_without_users(call->tx, m, line.id);
    struct reaction_event event = reaction_event_of_message(call);
    event.user_id = opt_id_or_null(user_id);
    event.emoji = reaction_emoji_decode(call->arena, &line);
    event.burst = burst;
    event.type = burst;
    if (!e)
        call_emit_event(call, EVENT_MESSAGE_REACTION_REMOVE,
                        audience_of_channel(call->target.channel), &reaction_removed_schema,
                        &event);
    return e;
}

static enum err remove_reaction_of_user(struct call *call, snowflake user_id, bool burst)
{
    const struct thread_metadata *thread = call->target.channel->thread_metadata;
    struct reaction_emoji_name name;
    enum err e =
        thread && thread->archived ? ERR_THREAD_ARCHIVED : parse_emoji_of_path(call, &name);

    return e ? e : reaction_remove_user_and_emit(call, &name, user_id, burst);
}

enum err delete_own_reaction(struct call *call)
{
    return remove_reaction_of_user(call, call->caller->id, false);
}

enum err delete_own_burst_reaction(struct call *call)
{
    return remove_reaction_of_user(call, call->caller->id, true);
}

/* Removes the reaction of another user. Needs MANAGE_MESSAGES, which nobody has in a private
 * channel. */
static enum err remove_reaction_of_path_user(struct call *call, bool burst)
{
    snowflake user_id = call_get_path_id(call, "reactor.id");

    if (user_id == call->caller->id)
        return remove_reaction_of_user(call, user_id, burst);
    if (!call->target.member_access)
        return ERR_DM_CHANNEL;
    if (!(call->target.permissions & PERMISSION(MANAGE_MESSAGES)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_MESSAGES));
    return remove_reaction_of_user(call, user_id, burst);
}

enum err delete_user_reaction(struct call *call)
{
    return remove_reaction_of_path_user(call, false);
}

enum err delete_user_burst_reaction(struct call *call)
{
    return remove_reaction_of_path_user(call, true);
}

/* --- of all users --------------------------------------------------------------------- */

enum err reaction_remove_emoji_and_emit(struct call *call, const struct reaction_emoji_name *name)
{
    struct reaction_event event = reaction_event_of_message(call);
    struct reaction_line line;

    if (!find_reaction_by_emoji_key(call, name->key, &line))
        return OK;
    enum err e = reactions_remove_from_message(call, call->target.message, line.id);
    event.emoji = reaction_emoji_decode(call->arena, &line);
    if (!e)
        call_emit_event(call, EVENT_MESSAGE_REACTION_REMOVE_EMOJI,
                        audience_of_channel(call->target.channel), &reaction_emoji_removed_schema,
                        &event);
    return e;
}

enum err delete_all_reactions_for_emoji(struct call *call)
{
    struct reaction_emoji_name name;
    enum err e = parse_emoji_of_path(call, &name);

    return e ? e : reaction_remove_emoji_and_emit(call, &name);
}

enum err delete_all_reactions(struct call *call)
{
    struct reaction_event event = reaction_event_of_message(call);

    if (call->target.message->reactions.given != GIVEN)
        return OK;
    enum err e = reactions_remove_from_message(call, call->target.message, 0);
    if (!e)
        call_emit_event(call, EVENT_MESSAGE_REACTION_REMOVE_ALL,
                        audience_of_channel(call->target.channel), &reactions_removed_schema,
                        &event);
    return e;
}
