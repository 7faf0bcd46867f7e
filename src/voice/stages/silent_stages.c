/* silent_stages.c - closes a stage that has had no speaker for five minutes. */
#include "voice/states.h"

#include "base/clock.h"

#define SILENCE_TIMEOUT_US (INT64_C(5) * 60 * 1000000)

/* Counts the speakers of a stage: users who are neither suppressed nor invited to speak. */
static const char READ_SPEAKER_COUNT[] =
    "select silent_since, (select count(*) from voice_states v where v.channel_id = s.channel_id "
    "and v.suppress = 0 and v.request_to_speak_at is null) from stage_instances s "
    "where s.channel_id = $1";
static const char UPDATE_SILENT_SINCE[] =
    "update stage_instances set silent_since = $2 where channel_id = $1";

enum err stage_schedule_close_if_silent(struct call *call, snowflake channel_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, READ_SPEAKER_COUNT, BIND(v_id(channel_id)), &row, &found);

    if (e || !found)
        return e;
    bool was_silent = !row_column_is_null(&row, 0), silent = row_int(&row, 1) == 0;
    if (was_silent == silent)
        return OK;
    e = tx_exec(call->tx, UPDATE_SILENT_SINCE,
                BIND(v_id(channel_id), silent ? v_int(clock_us()) : v_null()), NULL);
    if (e)
        return e;
    if (!silent)
        return job_cancel(call, &stage_silence_job, channel_id);
    return job_schedule(call, &stage_silence_job, channel_id, clock_us() + SILENCE_TIMEOUT_US,
                        STR(""));
}

/* Hook: called when a user leaves a stage. Counts the remaining speakers only if the user was a
 * speaker, because most users are listeners. */
enum err stage_on_voice_leave(struct call *call, const struct voice_state *was)
{
    return voice_state_get_guild_id(was) && !was->suppress
               ? stage_schedule_close_if_silent(call, voice_state_get_channel_id(was))
               : OK;
}

static enum err run_silent_stage_close_job(struct call *call, const struct job *job)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, READ_SPEAKER_COUNT, BIND(v_id(job->key)), &row, &found);

    if (e || !found || row_int(&row, 1))
        return e;
    return stage_instance_close(call, job->key);
}

const struct job_kind stage_silence_job = {
    .name = "stage-silence",
    .doc = "Closes a stage that had no speaker for five minutes.",
    .run = run_silent_stage_close_job,
};
