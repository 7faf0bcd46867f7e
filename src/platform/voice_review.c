/* voice_review.c - when rights change, those who are in voice feel it at once. */
#include "platform/voice_internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* The channel of the state before is often that of the next one, too. */
struct review {
    struct guild guild;
    struct channel channel;
};

static enum err load_channel(struct tx *tx, struct review *r, snowflake id)
{
    return r->channel.id == id ? OK : channel_find(tx, id, &r->channel);
}

/* A timeout ends without anybody doing anything. */
static enum err watch_timeout(struct call *call, const struct standing *standing)
{
    if (!standing->rights_of.timed_out)
        return OK;
    return job_schedule(call, &voice_review_job, standing->user_id,
                        standing->member->communication_disabled_until.value, STR(""));
}

static enum err judge(struct call *call, struct review *r, struct voice_state *s)
{
    struct standing standing;
    uint64_t rights;
    enum err e = load_channel(call->tx, r, voice_channel(s));

    if (!e)
        e = standing_of_member(call->tx, r->guild.id, s->user_id, &standing);
    if (!e)
        e = standing_rights_in(call->tx, &standing, &r->channel, &rights);
    if (!e)
        e = watch_timeout(call, &standing);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;

    bool stage = r->channel.type == CHANNEL_STAGE;
    bool suppress =
        stage ? s->suppress : voice_suppressed(&r->channel, r->guild.afk_channel_id.value, rights);
    bool video = s->self_video && rights & PERMISSION(STREAM);
    if (suppress != s->suppress || video != s->self_video) {
        s->suppress = suppress;
        s->self_video = video;
        e = voice_save(call, s, 0);
    }
    return e ? e : voice_tell_rights(call, s, rights);
}

static enum err gather(struct tx *tx, snowflake guild_id, snowflake channel_id, snowflake user_id,
                       struct list *ret)
{
    struct voice_state s;

    if (channel_id)
        return voice_in_channel(tx, channel_id, ret);
    if (!user_id)
        return voice_in_guild(tx, guild_id, ret);
    *ret = (struct list){ 0 };
    enum err e = voice_find(tx, guild_id, user_id, &s);
    if (!e)
        *(struct voice_state *)list_add(tx_arena(tx), ret, sizeof s) = s;
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

enum err voice_review(struct call *call, snowflake guild_id, snowflake channel_id,
                      snowflake user_id)
{
    struct review r = { 0 };
    struct list states;
    enum err e = gather(call->tx, guild_id, channel_id, user_id, &states);

    if (e || !states.count)
        return e;
    e = guild_find(call->tx, guild_id, &r.guild);
    for (size_t i = 0; !e && i < states.count; i++)
        e = judge(call, &r, (struct voice_state *)states.items + i);
    return e;
}

static enum err review_again(struct call *call, const struct job *job)
{
    struct voice_state s;
    enum err e = voice_of_user(call->tx, job->key, &s);

    if (e || !voice_guild(&s))
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    return voice_review(call, voice_guild(&s), 0, s.user_id);
}

const struct job_kind voice_review_job = {
    .name = "voice-review",
    .doc = "Lets somebody speak again whose timeout is over.",
    .run = review_again,
};
