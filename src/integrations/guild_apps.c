/* guild_apps.c - routes of apps in guilds: migrate-command-scope, and the apps in the caller's
 * guilds. */
#include "integrations/internal.h"

#include "api/hooks.h"

static bool integration_lacks_commands_scope(const struct integration_row *i)
{
    return i->application_id && scope_list_contains(&i->scopes, "bot") &&
           !scope_list_contains(&i->scopes, "applications.commands");
}

/* Adds applications.commands to a copy of the integration's scopes, because a list that was read
 * from the store must not grow. */
static void integration_add_commands_scope(struct arena *arena, struct integration_row *i)
{
    struct list scopes = { 0 };

    for (size_t n = 0; n < i->scopes.count; n++)
        *(struct str *)list_append(arena, &scopes, sizeof(struct str)) =
            ((const struct str *)i->scopes.items)[n];
    *(struct str *)list_append(arena, &scopes, sizeof(struct str)) = STR("applications.commands");
    i->scopes = scopes;
}

static enum err emit_migrated_integration(struct call *call, const struct integration_row *i,
                                          bool first)
{
    struct guild_integrations_event guild = { i->guild_id };
    struct audience managers =
        audience_of_members_with_permission(i->guild_id, 0, PERMISSION(MANAGE_GUILD));
    struct integration object;
    enum err e = read_application_and_build_integration(call->tx, i, &object);

    if (e)
        return e;
    if (first)
        call_emit_event(call, EVENT_GUILD_INTEGRATIONS_UPDATE, managers,
                        &guild_integrations_event_schema, &guild);
    call_emit_event(call, EVENT_INTEGRATION_UPDATE, managers, &integration_event_schema, &object);
    return OK;
}

static bool integration_rows_contain_id(const struct list *rows, snowflake id)
{
    for (size_t n = 0; n < rows->count; n++)
        if (((const struct integration_row *)rows->items)[n].id == id)
            return true;
    return false;
}

/* Replies with the integrations that were migrated and that now have usable commands in the
 * guild. */
static enum err reply_migrated_integrations(struct call *call, const struct list *migrated)
{
    snowflake guild_id = call->target.guild->id;
    struct guild_integrations_event guild = { guild_id };
    struct migrated_integrations reply = { 0 };
    struct list usable = { 0 };
    enum err e =
        migrated->count ? read_integrations_of_guild(call->tx, guild_id, true, &usable) : OK;

    if (e)
        return e;
    for (size_t n = 0; n < usable.count; n++) {
        snowflake id = ((const struct integration_row *)usable.items)[n].id;

        if (integration_rows_contain_id(migrated, id))
            *(snowflake *)list_append(call->arena, &reply.integration_ids_with_app_commands,
                                      sizeof id) = id;
    }
    if (migrated->count)
        e = hook_command_index_changed(call, guild_id);
    if (e)
        return e;
    if (migrated->count)
        call_emit_event(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                        audience_of_guild(guild_id), &guild_integrations_event_schema, &guild);
    return call_reply_with_object(call, &reply);
}

enum err migrate_command_scope(struct call *call)
{
    struct list rows, migrated = { 0 };
    enum err e = read_integrations_of_guild(call->tx, call->target.guild->id, false, &rows);

    for (size_t n = 0; !e && n < rows.count; n++) {
        struct integration_row *i = (struct integration_row *)rows.items + n;

        if (!integration_lacks_commands_scope(i))
            continue;
        integration_add_commands_scope(call->arena, i);
        e = update_integration_scopes(call->tx, i);
        if (!e)
            e = hook_guild_app_changing(
                call, &(struct guild_app_installation){ i->guild_id, i->application_id });
        if (!e)
            e = emit_migrated_integration(call, i, !migrated.count);
        *(struct integration_row *)list_append(call->arena, &migrated, sizeof *i) = *i;
    }
    return e ? e : reply_migrated_integrations(call, &migrated);
}

static const char APPS_OF_GUILDS[] =
    "select m.guild_id, i.application_id from members m "
    "join guilds g on g.id = m.guild_id and g.removed = 0 left join integrations i "
    "on i.guild_id = m.guild_id and i.type = 'service' and " APP_NOT_REMOVED "where m.user_id = $1 "
    "order by m.guild_id, i.application_id";

enum err list_application_ids(struct call *call)
{
    struct list guilds = { 0 };
    struct guild_applications *g = NULL;
    snowflake guild_id = 0, last = 0;
    struct rows rows;

    enum err e = tx_query(call->tx, APPS_OF_GUILDS, BIND(v_id(call->caller->id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        if (row_id(&rows, 0) != guild_id) {
            guild_id = row_id(&rows, 0);
            last = 0;
            g = list_append(call->arena, &guilds, sizeof *g);
            g->key = str_printf(call->arena, "%llu", (unsigned long long)guild_id);
        }
        /* Skip duplicates, which are adjacent. If the guild has no app, the id is 0. */
        if (row_id(&rows, 1) != last) {
            last = row_id(&rows, 1);
            *(snowflake *)list_append(call->arena, &g->applications, sizeof last) = last;
        }
    }
    e = rows_end(&rows);
    return e ? e : call_reply_with_object(call, &guilds);
}
