/* deletion.c - deletes guilds and roles, in steps. */
#include "platform/guilds/deletion.h"

#include "api/hooks.h"

/* Marks a role as being deleted: it grants no permissions and no longer belongs to a bot or
 * integration. */
static const char MARK_ROLE[] =
    "update roles set position = -1, permissions = 0, hoist = 0, managed = 0, bot_id = null, "
    "integration_id = null where id = $1";

enum err role_mark_deleted_and_run_deletion(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_ROLE, BIND(v_id(id)), NULL);

    return e ? e : deletion_run_step(call, &role_deletion_job, WITH_ROLE, id);
}

static enum err run_role_deletion_job(struct call *call, const struct job *job)
{
    bool found;
    enum err e = tx_exists(call->tx, "select 1 from roles where id = $1 and position < 0",
                           BIND(v_id(job->key)), &found);

    return e || !found ? e : deletion_run_step(call, job->kind, WITH_ROLE, job->key);
}

const struct job_kind role_deletion_job = {
    .name = "role-leftovers",
    .doc = "Removes a deleted role from its members.",
    .run = run_role_deletion_job,
};

/* --- deletion of guilds -------------------------------------------------------------- */

static const char MARK_GUILD[] = "update guilds set removed = 1, vanity_code = null where id = $1";

enum err guild_mark_deleted_and_run_deletion(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_GUILD, BIND(v_id(id)), NULL);

    if (!e)
        e = hook_guild_deleted(call, id);
    return e ? e : deletion_run_step(call, &guild_deletion_job, WITH_GUILD, id);
}

static enum err run_guild_deletion_job(struct call *call, const struct job *job)
{
    bool found;
    enum err e = tx_exists(call->tx, "select 1 from guilds where id = $1 and removed = 1",
                           BIND(v_id(job->key)), &found);

    return e || !found ? e : deletion_run_step(call, job->kind, WITH_GUILD, job->key);
}

const struct job_kind guild_deletion_job = {
    .name = "guild-leftovers",
    .doc = "Deletes the remaining rows of a deleted guild.",
    .run = run_guild_deletion_job,
};

/* --- deletion rules --------------------------------------------------------------------- */

#define GUILD_PICTURE(area, column)                                                    \
    {                                                                                  \
        .with = WITH_GUILD, .table = "guilds", .phase = DELETE_LAST,                   \
        .mark = MARK_FILES(area, "id", column,                                         \
                           "select id, " column " from guilds where id = $1 limit $2") \
    }

const struct deletion_rule guild_deletions[] = {
    { DELETE_WHERE(WITH_GUILD, "audit_log", "id", "guild_id = $1 order by id") },
    { DELETE_WITH_FILE(WITH_GUILD, "roles", "role-icons", "icon", "guild_id = $1") },
    GUILD_PICTURE("icons", "icon"),
    GUILD_PICTURE("banners", "banner"),
    GUILD_PICTURE("splashes", "splash"),
    GUILD_PICTURE("discovery-splashes", "discovery_splash"),
    GUILD_PICTURE("home-headers", "home_header"),
    { DELETE_FEW(WITH_GUILD, "guilds", "id"), .phase = DELETE_LAST },
    { DELETE_FEW(WITH_ROLE, "roles", "id"), .phase = DELETE_LAST },
    { 0 },
};
