/* delete_integration.c - deletes integrations. */
#include "integrations/internal.h"

#include "api/hooks.h"
#include "platform/guilds/guilds.h"

static enum err uninstall_guild_app(struct call *call, const struct integration_row *i)
{
    enum err e = hook_guild_app_removed(
        call, &(struct guild_app_installation){ .guild_id = i->guild_id,
                                                .application_id = i->application_id });

    return e ? e : application_uninstall_from_guild(call, i->application_id, i->guild_id);
}

/* Marks the platform integrations of a deleted guild as removed. The rows of apps stay unchanged,
 * because the invalidation of command indexes reads them. */
static const char MARK_OF_GUILD[] =
    "update integrations set type = 'removed', account_id = null, enabled = 0 "
    "where guild_id = $1 and type <> 'service'";

enum err mark_guild_integrations_removed(struct call *call, snowflake guild_id)
{
    return tx_exec(call->tx, MARK_OF_GUILD, BIND(v_id(guild_id)), NULL);
}

/* DELETE /guilds/{guild.id}/integrations/{integration.id} */
enum err delete_integration(struct call *call)
{
    const struct integration_row *i = call->target.integration;
    enum err e;

    if (i->application_id)
        e = uninstall_guild_app(call, i);
    else if (i->platform != PLATFORM_NONE)
        e = begin_integration_removal(call, i);
    else
        e = ERR_SUBSCRIPTION_INTEGRATION;
    return e ? e : record_integration_audit_entry(call, i, NULL);
}
