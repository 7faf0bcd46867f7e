/* archiving.c - archives inactive threads.
 *
 * Each open thread has one job. A new message does not change the job: when the job is due, it
 * reads the time of the last message and schedules itself again if that message is too recent. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/channels/internal.h"

enum { MINUTE_US = 60 * 1000 * 1000 };

static int64_t archiving_due_at(const struct channel *c)
{
    const struct thread_metadata *t = c->thread_metadata;
    int64_t spoken =
        c->last_message_id.given == GIVEN ? snowflake_to_ms(c->last_message_id.value) * 1000 : 0;
    int64_t last = spoken > t->archive_timestamp ? spoken : t->archive_timestamp;

    return last + t->auto_archive_duration * MINUTE_US;
}

bool thread_is_nearly_archived(const struct channel *c)
{
    return c->thread_metadata &&
           (c->thread_metadata->archived || archiving_due_at(c) - MINUTE_US < clock_us());
}

enum err check_thread_is_open(const struct channel *c, uint64_t perms)
{
    const struct thread_metadata *t = c->thread_metadata;

    if (!channel_is_thread(c->type))
        return OK;
    if (t->archived)
        return ERR_THREAD_ARCHIVED;
    return t->locked && !(perms & PERMISSION(MANAGE_THREADS)) ? ERR_THREAD_LOCKED : OK;
}

static const char ACTIVE_THREADS[] =
    "select count(*) from channels where guild_id = $1 and thread_archived = 0 and type >= 10 and "
    "type <= 12";

enum err check_active_thread_limit(struct tx *tx, snowflake guild_id)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, ACTIVE_THREADS, BIND(v_id(guild_id)), &n);

    if (e)
        return e;
    return n < MAX_ACTIVE_THREADS ? OK : ERR_MAX_ACTIVE_THREADS;
}

void emit_thread_delete(struct call *call, const struct channel *thread)
{
    struct thread_delete_event gone = {
        .id = thread->id,
        .guild_id = thread->guild_id.value,
        .parent_id = thread->parent_id.value,
        .type = thread->type,
    };

    call_emit_event(call, EVENT_THREAD_DELETE, audience_of_channel(thread),
                    &thread_delete_event_schema, &gone);
}

static enum err run_thread_archiving_job(struct call *call, const struct job *job)
{
    struct thread_metadata thread;
    struct channel c;
    enum err e = channel_find(call->tx, job->key, &c);

    if (e == ERR_UNKNOWN_CHANNEL || (!e && c.thread_metadata->archived))
        return OK;
    if (e)
        return e;
    /* Pinned threads are never archived automatically. */
    if (c.flags & CHANNEL_PINNED)
        return OK;
    if (archiving_due_at(&c) > clock_us())
        return thread_schedule_archiving(call, &c);
    thread = *c.thread_metadata;
    thread.archived = true;
    thread.archive_timestamp = clock_us();
    c.thread_metadata = &thread;
    e = channel_update(call->tx, &c);
    if (!e)
        call_emit_event(call, EVENT_THREAD_UPDATE, audience_of_channel(&c), &channel_schema, &c);
    return e;
}

const struct job_kind thread_archiving_job = {
    .name = "archive_thread",
    .doc = "Archives a thread after its auto-archive duration without activity.",
    .run = run_thread_archiving_job,
};

enum err thread_schedule_archiving(struct call *call, const struct channel *thread)
{
    return job_schedule(call, &thread_archiving_job, thread->id, archiving_due_at(thread), STR(""));
}
