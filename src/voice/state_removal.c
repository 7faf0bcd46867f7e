/* state_removal.c - removes voice states when their member, recipient, channel or guild is deleted.
 * The transaction that deletes a channel removes the first participants of a large room, and sends
 * their events to the guild. A job removes the other participants in steps, after the channel was
 * deleted, so only these participants themselves get events. */
#include "voice/state_rows.h"

#include "platform/channels/channels.h"
#include "voice/rooms/rooms.h"

enum err voice_on_member_leave(struct call *call, const struct member_leaving_guild *leave)
{
    struct voice_state s;
    enum err e = voice_state_find(call->tx, leave->guild_id, leave->user->id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    return voice_state_delete_and_emit(call, &s);
}

enum err voice_on_recipient_remove(struct call *call, const struct group_recipient_change *c)
{
    struct voice_state s;
    enum err e = voice_state_find(call->tx, 0, c->user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    return voice_state_get_channel_id(&s) == c->channel->id ? voice_state_delete_and_emit(call, &s)
                                                            : OK;
}

/* Ends the room in the relay before its voice states are removed. Otherwise the relay would send op
 * 13 for each participant. */
static void end_voice_room_in_relay(struct call *call, snowflake room_id)
{
    call_record_voice_state_change(call, &(struct relay_voice_state){ .room_id = room_id });
}

/* Removes the voice states of one job step, and calls `leave` for each voice state. */
static enum err remove_voice_states_of_step(struct call *call, const struct large_room_step *c,
                                            enum err (*leave)(struct call *call,
                                                              const struct voice_state *s))
{
    struct list states;
    enum err e = list_voice_states_of_room_step(call->tx, c, &states);
    const struct voice_state *s = states.items;

    for (size_t i = 0; !e && i < states.count; i++)
        e = leave(call, &s[i]);
    return e ? e : schedule_next_large_room_step(call, &voice_removal_job, c, &states);
}

/* Removes a voice state without an event, because the members of the guild got GUILD_DELETE. */
static enum err remove_state_of_deleted_guild(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_state_without_channel(s);
    enum err e = voice_state_delete_row(call->tx, s);

    voice_state_send_to_relay(call, &gone);
    return e ? e : hook_voice_left(call, s);
}

static enum err remove_state_of_deleted_channel(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_state_without_channel(s);

    emit_voice_state_to_account(call, &gone);
    return remove_state_of_deleted_guild(call, s);
}

static enum err run_voice_state_removal_step(struct call *call, const struct job *job)
{
    struct large_room_step c;

    if (!large_room_step_from_job(job, &c))
        return OK;
    return remove_voice_states_of_step(
        call, &c, c.channel_id ? remove_state_of_deleted_channel : remove_state_of_deleted_guild);
}

const struct job_kind voice_removal_job = {
    .name = "voice-leftovers",
    .doc = "Removes voice states whose channel or guild was deleted.",
    .run = run_voice_state_removal_step,
};

enum err voice_on_channel_delete(struct call *call, const struct channel *c)
{
    struct large_room_step step = { .guild_id = c->guild_id.value, .channel_id = c->id };
    bool any;
    enum err e = channel_has_voice_participants(call->tx, c->id, 1, &any);

    if (!e && any) {
        end_voice_room_in_relay(call, c->id);
        e = remove_voice_states_of_step(call, &step, voice_state_delete_and_emit);
    }
    if (!e)
        e = voice_room_delete(call->tx, c->id);
    return e ? e : stage_instance_close(call, c->id);
}

enum err voice_on_guild_delete(struct call *call, snowflake guild_id)
{
    struct list rooms = { 0 };
    enum err e = list_active_voice_rooms(call->tx, guild_id, &rooms);

    for (size_t i = 0; !e && i < rooms.count; i++)
        end_voice_room_in_relay(call, ((const snowflake *)rooms.items)[i]);
    if (!e)
        e = voice_rooms_delete_of_guild(call->tx, guild_id);
    if (e)
        return e;
    return remove_voice_states_of_step(call, &(struct large_room_step){ .guild_id = guild_id },
                                       remove_state_of_deleted_guild);
}
