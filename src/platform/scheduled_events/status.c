/* status.c - status changes of an event: scheduled, active, completed or cancelled, recurrence. */
#include "platform/scheduled_events/internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"

#define MINUTE_US    (INT64_C(60) * 1000000)
#define LONGEST_LATE (6 * 60 * MINUTE_US) /* maximum delay of the start; then the event ends */
#define EMPTY_FOR    (3 * MINUTE_US)      /* an event ends if its channel is empty so long */
#define KEPT_FOR     (30 * 24 * 60 * MINUTE_US)

struct subject event_subject(const struct scheduled_event *e)
{
    return e->channel_id.given == GIVEN ? to_viewers(e->guild_id, e->channel_id.value)
                                        : to_guild(e->guild_id);
}

void event_announce(struct call *call, enum event what, const struct scheduled_event *e)
{
    struct scheduled_event shown = *e;

    shown.creator = NULL;
    shown.user_count.given = ABSENT;
    shown.auto_start = given_mark(e->entity_type == EVENT_ELSEWHERE);
    call_emit(call, what, event_subject(e), &scheduled_event_schema, &shown);
}

/* --- due times ------------------------------------------------------------------------ */

static int64_t event_due(const struct scheduled_event *e)
{
    bool elsewhere = e->entity_type == EVENT_ELSEWHERE;

    switch (e->status) {
    case EVENT_SCHEDULED:
        return e->scheduled_start_time + (elsewhere ? 0 : LONGEST_LATE);
    case EVENT_ACTIVE:
        return elsewhere ? e->scheduled_end_time.value : clock_us() + MINUTE_US;
    default:
        return e->ended_at + KEPT_FOR;
    }
}

enum err event_watch(struct call *call, const struct scheduled_event *e)
{
    return job_schedule(call, &scheduled_event_job, e->id, event_due(e), STR(""));
}

static enum err event_write(struct call *call, const struct scheduled_event *e)
{
    enum err err = scheduled_event_update(call->tx, e);

    if (!err)
        event_announce(call, EVENT_GUILD_SCHEDULED_EVENT_UPDATE, e);
    return err;
}

/* --- recurrence ----------------------------------------------------------------------- */

static const struct event_exception *exception_at(const struct scheduled_event *e, int64_t start)
{
    const struct event_exception *x = e->guild_scheduled_event_exceptions.items;

    for (size_t i = 0; i < e->guild_scheduled_event_exceptions.count; i++)
        if (x[i].event_exception_id == snowflake_at(start / 1000))
            return &x[i];
    return NULL;
}

/* Moves to the next occurrence that is not cancelled; an exception may change its times. */
static void event_advance(struct scheduled_event *e)
{
    int64_t lasts = e->scheduled_end_time.given == GIVEN
                        ? e->scheduled_end_time.value - e->scheduled_start_time
                        : 0;
    int64_t now = clock_us();
    int64_t start = e->scheduled_start_time > now ? e->scheduled_start_time : now;
    const struct event_exception *x;

    do {
        start = recurrence_next(e->recurrence_rule, start);
        x = exception_at(e, start);
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

static enum err event_begin(struct call *call, struct scheduled_event *e)
{
    struct event_stage stage = { .event = e };
    enum err err = e->entity_type == EVENT_IN_STAGE ? hook_event_began(call, &stage) : OK;

    if (err)
        return err;
    if (stage.stage_id)
        e->entity_id = given_id(stage.stage_id);
    e->status = EVENT_ACTIVE;
    e->empty_since = 0;
    return event_write(call, e);
}

static enum err event_end(struct call *call, struct scheduled_event *e, int64_t status)
{
    bool again = e->recurrence_rule && status == EVENT_COMPLETED;
    struct event_stage stage = { .event = e };
    enum err err = e->entity_type == EVENT_IN_STAGE && e->status == EVENT_ACTIVE
                       ? hook_event_ended(call, &stage)
                       : OK;

    e->entity_id = given_id(0);
    e->status = status;
    e->ended_at = clock_us();
    if (!err)
        err = event_write(call, e);
    if (err || !again)
        return err;
    e->status = EVENT_SCHEDULED;
    e->ended_at = 0;
    event_advance(e);
    return event_write(call, e);
}

enum err event_go(struct call *call, struct scheduled_event *e, int64_t status)
{
    enum err err = status == EVENT_ACTIVE ? event_begin(call, e) : event_end(call, e, status);

    return err ? err : event_watch(call, e);
}

/* --- the job -------------------------------------------------------------------------- */

static enum err channel_is_empty(struct call *call, snowflake channel_id, bool *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select 1 from voice_states where channel_id = $1 limit 1",
                        BIND(v_id(channel_id)), &row, &found);

    *ret = !found;
    return e;
}

static enum err look_at_channel(struct call *call, struct scheduled_event *e)
{
    bool empty;
    enum err err = channel_is_empty(call, e->channel_id.value, &empty);

    if (err)
        return err;
    if (empty && e->empty_since && clock_us() >= e->empty_since + EMPTY_FOR)
        return event_go(call, e, EVENT_COMPLETED);
    e->empty_since = !empty ? 0 : e->empty_since ? e->empty_since : clock_us();
    err = scheduled_event_update(call->tx, e);
    return err ? err : event_watch(call, e);
}

static enum err event_run(struct call *call, const struct job *job)
{
    struct scheduled_event e;
    enum err err = scheduled_event_by_id(call->tx, job->key, &e);

    if (err == ERR_UNKNOWN_SCHEDULED_EVENT)
        return event_forget_users(call, job->key);
    if (err)
        return err;
    if (clock_us() < event_due(&e) && e.status != EVENT_ACTIVE)
        return event_watch(call, &e);
    if (!event_is_open(&e))
        return scheduled_event_delete(call, &e);
    if (e.status == EVENT_ACTIVE && e.entity_type != EVENT_ELSEWHERE)
        return look_at_channel(call, &e);
    if (e.status == EVENT_ACTIVE && clock_us() < e.scheduled_end_time.value)
        return event_watch(call, &e);
    if (e.status == EVENT_SCHEDULED && e.entity_type == EVENT_ELSEWHERE)
        return event_go(call, &e, EVENT_ACTIVE);
    return event_go(
        call, &e, e.status == EVENT_ACTIVE || e.recurrence_rule ? EVENT_COMPLETED : EVENT_CANCELED);
}

const struct job_kind scheduled_event_job = {
    .name = "scheduled-event",
    .doc = "Starts and ends scheduled events at their times.",
    .run = event_run,
};

/* --- channels ------------------------------------------------------------------------- */

enum err events_leave_channel(struct call *call, const struct channel *c)
{
    struct list events = { 0 };
    enum err e = c->type == CHANNEL_VOICE || c->type == CHANNEL_STAGE
                     ? scheduled_events_of_channel(call->tx, c->id, &events)
                     : OK;

    for (size_t i = 0; !e && i < events.count; i++)
        e = event_go(call, &((struct scheduled_event *)events.items)[i], EVENT_CANCELED);
    return e;
}
