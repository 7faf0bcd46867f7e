/* rows.c - SQL of members, their roles and searchable names. */
#include "platform/members/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"

void member_from_row(const struct rows *r, struct member *m)
{
    *m = (struct member){
        .guild_id = row_id(r, 0),
        .user_id = row_id(r, 1),
        .nick = row_optional_text(r, 2),
        .avatar = row_optional_text(r, 3),
        .banner = row_optional_text(r, 4),
        .joined_at = row_int(r, 5),
        .premium_since = row_optional_int(r, 6),
        .deaf = row_bool(r, 7),
        .mute = row_bool(r, 8),
        .pending = row_bool(r, 9),
        .communication_disabled_until = row_optional_int(r, 10),
        .flags = row_int(r, 11),
    };
}

static const char ROLES_OF_MEMBER[] =
    "select role_id from member_roles where guild_id = $1 and user_id = $2 order by role_id";

static enum err read_roles_of_member(struct tx *tx, struct member *m)
{
    return tx_read_ids(tx, ROLES_OF_MEMBER, BIND(v_id(m->guild_id), v_id(m->user_id)), &m->roles);
}

static const char FIND_MEMBER[] =
    "select " MEMBER_COLUMNS " from members m where m.guild_id = $1 and m.user_id = $2";

enum err member_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret)
{
    struct rows row;
    enum err e =
        tx_one_or(tx, FIND_MEMBER, BIND(v_id(guild_id), v_id(user_id)), ERR_UNKNOWN_MEMBER, &row);

    if (e)
        return e;
    member_from_row(&row, ret);
    return read_roles_of_member(tx, ret);
}

enum err member_read_user(struct tx *tx, struct member *m)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

    m->user = user;
    return user_find(tx, m->user_id, user);
}

/* Adds the member of the current row, with the public fields of the account and without roles. */
static void append_member_from_row(const struct rows *r, struct list *list)
{
    struct arena *arena = tx_arena(r->tx);
    struct member *m = list_append(arena, list, sizeof *m);
    struct user *user = arena_alloc(arena, sizeof *user);

    member_from_row(r, m);
    partial_user_from_row(r, MEMBER_COLUMN_COUNT, user);
    m->user = user;
}

static const char ROLES_OF_MEMBERS[] =
    "select user_id, role_id from member_roles where guild_id = $1 and user_id between $2 and $3 "
    "order by user_id, role_id";

/* Adds roles to members. `sql` selects rows of member_roles; rows and members are both sorted by
 * user id. */
static enum err merge_roles_into_members(struct tx *tx, struct sql sql, const struct value *values,
                                         size_t count, struct list *list)
{
    struct member *m = list->items, *end = m + list->count;
    struct rows rows;
    enum err e = tx_query(tx, sql, values, count, &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (m < end && m->user_id < row_id(&rows, 0))
            m++;
        if (m < end && m->user_id == row_id(&rows, 0))
            id_list_add(tx_arena(tx), &m->roles, row_id(&rows, 1));
    }
    return rows_end(&rows);
}

static enum err read_roles_of_members(struct tx *tx, struct list *list)
{
    const struct member *m = list->items, *end = m + list->count;

    if (m == end)
        return OK;
    return merge_roles_into_members(
        tx, SQL(ROLES_OF_MEMBERS), BIND(v_id(m->guild_id), v_id(m->user_id), v_id(end[-1].user_id)),
        list);
}

static enum err list_members_with_sql(struct tx *tx, struct sql sql, const struct value *values,
                                      size_t count, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, values, count, &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        append_member_from_row(&rows, ret);
    return rows_end(&rows);
}

static const char MEMBERS_AFTER[] =
    "select " MEMBER_COLUMNS ", " PARTIAL_USER_COLUMNS
    " from members m join users u on u.id = m.user_id "
    "where m.guild_id = $1 and m.user_id > $2 order by m.user_id limit $3";

enum err members_list_after(struct tx *tx, snowflake guild_id, snowflake after, int64_t limit,
                            struct list *ret)
{
    enum err e = list_members_with_sql(tx, SQL(MEMBERS_AFTER),
                                       BIND(v_id(guild_id), v_id(after), v_int(limit)), ret);

    return e ? e : read_roles_of_members(tx, ret);
}

/* SQL that selects members by a subquery of user ids, or the roles of these members. */
#define MEMBERS_AMONG(ids)                              \
    "select " MEMBER_COLUMNS ", " PARTIAL_USER_COLUMNS  \
    " from members m join users u on u.id = m.user_id " \
    "where m.guild_id = $1 and m.user_id in " ids " order by m.user_id"
