/* audit.c - audit log entries of scheduled events. */
#include "platform/scheduled_events/internal.h"

#include "model/fields/ids.h"
#include "model/fields/types.h"
#include "platform/guilds/guilds.h"

struct event_audit_state {
    struct call *call;
    const struct scheduled_event *before,
        *now;            /* state before and after the change; NULL if there is none */
    struct list changes; /* struct audit_log_change */
};

static void add_event_field_to_audit_entry(struct event_audit_state *n, const char *key,
                                           const struct type *type, size_t offset)
{
    audit_log_add_typed_change_to_list(n->call, &n->changes, key, type,
                                       n->before ? (const char *)n->before + offset : NULL,
                                       n->now ? (const char *)n->now + offset : NULL);
}

#define ADD_FIELD(n, member_, type_)                        \
    add_event_field_to_audit_entry((n), #member_, &(type_), \
                                   offsetof(struct scheduled_event, member_))
/* Pointer to the value of an optional field; NULL if the field is absent. */
#define GIVEN_VALUE(event_, member_) \
    ((event_) && (event_)->member_.given == GIVEN ? &(event_)->member_.value : NULL)
#define ADD_OPTIONAL_FIELD(n, key_, member_, type_)                                \
    audit_log_add_typed_change_to_list((n)->call, &(n)->changes, (key_), &(type_), \
                                       GIVEN_VALUE((n)->before, member_),          \
                                       GIVEN_VALUE((n)->now, member_))

static const struct str *location_of_scheduled_event(const struct scheduled_event *e)
{
    const struct scheduled_event_metadata *m = e ? e->entity_metadata : NULL;

    return m && m->location.given == GIVEN ? &m->location.value : NULL;
}

enum err audit_log_record_scheduled_event(struct call *call, enum audit_log_action action,
                                          const struct scheduled_event *before,
                                          const struct scheduled_event *now)
{
    const struct scheduled_event *any = now ? now : before;
    struct event_audit_state n = { call, before, now, { 0 } };

    ADD_FIELD(&n, name, type_text);
    ADD_OPTIONAL_FIELD(&n, "description", description, type_text);
    ADD_OPTIONAL_FIELD(&n, "channel_id", channel_id, type_id);
    ADD_FIELD(&n, privacy_level, type_int);
    ADD_FIELD(&n, status, type_int);
    ADD_FIELD(&n, entity_type, type_int);
    ADD_FIELD(&n, scheduled_start_time, type_time);
    ADD_OPTIONAL_FIELD(&n, "scheduled_end_time", scheduled_end_time, type_time);
    ADD_OPTIONAL_FIELD(&n, "image_hash", image, type_text);
    audit_log_add_typed_change_to_list(call, &n.changes, "location", &type_text,
                                       location_of_scheduled_event(before),
                                       location_of_scheduled_event(now));
    return audit_log_record_changes(call, any->guild_id, action, any->id, NULL, n.changes);
}

static enum err add_events_to_audit_log(struct call *call, struct audit_log_objects *log,
                                        const struct list *ids)
{
    const snowflake *id = ids->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids->count; i++) {
        struct scheduled_event event;

        e = scheduled_event_find(call->tx, log->guild_id, id[i], &event);
        if (!e)
            audit_log_append_object(call->arena, &log->guild_scheduled_events,
                                    &type_scheduled_event, &event);
        else if (e == ERR_UNKNOWN_SCHEDULED_EVENT)
            e = OK;
    }
    return e;
}

enum err audit_log_reply_add_scheduled_events(struct call *call, struct audit_log_objects *log)
{
    struct list ids = audit_log_list_target_ids_of_actions(call->arena, log, AUDIT_EVENT_CREATE,
                                                           AUDIT_EVENT_DELETE);
    struct list others = audit_log_list_target_ids_of_actions(
        call->arena, log, AUDIT_EVENT_EXCEPTION_CREATE, AUDIT_EVENT_EXCEPTION_DELETE);
    const snowflake *other = others.items;

    for (size_t i = 0; i < others.count; i++)
        if (!id_list_contains(&ids, other[i]))
            id_list_add(call->arena, &ids, other[i]);
    return add_events_to_audit_log(call, log, &ids);
}
