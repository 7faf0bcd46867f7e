/* indexing.c - background job that indexes new messages, and its scheduling. Each node has its own
 * job. On PostgreSQL, a job skips messages that the job of another node has locked, and sends all
 * its writes in one network round trip. */
#include "platform/search/internal.h"

#include <stdatomic.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"

enum {
    AT_ONCE = 64,
    STEP_NS =
        4 * 1000 *
        1000, /* limit of the CPU time of the write, in nanoseconds; the read is not included */
};

/* Delay in microseconds until the job's next run: PAUSE if unindexed messages are left, else EVERY.
 * EVERY is long, because indexing many messages together takes a third of the time per message. */
static const int64_t PAUSE = 10 * 1000, EVERY = 500 * 1000;

/* Time in microseconds until which new messages need not schedule the job, because this process has
 * already scheduled it. While the job finds messages, it schedules itself again. */
static _Atomic int64_t claimed_until;

void reset_message_indexing_schedule(void)
{
    claimed_until = 0;
}

static bool claim_message_indexing_period(void)
{
    int64_t now = clock_us(), until = claimed_until;

    /* If the system clock was set back, claimed_until may be far in the future. Ignore it then,
     * because otherwise no message would be indexed until that time. */
    return (until <= now || until > now + EVERY) &&
           atomic_compare_exchange_strong(&claimed_until, &until, now + EVERY / 2);
}

static enum err schedule_message_indexing_job(struct call *call)
{
    return job_schedule(call, &message_indexing, snowflake_get_node(), clock_us(), STR(""));
}

void schedule_message_indexing(struct call *call)
{
    if (claim_message_indexing_period())
        internal_call_start(call->api, call->loop,
                            &(struct internal_call){ .name = "message-indexing",
                                                     .store = ROUTE_STORE_APPEND,
                                                     .run = schedule_message_indexing_job });
}

/* Schedules the job after the commit of the message, because transactions that write the same job
 * row would conflict. If the server stops between commit and scheduling, the next message or search
 * schedules the job. */
enum err message_indexing_on_message_create(struct call *call, const struct message_creation *made)
{
    if (!made->message->ephemeral_for)
        call->after = schedule_message_indexing;
    return OK;
}

static const char DONE[] = "delete from message_unindexed where message_id = $1";

/* Indexes the oldest unindexed messages until the time limit. The time of the read does not count,
 * so that each run indexes at least one message. */
static enum err run_message_indexing_job(struct call *call, const struct job *job)
{
    struct list documents;
    size_t i = 0;
    enum err e = read_unindexed_documents(call->tx, UNINDEXED_OLDEST_LOCKED, AT_ONCE, &documents);
    int64_t until = clock_thread_cpu_ns() + STEP_NS;

    for (; !e && i < documents.count && clock_thread_cpu_ns() < until; i++) {
        const struct search_document *d = &((const struct search_document *)documents.items)[i];

        e = message_index_save(call, d);
        if (!e)
            e = tx_exec_deferred(call->tx, DONE, BIND(v_id(d->id)));
    }
    if (e)
        return e;
    /* No message found: run once more at claimed_until, because messages that were created in the
     * meantime have not scheduled the job. */
    int64_t planned = claimed_until;
    if (!documents.count)
        return planned > clock_us()
                   ? job_schedule(call, &message_indexing, job->key, planned, STR(""))
                   : OK;
    bool more = i < documents.count || documents.count == AT_ONCE;
    return job_schedule(call, &message_indexing, job->key, clock_us() + (more ? PAUSE : EVERY),
                        STR(""));
}

const struct job_kind message_indexing = {
    .name = "message-indexing",
    .doc = "Adds new and changed messages to the search index.",
    .per_node = true,
    .run = run_message_indexing_job,
};
