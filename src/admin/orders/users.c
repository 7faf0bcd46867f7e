/* users.c - operator commands for accounts and their tokens. */
#include "base/clock.h"
#include "admin/orders/internal.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/operator.h"
#include "platform/exports/exports.h"

static const char USER_BY_NAME[] = "select id from users where username = $1";

/* Ids have at least 15 digits. */
static bool is_user_id(struct str word, snowflake *ret)
{
    return word.n >= 15 && snowflake_parse(word, ret);
}

static enum err user_named(struct call *call, struct str name, struct user *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, USER_BY_NAME, BIND(v_text(name)), &row, &found);

    if (e)
        return e;
    return found ? user_find(call->tx, row_id(&row, 0), ret) : ERR_UNKNOWN_USER;
}

/* A name may consist of digits: an existing id takes precedence over a name. */
enum err order_user(struct call *call, struct order *o, int word, struct user *ret)
{
    struct str name = o->words[word];
    snowflake id;
    enum err e = is_user_id(name, &id) ? user_find(call->tx, id, ret) : ERR_UNKNOWN_USER;

    if (e == ERR_UNKNOWN_USER)
        e = user_named(call, name, ret);
    if (e == ERR_UNKNOWN_USER)
        o->problem = "there is no such account";
    return e;
}

static const char *state_of(bool disabled, bool deleting)
{
    return deleting && disabled ? "deleted"
           : deleting           ? "deleting"
           : disabled           ? "disabled"
                                : "active";
}

static const char USER_COUNTS[] =
    "select (select count(*) from members where user_id = $1), "
    "(select count(*) from guilds where owner_id = $1 and removed = 0), "
    "(select count(*) from applications where owner_id = $1 and removed = 0), "
    "(select count(*) from tokens where user_id = $1), "
    "coalesce((select bytes from file_owners where owner_id = $1), 0)";

enum err order_user_show(struct call *call, struct order *o)
{
    struct user u;
    struct rows row;
    bool found;
    enum err e = order_user(call, o, 0, &u);

    if (!e)
        e = tx_one(call->tx, USER_COUNTS, BIND(v_id(u.id)), &row, &found);
    if (!e)
        ORDER_ROW(o, v_id(u.id), v_text(u.username), v_text(u.email.value), v_int(u.bot.value),
                  v_int(u.premium_type), v_cstr(state_of(u.disabled, u.deleting)),
                  v_int(snowflake_ms(u.id) * 1000), row.row[0], row.row[1], row.row[2], row.row[3],
                  row.row[4]);
    return e;
}

static enum err order_user_done(struct order *o, const struct user *u, const char *state)
{
    ORDER_ROW(o, v_id(u->id), v_text(u->username), v_cstr(state));
    return OK;
}

enum err order_user_add(struct call *call, struct order *o)
{
    struct account_draft draft = { .username = o->words[0],
                                   .bot = o->count > 1 && str_is(o->words[1], "bot") };
    struct user user;
    struct str token;

    if (o->count > 1 && !draft.bot)
        return order_refuse(o, ERR_BAD_REQUEST, "user add NAME [bot]");
    if (!username_allowed(draft.username))
        return order_refuse(o, ERR_BAD_REQUEST, "a name is 2-32 of a-z, 0-9, _ and single dots");
    enum err e = account_create(call->tx, api_options(call->api)->auth, &draft, &user, &token);
    if (e == ERR_STORE_CONFLICT)
        o->problem = "the name is taken";
    if (e)
        return e;
    ORDER_ROW(o, v_id(user.id),
              v_text(draft.bot ? STR_CONCAT(call->arena, STR("Bot "), token) : token));
    return OK;
}

/* Finds the account of a user; rejects bots and deleted accounts. */
static enum err find_person(struct call *call, struct order *o, struct user *ret)
{
    enum err e = order_user(call, o, 0, ret);

