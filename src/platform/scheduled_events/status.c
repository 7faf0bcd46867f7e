/* status.c - status changes of a scheduled event: scheduled, active, completed, cancelled; and its
 * next occurrence. */
#include "platform/scheduled_events/internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"

#define MINUTE_US (INT64_C(60) * 1000000)
#define MAX_START_DELAY_US \
    (6 * 60 * MINUTE_US) /* maximum delay of the start; then the scheduled event ends */
#define EMPTY_CHANNEL_US (3 * MINUTE_US) /* an event ends after its channel was empty this long */
#define RETENTION_US     (30 * 24 * 60 * MINUTE_US)

struct audience audience_of_scheduled_event(const struct scheduled_event *e)
{
    return e->channel_id.given == GIVEN
               ? audience_of_channel_viewers(e->guild_id, e->channel_id.value)
               : audience_of_guild(e->guild_id);
}

void emit_event_about_scheduled_event(struct call *call, enum event what,
                                      const struct scheduled_event *e)
{
    struct scheduled_event shown = *e;

    shown.creator = NULL;
    shown.user_count.given = ABSENT;
    shown.auto_start = opt_true_or_absent(e->entity_type == EVENT_EXTERNAL);
    call_emit_event(call, what, audience_of_scheduled_event(e), &scheduled_event_schema, &shown);
}

/* --- due times ------------------------------------------------------------------------ */

static int64_t next_job_time_of_event(const struct scheduled_event *e)
{
    bool elsewhere = e->entity_type == EVENT_EXTERNAL;

    switch (e->status) {
    case EVENT_SCHEDULED:
        return e->scheduled_start_time + (elsewhere ? 0 : MAX_START_DELAY_US);
    case EVENT_ACTIVE:
        return elsewhere ? e->scheduled_end_time.value : clock_us() + MINUTE_US;
    default:
        return e->ended_at + RETENTION_US;
    }
}

enum err scheduled_event_schedule_status_job(struct call *call, const struct scheduled_event *e)
{
    return job_schedule(call, &scheduled_event_job, e->id, next_job_time_of_event(e), STR(""));
}

static enum err update_and_emit_scheduled_event(struct call *call, const struct scheduled_event *e)
{
    enum err err = scheduled_event_update(call->tx, e);

    if (!err)
        emit_event_about_scheduled_event(call, EVENT_GUILD_SCHEDULED_EVENT_UPDATE, e);
    return err;
}

/* --- recurrence ----------------------------------------------------------------------- */

static const struct scheduled_event_exception *find_exception_of_start_time(
    const struct scheduled_event *e, int64_t start)
{
    const struct scheduled_event_exception *x = e->guild_scheduled_event_exceptions.items;

    for (size_t i = 0; i < e->guild_scheduled_event_exceptions.count; i++)
        if (x[i].event_exception_id == snowflake_from_ms(start / 1000))
            return &x[i];
    return NULL;
}

/* Sets the times of a recurring scheduled event to those of its next occurrence. Skips cancelled
 * occurrences; applies the exception of a changed one. */
static void advance_to_next_occurrence(struct scheduled_event *e)
{
    int64_t lasts = e->scheduled_end_time.given == GIVEN
                        ? e->scheduled_end_time.value - e->scheduled_start_time
                        : 0;
    int64_t now = clock_us();
    int64_t start = e->scheduled_start_time > now ? e->scheduled_start_time : now;
    const struct scheduled_event_exception *x;

    do {
        start = recurrence_next_occurrence(e->recurrence_rule, start);
        x = find_exception_of_start_time(e, start);
    } while (x && x->is_canceled);
    e->scheduled_start_time = start;
    if (x && x->scheduled_start_time.given == GIVEN)
        e->scheduled_start_time = x->scheduled_start_time.value;
    if (lasts)
        e->scheduled_end_time.value = e->scheduled_start_time + lasts;
    if (x && x->scheduled_end_time.given == GIVEN)
        e->scheduled_end_time = x->scheduled_end_time;
}

/* --- status changes ------------------------------------------------------------------- */

static enum err start_scheduled_event(struct call *call, struct scheduled_event *e)
{
    struct scheduled_event_stage_change stage = { .event = e };
    enum err err =
        e->entity_type == EVENT_IN_STAGE ? hook_scheduled_event_started(call, &stage) : OK;

