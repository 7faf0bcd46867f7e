/* permission_deletion.c - deletes the permission rows of a command in steps, guild by guild. */
#include "commands/permissions/permission_deletion.h"

#include "base/clock.h"
#include "commands/index/index_invalidation.h"
#include "model/fields/ids.h"

struct permission_deletion {
    snowflake target_id, application_id;
    /* number of this deletion, which deletes permission rows with a smaller round number */
    int64_t round;
    bool emit_events;
};

/* Deletes a command's permission rows in one guild. The rows of a command in a guild are replaced
 * together, so they have the same round; a condition on the round would make SQLite scan all rows
 * of the command. */
static const char DELETE_IN_GUILD[] =
    "delete from command_permissions where guild_id = $1 and target_id = $2";

static enum err delete_permissions_in_guild(struct call *call, const struct permission_deletion *d,
                                            snowflake guild_id, int64_t *room)
{
    struct command_permissions none = { d->target_id, d->application_id, guild_id, { 0 } };
    int64_t gone = 0;
    enum err e =
        tx_exec(call->tx, DELETE_IN_GUILD, BIND(v_id(guild_id), v_id(d->target_id)), &gone);

    if (!e)
        e = invalidate_command_index(call->tx, guild_id);
    if (!e && d->emit_events)
        emit_command_permissions(call, &none);
    *room -= gone + 1;
    return e;
}

static const char NEXT_GUILDS[] = "select guild_id from command_permissions where target_id = $1 "
                                  "and round < $2 order by round, guild_id limit $3";

/* Reads the guilds of the next permission rows, without duplicates. Stops after `room` permission
 * rows, but reads at least one guild. */
static enum err read_guilds_of_next_rows(struct call *call, const struct permission_deletion *d,
                                         int64_t room, struct list *ret)
{
    struct rows rows;
    snowflake last = 0;
    enum err e =
        tx_query(call->tx, NEXT_GUILDS,
                 BIND(v_id(d->target_id), v_int(d->round), v_int(room > 0 ? room : 1)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows)) {
        if (row_id(&rows, 0) != last)
            id_list_add(call->arena, ret, row_id(&rows, 0));
        last = row_id(&rows, 0);
    }
    return rows_end(&rows);
}

/* Deletes the next permission rows. Sets *ret_left to whether rows remain. */
static enum err run_permission_deletion_step(struct call *call, const struct permission_deletion *d,
                                             int64_t *room, bool *ret_left)
{
    struct list guilds;
    enum err e = OK;

    do {
        e = read_guilds_of_next_rows(call, d, *room, &guilds);
        for (size_t i = 0; i < guilds.count && !e && *room > 0; i++)
            e = delete_permissions_in_guild(call, d, ((const snowflake *)guilds.items)[i], room);
    } while (!e && guilds.count && *room > 0);
    *ret_left = guilds.count > 0;
    return e;
}

/* --- the pending deletion ------------------------------------------------------------- */

static const char ROUNDS[] =
    "select (select max(round) from command_permissions where target_id = $1), "
    "(select round from permission_drops where target_id = $1)";

/* Reads a round number that is greater than those of all permission rows, or 0 without rows. */
static enum err read_next_deletion_round(struct tx *tx, snowflake target_id, int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, ROUNDS, BIND(v_id(target_id)), &row, &found);

    if (e)
        return e;
    int64_t of_rows = row_int(&row, 0), of_mark = row_int(&row, 1);
    *ret = row_column_is_null(&row, 0) ? 0 : (of_rows > of_mark ? of_rows : of_mark) + 1;
    return OK;
}

/* Starts a deletion. If a pending deletion of the same command emits events, its remaining guilds
 * get these events, too. */
static const char UPSERT_PENDING_DELETION[] =
    "insert into permission_drops (target_id, application_id, round, told) values ($1, $2, $3, $4) "
    "on conflict (target_id) do update set round = excluded.round, "
    "told = case when excluded.told > permission_drops.told then excluded.told "
    "else permission_drops.told end";
static const char DELETE_PENDING_DELETION[] = "delete from permission_drops where target_id = $1";

static enum err schedule_next_deletion_step(struct call *call, const struct permission_deletion *d)
{
    return job_schedule(call, &permission_deletion_job, d->target_id, clock_us(), STR(""));
}

enum err delete_command_permissions(struct call *call, const struct command_row *k,
                                    bool emit_events, int64_t *room)
{
    struct permission_deletion d = { k->id, k->application_id, .emit_events = emit_events };
    bool left;
    enum err e = read_next_deletion_round(call->tx, k->id, &d.round);

    if (e || !d.round)
        return e;
    e = run_permission_deletion_step(call, &d, room, &left);
    if (e || !left)
        return e;
    e = tx_exec(
        call->tx, UPSERT_PENDING_DELETION,
        BIND(v_id(d.target_id), v_id(d.application_id), v_int(d.round), v_int(d.emit_events)),
        NULL);
    return e ? e : schedule_next_deletion_step(call, &d);
}

static const char READ_PENDING_DELETION[] =
    "select application_id, round, told from permission_drops where target_id = $1";

static enum err run_permission_deletion_job(struct call *call, const struct job *job)
{
    int64_t room = PERMISSION_DELETIONS_PER_STEP;
    struct rows row;
    bool found, left;
    enum err e = tx_one(call->tx, READ_PENDING_DELETION, BIND(v_id(job->key)), &row, &found);

    /* without a row, the pending deletion was deleted together with its application */
    if (e || !found)
        return e;
    struct permission_deletion d = { job->key, row_id(&row, 0), row_int(&row, 1),
                                     row_bool(&row, 2) };
    e = run_permission_deletion_step(call, &d, &room, &left);
    if (e)
        return e;
    return left ? schedule_next_deletion_step(call, &d)
                : tx_exec(call->tx, DELETE_PENDING_DELETION, BIND(v_id(d.target_id)), NULL);
}

const struct job_kind permission_deletion_job = {
    .name = "permission-drops",
    .doc = "Deletes the permissions of a renamed or deleted command, guild by guild.",
    .run = run_permission_deletion_job,
};

static const char GUILDS_WITH_ROWS[] =
    "select distinct guild_id from command_permissions where target_id = $1 order by guild_id";
static const char DELETE_ALL_ROWS[] = "delete from command_permissions where target_id = $1";

enum err delete_all_command_permissions(struct tx *tx, snowflake command_id)
{
    struct list guilds = { 0 };
    enum err e = tx_read_ids(tx, GUILDS_WITH_ROWS, BIND(v_id(command_id)), &guilds);

    for (size_t i = 0; i < guilds.count && !e; i++)
        e = invalidate_command_index(tx, ((const snowflake *)guilds.items)[i]);
    return e ? e : tx_exec(tx, DELETE_ALL_ROWS, BIND(v_id(command_id)), NULL);
}
