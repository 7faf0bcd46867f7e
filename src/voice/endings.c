/* endings.c - what goes takes its voice with it.
 *
 * Of a large room some leave with their channel, and the guild is told of them. The others leave in
 * steps of a job: their channel is gone by then, and with it whoever could hear of it but they. */
#include "voice/state_rows.h"

#include "base/clock.h"
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

/* Before those of its people: what each of them would be told of all the others is left out. */
static void note_end(struct call *call, snowflake room_id)
{
    call_note_voice(call, &(struct voice_fact){ .room_id = room_id });
}

/* --- a channel ------------------------------------------------------------------------ */

static const char CHANNELS[] = "channel", GUILDS[] = "guild";

static enum err leave_later(struct call *call, snowflake id, const char *kind)
{
    return job_schedule(call, &voice_leftovers_job, id, clock_us(), str_of(kind));
}

enum err voice_drop_channel(struct call *call, const struct channel *c)
{
    struct list states;
    enum err e = voice_crowd_after(call->tx, &(struct voice_crowd){ .channel_id = c->id }, &states);

    if (!e && states.count)
        note_end(call, c->id);
    if (!e)
        e = voice_leave_all(call, &states);
    if (!e && states.count == CROWD_AT_ONCE)
        e = leave_later(call, c->id, CHANNELS);
    if (!e)
        e = room_forget(call->tx, c->id);
    return e ? e : stage_close(call, c->id);
}

/* --- a guild -------------------------------------------------------------------------- */

/* Nobody hears of it: they were told that the guild is gone. */
static enum err leave_guild(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_without_channel(s);
    enum err e = voice_delete(call->tx, s);

    voice_note(call, &gone);
    return e ? e : hook_voice_left(call, s);
}

static enum err some_leave_guild(struct call *call, snowflake guild_id)
{
    struct list states;
    enum err e =
        voice_crowd_after(call->tx, &(struct voice_crowd){ .guild_id = guild_id }, &states);
    const struct voice_state *s = states.items;

    for (size_t i = 0; !e && i < states.count; i++)
        e = leave_guild(call, &s[i]);
    return e || states.count < CROWD_AT_ONCE ? e : leave_later(call, guild_id, GUILDS);
}

enum err voice_drop_guild(struct call *call, snowflake guild_id)
{
    struct list rooms = { 0 };
    enum err e = voice_rooms_of_guild(call->tx, guild_id, &rooms);

    for (size_t i = 0; !e && i < rooms.count; i++)
        note_end(call, ((const snowflake *)rooms.items)[i]);
    if (!e)
        e = rooms_forget_guild(call->tx, guild_id);
    return e ? e : some_leave_guild(call, guild_id);
}

/* --- those who are left --------------------------------------------------------------- */

static enum err leave_gone_channel(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_without_channel(s);
    enum err e = voice_delete(call->tx, s);

    voice_tell_self(call, &gone);
    return e ? e : hook_voice_left(call, s);
}

static enum err some_leave_channel(struct call *call, snowflake channel_id)
{
    struct list states;
    enum err e =
        voice_crowd_after(call->tx, &(struct voice_crowd){ .channel_id = channel_id }, &states);
    const struct voice_state *s = states.items;

    for (size_t i = 0; !e && i < states.count; i++)
        e = leave_gone_channel(call, &s[i]);
    return e || states.count < CROWD_AT_ONCE ? e : leave_later(call, channel_id, CHANNELS);
}

static enum err leave_more(struct call *call, const struct job *job)
{
    return str_is(job->data, GUILDS) ? some_leave_guild(call, job->key)
                                     : some_leave_channel(call, job->key);
}

const struct job_kind voice_leftovers_job = {
    .name = "voice-leftovers",
    .doc = "Takes those out of voice whose channel or guild is gone.",
    .run = leave_more,
};
