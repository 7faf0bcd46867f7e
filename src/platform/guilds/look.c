/* look.c - who may bring a picture, asked before it is kept. */
#include "platform/guilds/internal.h"

/* In the order in which the handler's path is resolved. */
static enum err look(struct call *call, bool role)
{
    snowflake guild_id = call_id(call, "guild.id");
    struct standing s;
    struct role r;
    enum err e = standing_find(call->tx, guild_id, call->caller->id, &s);

    if (!e && role)
        e = role_find(call->tx, guild_id, call_id(call, "role.id"), &r);
    if (!e && (s.rights & call->route->needs) != call->route->needs)
        e = ERR_MISSING_PERMISSIONS;
    if (!e && role && !standing_above_role(&s, &r))
        e = ERR_MISSING_PERMISSIONS;
    return e;
}

enum err look_at_guild(struct call *call)
{
    return look(call, false);
}

enum err look_at_role(struct call *call)
{
    return look(call, true);
}
