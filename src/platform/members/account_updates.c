/* account_updates.c - emits a changed account (name, avatar …) to all of its guilds.
 *
 * A bot may be in very many guilds: the API call emits to the first guilds, and a job to the others
 * in steps. Each step also updates the account's searchable names in these guilds. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/members/internal.h"

enum { GUILDS_A_STEP = 200 };

static const char GUILDS_AFTER[] =
    "select guild_id from members where user_id = $1 and guild_id > $2 order by guild_id limit $3";

static enum err list_guilds_of_user_after_id(struct tx *tx, snowflake user_id, snowflake after,
                                             struct list *ret)
{
    return tx_read_ids(tx, GUILDS_AFTER, BIND(v_id(user_id), v_id(after), v_int(GUILDS_A_STEP)),
                       ret);
}

static enum err emit_member_update(struct call *call, snowflake guild_id, const struct user *user)
{
    struct member m;
    enum err e = member_find(call->tx, guild_id, user->id, &m);

    m.user = user;
    if (!e)
        call_emit_event(call, EVENT_GUILD_MEMBER_UPDATE, audience_of_guild(guild_id),
                        &guild_member_schema, &m);
    return e ? e : member_update_search_names(call->tx, guild_id, user);
}

/* Emits GUILD_MEMBER_UPDATE to the next guilds whose ids are above `after`. If guilds remain,
 * schedules a job; the job's data is the id of the last guild. */
static enum err emit_member_update_batch(struct call *call, const struct user *user,
                                         snowflake after)
{
    struct list guilds = { 0 };
    enum err e = list_guilds_of_user_after_id(call->tx, user->id, after, &guilds);
    const snowflake *ids = guilds.items;

    for (size_t i = 0; !e && i < guilds.count; i++)
        e = emit_member_update(call, ids[i], user);
    if (e || guilds.count < GUILDS_A_STEP)
        return e;
    return job_schedule(call, &account_emit_job, user->id, clock_us(),
                        str_printf(call->arena, "%llu", (unsigned long long)ids[guilds.count - 1]));
}

static enum err run_account_emit_job(struct call *call, const struct job *job)
{
    struct user user;
    snowflake after = 0;
    enum err e = user_find(call->tx, job->key, &user);

    if (e == ERR_UNKNOWN_USER || !snowflake_parse(job->data, &after))
        return OK;
    return e ? e : emit_member_update_batch(call, &user, after);
}

const struct job_kind account_emit_job = {
    .name = "account-spread",
    .doc = "Emits a changed account to all guilds that it is in.",
    .run = run_account_emit_job,
};

enum err account_update_emit_to_guilds(struct call *call, const struct user *user)
{
    return emit_member_update_batch(call, user, 0);
}
