/* guilds.c - orders about guilds. */
#include "platform/guilds/guilds.h"

#include "admin/orders/internal.h"

static const char GUILDS_AFTER[] =
    "select g.id, g.name, u.username, g.member_count from guilds g join users u on "
    "u.id = g.owner_id where g.removed = 0 and g.id > $1 order by g.id limit $2";
static const char GUILD_SHOWN[] =
    "select g.id, g.name, u.username, g.member_count, "
    "(select count(*) from channels c where c.guild_id = g.id and c.thread_archived = 0), "
    "(select count(*) from roles r where r.guild_id = g.id) "
    "from guilds g join users u on u.id = g.owner_id where g.removed = 0 and g.id = $1";

static void show_guild(struct order *o, const struct rows *r)
{
    order_id(o, row_id(r, 0));
    order_text(o, row_text(r, 1));
    order_text(o, row_text(r, 2));
    order_int(o, row_int(r, 3));
}

enum err order_guild_list(struct call *call, struct order *o)
{
    struct rows rows;
    enum err e = tx_query(call->tx, GUILDS_AFTER, BIND(v_id(o->after), v_int(o->limit)), &rows);

    if (e)
        return e;
    order_columns(o, "$id\t$name\t$owner\t#members");
    while (rows_next(&rows)) {
        show_guild(o, &rows);
        order_row_end(o);
    }
    return rows_end(&rows);
}

static enum err unknown_guild(struct order *o)
{
    o->problem = "there is no guild with that id";
    return ERR_UNKNOWN_GUILD;
}

enum err order_guild_show(struct call *call, struct order *o)
{
    struct rows row;
    snowflake id;
    bool found;

    if (!snowflake_parse(o->words[0], &id))
        return unknown_guild(o);
    enum err e = tx_one(call->tx, GUILD_SHOWN, BIND(v_id(id)), &row, &found);
    if (e || !found)
        return e ? e : unknown_guild(o);
    order_columns(o, "$id\t$name\t$owner\t#members\t#channels\t#roles");
    show_guild(o, &row);
    order_int(o, row_int(&row, 4));
    order_int(o, row_int(&row, 5));
    order_row_end(o);
    return OK;
}

static enum err order_guild(struct call *call, struct order *o, struct guild *ret)
{
    snowflake id;
    enum err e =
        snowflake_parse(o->words[0], &id) ? guild_find(call->tx, id, ret) : ERR_UNKNOWN_GUILD;

    return e == ERR_UNKNOWN_GUILD ? unknown_guild(o) : e;
}

static enum err order_guild_done(struct order *o, const struct guild *g, const char *state)
{
    order_columns(o, "$id\t$name\t$state");
    order_id(o, g->id);
    order_text(o, g->name);
    order_text(o, str_of(state));
    order_row_end(o);
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