#define ROLES_AMONG(ids)                                                                \
    "select user_id, role_id from member_roles where guild_id = $1 and user_id in " ids \
    " order by user_id, role_id"

/* A member has up to three searchable names, so the subquery reads three times the limit to find
 * enough members. */
#define FOUND_BY_NAME                                                           \
    "(select user_id from member_names where guild_id = $1 and name >= $2 and " \
    "name < $3 order by name, user_id limit 3 * $4)"
static const char MEMBERS_NAMED[] =
    "select " MEMBER_COLUMNS ", " PARTIAL_USER_COLUMNS
    " from members m join users u on u.id = m.user_id "
    "where m.guild_id = $1 and m.user_id in " FOUND_BY_NAME " order by m.user_id limit $4";
static const char ROLES_OF_NAMED[] = ROLES_AMONG(FOUND_BY_NAME);

enum err members_find_by_name(struct tx *tx, snowflake guild_id, struct str text, int64_t limit,
                              struct list *ret)
{
    struct str from = str_lower(tx_arena(tx), text);
    /* `to` sorts after every text with the prefix `from`. */
    struct str to = STR_CONCAT(tx_arena(tx), from, STR("\xf4\x8f\xbf\xbf"));
    struct value values[] = { v_id(guild_id), v_text(from), v_text(to), v_int(limit) };
    enum err e = list_members_with_sql(tx, SQL(MEMBERS_NAMED), values, COUNT_OF(values), ret);

    return e ? e : merge_roles_into_members(tx, SQL(ROLES_OF_NAMED), values, COUNT_OF(values), ret);
}

#define JOINED_LAST                                                              \
    "(select user_id from members where guild_id = $1 order by joined_at desc, " \
    "user_id desc limit $2)"
static const char NEWEST_MEMBERS[] = MEMBERS_AMONG(JOINED_LAST);
static const char ROLES_OF_NEWEST[] = ROLES_AMONG(JOINED_LAST);

static int compare_members_newest_first(const void *a, const void *b)
{
    const struct member *m = a, *n = b;

    if (m->joined_at != n->joined_at)
        return m->joined_at < n->joined_at ? 1 : -1;
    return m->user_id < n->user_id ? 1 : -1;
}

enum err members_list_newest(struct tx *tx, snowflake guild_id, int64_t limit, struct list *ret)
{
    enum err e =
        list_members_with_sql(tx, SQL(NEWEST_MEMBERS), BIND(v_id(guild_id), v_int(limit)), ret);

    if (!e)
        e = merge_roles_into_members(tx, SQL(ROLES_OF_NEWEST), BIND(v_id(guild_id), v_int(limit)),
                                     ret);
    if (!e && ret->count)
        qsort(ret->items, ret->count, sizeof(struct member), compare_members_newest_first);
    return e;
}

static const char MEMBERS_IN_VOICE[] =
    "select " MEMBER_COLUMNS ", " PARTIAL_USER_COLUMNS " from voice_states v join members m "
    "on m.guild_id = v.guild_id and m.user_id = v.user_id join users u on u.id = m.user_id "
    "where v.guild_id = $1 order by m.user_id";
static const char ROLES_IN_VOICE[] =
    "select r.user_id, r.role_id from voice_states v join member_roles r "
    "on r.guild_id = v.guild_id and r.user_id = v.user_id where v.guild_id = $1 "
    "order by r.user_id, r.role_id";

enum err members_list_in_voice(struct tx *tx, snowflake guild_id, struct list *ret)
{
    enum err e = list_members_with_sql(tx, SQL(MEMBERS_IN_VOICE), BIND(v_id(guild_id)), ret);

    return e ? e : merge_roles_into_members(tx, SQL(ROLES_IN_VOICE), BIND(v_id(guild_id)), ret);
}

#define IN_VOICE_AFTER                                                        \
    "(select user_id from voice_states where guild_id = $1 and user_id > $2 " \
    "order by user_id limit $3)"
#define IN_ROOM_AFTER                                                                             \
    "(select user_id from voice_states where guild_id = $1 and channel_id = $4 and user_id > $2 " \
    "order by user_id limit $3)"
static const char IN_VOICE[] = MEMBERS_AMONG(IN_VOICE_AFTER);
static const char ROLES_OF_IN_VOICE[] = ROLES_AMONG(IN_VOICE_AFTER);
static const char IN_ROOM[] = MEMBERS_AMONG(IN_ROOM_AFTER);
static const char ROLES_OF_IN_ROOM[] = ROLES_AMONG(IN_ROOM_AFTER);

