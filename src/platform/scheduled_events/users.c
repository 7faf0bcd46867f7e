/* users.c - subscribers of an event or of one occurrence. */
#include "platform/scheduled_events/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

/* --- lists ---------------------------------------------------------------------------- */

static enum err person_load(struct call *call, struct event_person *p, bool with_member)
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

static bool show_all(const void *arg, struct str name)
{
    (void)arg;
    (void)name;
    return true;
}

/* Writes the older format (users with a nested guild_member), the default for user accounts. */
static void write_users(struct json *j, const struct list *people)
{
    const struct event_person *p = people->items;

    json_object(j);
    json_name(j, "users");
    json_array(j);
    for (size_t i = 0; i < people->count; i++) {
        if (!p[i].user)
            continue;
        json_object(j);
        schema_encode_some(j, type_partial_user.schema, p[i].user, show_all, NULL);
        if (p[i].member) {
            json_name(j, "guild_member");
            schema_encode_object(j, &member_schema, p[i].member);
        }
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static enum err reply_people(struct call *call, snowflake event_id, snowflake exception_id)
{
    const struct event_users_query *q = call->query;
    struct list people;
    struct json j;
    enum err e = event_users(call->tx, event_id, exception_id, q, &people);

    for (size_t i = 0; !e && i < people.count; i++)
        e = person_load(call, &((struct event_person *)people.items)[i], q->with_member);
    if (e)
        return e;
    if (call->caller->kind == CALLER_BOT || q->upgrade_response_type)
        return call_reply_as(call, &event_people_reply, &people);
    j = call_reply_json(call);
    write_users(&j, &people);
    return OK;
}

/* GET …/{event.id}/users */
enum err list_scheduled_event_users(struct call *call)
{
    struct scheduled_event event;
    enum err e = path_event(call, &event);

    return e ? e : reply_people(call, event.id, 0);
}

/* GET …/{event.id}/{exception.id}/users */
enum err list_exception_users(struct call *call)
{
    struct scheduled_event event;
    enum err e = path_event(call, &event);

    return e ? e : reply_people(call, event.id, call_id(call, "exception.id"));
}

/* GET …/{event.id}/users/counts */
enum err count_scheduled_event_users(struct call *call)
{
    const struct event_counts_query *q = call->query;
    const snowflake *ids = q->guild_scheduled_event_exception_ids.items;
    struct scheduled_event event;
    struct event_counts counts = { 0 };
    enum err e = path_event(call, &event);

    counts.guild_scheduled_event_count = event.users;
    for (size_t i = 0; !e && i < q->guild_scheduled_event_exception_ids.count; i++) {
        struct event_count *c =
            list_add(call->arena, &counts.guild_scheduled_event_exception_counts, sizeof *c);

        c->key = str_printf(call->arena, "%llu", (unsigned long long)ids[i]);
        e = event_count_users(call->tx, event.id, ids[i], &c->value);
    }
    return e ? e : call_reply(call, &counts);
}

/* --- subscribing ---------------------------------------------------------------------- */

static void user_announce(struct call *call, enum event what, const struct scheduled_event *e,
                          snowflake exception_id, snowflake user_id, int64_t response)
{
    struct scheduled_event_user told = { .guild_scheduled_event_id = e->id,
                                         .user_id = user_id,
                                         .guild_id = e->guild_id,
                                         .response = response };

    if (exception_id)
        told.guild_scheduled_event_exception_id = given_id(exception_id);
    call_emit(call, what, event_subject(e), &scheduled_event_user_schema, &told);
}

enum err event_user_join(struct call *call, struct scheduled_event *e, snowflake user_id)
{
    bool changed = false;
    enum err err = event_user_put(call->tx, e->id, 0, user_id, 1, &changed);

    if (!err && changed) {
        e->users++;
        user_announce(call, EVENT_GUILD_SCHEDULED_EVENT_USER_ADD, e, 0, user_id, 1);
    }
    return err;
}

static enum err open_event(struct call *call, struct scheduled_event *ret)
{
    enum err e = path_event(call, ret);

    return e || event_is_open(ret) ? e : ERR_EVENT_FINISHED;
}

static enum err reply_person(struct call *call, const struct scheduled_event *e,
                             snowflake exception_id, int64_t response)
{
    struct event_person me = { .guild_scheduled_event_id = e->id,
                               .user_id = call->caller->id,
                               .response = response };

    if (exception_id)
        me.guild_scheduled_event_exception_id = given_id(exception_id);
    return call_reply(call, &me);
}

/* PUT …/{event.id}/users/@me */
enum err join_scheduled_event(struct call *call)
{
    struct scheduled_event event;
    enum err e = open_event(call, &event);

    if (!e)
        e = event_user_join(call, &event, call->caller->id);
    return e ? e : reply_person(call, &event, 0, 1);
}

static enum err leave_time(struct call *call, snowflake exception_id)
{
    struct scheduled_event event;
    bool found = false;
    enum err e = open_event(call, &event);

    if (!e)
        e = event_user_remove(call->tx, event.id, exception_id, call->caller->id, &found);
    if (!e && !found)
        e = ERR_UNKNOWN_EVENT_USER;
    if (!e)
        user_announce(call, EVENT_GUILD_SCHEDULED_EVENT_USER_REMOVE, &event, exception_id,
                      call->caller->id, 1);
    return e;
}

/* DELETE …/{event.id}/users/@me */
enum err leave_scheduled_event(struct call *call)
{
    return leave_time(call, 0);
}

/* PUT …/{event.id}/{exception.id}/users/@me */
enum err answer_event_exception(struct call *call)
{
    const struct event_response *in = call->body;
    int64_t response = in->response.given == GIVEN ? in->response.value : 1;
    snowflake exception_id = call_id(call, "exception.id");
    struct scheduled_event event;
    bool changed = false;
    enum err e = open_event(call, &event);

    if (!e && !event_has_time(&event, exception_id))
        e = ERR_UNKNOWN_SCHEDULED_EVENT;
    if (!e)
        e = event_user_put(call->tx, event.id, exception_id, call->caller->id, response, &changed);
    if (!e && changed)
        user_announce(call, EVENT_GUILD_SCHEDULED_EVENT_USER_ADD, &event, exception_id,
                      call->caller->id, response);
    return e ? e : reply_person(call, &event, exception_id, response);
}

/* DELETE …/{event.id}/{exception.id}/users/@me */
enum err forget_event_exception_answer(struct call *call)
{
    return leave_time(call, call_id(call, "exception.id"));
}
