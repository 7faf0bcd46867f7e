/* rows.c - members in the store. */
#include "platform/members/members.h"

#include "platform/rows.h"

#define MEMBER_COLUMNS                                                                          \
    "m.guild_id, m.user_id, m.nick, m.avatar, m.banner, m.joined_at, m.premium_since, m.deaf, " \
    "m.mute, m.pending, m.timed_out_until, m.flags"

static void read_member(const struct rows *r, struct member *m)
{
    *m = (struct member){
        .guild_id = row_id(r, 0),
        .user_id = row_id(r, 1),
        .nick = row_opt_text(r, 2),
        .avatar = row_opt_text(r, 3),
        .banner = row_opt_text(r, 4),
        .joined_at = row_int(r, 5),
        .premium_since = row_opt_int(r, 6),
        .deaf = row_bool(r, 7),
        .mute = row_bool(r, 8),
        .pending = row_bool(r, 9),
        .communication_disabled_until = row_opt_int(r, 10),
        .flags = row_int(r, 11),
    };
}

static const char ROLES_OF_MEMBER[] =
    "select role_id from member_roles where guild_id = $1 and user_id = $2 order by role_id";

static enum err load_roles(struct tx *tx, struct member *m)
{
    struct rows rows;
    enum err e = tx_query(tx, ROLES_OF_MEMBER, BIND(v_id(m->guild_id), v_id(m->user_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), &m->roles, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}

static const char FIND_MEMBER[] =
    "select " MEMBER_COLUMNS " from members m where m.guild_id = $1 and m.user_id = $2";

enum err member_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_MEMBER, BIND(v_id(guild_id), v_id(user_id)), &row, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_MEMBER;
    read_member(&row, ret);
    return load_roles(tx, ret);
}

enum err member_load_user(struct tx *tx, struct member *m)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

    m->user = user;
    return user_find(tx, m->user_id, user);
}
