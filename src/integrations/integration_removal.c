/* integration_removal.c - deletes a platform integration, which may have many subscribers, in
 * steps. First the row is marked as removed, which hides the integration. Then dependent rows are
 * deleted in steps, so that other writes do not wait long. The first step is part of the request
 * and usually the only one; a job runs the others. The rows that remain show how far the job is, so
 * a crash loses nothing. */
#include "integrations/internal.h"

#include "base/clock.h"

enum { AT_ONCE = 500 }; /* maximum rows per transaction; deleting them takes a few milliseconds */

/* Marks the integration as removed. Clears account_id, so that the guild can add the same platform
 * account again. */
static const char MARK[] =
    "update integrations set type = 'removed', account_id = null, enabled = 0 where id = $1";

static const char MEMBERS_WITH_ROLE[] =
    "delete from member_roles where (guild_id, user_id, role_id) in "
    "(select guild_id, user_id, role_id from member_roles where role_id = $1 limit $2)";
static const char SUBSCRIBERS[] =
    "delete from integration_subscribers where integration_id = $1 and subscriber_id in "
    "(select subscriber_id from integration_subscribers where integration_id = $1 limit $2)";
static const char MEMBERS[] =
    "delete from integration_members where integration_id = $1 and user_id in "
    "(select user_id from integration_members where integration_id = $1 limit $2)";

/* Deletes at most `room` rows and subtracts their number from `room`. If `room` becomes 0, more
 * rows may remain. */
static enum err delete_rows_up_to_limit(struct tx *tx, struct sql sql, snowflake id, int64_t *room)
{
    int64_t gone = 0;
    enum err e = *room ? tx_exec(tx, sql, BIND(v_id(id), v_int(*room)), &gone) : OK;

    *room -= gone;
    return e;
}

/* Deletes rows in steps: first those of members, then the role when no member has it any more, and
 * last the integration. */
static enum err delete_some_integration_rows(struct call *call, snowflake id, snowflake guild_id,
                                             snowflake role_id)
{
    int64_t room = AT_ONCE;
    enum err e =
        role_id ? delete_rows_up_to_limit(call->tx, SQL(MEMBERS_WITH_ROLE), role_id, &room) : OK;

    if (!e && room && role_id)
        e = integration_delete_role(call, guild_id, role_id);
    if (!e)
        e = delete_rows_up_to_limit(call->tx, SQL(SUBSCRIBERS), id, &room);
    if (!e)
        e = delete_rows_up_to_limit(call->tx, SQL(MEMBERS), id, &room);
    if (e)
        return e;
    return room ? delete_integration_row(call->tx, id)
                : job_schedule(call, &integration_removal_job, id, clock_us(), STR(""));
}

enum err begin_integration_removal(struct call *call, const struct integration_row *i)
{
    integration_emit_deleted(call, i->guild_id, i->id, 0);
    enum err e = cancel_integration_sync(call, i->id);

    if (!e)
        e = tx_exec(call->tx, MARK, BIND(v_id(i->id)), NULL);
    return e ? e : delete_some_integration_rows(call, i->id, i->guild_id, i->role_id);
}

static const char FIND[] =
    "select guild_id, role_id from integrations where id = $1 and type = 'removed'";

static enum err run_integration_removal_job(struct call *call, const struct job *job)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND, BIND(v_id(job->key)), &row, &found);

    /* The integration is missing if it was deleted together with its guild. */
    return e || !found
               ? e
               : delete_some_integration_rows(call, job->key, row_id(&row, 0), row_id(&row, 1));
}

const struct job_kind integration_removal_job = {
    .name = "integration-removal",
    .doc = "Deletes the remaining rows of a deleted platform integration.",
    .run = run_integration_removal_job,
};
