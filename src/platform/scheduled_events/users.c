/* users.c - users who have subscribed to a scheduled event or to one of its occurrences. */
#include "platform/scheduled_events/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

/* --- lists ---------------------------------------------------------------------------- */

static enum err read_subscriber_user(struct call *call, struct scheduled_event_subscriber *p,
                                     bool with_member)
{
    struct user *user = arena_alloc(call->arena, sizeof *user);
    struct member *member = arena_alloc(call->arena, sizeof *member);
    enum err e = user_find(call->tx, p->user_id, user);

    if (!e)
        p->user = user;
    if (e == ERR_UNKNOWN_USER || (!e && !with_member))
        return OK;
    if (!e)
        e = member_find(call->tx, call->target.guild->id, p->user_id, member);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    member->user = user;
    p->member = member;
    return OK;
}

static bool include_every_json_field(const void *arg, struct str name)
{
    (void)arg;
    (void)name;
    return true;
}

/* Writes the older reply format, in which each user has a nested guild_member. It is the default
 * for user accounts. */
static void write_subscribers_json(struct json_writer *j, const struct list *people)
{
    const struct scheduled_event_subscriber *p = people->items;

    json_begin_object(j);
    json_write_name(j, "users");
    json_begin_array(j);
    for (size_t i = 0; i < people->count; i++) {
        if (!p[i].user)
            continue;
        json_begin_object(j);
        schema_encode_fields(j, type_partial_user.schema, p[i].user, include_every_json_field,
                             NULL);
        if (p[i].member) {
            json_write_name(j, "guild_member");
            schema_encode_object(j, &member_schema, p[i].member);
        }
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static enum err reply_with_subscribers(struct call *call, snowflake event_id,
                                       snowflake exception_id)
{
    const struct scheduled_event_users_query *q = call->query;
    struct list people;
    struct json_writer j;
    enum err e = scheduled_event_subscribers_read(call->tx, event_id, exception_id, q, &people);

    for (size_t i = 0; !e && i < people.count; i++)
        e = read_subscriber_user(call, &((struct scheduled_event_subscriber *)people.items)[i],
                                 q->with_member);
    if (e)
        return e;
    if (call->caller->kind == CALLER_BOT || q->upgrade_response_type)
        return call_reply_with_object_of_type(call, &event_people_reply, &people);
    j = call_get_reply_json_writer(call);
    write_subscribers_json(&j, &people);
    return OK;
}

/* GET …/{event.id}/users */
enum err list_scheduled_event_users(struct call *call)
{
    struct scheduled_event event;
    enum err e = read_scheduled_event_of_path(call, &event);

    return e ? e : reply_with_subscribers(call, event.id, 0);
}

/* GET …/{event.id}/{exception.id}/users */
enum err list_exception_users(struct call *call)
{
    struct scheduled_event event;
    enum err e = read_scheduled_event_of_path(call, &event);

    return e ? e : reply_with_subscribers(call, event.id, call_get_path_id(call, "exception.id"));
}

/* GET …/{event.id}/users/counts */
enum err count_scheduled_event_users(struct call *call)
{
    const struct scheduled_event_counts_query *q = call->query;
    const snowflake *ids = q->guild_scheduled_event_exception_ids.items;
    struct scheduled_event event;
    struct scheduled_event_subscriber_counts counts = { 0 };
    enum err e = read_scheduled_event_of_path(call, &event);

    counts.guild_scheduled_event_count = event.users;
    for (size_t i = 0; !e && i < q->guild_scheduled_event_exception_ids.count; i++) {
        struct scheduled_event_exception_count *c =
            list_append(call->arena, &counts.guild_scheduled_event_exception_counts, sizeof *c);

        c->key = str_printf(call->arena, "%llu", (unsigned long long)ids[i]);
        e = scheduled_event_subscribers_count(call->tx, event.id, ids[i], &c->value);
    }
    return e ? e : call_reply_with_object(call, &counts);
}

/* --- subscribing ---------------------------------------------------------------------- */

static void emit_scheduled_event_subscriber_event(struct call *call, enum event what,
                                                  const struct scheduled_event *e,
                                                  snowflake exception_id, snowflake user_id,
                                                  int64_t response)
{
    struct scheduled_event_user emitted = { .guild_scheduled_event_id = e->id,
                                            .user_id = user_id,
                                            .guild_id = e->guild_id,
                                            .response = response };

    if (exception_id)
        emitted.guild_scheduled_event_exception_id = opt_id_or_null(exception_id);
    call_emit_event(call, what, audience_of_scheduled_event(e), &scheduled_event_user_schema,
                    &emitted);
}

enum err scheduled_event_subscribe_user(struct call *call, struct scheduled_event *e,
                                        snowflake user_id)
{
    bool changed = false;
    enum err err = scheduled_event_subscriber_save(call->tx, e->id, 0, user_id, 1, &changed);

    if (!err && changed) {
        e->users++;
        emit_scheduled_event_subscriber_event(call, EVENT_GUILD_SCHEDULED_EVENT_USER_ADD, e, 0,
                                              user_id, 1);
    }
    return err;
}

static enum err read_open_scheduled_event_of_path(struct call *call, struct scheduled_event *ret)
{
    enum err e = read_scheduled_event_of_path(call, ret);

    return e || scheduled_event_is_scheduled_or_active(ret) ? e : ERR_EVENT_FINISHED;
}

static enum err reply_with_subscription(struct call *call, const struct scheduled_event *e,
                                        snowflake exception_id, int64_t response)
{
    struct scheduled_event_subscriber me = { .guild_scheduled_event_id = e->id,
                                             .user_id = call->caller->id,
                                             .response = response };

    if (exception_id)
        me.guild_scheduled_event_exception_id = opt_id_or_null(exception_id);
    return call_reply_with_object(call, &me);
}

/* PUT …/{event.id}/users/@me */
enum err join_scheduled_event(struct call *call)
{
    struct scheduled_event event;
    enum err e = read_open_scheduled_event_of_path(call, &event);

    if (!e)
        e = scheduled_event_subscribe_user(call, &event, call->caller->id);
    return e ? e : reply_with_subscription(call, &event, 0, 1);
}

static enum err unsubscribe_from_occurrence(struct call *call, snowflake exception_id)
{
    struct scheduled_event event;
    bool found = false;
    enum err e = read_open_scheduled_event_of_path(call, &event);

    if (!e)
        e = scheduled_event_subscriber_delete(call->tx, event.id, exception_id, call->caller->id,
                                              &found);
    if (!e && !found)
        e = ERR_UNKNOWN_EVENT_USER;
    if (!e)
        emit_scheduled_event_subscriber_event(call, EVENT_GUILD_SCHEDULED_EVENT_USER_REMOVE, &event,
                                              exception_id, call->caller->id, 1);
    return e;
}

/* DELETE …/{event.id}/users/@me */
enum err leave_scheduled_event(struct call *call)
{
    return unsubscribe_from_occurrence(call, 0);
}

/* PUT …/{event.id}/{exception.id}/users/@me */
enum err respond_to_scheduled_event_exception(struct call *call)
{
    const struct scheduled_event_response_body *in = call->body;
    int64_t response = in->response.given == GIVEN ? in->response.value : 1;
    snowflake exception_id = call_get_path_id(call, "exception.id");
    struct scheduled_event event;
    bool changed = false;
    enum err e = read_open_scheduled_event_of_path(call, &event);

    if (!e && !scheduled_event_has_occurrence(&event, exception_id))
        e = ERR_UNKNOWN_SCHEDULED_EVENT;
    if (!e)
        e = scheduled_event_subscriber_save(call->tx, event.id, exception_id, call->caller->id,
                                            response, &changed);
    if (!e && changed)
        emit_scheduled_event_subscriber_event(call, EVENT_GUILD_SCHEDULED_EVENT_USER_ADD, &event,
                                              exception_id, call->caller->id, response);
    return e ? e : reply_with_subscription(call, &event, exception_id, response);
}

/* DELETE …/{event.id}/{exception.id}/users/@me */
enum err delete_scheduled_event_exception_response(struct call *call)
{
    return unsubscribe_from_occurrence(call, call_get_path_id(call, "exception.id"));
}
