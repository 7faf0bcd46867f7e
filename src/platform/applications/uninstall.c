/* uninstall.c - taking an app out of a guild, with all it brought. */
#include "platform/applications/internal.h"

#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/webhooks/webhooks.h"

static enum err gather(struct tx *tx, const char *sql, snowflake guild_id, snowflake id,
                       struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, BIND(v_id(guild_id), v_id(id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), ret, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}

static const char CHANNELS_WITH_WEBHOOKS[] =
    "select distinct channel_id from webhooks where guild_id = $1 and application_id = $2";
static const char DELETE_WEBHOOKS[] =
    "delete from webhooks where guild_id = $1 and application_id = $2";

static enum err remove_webhooks(struct call *call, snowflake guild_id, snowflake application_id)
{
    struct list channels;
    enum err e = gather(call->tx, CHANNELS_WITH_WEBHOOKS, guild_id, application_id, &channels);

    for (size_t i = 0; i < channels.count && !e; i++)
        webhooks_announce(call, guild_id, ((const snowflake *)channels.items)[i]);
    if (e || !channels.count)
        return e;
    return tx_exec(call->tx, DELETE_WEBHOOKS, BIND(v_id(guild_id), v_id(application_id)), NULL);
}

static const char BOT_ROLES[] =
    "select id from roles where guild_id = $1 and bot_id = $2 and managed = 1";

static enum err remove_role(struct call *call, snowflake guild_id, snowflake role_id)
{
    struct guild_role_gone gone = { guild_id, role_id };
    struct role role;

    enum err e = role_find(call->tx, guild_id, role_id, &role);
    if (!e)
        e = role_delete(call->tx, &role);
    if (!e)
        call_emit(call, EVENT_GUILD_ROLE_DELETE, to_guild(guild_id), &guild_role_gone_schema,
                  &gone);
    return e;
}

static enum err remove_bot(struct call *call, snowflake guild_id, snowflake bot_id)
{
    struct member member;
    enum err e = member_find(call->tx, guild_id, bot_id, &member);

    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return member_leave(call, guild_id, bot_id);
}

static const char FIND_INTEGRATION[] = "select id from integrations where guild_id = $1 and "
                                       "application_id = $2 and type = 'service'";
static const char DELETE_INTEGRATION[] = "delete from integrations where id = $1";

/* False: it is not there. The events name who leaves, so they come first. */
static enum err remove_integration(struct call *call, snowflake guild_id, snowflake application_id,
                                   bool *ret_found)
{
    struct integrations_ref guild = { guild_id };
    struct integration_gone gone = { .guild_id = guild_id, .application_id = application_id };
    struct subject managers = to_entitled(guild_id, 0, PERMISSION(MANAGE_GUILD));
    struct rows row;

    enum err e = tx_one(call->tx, FIND_INTEGRATION, BIND(v_id(guild_id), v_id(application_id)),
                        &row, ret_found);
    if (e || !*ret_found)
        return e;
    gone.id = row_id(&row, 0);
    call_emit(call, EVENT_GUILD_INTEGRATIONS_UPDATE, managers, &integrations_ref_schema, &guild);
    call_emit(call, EVENT_INTEGRATION_DELETE, managers, &integration_gone_schema, &gone);
    return tx_exec(call->tx, DELETE_INTEGRATION, BIND(v_id(gone.id)), NULL);
}

enum err application_uninstall_guild(struct call *call, snowflake application_id,
                                     snowflake guild_id)
{
    struct integrations_ref guild = { guild_id };
    struct application a;
    struct list roles;
    bool found = false;

    enum err e = application_find(call->tx, application_id, &a);
    if (!e)
        e = remove_integration(call, guild_id, application_id, &found);
    if (e || !found)
        return e;
    e = remove_bot(call, guild_id, a.bot_id);
    if (!e)
        e = remove_webhooks(call, guild_id, application_id);
    if (!e)
        e = gather(call->tx, BOT_ROLES, guild_id, a.bot_id, &roles);
    for (size_t i = 0; !e && i < roles.count; i++)
        e = remove_role(call, guild_id, ((const snowflake *)roles.items)[i]);
    if (!e)
        call_emit(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, to_guild(guild_id),
                  &integrations_ref_schema, &guild);
    return e;
}
