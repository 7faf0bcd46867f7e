/* review.c - updates voice states when permissions change. */
#include "voice/state_rows.h"

#include "base/hash.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* Caches the guild and the last channel, because consecutive states often share the channel. */
struct review {
    struct guild guild; /* with roles */
    struct channel channel;
};

static enum err load_channel(struct tx *tx, struct review *r, snowflake id)
{
    return r->channel.id == id ? OK : channel_find(tx, id, &r->channel);
}

/* Schedules an update for the end of a timeout. A bot may have a timeout in several guilds, so the
 * key combines both ids, which are also in the data. */
static enum err watch_timeout(struct call *call, const struct rights_of *who,
                              const struct member *m)
{
    struct str both = str_printf(call->arena, "%llu %llu", (unsigned long long)m->guild_id,
                                 (unsigned long long)m->user_id);

    if (!who->timed_out)
        return OK;
    return job_schedule(call, &voice_review_job, hash_u64(m->guild_id) ^ m->user_id,
                        m->communication_disabled_until.value, both);
}

/* Whether the user must be suppressed. On a stage moderators decide, but a member with a timeout or
 * pending screening never speaks. */
static bool review_suppresses(const struct review *r, const struct voice_state *s,
                              const struct rights_of *who, uint64_t rights)
{
    if (r->channel.type == CHANNEL_STAGE)
        return s->suppress || rights_are_restrained(who);
    return voice_suppressed(&r->channel, r->guild.afk_channel_id.value, rights);
}

static enum err review_save(struct call *call, const struct review *r, struct voice_state *s,
                            bool suppress)
{
    bool stage = r->channel.type == CHANNEL_STAGE, steps_back = stage && suppress && !s->suppress;

    s->suppress = suppress;
    if (steps_back)
        s->request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    enum err e = voice_save(call, s, 0);
    return e || !steps_back ? e : stage_watch(call, r->channel.id);
}

static enum err review_judge(struct call *call, struct review *r, struct voice_state *s,
                             const struct member *m)
{
    struct rights_of who = guild_rights_of(&r->guild, m);
    enum err e = load_channel(call->tx, r, voice_channel(s));

    if (!e)
        e = watch_timeout(call, &who, m);
    if (e)
        /* the channel was deleted: endings.c removes the state */
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    const struct list *o = &r->channel.permission_overwrites.value;
    uint64_t rights = rights_in_channel(&who, r->channel.type, o->items, o->count, false);
    bool suppress = review_suppresses(r, s, &who, rights);
    bool video = s->self_video && rights & PERMISSION(STREAM);
    bool priority = rights & PERMISSION(PRIORITY_SPEAKER);
    bool shown = suppress != s->suppress || video != s->self_video;
    if (shown || priority != s->priority) {
        s->self_video = video;
        s->priority = priority;
        s->member = m;
        e = shown ? review_save(call, r, s, suppress) : voice_save_unseen(call, s);
    }
    return e ? e : hook_voice_judged(call, &(struct voice_rights){ s, rights });
}

/* Updates the states of one step. Both lists are ordered by user id. */
static enum err judge_crowd(struct call *call, struct review *r, const struct voice_crowd *c,
                            const struct list *states)
{
    struct voice_state *s = states->items;
    struct list members;
    enum err e = members_in_voice_after(call->tx, c->guild_id, c->channel_id, c->after,
                                        CROWD_AT_ONCE, &members);
    const struct member *m = members.items, *end = m + members.count;

    for (size_t i = 0; !e && i < states->count; i++) {
        while (m < end && m->user_id < s[i].user_id)
            m++;
        if (m < end && m->user_id == s[i].user_id)
            e = review_judge(call, r, &s[i], m);
    }
    return e;
}

static enum err load_guild(struct tx *tx, snowflake guild_id, struct review *ret)
{
    enum err e = guild_find(tx, guild_id, &ret->guild);

    return e ? e : guild_load_roles(tx, &ret->guild);
}

static enum err review_crowd(struct call *call, const struct voice_crowd *c)
{
    struct review r = { 0 };
    struct list states;
    enum err e = voice_crowd_after(call->tx, c, &states);

    if (!e && states.count)
        e = load_guild(call->tx, c->guild_id, &r);
    if (!e && states.count)
        e = judge_crowd(call, &r, c, &states);
    return e ? e : voice_crowd_later(call, &voice_reviews_job, c, &states);
}

static enum err review_more(struct call *call, const struct job *job)
{
    struct voice_crowd c;
    enum err e = voice_crowd_of(job, &c) ? review_crowd(call, &c) : OK;

    return e == ERR_UNKNOWN_GUILD ? OK : e;
}

const struct job_kind voice_reviews_job = {
    .name = "voice-reviews",
    .doc = "Applies changed permissions to the other participants of a large voice channel.",
    .run = review_more,
};

enum err voice_review(struct call *call, const struct rights_change *where)
{
    const struct channel *c = where->channel;

    if (c && !channel_is_voice(c->type))
        return OK;
    return review_crowd(
        call, &(struct voice_crowd){ .guild_id = where->guild_id, .channel_id = c ? c->id : 0 });
}

enum err voice_review_guild(struct call *call, const struct guild_change *c)
{
    snowflake id = c->after->id;
    bool away = c->after->afk_channel_id.value != c->before->afk_channel_id.value;
    enum err e = OK;

    if (away || c->after->owner_id != c->before->owner_id)
        e = voice_review(call, &(struct rights_change){ id, NULL });
    if (!e && (away || c->after->afk_timeout != c->before->afk_timeout))
        e = voice_watch_guild(call, id);
    return e;
}

enum err voice_review_member(struct call *call, const struct member *m)
{
    struct review r = { 0 };
    struct voice_state s;
    enum err e = voice_find(call->tx, m->guild_id, m->user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    e = load_guild(call->tx, m->guild_id, &r);
    return e ? e : review_judge(call, &r, &s, m);
}

static enum err review_again(struct call *call, const struct job *job)
{
    struct str user = job->data, guild = str_cut(&user, ' ');
    snowflake guild_id, user_id;
    struct member member;

    if (!snowflake_parse(guild, &guild_id) || !snowflake_parse(user, &user_id))
        return OK;
    enum err e = member_find(call->tx, guild_id, user_id, &member);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return voice_review_member(call, &member);
}

const struct job_kind voice_review_job = {
    .name = "voice-review",
    .doc = "Lets a member speak again at the end of a timeout.",
    .run = review_again,
};
