/* endings.c - removes voice states when their member, recipient, channel or guild is deleted.
 *
 * In a large room the first participants leave with their channel and the guild gets their events.
 * The others leave in steps of a job; the channel is deleted by then, so only they get an event. */
#include "voice/state_rows.h"

#include "platform/channels/channels.h"
#include "voice/rooms.h"

enum err voice_drop_member(struct call *call, const struct member_leave *leave)
{
    struct voice_state s;
    enum err e = voice_find(call->tx, leave->guild_id, leave->user->id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    return voice_leave(call, &s);
}

enum err voice_drop_recipient(struct call *call, const struct recipient_change *c)
{
    struct voice_state s;
    enum err e = voice_find(call->tx, 0, c->user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    return voice_channel(&s) == c->channel->id ? voice_leave(call, &s) : OK;
}

/* Ends the room in the relay first, so that the relay does not send op 13 for each participant. */
static void note_end(struct call *call, snowflake room_id)
{
    call_note_voice(call, &(struct voice_fact){ .room_id = room_id });
}

/* Removes the states of one step; leave is called for each. */
static enum err crowd_leaves(struct call *call, const struct voice_crowd *c,
                             enum err (*leave)(struct call *call, const struct voice_state *s))
{
    struct list states;
    enum err e = voice_crowd_after(call->tx, c, &states);
    const struct voice_state *s = states.items;

    for (size_t i = 0; !e && i < states.count; i++)
        e = leave(call, &s[i]);
    return e ? e : voice_crowd_later(call, &voice_leftovers_job, c, &states);
}

/* Sends no event, because the guild's members got GUILD_DELETE. */
static enum err leave_gone_guild(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_without_channel(s);
    enum err e = voice_delete(call->tx, s);

    voice_note(call, &gone);
    return e ? e : hook_voice_left(call, s);
}

static enum err leave_gone_channel(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_without_channel(s);

    voice_tell_self(call, &gone);
    return leave_gone_guild(call, s);
}

static enum err leave_more(struct call *call, const struct job *job)
{
    struct voice_crowd c;

    if (!voice_crowd_of(job, &c))
        return OK;
    return crowd_leaves(call, &c, c.channel_id ? leave_gone_channel : leave_gone_guild);
}

const struct job_kind voice_leftovers_job = {
    .name = "voice-leftovers",
    .doc = "Removes voice states whose channel or guild was deleted.",
    .run = leave_more,
};

enum err voice_drop_channel(struct call *call, const struct channel *c)
{
    struct voice_crowd crowd = { .guild_id = c->guild_id.value, .channel_id = c->id };
    bool any;
    enum err e = voice_holds(call->tx, c->id, 1, &any);

    if (!e && any) {
        note_end(call, c->id);
        e = crowd_leaves(call, &crowd, voice_leave);
    }
    if (!e)
        e = room_forget(call->tx, c->id);
    return e ? e : stage_close(call, c->id);
}

enum err voice_drop_guild(struct call *call, snowflake guild_id)
{
    struct list rooms = { 0 };
    enum err e = rooms_of_guild(call->tx, guild_id, &rooms);

    for (size_t i = 0; !e && i < rooms.count; i++)
        note_end(call, ((const snowflake *)rooms.items)[i]);
    if (!e)
        e = rooms_forget_guild(call->tx, guild_id);
    if (e)
        return e;
    return crowd_leaves(call, &(struct voice_crowd){ .guild_id = guild_id }, leave_gone_guild);
}
