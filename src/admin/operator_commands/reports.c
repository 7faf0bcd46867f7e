/* reports.c - operator commands for messages that users reported. */
#include "platform/reports/reports.h"

#include "admin/operator_commands/internal.h"

/* Adds an output row of a report with all columns; a list outputs only the first columns. */
static void add_report_row(struct running_operator_command *o, const struct message_report *r)
{
    OPERATOR_ROW(o, v_id(r->id), v_int(snowflake_to_ms(r->id) * 1000), v_text(r->reason),
                 v_id(r->channel_id), v_id(r->message_id), v_id(r->author_id), v_id(r->reporter_id),
                 v_id(r->guild_id), v_text(r->comment), v_int(r->closed_at), v_text(r->resolution),
                 v_text(r->snapshot));
}

enum err operator_report_list(struct call *call, struct running_operator_command *o)
{
    struct list all;
    enum err e = list_open_reports(call->tx, o->after, o->limit, &all);

    for (size_t i = 0; !e && i < all.count; i++)
        add_report_row(o, &((struct message_report *)all.items)[i]);
    return e;
}

static enum err operator_find_report(struct call *call, struct running_operator_command *o,
                                     struct message_report *ret)
{
    snowflake id;
    enum err e = snowflake_parse(o->words[0], &id) ? report_find(call->tx, id, ret) : ERR_NOT_FOUND;

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no report with this id; 'report list' prints the open ones";
    return e;
}

enum err operator_report_show(struct call *call, struct running_operator_command *o)
{
    struct message_report r;
    enum err e = operator_find_report(call, o, &r);

    if (!e)
        add_report_row(o, &r);
    return e;
}

enum err operator_report_close(struct call *call, struct running_operator_command *o)
{
    struct message_report r;
    enum err e = operator_find_report(call, o, &r);

    if (!e)
        e = report_close_with_resolution(call->tx, r.id, o->uid,
                                         o->count > 1 ? o->words[1] : STR(""));
    if (!e)
        OPERATOR_ROW(o, v_id(r.id), v_cstr("closed"));
    return e;
}
