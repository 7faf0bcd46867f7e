/* exceptions.c - exceptions: changed or cancelled occurrences of a recurring event. */
#include "platform/guilds/guilds.h"
#include "platform/scheduled_events/internal.h"

enum { MOST_EXCEPTIONS = 100 };

static enum err exception_audit(struct call *call, const struct scheduled_event *e,
                                enum audit_action action, snowflake id)
{
    struct audit_options options = { .event_exception_id = given_id(id) };

    return audit_with(call, e->guild_id, action, e->id, &options, (struct list){ 0 });
}

static void exception_announce(struct call *call, enum event what, const struct scheduled_event *e,
                               const struct event_exception *x)
{
    struct event_exception told = *x;

    told.guild_id = given_id(e->guild_id);
    call_emit(call, what, event_subject(e), &event_exception_schema, &told);
}

/* Reads the event of the path, which the caller may change and which must not have ended. */
static enum err exception_event(struct call *call, struct scheduled_event *ret)
{
    enum err e = path_event(call, ret);

    if (!e)
        e = event_may_change(call, ret);
    return e || event_is_open(ret) ? e : ERR_EVENT_FINISHED;
}

static struct event_exception *exception_find(const struct scheduled_event *e, snowflake id)
{
    struct event_exception *x = e->guild_scheduled_event_exceptions.items;

    for (size_t i = 0; i < e->guild_scheduled_event_exceptions.count; i++)
        if (x[i].event_exception_id == id)
            return &x[i];
    return NULL;
}

static void exception_apply(struct event_exception *x, const struct exception_patch *in)
{
    x->scheduled_start_time = in->scheduled_start_time;
    x->scheduled_end_time = in->scheduled_end_time;
    x->is_canceled = in->is_canceled.given == GIVEN && in->is_canceled.value;
}

/* Saves the exception and its audit entry, and emits EXCEPTION_CREATE, also for a modification. */
static enum err exception_keep(struct call *call, struct scheduled_event *event,
                               const struct event_exception *x, enum audit_action action)
{
    enum err e = scheduled_event_update(call->tx, event);

    if (!e)
        e = exception_audit(call, event, action, x->event_exception_id);
    if (e)
        return e;
    exception_announce(call, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE, event, x);
    return call_reply(call, x);
}

/* POST …/{event.id}/exceptions */
enum err create_event_exception(struct call *call)
{
    const struct exception_patch *in = call->body;
    snowflake id = snowflake_at(in->original_scheduled_start_time / 1000);
    struct scheduled_event event;
    enum err e = exception_event(call, &event);

    if (e)
        return e;
    if (!event.recurrence_rule)
        return call_invalid(call, "original_scheduled_start_time", FORM_CHOICES,
                            "The event is not recurring.");
    if (!event_has_time(&event, id))
        return call_invalid(call, "original_scheduled_start_time", FORM_CHOICES,
                            "Value must be a time at which the event starts, within a year.");
    if (in->is_canceled.given != GIVEN && in->scheduled_start_time.given != GIVEN &&
        in->scheduled_end_time.given != GIVEN)
        return ERR_EVENT_EXCEPTION_EMPTY;
    struct event_exception *x = exception_find(&event, id);
    if (!x && event.guild_scheduled_event_exceptions.count >= MOST_EXCEPTIONS)
        return call_invalid(call, "original_scheduled_start_time", FORM_CHOICES,
                            "An event can have at most 100 exceptions. Delete a past one.");
    if (!x)
        x = list_add(call->arena, &event.guild_scheduled_event_exceptions, sizeof *x);
    *x = (struct event_exception){ .event_id = event.id, .event_exception_id = id };
    exception_apply(x, in);
    return exception_keep(call, &event, x, AUDIT_EVENT_EXCEPTION_CREATE);
}

/* PATCH …/{event.id}/exceptions/{exception.id} */
enum err modify_event_exception(struct call *call)
{
    struct scheduled_event event;
    enum err e = exception_event(call, &event);
    struct event_exception *x = e ? NULL : exception_find(&event, call_id(call, "exception.id"));

    if (e || !x)
        return e ? e : ERR_UNKNOWN_SCHEDULED_EVENT;
    exception_apply(x, call->body);
    return exception_keep(call, &event, x, AUDIT_EVENT_EXCEPTION_UPDATE);
}

/* DELETE …/{event.id}/exceptions/{exception.id} */
enum err delete_event_exception(struct call *call)
{
    struct scheduled_event event;
    snowflake id = call_id(call, "exception.id");
    enum err e = exception_event(call, &event);
    struct event_exception *x = e ? NULL : exception_find(&event, id);

    if (e || !x)
        return e ? e : ERR_UNKNOWN_SCHEDULED_EVENT;
    struct event_exception gone = *x, *all = event.guild_scheduled_event_exceptions.items;
    *x = all[--event.guild_scheduled_event_exceptions.count];
    e = scheduled_event_update(call->tx, &event);
    if (!e)
        e = exception_audit(call, &event, AUDIT_EVENT_EXCEPTION_DELETE, id);
    if (!e)
        exception_announce(call, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE, &event, &gone);
    return e;
}
