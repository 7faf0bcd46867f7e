/* rows.c - SQL of scheduled events and their subscribers. */
#include "platform/scheduled_events/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"

#define EVENTS                                                                                \
    "select e.id, e.guild_id, e.channel_id, e.creator_id, e.name, e.description, e.image, "   \
    "e.start_at, e.end_at, e.status, e.entity_type, e.location, e.recurrence, e.exceptions, " \
    "e.users, e.empty_since, e.ended_at, (select s.id from stage_instances s where "          \
    "s.channel_id = e.channel_id and s.scheduled_event_id = e.id) from scheduled_events e "

static void scheduled_event_from_row(const struct rows *r, void *ret)
{
    struct scheduled_event *e = ret;
    struct arena *arena = tx_arena(r->tx);

    *e = (struct scheduled_event){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .channel_id = row_optional_id(r, 2),
        .creator_id = row_optional_id(r, 3),
        .name = row_text(r, 4),
        .description = row_optional_text(r, 5),
        .image = row_optional_text(r, 6),
        .scheduled_start_time = row_int(r, 7),
        .scheduled_end_time = row_optional_int(r, 8),
        .privacy_level = 2,
        .status = row_int(r, 9),
        .entity_type = row_int(r, 10),
        .users = row_int(r, 14),
        .empty_since = row_int(r, 15),
        .ended_at = row_int(r, 16),
        .entity_id = row_optional_id(r, 17),
    };
    if (!row_column_is_null(r, 11)) {
        e->entity_metadata = arena_alloc(arena, sizeof *e->entity_metadata);
        e->entity_metadata->location = row_optional_text(r, 11);
    }
    if (!row_column_is_null(r, 12))
        e->recurrence_rule =
            (void *)json_column_decode(arena, &type_event_recurrence, row_text(r, 12));
    if (!str_is(row_text(r, 13), "[]"))
        e->guild_scheduled_event_exceptions =
            json_column_decode_list(arena, &type_event_exceptions, row_text(r, 13));
}

static enum err read_scheduled_events_with_sql(struct tx *tx, struct sql sql,
                                               const struct value *values, size_t count,
                                               struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, sql, values, count, sizeof(struct scheduled_event),
                        scheduled_event_from_row, ret);
}

static enum err get_first_event_or_error(enum err e, const struct list *found,
                                         struct scheduled_event *ret)
{
    if (e || !found->count)
        return e ? e : ERR_UNKNOWN_SCHEDULED_EVENT;
    *ret = *(const struct scheduled_event *)found->items;
    return OK;
}

enum err scheduled_event_find(struct tx *tx, snowflake guild_id, snowflake id,
                              struct scheduled_event *ret)
{
    struct list found;
    enum err e =
        read_scheduled_events_with_sql(tx, SQL(EVENTS "where e.guild_id = $1 and e.id = $2"),
                                       BIND(v_id(guild_id), v_id(id)), &found);

    return get_first_event_or_error(e, &found, ret);
}

enum err scheduled_event_find_by_id(struct tx *tx, snowflake id, struct scheduled_event *ret)
{
    struct list found;
    enum err e =
        read_scheduled_events_with_sql(tx, SQL(EVENTS "where e.id = $1"), BIND(v_id(id)), &found);

    return get_first_event_or_error(e, &found, ret);
}

enum err scheduled_events_read(struct tx *tx, snowflake guild_id, bool open, struct list *ret)
{
    return open ? read_scheduled_events_with_sql(
                      tx, SQL(EVENTS "where e.guild_id = $1 and e.status <= 2 order by e.id"),
                      BIND(v_id(guild_id)), ret)
                : read_scheduled_events_with_sql(tx,
                                                 SQL(EVENTS "where e.guild_id = $1 order by e.id"),
                                                 BIND(v_id(guild_id)), ret);
}

enum err scheduled_events_read_of_channel(struct tx *tx, snowflake channel_id, struct list *ret)
{
    return read_scheduled_events_with_sql(
        tx, SQL(EVENTS "where e.channel_id = $1 and e.status <= 2 order by e.id"),
        BIND(v_id(channel_id)), ret);
}

