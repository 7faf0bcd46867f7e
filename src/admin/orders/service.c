/* service.c - orders about the whole server: who may register, how much there is, the log. */
#include "base/clock.h"
#include "base/timestamp.h"
#include "gateway/gateway.h"
#include "admin/orders/internal.h"
#include "platform/accounts/operator.h"

/* --- invitations to register ---------------------------------------------------------- */

enum { MOST_USES = 100000, MOST_DAYS = 3650 };

static bool read_number(const struct order *o, int word, int64_t most, int64_t *ret)
{
    return o->count <= word || (str_to_i64(o->words[word], ret) && *ret >= 1 && *ret <= most);
}

enum err order_invite_create(struct call *call, struct order *o)
{
    struct registration_invite invite = { 0 };
    char until[TIMESTAMP_TEXT];
    int64_t days = 7;

    invite.uses = 1;
    if (!read_number(o, 0, MOST_USES, &invite.uses) || !read_number(o, 1, MOST_DAYS, &days)) {
        o->problem = "an invitation is for 1-100000 accounts and 1-3650 days";
        return ERR_BAD_REQUEST;
    }
    invite.expires_at = clock_us() + days * 86400 * INT64_C(1000000);
    enum err e = registration_invite_make(call, &invite);
    if (e)
        return e;
    timestamp_format(invite.expires_at, until);
    order_columns(o, "$code\t#uses\t$until\t$id");
    order_text(o, invite.code);
    order_int(o, invite.uses);
    order_text(o, str_of(until));
    order_id(o, invite.id);
    order_row_end(o);
    return OK;
}

static void show_invite(struct order *o, const struct registration_invite *i)
{
    char made[TIMESTAMP_TEXT], until[TIMESTAMP_TEXT];

    timestamp_format(i->created_at, made);
    timestamp_format(i->expires_at, until);
    order_id(o, i->id);
    order_text(o, i->prefix);
    order_int(o, i->uses);
    order_text(o, str_of(made));
    order_text(o, str_of(until));
    order_row_end(o);
}

static const char INVITE_COLUMNS[] = "$id\t$begins\t#uses_left\t$made\t$until";

enum err order_invite_list(struct call *call, struct order *o)
{
    struct list all;
    enum err e = registration_invites_list(call->tx, o->after, o->limit, &all);

    order_columns(o, INVITE_COLUMNS);
    for (size_t i = 0; !e && i < all.count; i++)
        show_invite(o, &((struct registration_invite *)all.items)[i]);
    return e;
}

enum err order_invite_revoke(struct call *call, struct order *o)
{
    struct registration_invite invite;
    enum err e = registration_invite_revoke(call, o->words[0], &invite);

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no such code; invite list prints the ids of those that are good";
    if (e)
        return e;
    o->words[0] = str_printf(call->arena, "%llu", (unsigned long long)invite.id);
    order_columns(o, INVITE_COLUMNS);
    show_invite(o, &invite);
    return OK;
}

/* --- how much there is ---------------------------------------------------------------- */

static const char COUNTS[] =
    "select (select count(*) from users where bot = 0), (select count(*) from users where bot = 1), "
    "(select count(*) from users where disabled <> 0), "
    "(select count(*) from guilds where removed = 0), "
    "(select count(*) from applications where removed = 0), (select count(*) from tokens), "
    "coalesce((select sum(bytes) from file_owners), 0)";

enum err order_stats(struct call *call, struct order *o)
{
    struct gateway *gateway = api_options(call->api)->gateway;
    struct gateway_stats stats = { 0 };
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, COUNTS, NO_BIND, &row, &found);

    if (e)
        return e;
    if (gateway)
        gateway_stats(gateway, &stats);
    order_columns(o, "$version\t$store\t#people\t#bots\t#disabled\t#guilds\t#apps\t#tokens\t"
                     "#file_bytes\t#sessions\t#connected");
    order_text(o, str_of(api_options(call->api)->version));
    order_text(o, str_of(store_engine(api_options(call->api)->store)));
    for (int i = 0; i < 7; i++)
        order_int(o, row_int(&row, i));
    order_int(o, (int64_t)stats.sessions);
    order_int(o, (int64_t)stats.connected);
    order_row_end(o);
    return OK;
}

/* --- the log -------------------------------------------------------------------------- */

static const char ADD_NOTE[] =
    "insert into operator_log (id, at, uid, command) values ($1, $2, $3, $4)";

enum err operator_note(struct tx *tx, unsigned uid, struct str command)
{
    return tx_exec(tx, ADD_NOTE,
                   BIND(v_id(snowflake_new()), v_int(clock_us()), v_int(uid), v_text(command)),
                   NULL);
}

enum err order_note(struct call *call, const struct order *o)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_printf(&text, "%s%s%s", o->row->noun, o->row->verb ? " " : "",
               o->row->verb ? o->row->verb : "");
    for (int i = 0; i < o->count; i++)
        buf_printf(&text, " %.*s", STR_FMT(o->words[i]));
    return operator_note(call->tx, o->uid, buf_take(&text, call->arena));
}

static const char NOTES_AFTER[] =
    "select id, at, uid, command from operator_log where id > $1 order by id limit $2";

enum err order_log_list(struct call *call, struct order *o)
{
    struct rows rows;
    enum err e = tx_query(call->tx, NOTES_AFTER, BIND(v_id(o->after), v_int(o->limit)), &rows);

    if (e)
        return e;
    order_columns(o, "$id\t$at\t#uid\t$command");
    while (rows_next(&rows)) {
        char at[TIMESTAMP_TEXT];

        timestamp_format(row_int(&rows, 1), at);
        order_id(o, row_id(&rows, 0));
        order_text(o, str_of(at));
        order_int(o, row_int(&rows, 2));
        order_text(o, row_text(&rows, 3));
        order_row_end(o);
    }
    return rows_end(&rows);
}
