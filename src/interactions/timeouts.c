/* timeouts.c - timeouts of interactions, counts of used commands, and deletion of old rows and
 * files, as stored jobs. One job per interval of 250 ms fails all unanswered interactions that were
 * created in that interval, and counts the commands that were used in it; it finds them by their
 * ids, which contain the creation time. So no job changes when an interaction is acknowledged, and
 * an interaction does not change the row with the uses of its command. */
#include "interactions/invoke.h"

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/messages/uploads.h"

enum { SLICE_MS = 250, MINUTE_MS = 60 * 1000, DAY_MS = 24 * 60 * MINUTE_MS };

static int64_t callback_timeout_ms(void)
{
    return INTERACTION_TIMEOUT_US / 1000;
}

static const char READ_UNANSWERED[] =
    "select id from interactions where id >= $1 and id < $2 and state = 0";

#define USED_COMMANDS                                                           \
    "from interactions i join commands c on c.id = i.command_id where i.id >= " \
    "$1 and i.id < $2 and i.type = 2 "
static const char COUNT_USES[] =
    "insert into command_uses (command_id, day, uses) select c.id, cast($3 as bigint), count(*) " USED_COMMANDS
    "group by c.id order by c.id on conflict (command_id, day) do update set "
    "uses = command_uses.uses + excluded.uses";
static const char READ_APPS_USED_FIRST[] =
    "select distinct c.application_id " USED_COMMANDS "and c.used_day < $3 order by 1";
static const char UPDATE_USED_DAYS[] =
    "update commands set used_day = $3 where used_day < $3 and id in (select i.command_id "
    "from interactions i where i.id >= $1 and i.id < $2 and i.type = 2)";

/* Counts the uses of commands by interactions with ids from interval[0] to interval[1]. */
static enum err count_used_commands(struct call *call, const struct value interval[2], int64_t day)
{
    const struct value values[] = { interval[0], interval[1], v_int(day) };
    struct list apps = { 0 };
    enum err e = tx_exec(call->tx, COUNT_USES, values, 3, NULL);

    if (!e)
        e = tx_read_ids(call->tx, READ_APPS_USED_FIRST, values, 3, &apps);
    if (!e && apps.count)
        e = tx_exec(call->tx, UPDATE_USED_DAYS, values, 3, NULL);
    for (size_t i = 0; !e && i < apps.count; i++)
        e = record_first_command_uses_of_day(call, ((snowflake *)apps.items)[i], day);
    return e;
}

static enum err schedule_interaction_cleanup(struct call *call, int64_t created_ms);

/* Fails the unanswered interactions that were created in one interval, and counts the commands; the
 * job's key is the number of the interval. If an interaction is stored only after the job, because
 * its files took long, the job runs again and counts the interval twice. */
static enum err run_interaction_timeout_job(struct call *call, const struct job *job)
{
    int64_t from = (int64_t)job->key * SLICE_MS;
    const struct value interval[] = { v_id(snowflake_from_ms(from)),
                                      v_id(snowflake_from_ms(from + SLICE_MS)) };
    struct list ids;
    enum err e = tx_read_ids(call->tx, READ_UNANSWERED, interval, 2, &ids);

    for (size_t i = 0; !e && i < ids.count; i++)
        e = fail_interaction(call, ((snowflake *)ids.items)[i], FAILURE_TIMEOUT);
    if (!e)
        e = count_used_commands(call, interval, from / DAY_MS);
    return e ? e : schedule_interaction_cleanup(call, from);
}

static const struct job_kind interaction_timeout_job = {
    .name = "interaction_deadlines",
    .doc = "Fails interactions that the app has not acknowledged in time, and counts the used "
           "commands.",
    .run = run_interaction_timeout_job,
};

enum err schedule_interaction_timeout(struct call *call, const struct interaction *it)
{
    int64_t slice = snowflake_to_ms(it->id) / SLICE_MS;
    int64_t due_ms = (slice + 1) * SLICE_MS + callback_timeout_ms();

    return job_schedule_if_changed(call, &interaction_timeout_job, (snowflake)slice, due_ms * 1000);
}

/* Maximum rows per transaction; deleting them takes a few milliseconds. */
enum { CLEANUP_ROWS = 500 };

static const char MARK_FILES[] =
    "update files set gone = 1 where id in (select id from interaction_files where "
    "interaction_id < $1 order by interaction_id, id limit $2)";
static const char DELETE_FILES[] =
    "delete from interaction_files where id in (select id from interaction_files where "
    "interaction_id < $1 order by interaction_id, id limit $2)";
static const char DELETE_OLD_ROWS[] =
    "delete from interactions where id in "
    "(select id from interactions where id < $1 order by id limit $2)";

/* Deletes the files of interactions whose token has expired. The rows of the interactions stay
 * longer, because modals refer to them. */
static enum err delete_expired_files(struct call *call, int64_t *ret_gone)
{
    snowflake before = snowflake_from_ms((clock_us() - INTERACTION_TOKEN_LIFE_US) / 1000);
    const struct value values[] = { v_id(before), v_int(CLEANUP_ROWS) };
    enum err e = tx_exec(call->tx, MARK_FILES, values, 2, NULL);

    if (!e)
        e = tx_exec(call->tx, DELETE_FILES, values, 2, ret_gone);
    if (!e && *ret_gone)
        call_schedule_blob_deletion_after_commit(call);
    return e;
}

static enum err run_interaction_cleanup_job(struct call *call, const struct job *job)
{
    snowflake before = snowflake_from_ms((clock_us() - INTERACTION_ROW_LIFE_US) / 1000);
    int64_t files = 0, rows = 0;
    enum err e = delete_expired_files(call, &files);

    if (!e)
        e = tx_exec(call->tx, DELETE_OLD_ROWS, BIND(v_id(before), v_int(CLEANUP_ROWS)), &rows);
    if (e || (files < CLEANUP_ROWS && rows < CLEANUP_ROWS))
        return e;
    return job_schedule(call, job->kind, job->key, clock_us(), (struct str){ 0 });
}

static const struct job_kind interaction_cleanup_job = {
    .name = "interaction_sweep",
    .doc = "Deletes rows and files of old interactions.",
    .run = run_interaction_cleanup_job,
};

/* Schedules the deletion of files and of rows, each for all interactions of a minute. */
static enum err schedule_interaction_cleanup(struct call *call, int64_t created_ms)
{
    int64_t minute = created_ms / MINUTE_MS + 1;
    const int64_t lifetimes_ms[] = { INTERACTION_TOKEN_LIFE_US / 1000,
                                     INTERACTION_ROW_LIFE_US / 1000 };
    enum err e = OK;

    for (size_t i = 0; !e && i < sizeof lifetimes_ms / sizeof *lifetimes_ms; i++) {
        int64_t due_ms = minute * MINUTE_MS + lifetimes_ms[i] + 1000;

        e = job_schedule(call, &interaction_cleanup_job, (snowflake)(due_ms / 1000), due_ms * 1000,
                         (struct str){ 0 });
    }
    return e;
}

const struct job_kind *const interaction_jobs[] = { &interaction_timeout_job,
                                                    &interaction_cleanup_job, NULL };
