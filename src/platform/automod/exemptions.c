/* exemptions.c - removes deleted roles and channels from the exemptions of AutoMod rules. */
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/automod/internal.h"

static const char WITH_ROLE[] =
    "select id from automod_rules where guild_id = $1 and exempt_roles like $2";
static const char WITH_CHANNEL[] =
    "select id from automod_rules where guild_id = $1 and exempt_channels like $2";
static const char SET_EXEMPT[] =
    "update automod_rules set exempt_roles = $2, exempt_channels = $3 where id = $1";

static void remove_id_from_list(struct list *ids, snowflake id)
{
    snowflake *all = ids->items;
    size_t retained = 0;

    for (size_t i = 0; i < ids->count; i++)
        if (all[i] != id)
            all[retained++] = all[i];
    ids->count = retained;
}

/* Removes a role or channel from a rule's exemptions. The version number of the rules does not
 * change, because compiled rules do not contain exemptions. */
static enum err remove_exemption_from_rule(struct call *call, snowflake guild_id, snowflake rule_id,
                                           snowflake id)
{
    struct arena *a = call->arena;
    struct automod_rule r;
    enum err e = automod_rule_find(call->tx, guild_id, rule_id, &r);

    /* The SQL filter also matches longer ids that contain these digits, so check for the exact
     * id. */
    if (e || !(id_list_contains(&r.exempt_roles, id) || id_list_contains(&r.exempt_channels, id)))
        return e;
    remove_id_from_list(&r.exempt_roles, id);
    remove_id_from_list(&r.exempt_channels, id);
    e = tx_exec(call->tx, SET_EXEMPT,
                BIND(v_id(rule_id), v_text(json_column_encode(a, &type_ids, &r.exempt_roles)),
                     v_text(json_column_encode(a, &type_ids, &r.exempt_channels))),
                NULL);
    if (!e)
        automod_emit_rule_event(call, EVENT_AUTO_MODERATION_RULE_UPDATE, &r);
    return e;
}

static enum err remove_exemption_from_rules(struct call *call, struct sql sql, snowflake guild_id,
                                            snowflake id)
{
    struct list rules = { 0 };
    struct str like = str_printf(call->arena, "%%%llu%%", (unsigned long long)id);
    enum err e = tx_read_ids(call->tx, sql, BIND(v_id(guild_id), v_text(like)), &rules);

    for (size_t i = 0; !e && i < rules.count; i++)
        e = remove_exemption_from_rule(call, guild_id, ((const snowflake *)rules.items)[i], id);
    return e;
}

enum err automod_remove_exempt_role(struct call *call, const struct role *role)
{
    return remove_exemption_from_rules(call, SQL(WITH_ROLE), role->guild_id, role->id);
}

enum err automod_remove_exempt_channel(struct call *call, const struct channel *c)
{
    return remove_exemption_from_rules(call, SQL(WITH_CHANNEL), c->guild_id.value, c->id);
}
