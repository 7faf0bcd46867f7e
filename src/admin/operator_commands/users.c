/* users.c - operator commands for accounts and their tokens. */
#include "base/clock.h"
#include "admin/operator_commands/internal.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/operator.h"
#include "platform/exports/exports.h"

static const char SELECT_USER_BY_NAME[] = "select id from users where username = $1";

/* Parses a user id. A number with fewer than 15 digits is not an id. */
static bool parse_user_id(struct str word, snowflake *ret)
{
    return word.n >= 15 && snowflake_parse(word, ret);
}

static enum err find_user_by_name(struct call *call, struct str name, struct user *ret)
{
    struct rows row;
    enum err e =
        tx_one_or(call->tx, SELECT_USER_BY_NAME, BIND(v_text(name)), ERR_UNKNOWN_USER, &row);

    return e ? e : user_find(call->tx, row_id(&row, 0), ret);
}

static enum err refuse_unknown_username(struct call *call, struct running_operator_command *o,
                                        struct str name)
{
    const char *meant;
    enum err e = find_similar_username(call->tx, o->arena, name, &meant);

    if (e)
        return e;
    o->problem = "there is no such account; 'user list' prints the names";
    if (meant)
        o->problem = str_printf(o->arena, "there is no such account; did you mean '%s'?", meant).p;
    return ERR_UNKNOWN_USER;
}

/* If a text of digits is both an id and a name, the account with that id is returned. */
enum err operator_command_find_user_of_argument(struct call *call,
                                                struct running_operator_command *o, int word,
                                                struct user *ret)
{
    struct str name = o->words[word];
    snowflake id;
    enum err e = parse_user_id(name, &id) ? user_find(call->tx, id, ret) : ERR_UNKNOWN_USER;

    if (e == ERR_UNKNOWN_USER)
        e = find_user_by_name(call, name, ret);
    return e == ERR_UNKNOWN_USER ? refuse_unknown_username(call, o, name) : e;
}

static const char *account_state_name(bool disabled, bool deleting)
{
    return deleting && disabled ? "deleted"
           : deleting           ? "deleting"
           : disabled           ? "disabled"
                                : "active";
}

static const char SELECT_USER_COUNTS[] =
    "select (select count(*) from members where user_id = $1), "
    "(select count(*) from guilds where owner_id = $1 and removed = 0), "
    "(select count(*) from applications where owner_id = $1 and removed = 0), "
    "(select count(*) from tokens where user_id = $1), "
    "coalesce((select bytes from file_owners where owner_id = $1), 0)";

enum err operator_user_show(struct call *call, struct running_operator_command *o)
{
    struct user u;
    struct rows row;
    bool found;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e)
        e = tx_one(call->tx, SELECT_USER_COUNTS, BIND(v_id(u.id)), &row, &found);
    if (!e)
        OPERATOR_ROW(o, v_id(u.id), v_text(u.username), v_text(u.email.value), v_int(u.bot.value),
                     v_int(u.premium_type), v_cstr(account_state_name(u.disabled, u.deleting)),
                     v_int(snowflake_to_ms(u.id) * 1000), row.row[0], row.row[1], row.row[2],
                     row.row[3], row.row[4]);
    return e;
}

static enum err add_user_state_row(struct running_operator_command *o, const struct user *u,
                                   const char *state)
{
    OPERATOR_ROW(o, v_id(u->id), v_text(u->username), v_cstr(state));
    return OK;
}

enum err operator_user_add(struct call *call, struct running_operator_command *o)
{
    struct account_to_create draft = { .username = o->words[0],
                                       .bot = o->count > 1 && str_is(o->words[1], "bot") };
    struct user user;
    struct str token;

