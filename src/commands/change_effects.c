/* change_effects.c - effects of a command change: index events, bundle, application flags. */
#include "commands/internal.h"

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "commands/index/bundle.h"
#include "commands/form_errors.h"
#include "commands/index/index_invalidation.h"
#include "platform/applications/applications.h"

/* --- index update events -------------------------------------------------------------- */

void emit_command_index_update(struct call *call, snowflake guild_id)
{
    struct guild_integrations_event guild = { guild_id };

    call_emit_event(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, audience_of_guild(guild_id),
                    &guild_integrations_event_schema, &guild);
}

enum { GUILDS_A_STEP = 500 };

static const char GUILDS_WITH[] =
    "select guild_id from integrations where application_id = $1 and guild_id > $2 and "
    "type = 'service' order by guild_id limit $3";

/* Emits the index update event to the application's next GUILDS_A_STEP guilds. A job continues
 * after the last guild of the step; if commands change again meanwhile, it restarts at the first
 * guild. */
static enum err emit_index_update_to_guilds(struct call *call, snowflake application_id,
                                            snowflake after)
{
    int64_t emitted = 0;
    struct rows rows;
    enum err e = tx_query(call->tx, GUILDS_WITH,
                          BIND(v_id(application_id), v_id(after), v_int(GUILDS_A_STEP)), &rows);

    if (e)
        return e;
    for (; rows_next(&rows); emitted++) {
        after = row_id(&rows, 0);
        emit_command_index_update(call, after);
    }
    e = rows_end(&rows);
    if (e || emitted < GUILDS_A_STEP)
        return e;
    return job_schedule(call, &command_index_update_job, application_id, clock_us(),
                        str_printf(call->arena, "%llu", (unsigned long long)after));
}

static const char UPDATE_EMITTED_AT[] = "update command_indexes set told_at = $2 where id = $1";

static enum err emit_index_updates_now(struct call *call, snowflake application_id)
{
    enum err e = emit_index_update_to_guilds(call, application_id, 0);

    return e ? e
             : tx_exec(call->tx, UPDATE_EMITTED_AT, BIND(v_id(application_id), v_int(clock_us())),
                       NULL);
}

static enum err run_index_update_job(struct call *call, const struct job *job)
{
    snowflake after;

    if (snowflake_parse(job->data, &after))
        return emit_index_update_to_guilds(call, job->key, after);
    return emit_index_updates_now(call, job->key);
}

const struct job_kind command_index_update_job = {
    .name = "command_news",
    .doc = "Sends guilds the event that global commands of an application have changed.",
    .run = run_index_update_job,
};

static const char READ_EMITTED_AT[] = "select told_at from command_indexes where id = $1";

/* Emits the index update event immediately, then at most once per second, because bots change many
 * global commands in a row. */
static enum err emit_index_updates_rate_limited(struct call *call, snowflake application_id)
{
    enum { SECOND_US = 1000 * 1000 };
    int64_t n = 0;

    enum err e = tx_read_int(call->tx, READ_EMITTED_AT, BIND(v_id(application_id)), &n);
    if (e)
        return e;
    int64_t next = n + SECOND_US;
    if (clock_us() >= next)
        return emit_index_updates_now(call, application_id);
    return job_schedule(call, &command_index_update_job, application_id, next, STR(""));
}

/* --- flags of the application --------------------------------------------------------- */

static const char HAS_GLOBAL[] =
    "select count(*) from commands where application_id = $1 and guild_id = 0";
static const char SET_FLAGS[] = "update applications set flags = $2 where id = $1";

/* Sets or clears the application's flag that says whether it has global commands. */
static enum err update_global_commands_flag(struct tx *tx, const struct application *a)
{
    int64_t n = 0;

    enum err e = tx_read_int(tx, HAS_GLOBAL, BIND(v_id(a->id)), &n);
    if (e)
        return e;
    int64_t flags = a->flags & ~(int64_t)APPLICATION_COMMAND_BADGE;
    if (n)
        flags |= APPLICATION_COMMAND_BADGE;
    if (flags == a->flags)
        return OK;
    return tx_exec(tx, SET_FLAGS, BIND(v_id(a->id), v_int(flags)), NULL);
}

enum err update_command_bundle_and_indexes(struct tx *tx, struct form *form,
                                           const struct json_path *here,
                                           const struct application *a, snowflake guild_id)
{
    size_t grown;
    enum err e = rewrite_command_bundle(tx, a->id, guild_id, &grown);

    if (!e && grown > COMMANDS_MAX_BYTES) {
        form_add_error(form, here, FORM_ALL_TOO_LARGE, (int)COMMANDS_MAX_BYTES);
        return ERR_INVALID_FORM_BODY;
    }
    if (!e)
        e = invalidate_command_index(tx, guild_id ? guild_id : a->id);
    return e || guild_id ? e : update_global_commands_flag(tx, a);
}

enum err update_command_bundle_and_emit_index_update(struct call *call, const struct application *a,
                                                     snowflake guild_id)
{
    enum err e = update_command_bundle_and_indexes(call->tx, &call->form, NULL, a, guild_id);

    if (e)
        return e;
    if (!guild_id)
        return emit_index_updates_rate_limited(call, a->id);
    emit_command_index_update(call, guild_id);
    return OK;
}
