/* guilds.c - operator commands that change guilds. */
#include "platform/guilds/guilds.h"

#include "admin/operator_commands/internal.h"

static enum err operator_find_guild(struct call *call, struct operator_command *o,
                                    struct guild *ret)
{
    snowflake id;
    enum err e =
        snowflake_parse(o->words[0], &id) ? guild_find(call->tx, id, ret) : ERR_UNKNOWN_GUILD;

    return e == ERR_UNKNOWN_GUILD ? operator_command_refuse(o, e, o->row->unknown) : e;
}

static enum err add_guild_state_row(struct operator_command *o, const struct guild *g,
                                    const char *state)
{
    OPERATOR_ROW(o, v_id(g->id), v_text(g->name), v_cstr(state));
    return OK;
}

enum err operator_guild_set_owner(struct call *call, struct operator_command *o)
{
    struct guild g;
    struct user u;
    enum err e = operator_find_guild(call, o, &g);

    if (!e)
        e = operator_find_user(call, o, 1, &u);
    if (!e)
        e = guild_transfer_ownership(call, &g, u.id);
    if (e == ERR_UNKNOWN_MEMBER)
        o->problem = "this account is not a member of the guild";
    return e ? e : add_guild_state_row(o, &g, "has another owner");
}

enum err operator_guild_delete(struct call *call, struct operator_command *o)
{
    struct guild g;
    enum err e = operator_find_guild(call, o, &g);

    if (!e)
        e = guild_delete(call, g.id);
    return e ? e : add_guild_state_row(o, &g, "deleted");
}
