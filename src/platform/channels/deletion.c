/* deletion.c - deletes channels with their threads, in steps. */
#include "platform/channels/deletion.h"

#include "api/hooks.h"
#include "platform/channels/internal.h"

enum {
    ROWS_OF_EMPTY_CHANNEL = 24
}; /* the deletion of a channel counts as 24 rows, plus the rows that are deleted with it */

static enum err find_next_channel_to_delete(struct tx *tx, struct sql sql, snowflake id,
                                            snowflake *ret, bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, sql, BIND(v_id(id)), &row, ret_found);

    if (!e && *ret_found)
        *ret = row_id(&row, 0);
    return e;
}

/* Deletes channels. `next` is SQL that selects the next channel of the guild or parent channel
 * `id`. */
static enum err delete_channels_with_sql(struct call *call, struct sql next, snowflake id,
                                         struct deletion_step_limits *step)
{
    snowflake channel_id;
    bool found = true;
    enum err e = OK;

    while (!e && found && step->rows_left > 0) {
        e = find_next_channel_to_delete(call->tx, next, id, &channel_id, &found);
        if (!e && found)
            e = deletion_apply_all_rules(call, WITH_CHANNEL, channel_id, step);
        deletion_step_subtract_deleted_rows(step, ROWS_OF_EMPTY_CHANNEL);
    }
    return e;
}

static const char THREAD_OF_CHANNEL[] = "select id from channels where parent_id = $1 limit 1";

static enum err delete_channel_row_batch(struct call *call, snowflake id)
{
    struct deletion_step_limits step = deletion_step_begin();
    enum err e = delete_channels_with_sql(call, SQL(THREAD_OF_CHANNEL), id, &step);

    if (!e)
        e = deletion_apply_all_rules(call, WITH_CHANNEL, id, &step);
    return e ? e : deletion_schedule_next_step(call, &channel_deletion_job, id, &step, STR(""));
}

static const char MARK_CHANNEL[] =
    "update channels set type = -1, guild_id = null, parent_id = null where id = $1";

/* Marks the open threads of a channel as deleted; the condition on guild_id lets the query use an
 * index. Archived threads, which may be many, need no mark, because queries check their parent's
 * mark. */
static const char MARK_THREADS[] =
    "update channels set type = -1, guild_id = null where guild_id = "
    "(select guild_id from channels where id = $1) and thread_archived = 0 and +parent_id = $1";

enum err channel_delete(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_THREADS, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(call->tx, MARK_CHANNEL, BIND(v_id(id)), NULL);
    if (!e)
        e = hook_channel_deleted(call, id);
    return e ? e : delete_channel_row_batch(call, id);
}

static const char IS_MARKED[] = "select id from channels where id = $1 and type = -1";

static enum err run_channel_deletion_job(struct call *call, const struct job *job)
{
    snowflake id;
    bool found;
    enum err e = find_next_channel_to_delete(call->tx, SQL(IS_MARKED), job->key, &id, &found);

    return e || !found ? e : delete_channel_row_batch(call, id);
}

const struct job_kind channel_deletion_job = {
    .name = "channel-leftovers",
    .doc = "Deletes the remaining rows of a deleted channel.",
    .run = run_channel_deletion_job,
};

/* --- deletion of a guild ---------------------------------------------------------------- */

/* Marks the channels of a guild as deleted. Threads need no mark, because queries check their
 * parent's mark. */
static const char MARK_OF_GUILD[] = "update channels set type = -1 where guild_id = $1 and "
                                    "thread_archived = 0 and not type between 10 and 12";

enum err guild_channels_mark_as_deleted(struct call *call, snowflake guild_id)
{
    return tx_exec(call->tx, MARK_OF_GUILD, BIND(v_id(guild_id)), NULL);
}

static const char CHANNEL_OF_GUILD[] = "select id from channels where guild_id = $1 limit 1";

static enum err delete_channels_of_guild(struct call *call, snowflake guild_id,
                                         struct deletion_step_limits *step)
{
    return delete_channels_with_sql(call, SQL(CHANNEL_OF_GUILD), guild_id, step);
}

const struct deletion_rule channel_deletions[] = {
    { WITH_GUILD, "channels", .run = delete_channels_of_guild, .phase = DELETE_PARTS },
    { DELETE_FEW(WITH_ROLE, "overwrites", "type = 0 and target_id"), .phase = DELETE_FIRST },
    { DELETE_OF(WITH_CHANNEL, "slow_modes", "channel_id", "user_id") },
    { DELETE_OF(WITH_CHANNEL, "thread_members", "thread_id", "user_id") },
    { DELETE_OF(WITH_CHANNEL, "recipients", "channel_id", "user_id") },
    { DELETE_OF(WITH_CHANNEL, "overwrites", "channel_id", "target_id") },
    { WITH_CHANNEL, "jobs",
      .remove = { &"delete from jobs where kind = 'archive_thread' and key = $1 and "
                   "cast($2 as bigint) > 0" } },
    { WITH_CHANNEL, "channels", .phase = DELETE_LAST,
      .mark = MARK_FILES("channel-icons", "id", "icon",
                         "select id, icon from channels where id = $1 limit $2"),
      .remove = { &"delete from channels where id = $1 and cast($2 as bigint) > 0" } },
    { 0 },
};
