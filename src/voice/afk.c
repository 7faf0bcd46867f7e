/* afk.c - moves idle users to the guild's AFK channel. One job per user runs when the user could
 * have been idle for afk_timeout. Activity only updates active_at; the job then schedules itself
 * again. */
#include "voice/state_rows.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

#define SECOND INT64_C(1000000)

static bool is_in_afk_channel(const struct voice_state *s, const struct guild *g)
{
    return voice_state_get_channel_id(s) == g->afk_channel_id.value;
}

static enum err schedule_afk_move(struct call *call, const struct voice_state *s,
                                  const struct guild *g)
{
    struct user user;

    if (g->afk_channel_id.given != GIVEN || is_in_afk_channel(s, g))
        return OK;
    enum err e = user_find(call->tx, s->user_id, &user);
    if (e || user.bot.value)
        return e;
    return job_schedule(call, &afk_move_job, s->user_id, s->active_at + g->afk_timeout * SECOND,
                        STR(""));
}

enum err afk_schedule_move_of_idle_user(struct call *call, const struct voice_state *s)
{
    struct guild guild;

    if (!voice_state_get_guild_id(s))
        return OK;
    enum err e = guild_find(call->tx, voice_state_get_guild_id(s), &guild);
    return e ? e : schedule_afk_move(call, s, &guild);
}

static enum err schedule_afk_moves_of_step(struct call *call, const struct large_room_step *c)
{
    struct list states;
    struct guild guild;
    enum err e = guild_find(call->tx, c->guild_id, &guild);

    if (e || guild.afk_channel_id.given != GIVEN)
        return e;
    e = list_voice_states_of_room_step(call->tx, c, &states);
    for (size_t i = 0; !e && i < states.count; i++)
        e = schedule_afk_move(call, (const struct voice_state *)states.items + i, &guild);
    return e ? e : schedule_next_large_room_step(call, &afk_reschedule_job, c, &states);
}

enum err afk_reschedule_jobs_of_guild(struct call *call, snowflake guild_id)
{
    return schedule_afk_moves_of_step(call, &(struct large_room_step){ .guild_id = guild_id });
}

static enum err run_afk_reschedule_step(struct call *call, const struct job *job)
{
    struct large_room_step c;
    enum err e = large_room_step_from_job(job, &c) ? schedule_afk_moves_of_step(call, &c) : OK;

    return e == ERR_UNKNOWN_GUILD ? OK : e;
}

const struct job_kind afk_reschedule_job = {
    .name = "voice-patience",
    .doc = "Applies a changed AFK timeout to the other participants of a large voice channel.",
    .run = run_afk_reschedule_step,
};

static enum err move_to_afk_channel(struct call *call, const struct voice_state *s,
                                    const struct guild *g)
{
    struct channel afk;
    enum err e = channel_find(call->tx, g->afk_channel_id.value, &afk);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    e = voice_state_move_to_channel(call, s, &afk);
    return e == ERR_MAX_MEMBERS ? OK : e; /* the user stays if the AFK channel is full */
}

static enum err run_afk_move(struct call *call, const struct job *job)
{
    struct voice_state s;
    struct guild guild;
    enum err e = voice_state_find_of_user(call->tx, job->key, &s);

    if (e || !voice_state_get_guild_id(&s))
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    e = guild_find(call->tx, voice_state_get_guild_id(&s), &guild);
    if (e || guild.afk_channel_id.given != GIVEN || is_in_afk_channel(&s, &guild))
        return e;
    int64_t timeout = guild.afk_timeout * SECOND;
    bool sends_video = s.self_video || s.self_stream;
    if (!sends_video && s.active_at + timeout <= clock_us())
        return move_to_afk_channel(call, &s, &guild);
    return job_schedule(call, &afk_move_job, job->key,
                        (sends_video ? clock_us() : s.active_at) + timeout, STR(""));
}

const struct job_kind afk_move_job = {
    .name = "voice-idle",
    .doc = "Moves an idle user to the AFK channel.",
    .run = run_afk_move,
};
