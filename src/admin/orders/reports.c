/* reports.c - orders about messages that people have reported. */
#include "platform/reports/reports.h"

#include "base/timestamp.h"
#include "admin/orders/internal.h"

static void show_report(struct order *o, const struct report *r)
{
    char made[TIMESTAMP_TEXT];

    timestamp_format(snowflake_ms(r->id) * 1000, made);
    order_id(o, r->id);
    order_text(o, str_of(made));
    order_text(o, r->reason);
    order_id(o, r->channel_id);
    order_id(o, r->message_id);
    order_id(o, r->author_id);
    order_id(o, r->reporter_id);
}

static const char SHORT_COLUMNS[] =
    "$id\t$made\t$reason\t$channel\t$message\t$author_id\t$reporter_id";

enum err order_report_list(struct call *call, struct order *o)
{
    struct list all;
    enum err e = reports_open(call->tx, o->after, o->limit, &all);

    order_columns(o, SHORT_COLUMNS);
    for (size_t i = 0; !e && i < all.count; i++) {
        show_report(o, &((struct report *)all.items)[i]);
        order_row_end(o);
    }
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
    char closed[TIMESTAMP_TEXT] = "";
    enum err e = order_report(call, o, &r);

    if (e)
        return e;
    if (r.closed_at)
        timestamp_format(r.closed_at, closed);
    order_columns(o, "$id\t$made\t$reason\t$channel\t$message\t$author_id\t$reporter_id\t$guild\t"
                     "$comment\t$closed\t$resolution\t$snapshot");
    show_report(o, &r);
    order_id(o, r.guild_id);
    order_text(o, r.comment);
    order_text(o, str_of(closed));
    order_text(o, r.resolution);
    order_text(o, r.snapshot);
    order_row_end(o);
    return OK;
}

enum err order_report_close(struct call *call, struct order *o)
{
    struct report r;
    enum err e = order_report(call, o, &r);

    if (!e)
        e = report_close(call->tx, r.id, o->uid, o->count > 1 ? o->words[1] : STR(""));
    if (e)
        return e;
    order_columns(o, "$id\t$state");
    order_id(o, r.id);
    order_text(o, STR("closed"));
    order_row_end(o);
    return OK;
}
