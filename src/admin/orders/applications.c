/* applications.c - operator commands that change applications and their bots. */
#include "platform/applications/applications.h"

#include "admin/orders/internal.h"

enum err order_app_token(struct call *call, struct order *o)
{
    struct application a;
    struct str token;
    snowflake id;
    enum err e = snowflake_parse(o->words[0], &id) ? application_find(call->tx, id, &a)
                                                   : ERR_UNKNOWN_APPLICATION;

    if (e)
        return e == ERR_UNKNOWN_APPLICATION ? order_refuse(o, e, o->row->unknown) : e;
    if (!a.bot_id)
        return order_refuse(o, ERR_BAD_REQUEST, "that application has no bot");
    e = application_renew_token(call->tx, api_options(call->api)->auth, &a, &token);
    if (e)
        return e;
    call_forget_account(call, a.bot_id);
    ORDER_ROW(o, v_id(a.id), v_text(STR_CONCAT(call->arena, STR("Bot "), token)));
    return OK;
}
