/* rows.c - SQL of invites. */
#include "platform/invites/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/channels/deletion.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/onboarding/onboarding.h"

#define INVITE_COLUMNS                                                                          \
    "code, type, guild_id, channel_id, inviter_id, created_at, expires_at, max_age, max_uses, " \
    "uses, is_temporary, target_type, target_user_id, target_application_id, role_ids, flags, " \
    "targets_at"
/* SQL condition for invites that can be shared: no roles, no flags, not restricted to certain
 * users. */
#define PLAIN               " role_ids is null and flags = 0 and targets is null"
#define CHANNEL_NOT_DELETED " not" CHANNEL_BEING_DELETED("invites.channel_id")
#define NOT_EXPIRED(now)    " (expires_at is null or expires_at > " now ")"

static void invite_from_row(const struct rows *r, void *ret)
{
    struct invite *i = ret;

    *i = (struct invite){
        .code = row_text(r, 0),
        .type = row_int(r, 1),
        .guild_id = row_id_or_absent(r, 2),
        .channel_id = row_id_or_absent(r, 3),
        .inviter_id = row_id(r, 4),
        .created_at = row_int(r, 5),
        .expires_at = row_optional_int(r, 6),
        .max_age = row_int(r, 7),
        .max_uses = row_int(r, 8),
        .uses = row_int(r, 9),
        .temporary = row_bool(r, 10),
        .target_type = { row_column_is_null(r, 11) ? ABSENT : GIVEN, row_int(r, 11) },
        .target_user_id = row_id(r, 12),
        .target_application_id = row_id(r, 13),
        .flags = { row_int(r, 15) ? GIVEN : ABSENT, row_int(r, 15) },
        .targets_at = row_optional_int(r, 16),
    };
    if (!row_column_is_null(r, 14))
        i->role_ids = json_column_decode_list(tx_arena(r->tx), &type_ids, row_text(r, 14));
}

/* --- objects to which an invite refers ----------------------------------------------- */

static enum err read_invite_user(struct tx *tx, snowflake id, const struct user **ret)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    enum err e = user_find(tx, id, user);

    *ret = e ? NULL : user;
    return e == ERR_UNKNOWN_USER ? OK : e;
}

static enum err read_invite_channel_and_guild(struct tx *tx, struct invite *i)
{
    struct channel *channel = arena_alloc(tx_arena(tx), sizeof *channel);
    struct guild *guild = arena_alloc(tx_arena(tx), sizeof *guild);
    enum err e = OK;

    if (i->channel_id.given) {
        e = channel_find(tx, i->channel_id.value, channel);
        i->channel = channel;
    }
    if (!e && i->guild_id.given) {
        e = guild_find(tx, i->guild_id.value, guild);
        i->guild = guild;
        if (!e && guild_has_feature(guild, "WELCOME_SCREEN_ENABLED"))
            e = welcome_screen_read_if_enabled(tx, guild->id, &guild->welcome_screen);
    }
    return e;
}

static const char FIND_APPLICATION[] =
    "select id, name, description, icon from applications where id = $1 and removed = 0";

static enum err read_invite_application(struct tx *tx, snowflake id,
                                        const struct invite_target_application **ret)
{
    struct invite_target_application *app = arena_alloc(tx_arena(tx), sizeof *app);
    struct rows row;
    bool found;

    enum err e = tx_one(tx, FIND_APPLICATION, BIND(v_id(id)), &row, &found);
    if (e || !found)
        return e;
    *app = (struct invite_target_application){ row_id(&row, 0), row_text(&row, 1),
                                               row_text(&row, 2), row_optional_text(&row, 3) };
    *ret = app;
    return OK;
}

/* Reads the roles of an invite, without deleted roles and managed roles, which cannot be
 * assigned. */
static enum err read_assignable_invite_roles(struct tx *tx, struct invite *i)
{
    const snowflake *id = i->role_ids.items;
    enum err e = OK;

    for (size_t n = 0; !e && n < i->role_ids.count; n++) {
        struct role role;

        e = role_find(tx, i->guild_id.value, id[n], &role);
        if (!e && !role.managed)
            *(struct role *)list_append(tx_arena(tx), &i->named_roles, sizeof role) = role;
        if (e == ERR_UNKNOWN_ROLE)
            e = OK;
    }
    return e;
}

/* Reads the roles that an invite grants now: those that its creator could still assign. There are
 * none if the creator is no longer a member. */
