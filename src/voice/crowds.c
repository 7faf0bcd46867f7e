/* crowds.c - schedules jobs for the rest of a large room, CROWD_AT_ONCE participants per step. */
#include "voice/state_rows.h"

#include "base/clock.h"

enum err voice_crowd_later(struct call *call, const struct job_kind *kind,
                           const struct voice_crowd *c, const struct list *done)
{
    const struct voice_state *s = done->items;
    snowflake key = c->channel_id ? c->channel_id : c->guild_id;

    if (done->count < CROWD_AT_ONCE)
        return OK;
    return job_schedule(call, kind, key, clock_us(),
                        str_printf(call->arena, "%llu %llu", (unsigned long long)c->guild_id,
                                   (unsigned long long)s[done->count - 1].user_id));
}

bool voice_crowd_of(const struct job *job, struct voice_crowd *ret)
{
    struct str after = job->data, guild = str_cut(&after, ' ');

    *ret = (struct voice_crowd){ 0 };
    if (!snowflake_parse(guild, &ret->guild_id) || !snowflake_parse(after, &ret->after))
        return false;
    ret->channel_id = job->key == ret->guild_id ? 0 : job->key;
    return true;
}