    if (o->count > 1 && !draft.bot)
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                   "the form is: user add NAME [bot]");
    if (!username_is_allowed(draft.username))
        return operator_command_set_error_sentence(
            o, ERR_BAD_REQUEST, "a name has 2-32 of a-z, 0-9, _ and single dots");
    enum err e = account_create(call->tx, api_get_options(call->api)->auth, &draft, &user, &token);
    if (e == ERR_STORE_CONFLICT)
        o->problem = "the name is taken";
    if (e)
        return e;
    OPERATOR_ROW(o, v_id(user.id),
                 v_text(draft.bot ? STR_CONCAT(call->arena, STR("Bot "), token) : token));
    return OK;
}

/* Finds the account of a user; refuses bots and deleted accounts. */
static enum err operator_find_human_user(struct call *call, struct running_operator_command *o,
                                         struct user *ret)
{
    enum err e = operator_command_find_user_of_argument(call, o, 0, ret);

    if (!e && ret->bot.value)
        return operator_command_set_error_sentence(
            o, ERR_BAD_REQUEST, "a bot has no password, and is deleted with its application");
    if (!e && account_is_erased(call->arena, ret))
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST, "this account is deleted");
    return e;
}

enum err operator_user_set_password(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e)
        e = account_set_password(call, u.id, o->password_hash);
    return e ? e : add_user_state_row(o, &u, "has a new password");
}

enum err operator_user_disable(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e)
        e = account_set_disabled(call, &u, true);
    return e ? e : add_user_state_row(o, &u, "disabled");
}

enum err operator_user_enable(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e && account_is_erased(call->arena, &u))
        e = operator_command_set_error_sentence(o, ERR_BAD_REQUEST, "this account is deleted");
    if (!e)
        e = account_set_disabled(call, &u, false);
    return e ? e : add_user_state_row(o, &u, "active");
}

enum err operator_user_disable_mfa(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e)
        e = account_remove_mfa(call, &u);
    return e ? e : add_user_state_row(o, &u, "has no second factor");
}

enum err operator_user_set_premium(struct call *call, struct running_operator_command *o)
{
    int64_t type;
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e && (!str_to_i64(o->words[1], &type) || type < 0 || type > 3))
        e = operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                "a premium type is 0, 1, 2 or 3");
    if (!e)
        e = account_set_premium(call, &u, type);
    return e ? e : add_user_state_row(o, &u, type ? "premium" : "not premium");
}

static enum err refuse_user_with_owned_objects(struct running_operator_command *o)
{
    return operator_command_set_error_sentence(
        o, ERR_BAD_REQUEST,
        "the account owns guilds, applications or teams; transfer or delete them first");
}

enum err operator_user_delete(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e)
        e = account_schedule_deletion(call, &u);
    if (e == ERR_OWNS_THINGS)
        return refuse_user_with_owned_objects(o);
    return e ? e : add_user_state_row(o, &u, "will be deleted in 14 days");
}

enum err operator_user_restore(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e && !u.deleting)
        e = operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                "this account is not going to be deleted");
    if (!e)
        e = account_cancel_deletion(call, &u);
    return e ? e : add_user_state_row(o, &u, "stays");
}

/* Starts an export of the user's data; repeated calls return its progress. */
enum err operator_user_export(struct call *call, struct running_operator_command *o)
{
    struct data_export row;
    struct user u;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e)
        e = data_export_find_or_create(call, u.id, &row);
    if (!e)
        OPERATOR_ROW(o, v_id(u.id), v_text(u.username), v_cstr(row.ready ? "ready" : "running"),
                     v_int(row.bytes), v_cstr(data_export_path(call, row.id)));
    return e;
}

enum err operator_user_erase(struct call *call, struct running_operator_command *o)
{
    struct user u;
    bool owns = false;
    enum err e = operator_find_human_user(call, o, &u);

    if (!e)
        e = account_owns_guild_app_or_team(call, u.id, &owns);
    if (!e && owns)
        return refuse_user_with_owned_objects(o);
    if (!e)
        e = account_erase(call, &u);
    return e ? e : add_user_state_row(o, &u, "deleted");
}

enum err operator_token_revoke(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e)
        e = account_revoke_tokens(call, u.id);
    return e ? e : add_user_state_row(o, &u, "has no tokens");
}
