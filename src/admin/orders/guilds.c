/* guilds.c - operator commands that change guilds. */
#include "platform/guilds/guilds.h"

#include "admin/orders/internal.h"

static enum err order_guild(struct call *call, struct order *o, struct guild *ret)
{
    snowflake id;
    enum err e =
        snowflake_parse(o->words[0], &id) ? guild_find(call->tx, id, ret) : ERR_UNKNOWN_GUILD;

    return e == ERR_UNKNOWN_GUILD ? order_refuse(o, e, o->row->unknown) : e;
}

static enum err order_guild_done(struct order *o, const struct guild *g, const char *state)
{
    ORDER_ROW(o, v_id(g->id), v_text(g->name), v_cstr(state));
    return OK;
}

enum err order_guild_owner(struct call *call, struct order *o)
{
    struct guild g;
    struct user u;
    enum err e = order_guild(call, o, &g);

    if (!e)
        e = order_user(call, o, 1, &u);
    if (!e)
        e = guild_give(call, &g, u.id);
    if (e == ERR_UNKNOWN_MEMBER)
        o->problem = "that account is not in the guild";
    return e ? e : order_guild_done(o, &g, "has another owner");
}

enum err order_guild_delete(struct call *call, struct order *o)
{
    struct guild g;
    enum err e = order_guild(call, o, &g);

    if (!e)
        e = guild_end(call, g.id);
    return e ? e : order_guild_done(o, &g, "deleted");
}
