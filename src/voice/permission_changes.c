/* permission_changes.c - updates voice states when permissions change. */
#include "voice/state_rows.h"

#include "base/hash.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* An update of many voice states. It caches the guild and the last channel, because consecutive
 * voice states often have the same channel. */
struct permission_update {
    struct guild guild; /* with roles */
    struct channel channel;
};

static enum err read_channel_unless_known(struct tx *tx, struct permission_update *r, snowflake id)
{
    return r->channel.id == id ? OK : channel_find(tx, id, &r->channel);
}

/* Schedules an update for the time at which the member's timeout ends. A bot may have timeouts in
 * several guilds, so the key of the job combines guild id and user id. Both ids are also in the
 * job's data. */
static enum err schedule_update_at_timeout_end(struct call *call,
                                               const struct permission_computation_input *who,
                                               const struct member *m)
{
    struct str both = str_printf(call->arena, "%llu %llu", (unsigned long long)m->guild_id,
                                 (unsigned long long)m->user_id);

    if (!who->timed_out)
        return OK;
    return job_schedule(call, &voice_timeout_end_job, hash_u64(m->guild_id) ^ m->user_id,
                        m->communication_disabled_until.value, both);
}

/* Returns whether the user must be suppressed. On a stage, moderators decide who speaks, but a
 * member with a timeout or pending membership screening is always suppressed. */
static bool voice_member_must_be_suppressed(const struct permission_update *r,
                                            const struct voice_state *s,
                                            const struct permission_computation_input *who,
                                            uint64_t permissions)
{
    if (r->channel.type == CHANNEL_STAGE)
        return s->suppress || member_is_restricted(who);
    return member_is_suppressed_on_voice_join(&r->channel, r->guild.afk_channel_id.value,
                                              permissions);
}

static enum err save_voice_state_with_suppress(struct call *call, const struct permission_update *r,
                                               struct voice_state *s, bool suppress)
{
    bool stage = r->channel.type == CHANNEL_STAGE, steps_back = stage && suppress && !s->suppress;

    s->suppress = suppress;
    if (steps_back)
        s->request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    enum err e = voice_state_save(call, s, 0);
    return e || !steps_back ? e : stage_schedule_close_if_silent(call, r->channel.id);
}

static enum err update_permissions_of_voice_state(struct call *call, struct permission_update *r,
                                                  struct voice_state *s, const struct member *m)
{
    struct permission_computation_input who = permission_computation_input_of_member(&r->guild, m);
    enum err e = read_channel_unless_known(call->tx, r, voice_state_get_channel_id(s));

    if (!e)
        e = schedule_update_at_timeout_end(call, &who, m);
    if (e)
        /* Ignore that the channel was deleted, because state_removal.c removes the voice state. */
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    const struct list *o = &r->channel.permission_overwrites.value;
    uint64_t permissions = permissions_in_channel(&who, r->channel.type, o->items, o->count, false);
    bool suppress = voice_member_must_be_suppressed(r, s, &who, permissions);
    bool video = s->self_video && permissions & PERMISSION(STREAM);
    bool priority = permissions & PERMISSION(PRIORITY_SPEAKER);
    bool visible_change = suppress != s->suppress || video != s->self_video;
    if (visible_change || priority != s->priority) {
        s->self_video = video;
        s->priority = priority;
        s->member = m;
        e = visible_change ? save_voice_state_with_suppress(call, r, s, suppress)
                           : voice_state_save_without_event(call, s);
    }
    return e ? e
             : hook_voice_permissions_check(call,
                                            &(struct voice_state_permissions){ s, permissions });
}

/* Updates the voice states of one job step. Both voice states and members are sorted by user id. */
static enum err update_voice_states_of_step(struct call *call, struct permission_update *r,
                                            const struct large_room_step *c,
                                            const struct list *states)
{
    struct voice_state *s = states->items;
    struct list members;
    enum err e = members_list_in_voice_after(call->tx, c->guild_id, c->channel_id, c->after,
                                             LARGE_ROOM_STEP, &members);
    const struct member *m = members.items, *end = m + members.count;

    for (size_t i = 0; !e && i < states->count; i++) {
        while (m < end && m->user_id < s[i].user_id)
            m++;
        if (m < end && m->user_id == s[i].user_id)
            e = update_permissions_of_voice_state(call, r, &s[i], m);
    }
    return e;
}

static enum err read_guild_with_roles(struct tx *tx, snowflake guild_id,
                                      struct permission_update *ret)
{
    enum err e = guild_find(tx, guild_id, &ret->guild);

    return e ? e : guild_read_roles(tx, &ret->guild);
}

static enum err run_permission_update_step(struct call *call, const struct large_room_step *c)
{
    struct permission_update r = { 0 };
    struct list states;
    enum err e = list_voice_states_of_room_step(call->tx, c, &states);

    if (!e && states.count)
        e = read_guild_with_roles(call->tx, c->guild_id, &r);
    if (!e && states.count)
        e = update_voice_states_of_step(call, &r, c, &states);
    return e ? e : schedule_next_large_room_step(call, &voice_permission_steps_job, c, &states);
}

static enum err run_permission_update_job(struct call *call, const struct job *job)
{
    struct large_room_step c;
    enum err e = large_room_step_from_job(job, &c) ? run_permission_update_step(call, &c) : OK;

    return e == ERR_UNKNOWN_GUILD ? OK : e;
}

const struct job_kind voice_permission_steps_job = {
    .name = "voice-reviews",
    .doc = "Applies changed permissions to the other participants of a large voice channel.",
    .run = run_permission_update_job,
};

enum err voice_on_permission_change(struct call *call, const struct permission_change *where)
{
    const struct channel *c = where->channel;

    if (c && !channel_is_voice(c->type))
        return OK;
    return run_permission_update_step(
        call,
        &(struct large_room_step){ .guild_id = where->guild_id, .channel_id = c ? c->id : 0 });
}

enum err voice_on_guild_change(struct call *call, const struct guild_change *c)
{
    snowflake id = c->after->id;
    bool away = c->after->afk_channel_id.value != c->before->afk_channel_id.value;
    enum err e = OK;

    if (away || c->after->owner_id != c->before->owner_id)
        e = voice_on_permission_change(call, &(struct permission_change){ id, NULL });
    if (!e && (away || c->after->afk_timeout != c->before->afk_timeout))
        e = afk_reschedule_jobs_of_guild(call, id);
    return e;
}

enum err voice_on_member_change(struct call *call, const struct member *m)
{
    struct permission_update r = { 0 };
    struct voice_state s;
    enum err e = voice_state_find(call->tx, m->guild_id, m->user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    e = read_guild_with_roles(call->tx, m->guild_id, &r);
    return e ? e : update_permissions_of_voice_state(call, &r, &s, m);
}

static enum err run_timeout_end_job(struct call *call, const struct job *job)
{
    struct str user = job->data, guild = str_cut(&user, ' ');
    snowflake guild_id, user_id;
    struct member member;

    if (!snowflake_parse(guild, &guild_id) || !snowflake_parse(user, &user_id))
        return OK;
    enum err e = member_find(call->tx, guild_id, user_id, &member);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return voice_on_member_change(call, &member);
}

const struct job_kind voice_timeout_end_job = {
    .name = "voice-review",
    .doc = "Lets a member speak again at the end of a timeout.",
    .run = run_timeout_end_job,
};
