/* delete.c - the end of an application, and of all that depends on it.
 *
 * An app may be in a hundred thousand guilds and have as many people: it is marked, so that
 * nothing finds it and none of its tokens is good any more, and then it goes in steps. The
 * first is in the call and mostly the last; the others are a job's. */
#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "platform/applications/internal.h"

/* What a step may cost, in rows; and what is more than one row. */
enum { ROOM_OF_STEP = 300, COST_OF_GUILD = 30, COST_OF_COMMAND = 30 };

struct removal {
    struct application a;
    int64_t room;
    /* The last direct channel with the bot whose index has moved: closed ones come last. */
    int64_t closed;
    snowflake channel_id;
};

/* Ids that a query names, as many as there is room for. */
static enum err delete_gather(struct call *call, struct sql sql, struct removal *r, int64_t cost,
                              struct list *ret)
{
    struct rows rows;
    int64_t most = (r->room + cost - 1) / cost;
    enum err e = tx_query(call->tx, sql, BIND(v_id(r->a.id), v_int(most)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        ids_add(call->arena, ret, row_id(&rows, 0));
    r->room -= (int64_t)ret->count * cost;
    return rows_end(&rows);
}

/* --- guilds, people, groups ----------------------------------------------------------- */

static const char GUILDS_WITH[] = "select guild_id from integrations where application_id = $1 and "
                                  "type = 'service' order by guild_id limit $2";

static enum err leave_guilds(struct call *call, struct removal *r)
{
    struct list guilds;
    enum err e = delete_gather(call, SQL(GUILDS_WITH), r, COST_OF_GUILD, &guilds);

    for (size_t i = 0; i < guilds.count && !e; i++)
        e = application_leave_guild(call, &r->a, ((snowflake *)guilds.items)[i]);
    return e;
}

static const char USERS_WITH[] =
    "select user_id from authorizations where application_id = $1 order by user_id limit $2";
static const char LEAVE_USER[] =
    "delete from authorizations where application_id = $1 and user_id = $2 returning installed";

/* Allowing something is not installing: only what was on the account was in its index. */
static enum err leave_user(struct call *call, const struct removal *r, snowflake id)
{
    struct application_ref gone = { r->a.id };
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, LEAVE_USER, BIND(v_id(r->a.id), v_id(id)), &row, &found);

    if (e || !found)
        return e;
    call_emit(call, EVENT_USER_APPLICATION_REMOVE, to_user(id), &application_ref_schema, &gone);
    return row_int(&row, 0) ? hook_commands_moved(call, id) : OK;
}

static enum err leave_users(struct call *call, struct removal *r)
{
    struct list users;
    enum err e = delete_gather(call, SQL(USERS_WITH), r, 1, &users);

    for (size_t i = 0; i < users.count && !e; i++)
        e = leave_user(call, r, ((snowflake *)users.items)[i]);
    return e;
}

static const char GROUPS_WITH[] = "select channel_id from channel_integrations where "
                                  "application_id = $1 order by channel_id limit $2";
static const char LEAVE_GROUP[] =
    "delete from channel_integrations where application_id = $1 and channel_id = $2";

static enum err leave_groups(struct call *call, struct removal *r)
{
    struct list groups;
    enum err e = delete_gather(call, SQL(GROUPS_WITH), r, 1, &groups);

    for (size_t i = 0; i < groups.count && !e; i++) {
        snowflake id = ((snowflake *)groups.items)[i];

        e = hook_commands_moved(call, id);
        if (!e)
            e = tx_exec(call->tx, LEAVE_GROUP, BIND(v_id(r->a.id), v_id(id)), NULL);
    }
    return e;
}

/* --- rows ----------------------------------------------------------------------------- */

/* What other folders have of it. */
static enum err end_elsewhere(struct call *call, struct removal *r)
{
    struct application_ending ending = { &r->a, &r->room, &r->closed, &r->channel_id };

    return hook_application_ending(call, &ending);
}

static const char DROP_COMMANDS[] = "delete from commands where id in (select id from commands "
                                    "where application_id = $1 order by guild_id, id limit 1)";

/* Each may have some mebibytes. */
static enum err drop_commands(struct call *call, struct removal *r)
{
    int64_t gone = 1;
    enum err e = OK;

