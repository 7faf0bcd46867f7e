/* channel_updates.c - emits CHANNEL_UPDATE events.
 *
 * An event contains all overwrites of its channel, so the events of fifty channels can have
 * megabytes. If many channels change at once, a job therefore emits most of the events in steps. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/internal.h"

/* Number of overwrites that one step reads and emits; a channel itself counts as ten overwrites. */
enum { OVERWRITES_PER_STEP = 2000, ROWS_OF_CHANNEL = 10 };

struct audience audience_of_channel(const struct channel *c)
{
    if (channel_is_private(c->type))
        return audience_of_private_channel(c->id);
    struct audience to = audience_of_channel_viewers(c->guild_id.value, c->id);
    if (channel_is_thread(c->type)) {
        to.parent_id = c->parent_id.value;
        to.thread_type = c->type;
        to.private_thread = c->type == CHANNEL_PRIVATE_THREAD;
    }
    return to;
}

static enum err emit_channel_update_and_count_overwrites(struct call *call, snowflake id,
                                                         size_t *ret_overwrites)
{
    struct channel c;
    enum err e = channel_find(call->tx, id, &c);

    if (e)
        return e;
    *ret_overwrites = c.permission_overwrites.value.count;
    call_emit_event(call, EVENT_CHANNEL_UPDATE, audience_of_channel(&c), &channel_schema, &c);
    return hook_permissions_changed(call, &(struct permission_change){ c.guild_id.value, &c });
}

enum err channel_emit_update(struct call *call, snowflake id)
{
    size_t overwrites;

    return emit_channel_update_and_count_overwrites(call, id, &overwrites);
}

enum err channel_emit_imported(struct call *call, snowflake id, bool created)
{
    struct channel c;
    enum err e = channel_find(call->tx, id, &c);

    if (e)
        return e;
    bool is_thread = channel_is_thread(c.type);
    if (!is_thread && !created)
        return channel_emit_update(call, id);
    enum event event =
        created ? is_thread ? EVENT_THREAD_CREATE : EVENT_CHANNEL_CREATE : EVENT_THREAD_UPDATE;
    if (is_thread && created)
        c.newly_created = opt_bool_present(true);
    call_emit_event(call, event, audience_of_channel(&c), &channel_schema, &c);
    return OK;
}

/* Skips a channel that was deleted meanwhile, because CHANNEL_DELETE was already emitted. */
static enum err emit_channel_update_batch(struct call *call, const struct list *ids, snowflake key)
{
    const snowflake *id = ids->items;
    int64_t room = OVERWRITES_PER_STEP;
    size_t done = 0;
    enum err e = OK;

    for (; !e && done < ids->count && room > 0; done++) {
        size_t overwrites = 0;

        e = emit_channel_update_and_count_overwrites(call, id[done], &overwrites);
        e = e == ERR_UNKNOWN_CHANNEL ? OK : e;
        room -= ROWS_OF_CHANNEL + (int64_t)overwrites;
    }
    if (e || done == ids->count)
        return e;
    struct list left = { .items = (snowflake *)ids->items + done, .count = ids->count - done };
    return job_schedule(call, &channel_updates_job, key, clock_us(),
                        json_column_encode(call->arena, &type_ids, &left));
}

enum err channels_emit_updates(struct call *call, const struct list *ids)
{
    return emit_channel_update_batch(call, ids, snowflake_new());
}

static enum err run_channel_updates_job(struct call *call, const struct job *job)
{
    struct list ids = json_column_decode_list(call->arena, &type_ids, job->data);

    return emit_channel_update_batch(call, &ids, job->key);
}

const struct job_kind channel_updates_job = {
    .name = "channel-news",
    .doc = "Emits the updates of moved channels.",
    .run = run_channel_updates_job,
};
