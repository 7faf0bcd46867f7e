/* ephemeral.c - deletes ephemeral messages 15 minutes after their last use or change. */
#include "interactions/internal.h"

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/messages/messages.h"

/* Job that deletes an ephemeral message. The job's key is the message id, and its data is the
 * channel id. */
static enum err run_ephemeral_deletion(struct call *call, const struct job *job)
{
    snowflake channel_id;
    struct message m;

    if (!snowflake_parse(job->data, &channel_id))
        return OK;
    enum err e = message_find_even_ephemeral(call, channel_id, job->key, &m);
    if (e)
        return e == ERR_UNKNOWN_MESSAGE ? OK : e;
    return message_delete_without_event(call, &m);
}

const struct job_kind ephemeral_deletion_job = {
    .name = "ephemeral",
    .doc = "Deletes ephemeral messages 15 minutes after their last use or change.",
    .run = run_ephemeral_deletion,
};

enum err schedule_ephemeral_message_deletion(struct call *call, const struct message *m)
{
    struct str channel = str_printf(call->arena, "%llu", (unsigned long long)m->channel_id);

    return job_schedule(call, &ephemeral_deletion_job, m->id, clock_us() + EPHEMERAL_LIFE_US,
                        channel);
}
