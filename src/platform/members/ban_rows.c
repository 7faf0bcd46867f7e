/* ban_rows.c - SQL of bans. */
#include "platform/members/internal.h"

#include "model/fields/rows.h"
#include "platform/accounts/users.h"

#define BAN_COLUMNS "b.user_id, b.reason, " USER_COLUMNS

static void ban_from_row(const struct rows *r, void *ret)
{
    struct guild_ban *b = ret;

    struct user *user = arena_alloc(tx_arena(r->tx), sizeof *user);

    user_from_row(r, 2, user);
    *b = (struct guild_ban){ .user_id = row_id(r, 0),
                             .user = user,
                             .reason = row_optional_text(r, 1) };
}

static const char FIND_BAN[] =
    "select " BAN_COLUMNS " from bans b join users u on u.id = b.user_id "
    "where b.guild_id = $1 and b.user_id = $2";

enum err guild_ban_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct guild_ban *ret)
{
    return tx_read_first(tx, FIND_BAN, BIND(v_id(guild_id), v_id(user_id)), ban_from_row, ret,
                         ERR_UNKNOWN_BAN);
}

static const char BANS_AFTER[] =
    "select " BAN_COLUMNS " from bans b join users u on u.id = b.user_id "
    "where b.guild_id = $1 and b.user_id > $2 order by b.user_id limit $3";
static const char BANS_BEFORE[] =
    "select " BAN_COLUMNS " from bans b join users u on u.id = b.user_id "
    "where b.guild_id = $1 and b.user_id < $2 order by b.user_id desc limit $3";

enum err guild_bans_list(struct tx *tx, snowflake guild_id, snowflake after, snowflake before,
                         int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = tx_read_list(tx, before ? SQL(BANS_BEFORE) : SQL(BANS_AFTER),
                              BIND(v_id(guild_id), v_id(before ? before : after), v_int(limit)),
                              sizeof(struct guild_ban), ban_from_row, ret);
    if (!e && before)
        list_reverse(ret, sizeof(struct guild_ban));
    return e;
}

static const char ADD_BAN[] = "insert into bans (guild_id, user_id, reason) values ($1, $2, $3) "
                              "on conflict do nothing";

enum err guild_ban_insert(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct opt_str reason, bool *ret_new)
{
    int64_t added = 0;
    enum err e =
        tx_exec(tx, ADD_BAN,
                BIND(v_id(guild_id), v_id(user_id), sql_value_of_optional_text(reason)), &added);

    *ret_new = added > 0;
    return e;
}

static const char DELETE_BAN[] = "delete from bans where guild_id = $1 and user_id = $2";

enum err guild_ban_delete(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    return tx_exec(tx, DELETE_BAN, BIND(v_id(guild_id), v_id(user_id)), NULL);
}
