/* service.c - operator commands for registration invites, statistics and the operator log. */
#include "base/clock.h"
#include "gateway/gateway.h"
#include "admin/operator_commands/internal.h"
#include "platform/accounts/operator.h"

/* Maximum size in bytes of a recorded command: all arguments with 2,000 characters of up to 4
 * bytes. */
enum { OPERATOR_LOG_BYTES = OPERATOR_ARGUMENTS_MAX * 4 * 2000 + 100 };
enum { INVITE_USES_MAX = 100000, INVITE_DAYS_MAX = 3650 };

static bool parse_optional_number_argument(const struct running_operator_command *o, int word,
                                           int64_t most, int64_t *ret)
{
    return o->count <= word || (str_to_i64(o->words[word], ret) && *ret >= 1 && *ret <= most);
}

enum err operator_invite_create(struct call *call, struct running_operator_command *o)
{
    struct registration_invite invite = { 0 };
    int64_t days = 7;

    invite.uses = 1;
    if (!parse_optional_number_argument(o, 0, INVITE_USES_MAX, &invite.uses) ||
        !parse_optional_number_argument(o, 1, INVITE_DAYS_MAX, &days))
        return operator_command_set_error_sentence(
            o, ERR_BAD_REQUEST, "USES is a number from 1 to 100000, DAYS from 1 to 3650");
    invite.expires_at = clock_us() + days * 86400 * INT64_C(1000000);
    enum err e = registration_invite_create(call, &invite);
    if (!e)
        OPERATOR_ROW(o, v_text(invite.code), v_int(invite.uses), v_int(invite.expires_at),
                     v_id(invite.id));
    return e;
}

static void add_registration_invite_row(struct running_operator_command *o,
                                        const struct registration_invite *i)
{
    OPERATOR_ROW(o, v_id(i->id), v_text(i->prefix), v_int(i->uses), v_int(i->created_at),
                 v_int(i->expires_at));
}

enum err operator_invite_list(struct call *call, struct running_operator_command *o)
{
    struct list all;
    enum err e = registration_invites_list(call->tx, o->after, o->limit, &all);

    for (size_t i = 0; !e && i < all.count; i++)
        add_registration_invite_row(o, &((struct registration_invite *)all.items)[i]);
    return e;
}

enum err operator_invite_revoke(struct call *call, struct running_operator_command *o)
{
    struct registration_invite invite;
    enum err e = registration_invite_revoke(call, o->words[0], &invite);

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no such code; 'invite list' prints the ids of the valid ones";
    if (e)
        return e;
    o->words[0] = str_printf(call->arena, "%llu", (unsigned long long)invite.id);
    add_registration_invite_row(o, &invite);
    return OK;
}

static const char SELECT_COUNTS[] =
    "select (select count(*) from users where bot = 0), (select count(*) from users where bot = 1), "
    "(select count(*) from users where disabled <> 0), "
    "(select count(*) from guilds where removed = 0), "
    "(select count(*) from applications where removed = 0), (select count(*) from tokens), "
    "coalesce((select sum(bytes) from file_owners), 0)";

enum err operator_stats_show(struct call *call, struct running_operator_command *o)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;
    struct gateway_stats stats = { 0 };
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, SELECT_COUNTS, NO_BIND, &row, &found);

    if (e)
        return e;
    if (gateway)
        gateway_read_stats(gateway, &stats);
    OPERATOR_ROW(o, v_cstr(api_get_options(call->api)->version),
                 v_cstr(store_engine_name(api_get_options(call->api)->store)), row.row[0],
                 row.row[1], row.row[2], row.row[3], row.row[4], row.row[5], row.row[6],
                 v_int((int64_t)stats.sessions), v_int((int64_t)stats.connected));
    return OK;
}

static const char INSERT_OPERATOR_LOG[] =
    "insert into operator_log (id, at, uid, command) values ($1, $2, $3, $4)";

enum err operator_log_insert_entry(struct tx *tx, unsigned uid, struct str command)
{
    return tx_exec(tx, INSERT_OPERATOR_LOG,
                   BIND(v_id(snowflake_new()), v_int(clock_us()), v_int(uid), v_text(command)),
                   NULL);
}

enum err operator_log_record_command(struct call *call, const struct running_operator_command *o)
{
    struct buf text;

    buf_init(&text, OPERATOR_LOG_BYTES);
    buf_printf(&text, "%s%s%s", o->row->noun, o->row->verb ? " " : "",
               o->row->verb ? o->row->verb : "");
    for (int i = 0; i < o->count; i++)
        buf_printf(&text, " %.*s", STR_ARGS(o->words[i]));
    return operator_log_insert_entry(call->tx, o->uid, buf_move_to_arena(&text, call->arena));
}
