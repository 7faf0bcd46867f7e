/* idle.c - moves idle users to the guild's AFK channel.
 *
 * One job per user runs when the user could have been idle for afk_timeout. Activity only updates
 * active_at, and the job reschedules itself accordingly. */
#include "voice/state_rows.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

#define SECOND INT64_C(1000000)

static bool is_away(const struct voice_state *s, const struct guild *g)
{
    return voice_channel(s) == g->afk_channel_id.value;
}

static enum err idle_watch(struct call *call, const struct voice_state *s, const struct guild *g)
{
    struct user user;

    if (g->afk_channel_id.given != GIVEN || is_away(s, g))
        return OK;
    enum err e = user_find(call->tx, s->user_id, &user);
    if (e || user.bot.value)
        return e;
    return job_schedule(call, &voice_idle_job, s->user_id, s->active_at + g->afk_timeout * SECOND,
                        STR(""));
}

enum err voice_watch_idle(struct call *call, const struct voice_state *s)
{
    struct guild guild;

    if (!voice_guild(s))
        return OK;
    enum err e = guild_find(call->tx, voice_guild(s), &guild);
    return e ? e : idle_watch(call, s, &guild);
}

static enum err watch_crowd(struct call *call, const struct voice_crowd *c)
{
    struct list states;
    struct guild guild;
    enum err e = guild_find(call->tx, c->guild_id, &guild);

    if (e || guild.afk_channel_id.given != GIVEN)
        return e;
    e = voice_crowd_after(call->tx, c, &states);
    for (size_t i = 0; !e && i < states.count; i++)
        e = idle_watch(call, (const struct voice_state *)states.items + i, &guild);
    return e ? e : voice_crowd_later(call, &voice_patience_job, c, &states);
}

enum err voice_watch_guild(struct call *call, snowflake guild_id)
{
    return watch_crowd(call, &(struct voice_crowd){ .guild_id = guild_id });
}

static enum err watch_more(struct call *call, const struct job *job)
{
    struct voice_crowd c;
    enum err e = voice_crowd_of(job, &c) ? watch_crowd(call, &c) : OK;

    return e == ERR_UNKNOWN_GUILD ? OK : e;
}

const struct job_kind voice_patience_job = {
    .name = "voice-patience",
    .doc = "Applies a changed AFK timeout to the other participants of a large voice channel.",
    .run = watch_more,
};

static enum err send_away(struct call *call, const struct voice_state *s, const struct guild *g)
{
    struct channel afk;
    enum err e = channel_find(call->tx, g->afk_channel_id.value, &afk);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    e = voice_move(call, s, &afk);
    return e == ERR_MAX_MEMBERS ? OK : e; /* the user stays if the AFK channel is full */
}

static enum err idle_look(struct call *call, const struct job *job)
{
    struct voice_state s;
    struct guild guild;
    enum err e = voice_of_user(call->tx, job->key, &s);

    if (e || !voice_guild(&s))
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    e = guild_find(call->tx, voice_guild(&s), &guild);
    if (e || guild.afk_channel_id.given != GIVEN || is_away(&s, &guild))
        return e;
    int64_t patience = guild.afk_timeout * SECOND;
    bool shown = s.self_video || s.self_stream;
    if (!shown && s.active_at + patience <= clock_us())
        return send_away(call, &s, &guild);
    return job_schedule(call, &voice_idle_job, job->key,
                        (shown ? clock_us() : s.active_at) + patience, STR(""));
}

const struct job_kind voice_idle_job = {
    .name = "voice-idle",
    .doc = "Moves an idle user to the AFK channel.",
    .run = idle_look,
};
