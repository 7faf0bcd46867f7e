/* use_counts.c - counts the uses of commands per day for their popularity rank, and deletes the
 * counts of old days. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "commands/internal.h"
#include "model/application.h"

enum { DAY_S = 24 * 60 * 60, RANKED_DAYS = 30 };

/* Counts a use of a command. commands.used_day is the day of its last use; queries skip commands
 * with an old day. */
static const char COUNT_USE[] =
    "insert into command_uses (command_id, day, uses) values ($1, $2, 1) "
    "on conflict (command_id, day) do update set uses = command_uses.uses + 1";
static const char IS_DAY_RECORDED[] = "select 1 from commands where id = $1 and used_day >= $2";
static const char UPDATE_USED_DAY[] =
    "update commands set used_day = $2 where id = $1 and used_day < $2";

int64_t command_ranking_start_day(void)
{
    return clock_s() / DAY_S - RANKED_DAYS;
}

static const char SET_ACTIVE[] =
    "update applications set flags = flags + $2 where id = $1 and (flags & $2) = 0";
static const char END_ACTIVE[] =
    "update applications set flags = flags - $2 where id = $1 and (flags & $2) <> 0 and not exists "
    "(select 1 from commands where application_id = $1 and guild_id = 0 and used_day > $3)";

static enum err set_application_active(struct tx *tx, const struct command *k)
{
    if (k->guild_id.given == GIVEN)
        return OK;
    return tx_exec(tx, SET_ACTIVE, BIND(v_id(k->application_id), v_int(APPLICATION_ACTIVE)), NULL);
}

static const char OLDEST_DAY[] = "select min(u.day) from commands c join command_uses u "
                                 "on u.command_id = c.id where c.application_id = $1";

/* Schedules the job that deletes old counts for the time at which the oldest stored day expires. */
static enum err schedule_use_expiry(struct call *call, snowflake application_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, OLDEST_DAY, BIND(v_id(application_id)), &row, &found);

    if (e || row_column_is_null(&row, 0))
        return e;
    int64_t due_s = (row_int(&row, 0) + RANKED_DAYS) * DAY_S;
    return job_schedule(call, &command_uses_job, application_id, due_s * 1000 * 1000, STR(""));
}

static const char DELETE_EXPIRED_DAYS[] =
    "delete from command_uses where day <= $2 and command_id in "
    "(select id from commands where application_id = $1)";

static enum err run_use_expiry_job(struct call *call, const struct job *job)
{
    struct value app = v_id(job->key), since = v_int(command_ranking_start_day());
    enum err e = tx_exec(call->tx, DELETE_EXPIRED_DAYS, BIND(app, since), NULL);

    if (!e)
        e = tx_exec(call->tx, END_ACTIVE, BIND(app, v_int(APPLICATION_ACTIVE), since), NULL);
    return e ? e : schedule_use_expiry(call, job->key);
}

const struct job_kind command_uses_job = {
    .name = "command_uses",
    .doc =
        "Deletes use counts of an application's commands older than 30 days, and its active flag "
        "when none are left.",
    .run = run_use_expiry_job,
};

/* Sets used_day of a command. Compares the stored day first, because on SQLite a SELECT is cheaper
 * than rewriting an unchanged row. */
static enum err record_used_day(struct tx *tx, snowflake command_id, struct value day,
                                int64_t *ret_first)
{
    const struct value values[] = { v_id(command_id), day };
    bool recorded = false;
    enum err e =
        tx_queries_need_round_trips(tx) ? OK : tx_exists(tx, IS_DAY_RECORDED, values, 2, &recorded);

    *ret_first = 0;
    return e || recorded ? e : tx_exec(tx, UPDATE_USED_DAY, values, 2, ret_first);
}

enum err count_command_use(struct call *call, const struct command *k)
{
    struct value day = v_int(clock_s() / DAY_S);
    int64_t first; /* number of updated rows: 1 if this is the first use of the day */
    enum err e = tx_exec(call->tx, COUNT_USE, BIND(v_id(k->id), day), NULL);

    if (!e)
        e = record_used_day(call->tx, k->id, day, &first);
    if (e || !first)
        return e;
    e = set_application_active(call->tx, k);
    return e ? e : schedule_use_expiry(call, k->application_id);
}
