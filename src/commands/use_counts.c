/* use_counts.c - counts the uses of commands per day for their popularity rank, and deletes the
 * counts of old days. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "commands/internal.h"
#include "model/application.h"

enum { DAY_S = 24 * 60 * 60, RANKED_DAYS = 30 };

int64_t command_ranking_start_day(void)
{
    return clock_s() / DAY_S - RANKED_DAYS;
}

static const char SET_ACTIVE[] =
    "update applications set flags = flags + $2 where id = $1 and (flags & $2) = 0 and exists "
    "(select 1 from commands where application_id = $1 and guild_id = 0 and used_day = $3)";
static const char END_ACTIVE[] =
    "update applications set flags = flags - $2 where id = $1 and (flags & $2) <> 0 and not exists "
    "(select 1 from commands where application_id = $1 and guild_id = 0 and used_day > $3)";

/* Commands that were never used have the day 0. An app may have many of them. */
static const char OLDEST_DAY[] =
    "select min(u.day) from commands c join command_uses u on u.command_id = c.id "
    "where c.application_id = $1 and c.used_day > 0";

/* Schedules the job that deletes old counts for the time at which the oldest stored day expires. */
static enum err schedule_use_expiry(struct call *call, snowflake application_id, int64_t oldest_day)
{
    int64_t due_s = (oldest_day + RANKED_DAYS) * DAY_S;

    return job_schedule(call, &command_uses_job, application_id, due_s * 1000 * 1000, STR(""));
}

static const char DELETE_EXPIRED_DAYS[] =
    "delete from command_uses where day <= $2 and command_id in "
    "(select id from commands where application_id = $1 and used_day > 0)";

static enum err run_use_expiry_job(struct call *call, const struct job *job)
{
    struct value app = v_id(job->key), since = v_int(command_ranking_start_day());
    int64_t oldest = 0;
    enum err e = tx_exec(call->tx, DELETE_EXPIRED_DAYS, BIND(app, since), NULL);

    if (!e)
        e = tx_exec(call->tx, END_ACTIVE, BIND(app, v_int(APPLICATION_ACTIVE), since), NULL);
    if (!e)
        e = tx_read_int(call->tx, OLDEST_DAY, BIND(app), &oldest);
    return e || !oldest ? e : schedule_use_expiry(call, job->key, oldest);
}

const struct job_kind command_uses_job = {
    .name = "command_uses",
    .doc =
        "Deletes use counts of an application's commands older than 30 days, and its active flag "
        "when none are left.",
    .run = run_use_expiry_job,
};

enum err record_first_command_uses_of_day(struct call *call, snowflake application_id, int64_t day)
{
    struct value app = v_id(application_id);
    bool scheduled = false; /* whether an earlier day is stored, whose job schedules itself again */
    enum err e =
        tx_exec(call->tx, SET_ACTIVE, BIND(app, v_int(APPLICATION_ACTIVE), v_int(day)), NULL);

    if (!e)
        e = tx_exists(call->tx, "select 1 from jobs where kind = 'command_uses' and key = $1",
                      BIND(app), &scheduled);
    return e || scheduled ? e : schedule_use_expiry(call, application_id, day);
}
