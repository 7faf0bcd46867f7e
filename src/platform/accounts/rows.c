/* rows.c - SQL of accounts. */
#include "platform/accounts/internal.h"

#include "model/fields/rows.h"
#include "platform/accounts/operator.h"
#include "platform/accounts/users.h"

void user_from_row(const struct rows *r, int column, struct user *ret)
{
    *ret = (struct user){
        .id = row_id(r, column),
        .username = row_text(r, column + 1),
        .discriminator = STR("0"),
        .global_name = row_optional_text(r, column + 2),
        .avatar = row_optional_text(r, column + 3),
        .banner = row_optional_text(r, column + 4),
        .email = row_optional_text(r, column + 5),
        .accent_color = row_optional_int(r, column + 6),
        .bio = row_text(r, column + 7),
        .locale = row_text(r, column + 8),
        .flags = row_int(r, column + 9),
        .public_flags = row_int(r, column + 10),
        .premium_type = row_int(r, column + 11),
        .verified = row_bool(r, column + 12),
        .bot = opt_true_or_absent(row_bool(r, column + 13)),
        .system = opt_true_or_absent(row_bool(r, column + 14)),
        .disabled = row_bool(r, column + 17),
        .paused = row_int(r, column + 17) == ACCOUNT_PAUSED,
        .deleting = row_bool(r, column + 18),
        .phone = row_optional_text(r, column + 19),
        .mfa_enabled = row_bool(r, column + 20),
        .pronouns = row_text(r, column + 21),
    };
    if (!row_column_is_null(r, column + 15))
        ret->password_hash = row_text(r, column + 15);
    if (!row_column_is_null(r, column + 16))
        ret->date_of_birth = row_text(r, column + 16);
}

static const char FIND_USER[] = "select " USER_COLUMNS " from users u where u.id = $1";

enum err user_find(struct tx *tx, snowflake id, struct user *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_USER, BIND(v_id(id)), ERR_UNKNOWN_USER, &row);

    if (e)
        return e;
    user_from_row(&row, 0, ret);
    return OK;
}

void partial_user_from_row(const struct rows *r, int column, struct user *ret)
{
    *ret = (struct user){
        .id = row_id(r, column),
        .username = row_text(r, column + 1),
        .discriminator = STR("0"),
        .global_name = row_optional_text(r, column + 2),
        .avatar = row_optional_text(r, column + 3),
        .public_flags = row_int(r, column + 4),
        .bot = opt_true_or_absent(row_bool(r, column + 5)),
        .system = opt_true_or_absent(row_bool(r, column + 6)),
    };
}

static const char FIND_PARTIAL[] = "select " PARTIAL_USER_COLUMNS " from users u where u.id = $1";

enum err user_find_partial(struct tx *tx, snowflake id, struct user *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_PARTIAL, BIND(v_id(id)), ERR_UNKNOWN_USER, &row);

    if (e)
        return e;
    partial_user_from_row(&row, 0, ret);
    return OK;
}

static const char FIND_LOGIN[] =
    "select " USER_COLUMNS
    " from users u where u.bot = 0 and (u.username = $1 or u.email = $1) limit 1";

enum err user_find_by_login(struct tx *tx, struct str login, struct user *ret, bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, FIND_LOGIN, BIND(v_text(login)), &row, ret_found);

    if (!e && *ret_found)
        user_from_row(&row, 0, ret);
    return e;
}

static const char USERNAME_TAKEN[] = "select 1 from users where username = $1 and id <> $2";
static const char EMAIL_TAKEN[] = "select 1 from users where email = $1 and id <> $2";

/* Runs in the write transaction, so no other writer can take the name or email address afterwards.
 */
static enum err find_taken_name_or_email(struct tx *tx, const struct user *u,
                                         const char **ret_taken)
{
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, USERNAME_TAKEN, BIND(v_text(u->username), v_id(u->id)), &row, &found);

    *ret_taken = found ? "username" : NULL;
    if (e || found || u->email.given != GIVEN)
        return e;
    e = tx_one(tx, EMAIL_TAKEN, BIND(v_text(u->email.value), v_id(u->id)), &row, &found);
    *ret_taken = found ? "email" : NULL;
    return e;
}

static const char ADD_USER[] =
    "insert into users (id, username, global_name, email, password_hash, locale, bot, date_of_birth, "
    "verified) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

enum err user_insert_without_uniqueness_check(struct tx *tx, const struct user *u)
{
    return tx_exec(
        tx, ADD_USER,
        BIND(v_id(u->id), v_text(u->username), sql_value_of_optional_text(u->global_name),
             sql_value_of_optional_text(u->email),
             u->password_hash.p ? v_text(u->password_hash) : v_null(), v_text(u->locale),
             v_int(u->bot.value), u->date_of_birth.p ? v_text(u->date_of_birth) : v_null(),
             v_int(u->verified)),
        NULL);
}

enum err user_insert(struct tx *tx, const struct user *u, const char **ret_taken)
{
    enum err e = find_taken_name_or_email(tx, u, ret_taken);

    return e || *ret_taken ? e : user_insert_without_uniqueness_check(tx, u);
}

static const char SAVE_USER[] =
    "update users set username = $2, global_name = $3, avatar = $4, banner = $5, email = $6, "
    "accent_color = $7, bio = $8, password_hash = $9, date_of_birth = $10, deleting = $11, "
    "verified = $12 where id = $1";

enum err user_update(struct tx *tx, const struct user *u, const char **ret_taken)
{
    enum err e = find_taken_name_or_email(tx, u, ret_taken);

    if (e || *ret_taken)
        return e;
    return tx_exec(
        tx, SAVE_USER,
        BIND(v_id(u->id), v_text(u->username), sql_value_of_optional_text(u->global_name),
             sql_value_of_optional_text(u->avatar), sql_value_of_optional_text(u->banner),
             sql_value_of_optional_text(u->email), sql_value_of_optional_int(u->accent_color),
             v_text(u->bio), u->password_hash.p ? v_text(u->password_hash) : v_null(),
             u->date_of_birth.p ? v_text(u->date_of_birth) : v_null(), v_int(u->deleting),
             v_int(u->verified)),
        NULL);
}
