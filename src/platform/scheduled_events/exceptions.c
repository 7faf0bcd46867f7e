/* exceptions.c - exceptions of a recurring scheduled event: occurrences that were changed or
 * cancelled. */
#include "platform/guilds/guilds.h"
#include "platform/scheduled_events/internal.h"

enum { MOST_EXCEPTIONS = 100 };

static enum err record_event_exception_in_audit_log(struct call *call,
                                                    const struct scheduled_event *e,
                                                    enum audit_log_action action, snowflake id)
{
    struct audit_log_options options = { .event_exception_id = opt_id_or_null(id) };

    return audit_log_record_changes(call, e->guild_id, action, e->id, &options, (struct list){ 0 });
}

static void emit_scheduled_event_exception(struct call *call, enum event what,
                                           const struct scheduled_event *e,
                                           const struct scheduled_event_exception *x)
{
    struct scheduled_event_exception emitted = *x;

    emitted.guild_id = opt_id_or_null(e->guild_id);
    call_emit_event(call, what, audience_of_scheduled_event(e), &event_exception_schema, &emitted);
}

/* Reads the scheduled event in the path. Returns an error if the caller may not change it or if it
 * has ended. */
static enum err read_scheduled_event_to_change(struct call *call, struct scheduled_event *ret)
{
    enum err e = read_scheduled_event_of_path(call, ret);

    if (!e)
        e = check_change_scheduled_event_permission(call, ret);
    return e || scheduled_event_is_scheduled_or_active(ret) ? e : ERR_EVENT_FINISHED;
}

static struct scheduled_event_exception *find_scheduled_event_exception(
    const struct scheduled_event *e, snowflake id)
{
    struct scheduled_event_exception *x = e->guild_scheduled_event_exceptions.items;

    for (size_t i = 0; i < e->guild_scheduled_event_exceptions.count; i++)
        if (x[i].event_exception_id == id)
            return &x[i];
    return NULL;
}

static void apply_exception_patch(struct scheduled_event_exception *x,
                                  const struct scheduled_event_exception_patch *in)
{
    x->scheduled_start_time = in->scheduled_start_time;
    x->scheduled_end_time = in->scheduled_end_time;
    x->is_canceled = in->is_canceled.given == GIVEN && in->is_canceled.value;
}

/* Saves the exception, writes the audit log entry and emits EXCEPTION_CREATE, even if the exception
 * already existed. */
static enum err save_scheduled_event_exception(struct call *call, struct scheduled_event *event,
                                               const struct scheduled_event_exception *x,
                                               enum audit_log_action action)
{
    enum err e = scheduled_event_update(call->tx, event);

    if (!e)
        e = record_event_exception_in_audit_log(call, event, action, x->event_exception_id);
    if (e)
        return e;
    emit_scheduled_event_exception(call, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE, event, x);
    return call_reply_with_object(call, x);
}

/* POST …/{event.id}/exceptions */
enum err create_event_exception(struct call *call)
{
    const struct scheduled_event_exception_patch *in = call->body;
    snowflake id = snowflake_from_ms(in->original_scheduled_start_time / 1000);
    struct scheduled_event event;
    enum err e = read_scheduled_event_to_change(call, &event);

    if (e)
        return e;
    if (!event.recurrence_rule)
        return call_add_field_error(call, "original_scheduled_start_time", FORM_CHOICES,
                                    "The event is not recurring.");
    if (!scheduled_event_has_occurrence(&event, id))
        return call_add_field_error(
            call, "original_scheduled_start_time", FORM_CHOICES,
            "Value must be a time at which the event starts, within a year.");
    if (in->is_canceled.given != GIVEN && in->scheduled_start_time.given != GIVEN &&
        in->scheduled_end_time.given != GIVEN)
        return ERR_EVENT_EXCEPTION_EMPTY;
    struct scheduled_event_exception *x = find_scheduled_event_exception(&event, id);
    if (!x && event.guild_scheduled_event_exceptions.count >= MOST_EXCEPTIONS)
        return call_add_field_error(call, "original_scheduled_start_time", FORM_CHOICES,
                                    "An event can have at most 100 exceptions. Delete a past one.");
    if (!x)
        x = list_append(call->arena, &event.guild_scheduled_event_exceptions, sizeof *x);
    *x = (struct scheduled_event_exception){ .event_id = event.id, .event_exception_id = id };
    apply_exception_patch(x, in);
    return save_scheduled_event_exception(call, &event, x, AUDIT_EVENT_EXCEPTION_CREATE);
}

/* PATCH …/{event.id}/exceptions/{exception.id} */
enum err modify_event_exception(struct call *call)
{
    struct scheduled_event event;
    enum err e = read_scheduled_event_to_change(call, &event);
    struct scheduled_event_exception *x =
        e ? NULL : find_scheduled_event_exception(&event, call_get_path_id(call, "exception.id"));

    if (e || !x)
        return e ? e : ERR_UNKNOWN_SCHEDULED_EVENT;
    apply_exception_patch(x, call->body);
    return save_scheduled_event_exception(call, &event, x, AUDIT_EVENT_EXCEPTION_UPDATE);
}

/* DELETE …/{event.id}/exceptions/{exception.id} */
enum err delete_event_exception(struct call *call)
{
    struct scheduled_event event;
    snowflake id = call_get_path_id(call, "exception.id");
    enum err e = read_scheduled_event_to_change(call, &event);
    struct scheduled_event_exception *x = e ? NULL : find_scheduled_event_exception(&event, id);

    if (e || !x)
        return e ? e : ERR_UNKNOWN_SCHEDULED_EVENT;
    struct scheduled_event_exception gone = *x, *all = event.guild_scheduled_event_exceptions.items;
    *x = all[--event.guild_scheduled_event_exceptions.count];
    e = scheduled_event_update(call->tx, &event);
    if (!e)
        e = record_event_exception_in_audit_log(call, &event, AUDIT_EVENT_EXCEPTION_DELETE, id);
    if (!e)
        emit_scheduled_event_exception(call, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE, &event,
                                       &gone);
    return e;
}
