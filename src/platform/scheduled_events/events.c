/* events.c - routes that list, get, create, modify and delete scheduled events. */
#include "platform/guilds/guilds.h"
#include "platform/scheduled_events/internal.h"

/* --- applying request bodies ---------------------------------------------------------- */

/* The image of a scheduled event, which an earlier stage has stored. */
struct event_upload {
    snowflake id;
    struct opt_str image;
};

static enum err store_image_of_scheduled_event(struct call *call)
{
    const struct scheduled_event_patch *in = call->body;
    struct event_upload *upload = call_get_stage_data(call, "event_upload");

    return store_uploaded_picture(call, "guild-events", upload->id, &in->image, &upload->image);
}

static enum err schedule_storing_event_image(struct call *call, snowflake id)
{
    const struct scheduled_event_patch *in = call->body;
    struct event_upload *upload = call_store_stage_data(call, "event_upload", sizeof *upload);

    *upload = (struct event_upload){ .id = id, .image.given = in->image.given };
    if (in->image.given == GIVEN) {
        call->read = call_read_nothing_but_path_objects;
        call->compute = store_image_of_scheduled_event;
    }
    return OK;
}

enum err schedule_storing_new_event_image(struct call *call)
{
    return schedule_storing_event_image(call, snowflake_new());
}

enum err schedule_storing_changed_event_image(struct call *call)
{
    return schedule_storing_event_image(call, call_get_path_id(call, "event.id"));
}

static void apply_location_of_scheduled_event(struct scheduled_event *e,
                                              const struct scheduled_event_patch *in)
{
    if (in->entity_type.given == GIVEN)
        e->entity_type = in->entity_type.value;
    if (in->channel_id.given != ABSENT)
        e->channel_id = in->channel_id;
    if (in->entity_metadata.given != ABSENT)
        e->entity_metadata = in->entity_metadata.value;
}

static void apply_scheduled_event_patch(struct call *call, struct scheduled_event *e)
{
    const struct scheduled_event_patch *in = call->body;
    const struct event_upload *upload = call_get_stage_data(call, "event_upload");

    if (in->name.given == GIVEN)
        e->name = in->name.value;
    if (in->description.given != ABSENT)
        e->description =
            opt_str_or_null(in->description.value.n ? in->description.value : (struct str){ 0 });
    if (upload->image.given != ABSENT)
        e->image = upload->image;
    if (in->scheduled_start_time.given == GIVEN)
        e->scheduled_start_time = in->scheduled_start_time.value;
    if (in->scheduled_end_time.given != ABSENT)
        e->scheduled_end_time = in->scheduled_end_time;
    if (in->recurrence_rule.given != ABSENT)
        e->recurrence_rule = in->recurrence_rule.value;
    apply_location_of_scheduled_event(e, in);
}

static enum err reply_with_scheduled_event(struct call *call, struct scheduled_event *e, bool count)
{
    enum err err = scheduled_event_read_creator(call->tx, e);

    if (count)
        e->user_count = opt_int_present(e->users);
    return err ? err : call_reply_with_object(call, e);
}

static enum err check_scheduled_event(struct call *call, const struct scheduled_event *e)
{
    scheduled_event_validate(&call->form, e);
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY
                                        : scheduled_event_check_channel(call, e);
}

/* --- handlers ------------------------------------------------------------------------- */

enum err read_scheduled_event_of_path(struct call *call, struct scheduled_event *ret)
{
    enum err e = scheduled_event_find(call->tx, call->target.guild->id,
                                      call_get_path_id(call, "event.id"), ret);

    return e ? e : check_view_scheduled_event_permission(call, ret);
}

/* GET /guilds/{guild.id}/scheduled-events */
enum err list_scheduled_events(struct call *call)
{
    const struct scheduled_event_query *q = call->query;
    struct list all, shown = { 0 };
    enum err e = scheduled_events_read(call->tx, call->target.guild->id, true, &all);
    struct scheduled_event *event = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        e = check_view_scheduled_event_permission(call, &event[i]);
        if (e == ERR_UNKNOWN_SCHEDULED_EVENT) {
            e = OK;
            continue;
        }
        if (!e)
            e = scheduled_event_read_creator(call->tx, &event[i]);
        if (q->with_user_count)
            event[i].user_count = opt_int_present(event[i].users);
        *(struct scheduled_event *)list_append(call->arena, &shown, sizeof *event) = event[i];
    }
    return e ? e : call_reply_with_object(call, &shown);
}

/* GET /guilds/{guild.id}/scheduled-events/{event.id} */
enum err get_scheduled_event(struct call *call)
{
    const struct scheduled_event_query *q = call->query;
    struct scheduled_event event;
    enum err e = read_scheduled_event_of_path(call, &event);

    return e ? e : reply_with_scheduled_event(call, &event, q->with_user_count);
}

static enum err check_scheduled_event_limit(struct call *call)
{
    int64_t open = 0;
    enum err e = count_open_scheduled_events(call->tx, call->target.guild->id, &open);

    return e || open < MOST_OPEN_EVENTS ? e : ERR_MAX_SCHEDULED_EVENTS;
}