    if (!e && ret->bot.value)
        return order_refuse(o, ERR_BAD_REQUEST,
                            "that is a bot: it has no password, and goes with its application");
    if (!e && account_is_ended(call->arena, ret))
        return order_refuse(o, ERR_BAD_REQUEST, "that account is deleted");
    return e;
}

enum err order_user_passwd(struct call *call, struct order *o)
{
    struct user u;
    enum err e = find_person(call, o, &u);

    if (!e)
        e = account_set_password(call, u.id, o->password_hash);
    return e ? e : order_user_done(o, &u, "has a new password");
}

enum err order_user_disable(struct call *call, struct order *o)
{
    struct user u;
    enum err e = order_user(call, o, 0, &u);

    if (!e)
        e = account_set_disabled(call, &u, true);
    return e ? e : order_user_done(o, &u, "disabled");
}

enum err order_user_enable(struct call *call, struct order *o)
{
    struct user u;
    enum err e = order_user(call, o, 0, &u);

    if (!e && account_is_ended(call->arena, &u))
        e = order_refuse(o, ERR_BAD_REQUEST, "that account is deleted");
    if (!e)
        e = account_set_disabled(call, &u, false);
    return e ? e : order_user_done(o, &u, "active");
}

enum err order_user_mfa_off(struct call *call, struct order *o)
{
    struct user u;
    enum err e = find_person(call, o, &u);

    if (!e)
        e = account_drop_mfa(call, &u);
    return e ? e : order_user_done(o, &u, "has no second factor");
}

enum err order_user_premium(struct call *call, struct order *o)
{
    int64_t type;
    struct user u;
    enum err e = order_user(call, o, 0, &u);

    if (!e && (!str_to_i64(o->words[1], &type) || type < 0 || type > 3))
        e = order_refuse(o, ERR_BAD_REQUEST, "a premium type is 0, 1, 2 or 3");
    if (!e)
        e = account_set_premium(call, &u, type);
    return e ? e : order_user_done(o, &u, type ? "premium" : "not premium");
}

static enum err refuse_owner(struct order *o)
{
    return order_refuse(
        o, ERR_BAD_REQUEST,
        "it owns guilds, applications or teams; give them away or delete them first");
}

enum err order_user_delete(struct call *call, struct order *o)
{
    struct user u;
    enum err e = find_person(call, o, &u);

    if (!e)
        e = account_delete(call, &u);
    if (e == ERR_OWNS_THINGS)
        return refuse_owner(o);
    return e ? e : order_user_done(o, &u, "goes in 14 days");
}

enum err order_user_restore(struct call *call, struct order *o)
{
    struct user u;
    enum err e = find_person(call, o, &u);

    if (!e && !u.deleting)
        e = order_refuse(o, ERR_BAD_REQUEST, "nobody deletes that account");
    if (!e)
        e = account_undelete(call, &u);
    return e ? e : order_user_done(o, &u, "stays");
}

/* Starts an export; repeated calls return its progress. */
enum err order_user_export(struct call *call, struct order *o)
{
    struct export_row row;
    struct user u;
    enum err e = find_person(call, o, &u);

    if (!e)
        e = export_begin(call, u.id, &row);
    if (!e)
        ORDER_ROW(o, v_id(u.id), v_text(u.username), v_cstr(row.ready ? "ready" : "under way"),
                  v_int(row.bytes), v_cstr(export_path(call, row.id)));
    return e;
}

enum err order_user_erase(struct call *call, struct order *o)
{
    struct user u;
    bool owns = false;
    enum err e = find_person(call, o, &u);

    if (!e)
        e = account_owns(call, u.id, &owns);
    if (!e && owns)
        return refuse_owner(o);
    if (!e)
        e = account_end(call, &u);
    return e ? e : order_user_done(o, &u, "deleted");
}

enum err order_token_revoke(struct call *call, struct order *o)
{
    struct user u;
    enum err e = order_user(call, o, 0, &u);

    if (!e)
        e = account_revoke(call, u.id);
    return e ? e : order_user_done(o, &u, "has no tokens");
}