enum err members_list_in_voice_after(struct tx *tx, snowflake guild_id, snowflake channel_id,
                                     snowflake after, int64_t limit, struct list *ret)
{
    struct value values[] = { v_id(guild_id), v_id(after), v_int(limit), v_id(channel_id) };
    size_t count = channel_id ? 4 : 3;
    enum err e =
        list_members_with_sql(tx, channel_id ? SQL(IN_ROOM) : SQL(IN_VOICE), values, count, ret);

    if (e)
        return e;
    return merge_roles_into_members(tx, channel_id ? SQL(ROLES_OF_IN_ROOM) : SQL(ROLES_OF_IN_VOICE),
                                    values, count, ret);
}

static const char SET_USERNAME[] =
    "update member_names set name = $3 where guild_id = $1 and user_id = $2 and kind = 0";
static const char DROP_GLOBAL_NAME[] =
    "delete from member_names where guild_id = $1 and user_id = $2 and kind = 1";
static const char SET_GLOBAL_NAME[] =
    "insert into member_names (guild_id, user_id, kind, name) values ($1, $2, 1, $3) "
    "on conflict (guild_id, user_id, kind) do update set name = excluded.name";

enum err member_update_search_names(struct tx *tx, snowflake guild_id, const struct user *user)
{
    struct arena *a = tx_arena(tx);
    struct value guild = v_id(guild_id), id = v_id(user->id);
    enum err e =
        tx_exec(tx, SET_USERNAME, BIND(guild, id, v_text(str_lower(a, user->username))), NULL);

    if (e)
        return e;
    if (user->global_name.given != GIVEN)
        return tx_exec(tx, DROP_GLOBAL_NAME, BIND(guild, id), NULL);
    return tx_exec(tx, SET_GLOBAL_NAME,
                   BIND(guild, id, v_text(str_lower(a, user->global_name.value))), NULL);
}

static const char ADD_MEMBER[] =
    "insert into members (guild_id, user_id, nick, joined_at, deaf, mute, is_temporary, "
    "timed_out_until, pending, flags) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
    "on conflict do nothing";
static const char COUNT_MEMBERS[] =
    "update guilds set member_count = member_count + $2 where id = $1";
static const char COUNT_DAY[] =
    "insert into guild_days (guild_id, day, joins, leaves) values ($1, $2, $3, $4) "
    "on conflict (guild_id, day) do update set joins = guild_days.joins + excluded.joins, "
    "leaves = guild_days.leaves + excluded.leaves";

/* Updates the guild's member count and its statistics of the day (platform/insights). Transactions
 * that change the same member count conflict in the guild's row anyway, so writing the second row
 * causes no additional conflicts. */
static enum err update_guild_member_count(struct tx *tx, snowflake guild_id, bool joins)
{
    int64_t day = clock_us() / (INT64_C(86400) * 1000 * 1000);
    enum err e = tx_exec(tx, COUNT_MEMBERS, BIND(v_id(guild_id), v_int(joins ? 1 : -1)), NULL);

    return e ? e
             : tx_exec(tx, COUNT_DAY, BIND(v_id(guild_id), v_int(day), v_int(joins), v_int(!joins)),
                       NULL);
}

enum err member_insert_row(struct tx *tx, const struct member *m, bool temporary, bool *ret_new)
{
    int64_t added = 0;
    enum err e =
        tx_exec(tx, ADD_MEMBER,
                BIND(v_id(m->guild_id), v_id(m->user_id), sql_value_of_optional_text(m->nick),
                     v_int(m->joined_at), v_int(m->deaf), v_int(m->mute), v_int(temporary),
                     sql_value_of_optional_int(m->communication_disabled_until), v_int(m->pending),
                     v_int(m->flags)),
                &added);

    *ret_new = added > 0;
    return e;
}

enum err member_insert(struct tx *tx, const struct member *m, bool temporary)
{
    bool new;
    enum err e = member_insert_row(tx, m, temporary, &new);

    if (!e && !new)
        e = ERR_STORE_CONFLICT;
    if (!e)
        e = update_guild_member_count(tx, m->guild_id, true);
    return e ? e : member_write_roles(tx, m);
}

/* Stores timeout, mute and deafen of a member who leaves. Otherwise leaving and joining again would
 * end them. */