static enum err read_roles_granted_by_invite(struct tx *tx, struct invite *i)
{
    struct member_access maker;
    enum err e = read_assignable_invite_roles(tx, i);
    const struct role *role = i->named_roles.items;

    i->roles = (struct opt_list){ .given = GIVEN };
    if (e)
        return e;
    e = member_access_find(tx, i->guild_id.value, i->inviter_id, &maker);
    for (size_t n = 0; !e && n < i->named_roles.count; n++)
        if (member_can_grant_invite_role(&maker, &role[n]))
            *(struct role *)list_append(tx_arena(tx), &i->roles.value, sizeof *role) = role[n];
    return e == ERR_MISSING_ACCESS ? OK : e;
}

enum err invite_read_referenced_objects(struct tx *tx, struct invite *i)
{
    enum err e = read_invite_channel_and_guild(tx, i);

    if (!e && i->role_ids.count)
        e = read_roles_granted_by_invite(tx, i);
    if (!e && i->inviter_id)
        e = read_invite_user(tx, i->inviter_id, &i->inviter);
    if (!e && i->target_user_id)
        e = read_invite_user(tx, i->target_user_id, &i->target_user);
    if (!e && i->target_application_id)
        e = read_invite_application(tx, i->target_application_id, &i->target_application);
    return e;
}

static enum err find_invite_with_sql(struct tx *tx, struct sql sql, const struct value *values,
                                     size_t count, struct invite *ret, bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, sql, values, count, &row, ret_found);

    if (e || !*ret_found)
        return e;
    invite_from_row(&row, ret);
    return invite_read_referenced_objects(tx, ret);
}

static const char FIND_INVITE[] =
    "select " INVITE_COLUMNS " from invites where code = $1 and not exists "
    "(select 1 from guilds g where g.id = invites.guild_id and g.removed = 1) and" CHANNEL_NOT_DELETED
    " and" NOT_EXPIRED("$2");

enum err invite_find(struct tx *tx, struct str code, struct invite *ret)
{
    bool found;
    enum err e = find_invite_with_sql(tx, SQL(FIND_INVITE), BIND(v_text(code), v_int(clock_us())),
                                      ret, &found);

    if (!e && !found)
        e = vanity_invite_find(tx, code, ret, &found);
    return e || found ? e : ERR_UNKNOWN_INVITE;
}

static const char FIND_SAME[] =
    "select " INVITE_COLUMNS " from invites where channel_id = $1 and inviter_id = $2 and "
    "max_age = $3 and max_uses = $4 and is_temporary = $5 and coalesce(target_type, 0) = $6 and "
    "coalesce(target_user_id, 0) = $7 and coalesce(target_application_id, 0) = $8 and" PLAIN
    " and" NOT_EXPIRED("$9") " order by created_at desc limit 1";

enum err invite_find_equivalent(struct tx *tx, const struct invite *like, struct invite *ret,
                                bool *ret_found)
{
    return find_invite_with_sql(
        tx, SQL(FIND_SAME),
        BIND(v_id(like->channel_id.value), v_id(like->inviter_id), v_int(like->max_age),
             v_int(like->max_uses), v_int(like->temporary), v_int(like->target_type.value),
             v_id(like->target_user_id), v_id(like->target_application_id), v_int(clock_us())),
        ret, ret_found);
}

static enum err list_invites_with_sql(struct tx *tx, struct sql sql, snowflake id, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = tx_read_list(tx, sql, BIND(v_id(id), v_int(clock_us())), sizeof(struct invite),
                              invite_from_row, ret);

    for (size_t i = 0; !e && i < ret->count; i++)
        e = invite_read_referenced_objects(tx, &((struct invite *)ret->items)[i]);
    return e;
}

static const char OF_GUILD[] =
    "select " INVITE_COLUMNS " from invites where guild_id = $1 and" CHANNEL_NOT_DELETED
    " and" NOT_EXPIRED("$2") " order by created_at, code";
static const char OF_CHANNEL[] =
    "select " INVITE_COLUMNS " from invites where channel_id = $1 and" CHANNEL_NOT_DELETED
    " and" NOT_EXPIRED("$2") " order by created_at, code";
static const char OF_USER[] =
    "select " INVITE_COLUMNS " from invites where inviter_id = $1 and type = 2 and" NOT_EXPIRED(
        "$2") " order by created_at, code";

enum err invites_list_of_guild(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return list_invites_with_sql(tx, SQL(OF_GUILD), guild_id, ret);
}

