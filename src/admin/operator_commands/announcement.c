/* announcement.c - operator commands for the announcement that all users see. */
#include "base/clock.h"
#include "platform/instance/instance.h"

#include "admin/operator_commands/internal.h"

enum { ANNOUNCEMENT_DAYS = 7, ANNOUNCEMENT_DAYS_MAX = 365 };

static void add_announcement_row(struct running_operator_command *o,
                                 const struct operator_announcement *a)
{
    OPERATOR_ROW(o, v_id(a->id), v_text(a->content), v_int(a->expires_at));
}

enum err operator_announcement_show(struct call *call, struct running_operator_command *o)
{
    struct operator_announcement a;
    enum err e = operator_announcement_read(call->tx, &a);

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no announcement; 'announcement set TEXT' creates one";
    if (!e)
        add_announcement_row(o, &a);
    return e;
}

enum err operator_announcement_set(struct call *call, struct running_operator_command *o)
{
    struct operator_announcement a = { snowflake_new(), o->words[0], 0 };
    int64_t days = ANNOUNCEMENT_DAYS;

    if (!a.content.n || a.content.n > ANNOUNCEMENT_MAX_BYTES)
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST, "TEXT has 1 to 2000 bytes");
    if (o->count > 1 &&
        (!str_to_i64(o->words[1], &days) || days < 1 || days > ANNOUNCEMENT_DAYS_MAX))
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                   "DAYS is a number from 1 to 365");
    a.expires_at = clock_us() + days * 86400 * INT64_C(1000000);
    enum err e = operator_announcement_replace(call->tx, &a);
    if (!e)
        add_announcement_row(o, &a);
    return e;
}

enum err operator_announcement_clear(struct call *call, struct running_operator_command *o)
{
    enum err e = operator_announcement_delete(call->tx);

    if (!e)
        OPERATOR_ROW(o, v_cstr("removed"));
    return e;
}