enum err gateway_guild_add_scheduled_events(struct tx *tx, struct gateway_guild *ret)
{
    struct list all;
    enum err e = scheduled_events_read(tx, ret->guild.id, true, &all);
    struct scheduled_event *event = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        if (event[i].channel_id.given == GIVEN &&
            !channel_list_contains_id(&ret->channels, event[i].channel_id.value))
            continue;
        event[i].user_count = opt_int_present(event[i].users);
        *(struct scheduled_event *)list_append(tx_arena(tx), &ret->guild_scheduled_events,
                                               sizeof *event) = event[i];
    }
    return e;
}

enum err count_open_scheduled_events(struct tx *tx, snowflake guild_id, int64_t *ret)
{
    return tx_read_int(tx,
                       "select count(*) from scheduled_events where guild_id = $1 and status <= 2",
                       BIND(v_id(guild_id)), ret);
}

enum err scheduled_event_read_creator(struct tx *tx, struct scheduled_event *e)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    enum err err =
        e->creator_id.given == GIVEN ? user_find(tx, e->creator_id.value, user) : ERR_UNKNOWN_USER;

    if (!err)
        e->creator = user;
    return err == ERR_UNKNOWN_USER ? OK : err;
}

/* --- writing -------------------------------------------------------------------------- */

static const char SAVE_EVENT[] =
    "insert into scheduled_events (id, guild_id, channel_id, creator_id, name, description, image, "
    "start_at, end_at, status, entity_type, location, recurrence, exceptions, empty_since, "
    "ended_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) "
    "on conflict (id) do update set channel_id = $3, name = $5, description = $6, image = $7, "
    "start_at = $8, end_at = $9, status = $10, entity_type = $11, location = $12, "
    "recurrence = $13, exceptions = $14, empty_since = $15, ended_at = $16";

enum err scheduled_event_insert(struct tx *tx, const struct scheduled_event *e)
{
    struct arena *a = tx_arena(tx);
    bool elsewhere = e->entity_metadata && e->entity_metadata->location.given == GIVEN;

    return tx_exec(
        tx, SAVE_EVENT,
        BIND(v_id(e->id), v_id(e->guild_id), sql_value_of_optional_id(e->channel_id),
             sql_value_of_optional_id(e->creator_id), v_text(e->name),
             sql_value_of_optional_text(e->description), sql_value_of_optional_text(e->image),
             v_int(e->scheduled_start_time), sql_value_of_optional_int(e->scheduled_end_time),
             v_int(e->status), v_int(e->entity_type),
             elsewhere ? v_text(e->entity_metadata->location.value) : v_null(),
             e->recurrence_rule
                 ? v_text(json_column_encode(a, &type_event_recurrence, e->recurrence_rule))
                 : v_null(),
             v_text(json_column_encode(a, &type_event_exceptions,
                                       &e->guild_scheduled_event_exceptions)),
             v_int(e->empty_since), v_int(e->ended_at)),
        NULL);
}

enum err scheduled_event_update(struct tx *tx, const struct scheduled_event *e)
{
    return scheduled_event_insert(tx, e);
}

static const char DELETE_SUBSCRIBERS[] =
    "delete from scheduled_event_users where (event_id, exception_id, user_id) in (select event_id, "
    "exception_id, user_id from scheduled_event_users where event_id = $1 limit 200)";

/* Deletes a limited number of subscribers. The job of the scheduled event deletes the rest. */
enum err scheduled_event_delete_subscribers(struct call *call, snowflake id)
{
    int64_t gone = 0;
    enum err e = tx_exec(call->tx, DELETE_SUBSCRIBERS, BIND(v_id(id)), &gone);

    if (e)
        return e;
    return gone ? job_schedule(call, &scheduled_event_job, id, clock_us(), STR(""))
                : job_cancel(call, &scheduled_event_job, id);
}

enum err scheduled_event_delete(struct call *call, const struct scheduled_event *e)
{
    enum err err = delete_stored_picture(call, "guild-events", e->id, &e->image);

