/* applications.c - orders about applications and their bots. */
#include "platform/applications/applications.h"

#include "admin/orders/internal.h"

static const char APPS_AFTER[] =
    "select a.id, a.name, u.username, coalesce(b.username, '') from applications a join users u on "
    "u.id = a.owner_id left join users b on b.id = a.bot_id where a.removed = 0 and a.id > $1 "
    "order by a.id limit $2";
static const char APP_SHOWN[] =
    "select a.id, a.name, u.username, coalesce(b.username, ''), "
    "coalesce(a.interactions_endpoint_url, ''), "
    "(select count(*) from members m where m.user_id = a.bot_id), "
    "(select count(*) from commands c where c.application_id = a.id) "
    "from applications a join users u on u.id = a.owner_id left join users b on b.id = a.bot_id "
    "where a.removed = 0 and a.id = $1";

static void show_app(struct order *o, const struct rows *r)
{
    order_id(o, row_id(r, 0));
    for (int i = 1; i <= 3; i++)
        order_text(o, row_text(r, i));
}

enum err order_app_list(struct call *call, struct order *o)
{
    struct rows rows;
    enum err e = tx_query(call->tx, APPS_AFTER, BIND(v_id(o->after), v_int(o->limit)), &rows);

    if (e)
        return e;
    order_columns(o, "$id\t$name\t$owner\t$bot");
    while (rows_next(&rows)) {
        show_app(o, &rows);
        order_row_end(o);
    }
    return rows_end(&rows);
}

static enum err unknown_app(struct order *o)
{
    o->problem = "there is no application with that id";
    return ERR_UNKNOWN_APPLICATION;
}

enum err order_app_show(struct call *call, struct order *o)
{
    struct rows row;
    snowflake id;
    bool found;

    if (!snowflake_parse(o->words[0], &id))
        return unknown_app(o);
    enum err e = tx_one(call->tx, APP_SHOWN, BIND(v_id(id)), &row, &found);
    if (e || !found)
        return e ? e : unknown_app(o);
    order_columns(o, "$id\t$name\t$owner\t$bot\t$endpoint\t#guilds\t#commands");
    show_app(o, &row);
    order_text(o, row_text(&row, 4));
    order_int(o, row_int(&row, 5));
    order_int(o, row_int(&row, 6));
    order_row_end(o);
    return OK;
}

enum err order_app_token(struct call *call, struct order *o)
{
    struct application a;
    struct str token;
    snowflake id;
    enum err e = snowflake_parse(o->words[0], &id) ? application_find(call->tx, id, &a)
                                                   : ERR_UNKNOWN_APPLICATION;

    if (e)
        return e == ERR_UNKNOWN_APPLICATION ? unknown_app(o) : e;
    if (!a.bot_id) {
        o->problem = "that application has no bot";
        return ERR_BAD_REQUEST;
    }
    e = application_renew_token(call->tx, api_options(call->api)->auth, &a, &token);
    if (e)
        return e;
    call_forget_account(call, a.bot_id);
    order_columns(o, "$id\t$token");
    order_id(o, a.id);
    order_text(o, STR_CONCAT(call->arena, STR("Bot "), token));
    order_row_end(o);
    return OK;
}