/* POST /guilds/{guild.id}/scheduled-events */
enum err create_scheduled_event(struct call *call)
{
    const struct event_upload *upload = call_get_stage_data(call, "event_upload");
    struct scheduled_event event = { .id = upload->id,
                                     .guild_id = call->target.guild->id,
                                     .creator_id = opt_id_or_null(call->caller->id),
                                     .status = EVENT_SCHEDULED,
                                     .privacy_level = 2 };

    apply_scheduled_event_patch(call, &event);
    enum err e = check_scheduled_event(call, &event);
    if (!e)
        e = require_scheduled_event_permission(call, &event, PERMISSION(CREATE_EVENTS));
    if (!e)
        e = check_scheduled_event_limit(call);
    if (!e)
        e = scheduled_event_insert(call->tx, &event);
    if (!e)
        e = audit_log_record_scheduled_event(call, AUDIT_EVENT_CREATE, NULL, &event);
    if (!e)
        e = scheduled_event_schedule_status_job(call, &event);
    if (e)
        return e;
    emit_event_about_scheduled_event(call, EVENT_GUILD_SCHEDULED_EVENT_CREATE, &event);
    e = scheduled_event_subscribe_user(call, &event, call->caller->id);
    return e ? e : reply_with_scheduled_event(call, &event, false);
}

static bool status_change_is_allowed(int64_t from, int64_t to)
{
    return (from == EVENT_SCHEDULED && (to == EVENT_ACTIVE || to == EVENT_CANCELED)) ||
           (from == EVENT_ACTIVE && to == EVENT_COMPLETED);
}

/* Deletes the exceptions of a scheduled event whose recurrence rule has changed, because they refer
 * to dates of the old rule. */
static void delete_scheduled_event_exceptions(struct call *call, struct scheduled_event *e)
{
    struct scheduled_event_exceptions_deleted gone = { e->guild_id, e->id };
    bool had = e->guild_scheduled_event_exceptions.count;

    e->guild_scheduled_event_exceptions = (struct list){ 0 };
    if (had)
        call_emit_event(call, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE,
                        audience_of_scheduled_event(e), &event_exceptions_gone_schema, &gone);
}

static enum err save_scheduled_event_change(struct call *call, const struct scheduled_event *before,
                                            struct scheduled_event *now)
{
    const struct scheduled_event_patch *in = call->body;
    const struct event_upload *upload = call_get_stage_data(call, "event_upload");
    bool moves = in->status.given == GIVEN && in->status.value != before->status;
    struct scheduled_event noted = *now;
    enum err e = OK;

    if (moves)
        noted.status = in->status.value;

    if (upload->image.given != ABSENT)
        e = delete_previous_picture(call, "guild-events", now->id, &before->image, &upload->image);
    if (in->recurrence_rule.given != ABSENT)
        delete_scheduled_event_exceptions(call, now);
    if (!e)
        e = audit_log_record_scheduled_event(call, AUDIT_EVENT_UPDATE, before, &noted);
    if (!e && moves)
        return scheduled_event_set_status(call, now, in->status.value);
    if (!e)
        e = scheduled_event_update(call->tx, now);
    if (!e)
        emit_event_about_scheduled_event(call, EVENT_GUILD_SCHEDULED_EVENT_UPDATE, now);
    return e ? e : scheduled_event_schedule_status_job(call, now);
}

/* PATCH /guilds/{guild.id}/scheduled-events/{event.id} */
enum err modify_scheduled_event(struct call *call)
{
    const struct scheduled_event_patch *in = call->body;
    struct scheduled_event before, now;
    enum err e = read_scheduled_event_of_path(call, &before);

    if (!e)
        e = check_change_scheduled_event_permission(call, &before);
    if (e || !scheduled_event_is_scheduled_or_active(&before))
        return e ? e : ERR_EVENT_FINISHED;
    if (in->status.given == GIVEN && in->status.value != before.status &&
        !status_change_is_allowed(before.status, in->status.value))
        return call_add_field_error(call, "status", FORM_CHOICES,
                                    "The event cannot change to this status.");
    now = before;
    apply_scheduled_event_patch(call, &now);
    if (now.entity_type != EVENT_EXTERNAL && in->entity_metadata.given == ABSENT)
        now.entity_metadata = NULL;
    /* An unchanged start time may be in the past. So check the start time only if the body sets
     * it. */
    struct scheduled_event checked = now;
    if (in->scheduled_start_time.given != GIVEN)
        checked.status = EVENT_ACTIVE;
    e = check_scheduled_event(call, &checked);
    if (!e)
        e = check_change_scheduled_event_permission(call, &now);
    if (!e)
        e = save_scheduled_event_change(call, &before, &now);
    return e ? e : reply_with_scheduled_event(call, &now, false);
}

/* DELETE /guilds/{guild.id}/scheduled-events/{event.id} */
enum err delete_scheduled_event(struct call *call)
{
    struct scheduled_event event;
    enum err e = read_scheduled_event_of_path(call, &event);

    if (!e)
        e = check_change_scheduled_event_permission(call, &event);
    if (!e)
        e = scheduled_event_delete(call, &event);
    if (!e)
        e = audit_log_record_scheduled_event(call, AUDIT_EVENT_DELETE, &event, NULL);
    if (!e)
        emit_event_about_scheduled_event(call, EVENT_GUILD_SCHEDULED_EVENT_DELETE, &event);
    return e;
}