enum err invites_list_of_channel(struct tx *tx, snowflake channel_id, struct list *ret)
{
    return list_invites_with_sql(tx, SQL(OF_CHANNEL), channel_id, ret);
}

enum err friend_invites_list_of_user(struct tx *tx, snowflake user_id, struct list *ret)
{
    return list_invites_with_sql(tx, SQL(OF_USER), user_id, ret);
}

static const char FIND_LASTING[] =
    "select code from invites where channel_id = $1 and type = 0 and max_age = 0 and max_uses = 0 "
    "and is_temporary = 0 and target_type is null and" PLAIN " and" CHANNEL_NOT_DELETED
    " order by created_at, code limit 1";

enum err permanent_invite_find(struct tx *tx, snowflake channel_id, struct str *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND_LASTING, BIND(v_id(channel_id)), &r, &found);

    *ret = !e && found ? row_text(&r, 0) : (struct str){ 0 };
    return e;
}

/* Deletes expired invites of a guild, group or user, so that they do not count towards the
 * maximum. */
static const char DELETE_EXPIRED[] = "delete from invites where expires_at <= $1 and type = $2 and "
                                     "(guild_id = $3 or channel_id = $3 or inviter_id = $3)";
static const char COUNT_IN_GUILD[] = "select count(*) from invites where guild_id = $1";
static const char COUNT_IN_CHANNEL[] = "select count(*) from invites where channel_id = $1";
static const char COUNT_OF_USER[] =
    "select count(*) from invites where inviter_id = $1 and type = 2";

static enum err delete_expired_and_check_invite_limit(struct tx *tx, const struct invite *i)
{
    snowflake where = i->guild_id.given     ? i->guild_id.value
                      : i->channel_id.given ? i->channel_id.value
                                            : i->inviter_id;
    struct sql count = i->guild_id.given     ? SQL(COUNT_IN_GUILD)
                       : i->channel_id.given ? SQL(COUNT_IN_CHANNEL)
                                             : SQL(COUNT_OF_USER);
    int64_t n = 0;

    enum err e =
        tx_exec(tx, DELETE_EXPIRED, BIND(v_int(clock_us()), v_int(i->type), v_id(where)), NULL);
    if (!e)
        e = tx_read_int(tx, count, BIND(v_id(where)), &n);
    if (e)
        return e;
    return n >= MOST_INVITES ? ERR_MAX_INVITES : OK;
}

static struct str create_invite_code(struct arena *arena)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    char *code = arena_alloc(arena, 8);

    for (int i = 0; i < 8; i++)
        code[i] = digits[randombytes_uniform(sizeof digits - 1)];
    return str_slice(code, 8);
}

static const char ADD_INVITE[] =
    "insert into invites (" INVITE_COLUMNS ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, "
    "$11, $12, $13, $14, $15, null) on conflict do nothing";

enum err invite_insert(struct tx *tx, struct invite *i)
{
    int64_t added = 0;
    enum err e = delete_expired_and_check_invite_limit(tx, i);

    while (!e && !added) {
        i->code = create_invite_code(tx_arena(tx));
        e = tx_exec(tx, ADD_INVITE,
                    BIND(v_text(i->code), v_int(i->type), sql_value_of_optional_id(i->guild_id),
                         sql_value_of_optional_id(i->channel_id), v_id(i->inviter_id),
                         v_int(i->created_at), sql_value_of_optional_int(i->expires_at),
                         v_int(i->max_age), v_int(i->max_uses), v_int(i->temporary),
                         sql_value_of_optional_int(i->target_type),
                         sql_value_of_id_or_null(i->target_user_id),
                         sql_value_of_id_or_null(i->target_application_id),
                         i->role_ids.count
                             ? v_text(json_column_encode(tx_arena(tx), &type_ids, &i->role_ids))
                             : v_null(),
                         v_int(i->flags.value)),
                    &added);
    }
    return e;
}

static const char DELETE_INVITE[] = "delete from invites where code = $1";

enum err invite_delete(struct tx *tx, struct str code)
{
    return tx_exec(tx, DELETE_INVITE, BIND(v_text(code)), NULL);
}

static const char USE_INVITE[] = "update invites set uses = uses + 1 where code = $1 and "
                                 "(max_uses = 0 or uses < max_uses)";

enum err invite_increment_use_count(struct tx *tx, struct invite *i)
{
    int64_t used;
    enum err e = tx_exec(tx, USE_INVITE, BIND(v_text(i->code)), &used);

    if (e)
        return e;
    i->uses++;
    return used ? OK : ERR_UNKNOWN_INVITE;
}