    if (!err)
        err = tx_exec(call->tx, "delete from scheduled_events where id = $1", BIND(v_id(e->id)),
                      NULL);
    return err ? err : scheduled_event_delete_subscribers(call, e->id);
}

/* --- subscribers ---------------------------------------------------------------------- */

static const char FIND_USER[] = "select response from scheduled_event_users where event_id = $1 "
                                "and exception_id = $2 and user_id = $3";
static const char PUT_USER[] =
    "insert into scheduled_event_users (event_id, exception_id, user_id, response) "
    "values ($1, $2, $3, $4) on conflict (event_id, exception_id, user_id) "
    "do update set response = $4";

static enum err update_subscriber_count(struct tx *tx, snowflake event_id, int64_t by)
{
    return tx_exec(tx, "update scheduled_events set users = users + $2 where id = $1",
                   BIND(v_id(event_id), v_int(by)), NULL);
}

enum err scheduled_event_subscriber_save(struct tx *tx, snowflake event_id, snowflake exception_id,
                                         snowflake user_id, int64_t response, bool *ret_changed)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_USER, BIND(v_id(event_id), v_id(exception_id), v_id(user_id)),
                        &row, &found);

    *ret_changed = !e && (!found || row_int(&row, 0) != response);
    if (e || !*ret_changed)
        return e;
    e = tx_exec(tx, PUT_USER,
                BIND(v_id(event_id), v_id(exception_id), v_id(user_id), v_int(response)), NULL);
    return e || found || exception_id ? e : update_subscriber_count(tx, event_id, 1);
}

enum err scheduled_event_subscriber_delete(struct tx *tx, snowflake event_id,
                                           snowflake exception_id, snowflake user_id,
                                           bool *ret_found)
{
    int64_t gone = 0;
    enum err e = tx_exec(tx,
                         "delete from scheduled_event_users where event_id = $1 and "
                         "exception_id = $2 and user_id = $3",
                         BIND(v_id(event_id), v_id(exception_id), v_id(user_id)), &gone);

    *ret_found = gone;
    return e || !gone || exception_id ? e : update_subscriber_count(tx, event_id, -1);
}

static void subscriber_from_row(const struct rows *r, void *ret)
{
    struct scheduled_event_subscriber *p = ret;

    *p = (struct scheduled_event_subscriber){ .guild_scheduled_event_id = row_id(r, 0),
                                              .user_id = row_id(r, 2),
                                              .response = row_int(r, 3) };
    if (row_id(r, 1))
        p->guild_scheduled_event_exception_id = opt_id_or_null(row_id(r, 1));
}

#define PEOPLE                                                                           \
    "select event_id, exception_id, user_id, response from scheduled_event_users where " \
    "event_id = $1 and exception_id = $2 and user_id > $3 and user_id < $4 order by user_id "

enum err scheduled_event_subscribers_read(struct tx *tx, snowflake event_id, snowflake exception_id,
                                          const struct scheduled_event_users_query *q,
                                          struct list *ret)
{
    bool back = q->before.given == GIVEN && q->after.given != GIVEN;
    snowflake before = q->before.given == GIVEN ? q->before.value : INT64_MAX;
    struct value values[] = { v_id(event_id), v_id(exception_id), v_id(q->after.value),
                              v_id(before), v_int(q->limit) };

    *ret = (struct list){ 0 };
    enum err e =
        tx_read_list(tx, back ? SQL(PEOPLE "desc limit $5") : SQL(PEOPLE "limit $5"), values, 5,
                     sizeof(struct scheduled_event_subscriber), subscriber_from_row, ret);
    if (back)
        list_reverse(ret, sizeof(struct scheduled_event_subscriber));
    return e;
}

enum err scheduled_event_subscribers_count(struct tx *tx, snowflake event_id,
                                           snowflake exception_id, int64_t *ret)
{
    return tx_read_int(tx,
                       "select count(*) from scheduled_event_users where event_id = $1 and "
                       "exception_id = $2 and response = 1",
                       BIND(v_id(event_id), v_id(exception_id)), ret);
}
