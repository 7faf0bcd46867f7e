/* keep.c - timeouts of interactions, and deletion of old rows and files, as stored jobs.
 *
 * One job per 250 ms fails all unanswered interactions of that slice; it finds them by id, because
 * ids contain the creation time. Acknowledging an interaction therefore changes no job. */
#include "interactions/invoke.h"

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/messages/uploads.h"

enum { SLICE_MS = 250, MINUTE_MS = 60 * 1000 };

static int64_t patience_ms(void)
{
    return INTERACTION_PATIENCE / 1000;
}

static const char WAITING[] =
    "select id from interactions where id >= $1 and id < $2 and state = 0";

static enum err sweep_later(struct call *call, int64_t created_ms);

/* Fails the unanswered interactions of one slice of time; the job's key is the number of the
 * slice. */
static enum err fail_waiting(struct call *call, const struct job *job)
{
    int64_t from = (int64_t)job->key * SLICE_MS;
    struct list ids = { 0 };
    struct rows rows;
    enum err e =
        tx_query(call->tx, WAITING,
                 BIND(v_id(snowflake_at(from)), v_id(snowflake_at(from + SLICE_MS))), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        ids_add(call->arena, &ids, row_id(&rows, 0));
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < ids.count; i++)
        e = interaction_fail(call, ((snowflake *)ids.items)[i], FAILURE_TIMEOUT);
    return e ? e : sweep_later(call, from);
}

static const struct job_kind deadlines = {
    .name = "interaction_deadlines",
    .doc = "Fails interactions that the app has not acknowledged in time.",
    .run = fail_waiting,
};

enum err deadline_set(struct call *call, const struct interaction *it)
{
    int64_t slice = snowflake_ms(it->id) / SLICE_MS;
    int64_t due_ms = (slice + 1) * SLICE_MS + patience_ms();

    return job_see_to(call, &deadlines, (snowflake)slice, due_ms * 1000);
}

enum { SWEPT_AT_ONCE = 500 }; /* rows per step, which takes a few milliseconds of the writer */

static const char MARK_FILES[] =
    "update files set gone = 1 where id in (select id from interaction_files where "
    "interaction_id < $1 order by interaction_id, id limit $2)";
static const char DROP_FILES[] =
    "delete from interaction_files where id in (select id from interaction_files where "
    "interaction_id < $1 order by interaction_id, id limit $2)";
static const char DROP_OLD[] = "delete from interactions where id in "
                               "(select id from interactions where id < $1 order by id limit $2)";

/* Deletes files when the token has expired; the interactions' rows stay longer, because modals
 * refer to them. */
static enum err drop_files(struct call *call, int64_t *ret_gone)
{
    snowflake before = snowflake_at((clock_us() - INTERACTION_LIFE) / 1000);
    const struct value values[] = { v_id(before), v_int(SWEPT_AT_ONCE) };
    enum err e = tx_exec(call->tx, MARK_FILES, values, 2, NULL);

    if (!e)
        e = tx_exec(call->tx, DROP_FILES, values, 2, ret_gone);
    if (!e && *ret_gone)
        call_dropped_blobs(call);
    return e;
}

static enum err keep_sweep(struct call *call, const struct job *job)
{
    snowflake before = snowflake_at((clock_us() - INTERACTION_KEPT) / 1000);
    int64_t files = 0, rows = 0;
    enum err e = drop_files(call, &files);

    if (!e)
        e = tx_exec(call->tx, DROP_OLD, BIND(v_id(before), v_int(SWEPT_AT_ONCE)), &rows);
    if (e || (files < SWEPT_AT_ONCE && rows < SWEPT_AT_ONCE))
        return e;
    return job_schedule(call, job->kind, job->key, clock_us(), (struct str){ 0 });
}

static const struct job_kind sweeping = {
    .name = "interaction_sweep",
    .doc = "Deletes rows and files of old interactions.",
    .run = keep_sweep,
};

/* Schedules two cleanups, for files and for rows, each for a whole minute of interactions. */
static enum err sweep_later(struct call *call, int64_t created_ms)
{
    int64_t minute = created_ms / MINUTE_MS + 1;
    const int64_t kept[] = { INTERACTION_LIFE / 1000, INTERACTION_KEPT / 1000 };
    enum err e = OK;

    for (size_t i = 0; !e && i < sizeof kept / sizeof *kept; i++) {
        int64_t due_ms = minute * MINUTE_MS + kept[i] + 1000;

        e = job_schedule(call, &sweeping, (snowflake)(due_ms / 1000), due_ms * 1000,
                         (struct str){ 0 });
    }
    return e;
}

const struct job_kind *const interaction_jobs[] = { &deadlines, &sweeping, NULL };
