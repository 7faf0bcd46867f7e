/* delete.c - the end of an integration, and of all that came with it. */
#include "integrations/internal.h"

#include "platform/guilds/guilds.h"

static const char DELETE_COMMANDS[] =
    "delete from commands where guild_id = $1 and application_id = $2";
static const char DELETE_LIST[] =
    "delete from command_lists where guild_id = $1 and application_id = $2";
static const char DELETE_PERMISSIONS[] =
    "delete from command_permissions where guild_id = $1 and application_id = $2";

/* An app whose bot only left keeps them for when it comes back; one that was removed does
 * not. */
static enum err delete_commands(struct tx *tx, const struct integration_row *i)
{
    struct value guild = v_id(i->guild_id), app = v_id(i->application_id);
    enum err e = tx_exec(tx, DELETE_PERMISSIONS, BIND(guild, app), NULL);

    if (!e)
        e = tx_exec(tx, DELETE_LIST, BIND(guild, app), NULL);
    return e ? e : tx_exec(tx, DELETE_COMMANDS, BIND(guild, app), NULL);
}

static enum err delete_app(struct call *call, const struct integration_row *i)
{
    enum err e = delete_commands(call->tx, i);

    return e ? e : application_uninstall_guild(call, i->application_id, i->guild_id);
}

/* Those of apps stay for now: they tell the indexes of the members' own channels what changes. */
static const char MARK_OF_GUILD[] =
    "update integrations set type = 'removed', account_id = null, enabled = 0 "
    "where guild_id = $1 and type <> 'service'";

enum err integrations_mark_of_guild(struct call *call, snowflake guild_id)
{
    return tx_exec(call->tx, MARK_OF_GUILD, BIND(v_id(guild_id)), NULL);
}

/* DELETE /guilds/{guild.id}/integrations/{integration.id} */
enum err delete_integration(struct call *call)
{
    const struct integration_row *i = call->target.integration;
    enum err e;

    if (i->application_id)
        e = delete_app(call, i);
    else if (i->platform != PLATFORM_NONE)
        e = removal_begin(call, i);
    else
        e = ERR_SUBSCRIPTION_INTEGRATION;
    return e ? e : integration_audit(call, i, NULL);
}
