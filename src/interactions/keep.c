/* keep.c - how long things are waited for and kept, whatever happens to the process.
 *
 * The moments at which interactions fail are jobs in the store, a quarter of a second of
 * them together: interactions have their time in their id, so a job finds all of its
 * moment. Nothing is written again when one is acknowledged. */
#include "interactions/invoke.h"

#include "api/jobs.h"
#include "base/clock.h"
#include "platform/messages/uploads.h"

enum { SLICE_MS = 250, MINUTE_MS = 60 * 1000 };

/* --- those that nobody answered ------------------------------------------------------- */

static int64_t patience_ms(void)
{
    return INTERACTION_PATIENCE / 1000;
}

static const char WAITING[] =
    "select id from interactions where id >= $1 and id < $2 and state = 0";

static enum err sweep_later(struct call *call, int64_t created_ms);

/* The key is the number of the slice in which they were made. */
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
        *(snowflake *)list_add(call->arena, &ids, sizeof(snowflake)) = row_id(&rows, 0);
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < ids.count; i++)
        e = interaction_fail(call, ((snowflake *)ids.items)[i], FAILURE_TIMEOUT);
    return e ? e : sweep_later(call, from);
}

static const struct job_kind deadlines = {
    .name = "interaction_deadlines",
    .doc = "Fails interactions that nobody acknowledged in time.",
    .run = fail_waiting,
};

enum err deadline_set(struct call *call, const struct interaction *it)
{
    int64_t slice = snowflake_ms(it->id) / SLICE_MS;
    int64_t due_ms = (slice + 1) * SLICE_MS + patience_ms();

    return job_schedule(call, &deadlines, (snowflake)slice, due_ms * 1000, (struct str){ 0 });
}

/* --- those that are over -------------------------------------------------------------- */

static const char OLD_FILES[] = "select id from interaction_files where interaction_id < $1";
static const char DROP_FILES[] = "delete from interaction_files where interaction_id < $1";
static const char DROP_OLD[] = "delete from interactions where id < $1";

/* Files are kept as long as the token is good; rows longer, for modals that follow. */
static enum err drop_files(struct call *call)
{
    snowflake before = snowflake_at((clock_us() - INTERACTION_LIFE) / 1000);
    struct rows rows;
    enum err e = tx_query(call->tx, OLD_FILES, BIND(v_id(before)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        attachment_drop(call, row_id(&rows, 0));
    e = rows_end(&rows);
    return e ? e : tx_exec(call->tx, DROP_FILES, BIND(v_id(before)), NULL);
}

static enum err sweep(struct call *call, const struct job *job)
{
    snowflake before = snowflake_at((clock_us() - INTERACTION_KEPT) / 1000);
    enum err e = drop_files(call);

    (void)job;
    return e ? e : tx_exec(call->tx, DROP_OLD, BIND(v_id(before)), NULL);
}

static const struct job_kind sweeping = {
    .name = "interaction_sweep",
    .doc = "Drops what is left of interactions that are over.",
    .run = sweep,
};

/* Once for the files and once for the rest, a minute's worth at a time. */
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
