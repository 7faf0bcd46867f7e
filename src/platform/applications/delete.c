/* delete.c - deletes an application and everything that depends on it. An app may be installed in
 * 100,000 guilds and on as many accounts. So the application is first marked as removed, which
 * hides it and invalidates its tokens, and then deleted in steps (api/deletion.h). */
#include "platform/applications/internal.h"

#include "api/deletion.h"
#include "base/mem.h"
#include "model/fields/ids.h"

/* Removing the app from one guild counts as this many deleted rows of a deletion step. */
enum { ROWS_COUNTED_PER_GUILD = 30 };

static const char GUILDS_WITH[] = "select guild_id from integrations where application_id = $1 and "
                                  "type = 'service' order by guild_id limit $2";

static enum err remove_application_from_guilds(struct call *call, snowflake id,
                                               struct deletion_step_limits *step)
{
    struct application_deletion *d = container_of(step, struct application_deletion, step);
    struct list guilds = { 0 };
    int64_t most = (step->rows_left + ROWS_COUNTED_PER_GUILD - 1) / ROWS_COUNTED_PER_GUILD;
    enum err e = tx_read_ids(call->tx, GUILDS_WITH, BIND(v_id(id), v_int(most)), &guilds);

    for (size_t i = 0; i < guilds.count && !e; i++)
        e = application_uninstall_without_change_hook(call, &d->application,
                                                      ((snowflake *)guilds.items)[i]);
    deletion_step_subtract_deleted_rows(step, (int64_t)guilds.count * ROWS_COUNTED_PER_GUILD);
    return e;
}

static enum err delete_application_row(struct call *call, snowflake id,
                                       struct deletion_step_limits *step)
{
    struct application_deletion *d = container_of(step, struct application_deletion, step);
    enum err e = delete_stored_picture(call, "app-icons", id, &d->application.icon);

    if (!e)
        e = delete_stored_picture(call, "app-icons", id, &d->application.cover_image);
    return e ? e : application_delete_row(call->tx, id);
}

const struct deletion_rule application_deletions[] = {
    { WITH_APPLICATION, "integrations", .run = remove_application_from_guilds,
      .phase = DELETE_FIRST },
    { DELETE_WHERE(WITH_APPLICATION, "tokens", "id", "application_id = $1") },
    { WITH_APPLICATION, "applications", .run = delete_application_row, .phase = DELETE_LAST },
    { 0 },
};

static enum err delete_application_row_batch(struct call *call, struct application_deletion *d)
{
    d->step = (struct deletion_step_limits){ DELETION_ROWS, DELETION_ROWS, INT64_MAX };
    enum err e = deletion_apply_all_rules(call, WITH_APPLICATION, d->application.id, &d->step);
    if (e)
        return e;
    return deletion_schedule_next_step(
        call, &application_deletion_job, d->application.id, &d->step,
        str_printf(call->arena, "%d%llu", (int)d->closed, (unsigned long long)d->channel_id));
}

static enum err run_application_deletion_job(struct call *call, const struct job *job)
{
    struct application_deletion d = { 0 };
    enum err e = application_find_removed(call->tx, job->key, &d.application);

    if (e)
        return e == ERR_UNKNOWN_APPLICATION ? OK : e;
    if (job->data.n > 1 &&
        snowflake_parse(str_slice(job->data.p + 1, job->data.n - 1), &d.channel_id))
        d.closed = job->data.p[0] - '0';
    return delete_application_row_batch(call, &d);
}

const struct job_kind application_deletion_job = {
    .name = "application-leftovers",
    .doc = "Deletes the remaining rows of a deleted application.",
    .run = run_application_deletion_job,
};

enum err delete_application(struct call *call)
{
    struct application_deletion d = { .application = *call->target.application };
    enum err e = application_mark_removed(call->tx, d.application.id);

    if (!e)
        e = application_disable_bot_account(call->tx, d.application.bot_id);
    call_revoke_application_tokens(call, d.application.id);
    call_revoke_account_tokens(call, d.application.bot_id);
    return e ? e : delete_application_row_batch(call, &d);
}