    for (; !e && gone && r->room > 0; r->room -= gone * COST_OF_COMMAND)
        e = tx_exec(call->tx, DROP_COMMANDS, BIND(v_id(r->a.id)), &gone);
    return e;
}

static const struct sql drop_rows[] = {
    SQL_TEXT("delete from tokens where id in "
             "(select id from tokens where application_id = $1 limit $2)"),
    SQL_TEXT("delete from authorization_codes where digest in "
             "(select digest from authorization_codes where application_id = $1 limit $2)"),
    SQL_TEXT("delete from role_connections where application_id = $1 and user_id in "
             "(select user_id from role_connections where application_id = $1 limit $2)"),
    SQL_TEXT(
        "delete from command_permissions where (guild_id, target_id, entity_id, type) in (select "
        "guild_id, target_id, entity_id, type from command_permissions where application_id = $1 "
        "limit $2)"),
    SQL_TEXT("delete from command_creates where application_id = $1 and (guild_id, id) in "
             "(select guild_id, id from command_creates where application_id = $1 limit $2)"),
    SQL_TEXT("delete from command_lists where application_id = $1 and guild_id in "
             "(select guild_id from command_lists where application_id = $1 limit $2)"),
};

static enum err drop_others(struct call *call, struct removal *r)
{
    enum err e = OK;

    for (size_t i = 0; !e && r->room > 0 && i < COUNT_OF(drop_rows); i++) {
        int64_t gone = 0;

        e = tx_exec(call->tx, drop_rows[i], BIND(v_id(r->a.id), v_int(r->room)), &gone);
        r->room -= gone;
    }
    return e;
}

#define EMOJIS_OF \
    "(select id, image from application_emojis where application_id = $1 order by id limit $2) x"
static const char MARK_EMOJIS[] =
    "update files set gone = 1 where name in (select 'emojis/' || id || '/' || image from " EMOJIS_OF
    " where image is not null)";
static const char DROP_EMOJIS[] =
    "delete from application_emojis where id in (select id from " EMOJIS_OF ")";

static enum err drop_emojis(struct call *call, struct removal *r)
{
    const struct value values[] = { v_id(r->a.id), v_int(r->room) };
    int64_t marked = 0, gone = 0;
    enum err e = tx_exec(call->tx, MARK_EMOJIS, values, 2, &marked);

    if (marked)
        call_dropped_blobs(call);
    if (!e)
        e = tx_exec(call->tx, DROP_EMOJIS, values, 2, &gone);
    r->room -= gone;
    return e;
}

static enum err drop_application(struct call *call, struct removal *r)
{
    enum err e = picture_drop(call, "app-icons", r->a.id, &r->a.icon);

    if (!e)
        e = picture_drop(call, "app-icons", r->a.id, &r->a.cover_image);
    return e ? e : application_delete_row(call->tx, r->a.id);
}

/* --- one step ------------------------------------------------------------------------- */

static enum err (*const parts[])(struct call *call, struct removal *r) = {
    leave_guilds, leave_users,   leave_groups, end_elsewhere,
    drop_others,  drop_commands, drop_emojis,  drop_application,
};

/* Every part that ends with room to spare has nothing left. */
static enum err remove_some(struct call *call, struct removal *r)
{
    enum err e = OK;

    r->room = ROOM_OF_STEP;
    for (size_t i = 0; !e && r->room > 0 && i < COUNT_OF(parts); i++)
        e = parts[i](call, r);
    if (e || r->room > 0)
        return e;
    return job_schedule(
        call, &application_leftovers, r->a.id, clock_us(),
        str_printf(call->arena, "%d%llu", (int)r->closed, (unsigned long long)r->channel_id));
}

static enum err run_leftovers(struct call *call, const struct job *job)
{
    struct removal r = { 0 };
    enum err e = application_find_removed(call->tx, job->key, &r.a);

    if (e)
        return e == ERR_UNKNOWN_APPLICATION ? OK : e;
    if (job->data.n > 1 &&
        snowflake_parse(str_slice(job->data.p + 1, job->data.n - 1), &r.channel_id))
        r.closed = job->data.p[0] - '0';
    return remove_some(call, &r);
}

const struct job_kind application_leftovers = {
    .name = "application-leftovers",
    .doc = "Removes what a deleted application leaves behind.",
    .run = run_leftovers,
};

/* POST /applications/{application.id}/delete */
enum err delete_application(struct call *call)
{
    struct removal r = { .a = *call->target.application };
    enum err e = application_mark_removed(call->tx, r.a.id);

    if (!e)
        e = bot_disable(call->tx, r.a.bot_id);
    call_forget_application(call, r.a.id);
    call_forget_account(call, r.a.bot_id);
    return e ? e : remove_some(call, &r);
}