static const char SAVE_SANCTIONS[] =
    "insert into member_sanctions (guild_id, user_id, timed_out_until, mute, deaf) "
    "select guild_id, user_id, timed_out_until, mute, deaf from members "
    "where guild_id = $1 and user_id = $2 and (mute = 1 or deaf = 1 or timed_out_until > $3) "
    "on conflict (guild_id, user_id) do update set "
    "timed_out_until = excluded.timed_out_until, mute = excluded.mute, deaf = excluded.deaf";
static const char DELETE_SANCTIONS[] = "delete from member_sanctions where guild_id = $1 and "
                                       "user_id = $2 returning timed_out_until, mute, deaf";

enum err member_restore_sanctions(struct tx *tx, struct member *m)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, DELETE_SANCTIONS, BIND(v_id(m->guild_id), v_id(m->user_id)), &row, &found);

    if (e || !found)
        return e;
    if (row_int(&row, 0) > clock_us())
        m->communication_disabled_until = row_optional_int(&row, 0);
    m->mute |= row_bool(&row, 1);
    m->deaf |= row_bool(&row, 2);
    return OK;
}

static const char DELETE_MEMBER[] =
    "delete from members where guild_id = $1 and user_id = $2 returning avatar, banner";

enum err member_delete(struct call *call, snowflake guild_id, snowflake user_id)
{
    struct member leaving = { .guild_id = guild_id, .user_id = user_id };
    struct tx *tx = call->tx;
    struct rows row;
    enum err e = hook_membership_changes(call, &leaving);

    if (!e)
        e = tx_exec(tx, SAVE_SANCTIONS, BIND(v_id(guild_id), v_id(user_id), v_int(clock_us())),
                    NULL);
    if (!e)
        e = tx_one_or(tx, DELETE_MEMBER, BIND(v_id(guild_id), v_id(user_id)), ERR_UNKNOWN_MEMBER,
                      &row);
    if (e)
        return e;
    struct opt_str avatar = row_optional_text(&row, 0), banner = row_optional_text(&row, 1);
    e = delete_stored_picture(call, "member-avatars", user_id, &avatar);
    if (!e)
        e = delete_stored_picture(call, "member-banners", user_id, &banner);
    if (!e)
        e = update_guild_member_count(tx, guild_id, false);
    return e;
}

static const char SAVE_MEMBER[] =
    "update members set nick = $3, avatar = $4, banner = $5, premium_since = $6, deaf = $7, "
    "mute = $8, pending = $9, timed_out_until = $10, flags = $11 "
    "where guild_id = $1 and user_id = $2";

enum err member_update(struct tx *tx, const struct member *m)
{
    enum err e =
        tx_exec(tx, SAVE_MEMBER,
                BIND(v_id(m->guild_id), v_id(m->user_id), sql_value_of_optional_text(m->nick),
                     sql_value_of_optional_text(m->avatar), sql_value_of_optional_text(m->banner),
                     sql_value_of_optional_int(m->premium_since), v_int(m->deaf), v_int(m->mute),
                     v_int(m->pending), sql_value_of_optional_int(m->communication_disabled_until),
                     v_int(m->flags)),
                NULL);

    return e ? e : member_write_roles(tx, m);
}

static const char DROP_ROLE[] =
    "delete from member_roles where guild_id = $1 and user_id = $2 and role_id = $3";
static const char GIVE_ROLE[] =
    "insert into member_roles (guild_id, user_id, role_id) values ($1, $2, $3) "
    "on conflict do nothing";

/* Runs the statement for each role that member `of` has and member `without` does not have. */
static enum err execute_sql_for_role_difference(struct tx *tx, const struct member *of,
                                                const struct member *without, struct sql sql)
{
    const snowflake *roles = of->roles.items;
    enum err e = OK;

    for (size_t i = 0; i < of->roles.count && !e; i++)
        if (!id_list_contains(&without->roles, roles[i]))
            e = tx_exec(tx, sql, BIND(v_id(of->guild_id), v_id(of->user_id), v_id(roles[i])), NULL);
    return e;
}

enum err member_write_roles(struct tx *tx, const struct member *m)
{
    struct member stored = { .guild_id = m->guild_id, .user_id = m->user_id };
    enum err e = read_roles_of_member(tx, &stored);

    if (!e)
        e = execute_sql_for_role_difference(tx, &stored, m, SQL(DROP_ROLE));
    return e ? e : execute_sql_for_role_difference(tx, m, &stored, SQL(GIVE_ROLE));
}
