/* large_rooms.c - schedules jobs that change all voice states of a large room, LARGE_ROOM_STEP
 * voice states per step. */
#include "voice/state_rows.h"

#include "base/clock.h"

enum err schedule_next_large_room_step(struct call *call, const struct job_kind *kind,
                                       const struct large_room_step *c, const struct list *done)
{
    const struct voice_state *s = done->items;
    snowflake key = c->channel_id ? c->channel_id : c->guild_id;

    if (done->count < LARGE_ROOM_STEP)
        return OK;
    return job_schedule(call, kind, key, clock_us(),
                        str_printf(call->arena, "%llu %llu", (unsigned long long)c->guild_id,
                                   (unsigned long long)s[done->count - 1].user_id));
}

bool large_room_step_from_job(const struct job *job, struct large_room_step *ret)
{
    struct str after = job->data, guild = str_cut(&after, ' ');

    *ret = (struct large_room_step){ 0 };
    if (!snowflake_parse(guild, &ret->guild_id) || !snowflake_parse(after, &ret->after))
        return false;
    ret->channel_id = job->key == ret->guild_id ? 0 : job->key;
    return true;
}
