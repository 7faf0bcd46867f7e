/* reports.c - operator commands for messages that users reported. */
#include "platform/reports/reports.h"

#include "admin/orders/internal.h"

/* Writes all columns; a list uses only the first ones. */
static void show_report(struct order *o, const struct report *r)
{
    ORDER_ROW(o, v_id(r->id), v_int(snowflake_ms(r->id) * 1000), v_text(r->reason),
              v_id(r->channel_id), v_id(r->message_id), v_id(r->author_id), v_id(r->reporter_id),
              v_id(r->guild_id), v_text(r->comment), v_int(r->closed_at), v_text(r->resolution),
              v_text(r->snapshot));
}

enum err order_report_list(struct call *call, struct order *o)
{
    struct list all;
    enum err e = reports_open(call->tx, o->after, o->limit, &all);

    for (size_t i = 0; !e && i < all.count; i++)
        show_report(o, &((struct report *)all.items)[i]);
    return e;
}

static enum err order_report(struct call *call, struct order *o, struct report *ret)
{
    snowflake id;
    enum err e = snowflake_parse(o->words[0], &id) ? report_find(call->tx, id, ret) : ERR_NOT_FOUND;

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no report with that id; report list prints those that are open";
    return e;
}

enum err order_report_show(struct call *call, struct order *o)
{
    struct report r;
    enum err e = order_report(call, o, &r);

    if (!e)
        show_report(o, &r);
    return e;
}

enum err order_report_close(struct call *call, struct order *o)
{
    struct report r;
    enum err e = order_report(call, o, &r);

    if (!e)
        e = report_close(call->tx, r.id, o->uid, o->count > 1 ? o->words[1] : STR(""));
    if (!e)
        ORDER_ROW(o, v_id(r.id), v_cstr("closed"));
    return e;
}
