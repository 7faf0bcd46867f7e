/* indexing.c - background job that indexes new messages, and its scheduling. Each node has its own
 * job. On PostgreSQL, a job skips messages that the job of another node has locked, and sends all
 * its writes in one network round trip. */
#include "platform/search/internal.h"

#include <stdatomic.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"

enum {
    AT_ONCE = 64,
    /* CPU time in nanoseconds after which a run of the job stops to index messages, and begins no
     * step that merges segments of the index, which takes up to 9 ms. The commit takes about half
     * as long as the indexing. */
    LIMIT_NS = 6 * 1000 * 1000,
};

/* Delay in microseconds until the job's next run: PAUSE if unindexed messages are left, MERGE_PAUSE
 * if segments have to be merged, else EVERY. EVERY is long, because indexing many messages together
 * takes a third of the time per message. */
static const int64_t PAUSE = 2 * 1000, MERGE_PAUSE = 20 * 1000, EVERY = 500 * 1000;

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

/* Indexes a message. Messages above `progress` are new, and have no row in message_unindexed. */
static enum err index_document(struct call *call, struct search_document *d,
                               const struct list *long_terms, snowflake progress)
{
    bool is_queued = d->id <= progress;

    search_document_add_content_terms(call->arena, d);
    enum err e = message_index_save_documents(call, d, long_terms, is_queued);

    return e || !is_queued ? e : tx_exec_deferred(call->tx, DONE, BIND(v_id(d->id)));
}

/* Indexes some of the oldest unindexed messages, at least one. */
static enum err index_some_documents(struct call *call, const struct list *long_terms,
                                     int64_t until, size_t *count, bool *ret_more)
{
    struct list documents;
    snowflake progress = 0;
    size_t i = 0;
    enum err e = message_index_read_progress(call, &progress);

    if (!e)
        e = read_unindexed_documents(call->tx, UNINDEXED_OLDEST_LOCKED, AT_ONCE, &documents);
    if (e)
        return e;
    struct search_document *d = documents.items;

    for (; !e && i < documents.count && (i == 0 || clock_thread_cpu_ns() < until); i++)
        e = index_document(call, &d[i], long_terms, progress);
    *count += i;
    *ret_more = i < documents.count || documents.count == AT_ONCE;
    if (e || !i)
        return e;
    return *ret_more ? message_index_advance_progress(call, d[i - 1].id)
                     : message_index_advance_progress_to_newest(call);
}

/* Indexes the oldest unindexed messages until the time limit. On PostgreSQL, indexes only those of
 * one read, because they stay locked until the commit. */
static enum err index_oldest_documents(struct call *call, size_t *ret_count, bool *ret_more)
{
    int64_t until = clock_thread_cpu_ns() + LIMIT_NS;
    struct list long_terms;
    enum err e = message_index_read_long_terms(call, &long_terms);

    *ret_count = 0;
    if (e)
        return e;
    do
        e = index_some_documents(call, &long_terms, until, ret_count, ret_more);
    while (!e && *ret_more && message_index_is_sqlite(call) && clock_thread_cpu_ns() < until);
    return e;
}

static enum err run_message_indexing_job(struct call *call, const struct job *job)
{
    size_t count = 0;
    bool more = true, unfiled = false, merged = true, many_segments = false;
    int64_t began = clock_us(), until = clock_thread_cpu_ns() + LIMIT_NS;
    enum err e = message_index_has_many_segments(call, &many_segments);

    if (!e && many_segments)
        e = message_index_merge_step(call, false, &merged);
    /* A run with many segments indexes nothing, unless there is nothing to merge. */
    bool only_merges = many_segments && merged;
    if (!e && !only_merges)
        e = index_oldest_documents(call, &count, &more);
    if (!e)
        e = messages_file_authors(call->tx, &unfiled);
    while (!e && merged && clock_thread_cpu_ns() < until)
        e = message_index_merge_step(call, count == 0 && !many_segments, &merged);
    if (e)
        return e;
    /* No message found: if claimed_until is later than the begin of this run, run once more after
     * it, because messages that were created in the meantime have not scheduled the job. */
    int64_t now = clock_us(), planned = claimed_until;
    int64_t next = more || unfiled   ? now + PAUSE
                   : count           ? now + EVERY
                   : merged          ? now + MERGE_PAUSE
                   : planned > now   ? planned
                   : planned > began ? now + PAUSE
                                     : 0;
    return next > now ? job_schedule(call, &message_indexing, job->key, next, STR("")) : OK;
}

const struct job_kind message_indexing = {
    .name = "message-indexing",
    .doc = "Adds new and changed messages to the search index.",
    .per_node = true,
    .run = run_message_indexing_job,
};