    if (err)
        return err;
    if (stage.stage_id)
        e->entity_id = opt_id_or_null(stage.stage_id);
    e->status = EVENT_ACTIVE;
    e->empty_since = 0;
    return update_and_emit_scheduled_event(call, e);
}

static enum err end_scheduled_event(struct call *call, struct scheduled_event *e, int64_t status)
{
    bool again = e->recurrence_rule && status == EVENT_COMPLETED;
    struct scheduled_event_stage_change stage = { .event = e };
    enum err err = e->entity_type == EVENT_IN_STAGE && e->status == EVENT_ACTIVE
                       ? hook_scheduled_event_ended(call, &stage)
                       : OK;

    e->entity_id = opt_id_or_null(0);
    e->status = status;
    e->ended_at = clock_us();
    if (!err)
        err = update_and_emit_scheduled_event(call, e);
    if (err || !again)
        return err;
    e->status = EVENT_SCHEDULED;
    e->ended_at = 0;
    advance_to_next_occurrence(e);
    return update_and_emit_scheduled_event(call, e);
}

enum err scheduled_event_set_status(struct call *call, struct scheduled_event *e, int64_t status)
{
    enum err err = status == EVENT_ACTIVE ? start_scheduled_event(call, e)
                                          : end_scheduled_event(call, e, status);

    return err ? err : scheduled_event_schedule_status_job(call, e);
}

/* --- the job -------------------------------------------------------------------------- */

static enum err voice_channel_is_empty(struct call *call, snowflake channel_id, bool *ret)
{
    bool found;
    enum err e = tx_exists(call->tx, "select 1 from voice_states where channel_id = $1 limit 1",
                           BIND(v_id(channel_id)), &found);

    *ret = !found;
    return e;
}

static enum err end_scheduled_event_if_channel_is_empty(struct call *call,
                                                        struct scheduled_event *e)
{
    bool empty;
    enum err err = voice_channel_is_empty(call, e->channel_id.value, &empty);

    if (err)
        return err;
    if (empty && e->empty_since && clock_us() >= e->empty_since + EMPTY_CHANNEL_US)
        return scheduled_event_set_status(call, e, EVENT_COMPLETED);
    e->empty_since = !empty ? 0 : e->empty_since ? e->empty_since : clock_us();
    err = scheduled_event_update(call->tx, e);
    return err ? err : scheduled_event_schedule_status_job(call, e);
}

static enum err run_scheduled_event_job(struct call *call, const struct job *job)
{
    struct scheduled_event e;
    enum err err = scheduled_event_find_by_id(call->tx, job->key, &e);

    if (err == ERR_UNKNOWN_SCHEDULED_EVENT)
        return scheduled_event_delete_subscribers(call, job->key);
    if (err)
        return err;
    if (clock_us() < next_job_time_of_event(&e) && e.status != EVENT_ACTIVE)
        return scheduled_event_schedule_status_job(call, &e);
    if (!scheduled_event_is_scheduled_or_active(&e))
        return scheduled_event_delete(call, &e);
    if (e.status == EVENT_ACTIVE && e.entity_type != EVENT_EXTERNAL)
        return end_scheduled_event_if_channel_is_empty(call, &e);
    if (e.status == EVENT_ACTIVE && clock_us() < e.scheduled_end_time.value)
        return scheduled_event_schedule_status_job(call, &e);
    if (e.status == EVENT_SCHEDULED && e.entity_type == EVENT_EXTERNAL)
        return scheduled_event_set_status(call, &e, EVENT_ACTIVE);
    return scheduled_event_set_status(
        call, &e, e.status == EVENT_ACTIVE || e.recurrence_rule ? EVENT_COMPLETED : EVENT_CANCELED);
}

const struct job_kind scheduled_event_job = {
    .name = "scheduled-event",
    .doc = "Starts and ends scheduled events at their times.",
    .run = run_scheduled_event_job,
};

/* --- channels ------------------------------------------------------------------------- */

enum err scheduled_events_cancel_of_channel(struct call *call, const struct channel *c)
{
    struct list events = { 0 };
    enum err e = c->type == CHANNEL_VOICE || c->type == CHANNEL_STAGE
                     ? scheduled_events_read_of_channel(call->tx, c->id, &events)
                     : OK;

    for (size_t i = 0; !e && i < events.count; i++)
        e = scheduled_event_set_status(call, &((struct scheduled_event *)events.items)[i],
                                       EVENT_CANCELED);
    return e;
}
