/* member_access.c - permissions and rank of a member in a guild. */
#include "platform/members/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"

/* Index of the guild's first column. The query returns the member's columns (null if the user is
 * not a member), then the guild's columns. */
enum { OWNER_COLUMN = MEMBER_COLUMN_COUNT };
static const char FIND_MEMBER_ACCESS[] =
    "select " MEMBER_COLUMNS ", g.owner_id, g.automod_version, g.mfa_level, "
    "g.verification_level from guilds g "
    "left join members m on m.guild_id = g.id and m.user_id = $2 where g.id = $1 and g.removed = 0";

/* A bot counts as having a second factor if its owner, or the owner of its team, has one. */
static const char HAS_SECOND_FACTOR[] =
    "select case when u.bot = 0 then u.mfa_enabled else (select o.mfa_enabled from applications a "
    "left join teams t on t.id = a.team_id join users o on o.id = coalesce(t.owner_id, a.owner_id) "
    "where a.bot_id = u.id) end from users u where u.id = $1";

/* If the guild requires a second factor for moderation and the member has none, withholds the
 * permissions that need one. VIEW_CHANNEL is not among them, so the member can view the same
 * channels. */
static enum err remove_permissions_that_need_mfa(struct tx *tx, struct member_access *s)
{
    int64_t has;
    enum err e = tx_read_int(tx, HAS_SECOND_FACTOR, BIND(v_id(s->user_id)), &has);

    if (!e && has <= 0)
        s->withheld = PERMISSIONS_REQUIRING_MFA;
    return e;
}

static const char FIND_ACCOUNT[] = "select bot, verified, phone from users where id = $1";

enum { LEVEL_EMAIL = 1, LEVEL_ACCOUNT_AGE, LEVEL_MEMBER_AGE, LEVEL_PHONE };
static const int64_t ACCOUNT_AGE_MS = 5 * 60 * 1000, MEMBER_AGE_US = INT64_C(10) * 60 * 1000000;

/* Checks whether the member meets the guild's verification level. Each level includes the
 * conditions of lower levels. Bots, members with a role and exempt members need no verification. */
static enum err check_verification_level(struct tx *tx, struct member_access *s, int64_t level)
{
    struct rows row;
    bool found;

    if (level < LEVEL_EMAIL || s->input.owner || s->member->roles.count ||
        s->member->flags & MEMBER_BYPASSES_VERIFICATION)
        return OK;
    enum err e = tx_one(tx, FIND_ACCOUNT, BIND(v_id(s->user_id)), &row, &found);
    if (e || !found || row_bool(&row, 0))
        return e;
    if (!row_bool(&row, 1))
        s->input.unverified = ERR_VERIFY_EMAIL;
    else if (level >= LEVEL_ACCOUNT_AGE &&
             clock_ms() - snowflake_to_ms(s->user_id) < ACCOUNT_AGE_MS)
        s->input.unverified = ERR_VERIFY_ACCOUNT_AGE;
    else if (level >= LEVEL_MEMBER_AGE && clock_us() - s->member->joined_at < MEMBER_AGE_US)
        s->input.unverified = ERR_VERIFY_MEMBER_AGE;
    else if (level >= LEVEL_PHONE && row_column_is_null(&row, 2))
        s->input.unverified = ERR_VERIFY_PHONE;
    return OK;
}

/* Selects the roles that a member has, including @everyone. */
static const char RANKED_ROLES[] =
    "select r.id, r.permissions, r.position from roles r where r.id = $1 union all "
    "select r.id, r.permissions, r.position from member_roles m join roles r on r.id = m.role_id "
    "where m.guild_id = $1 and m.user_id = $2";

static void insert_role_id_sorted(struct arena *arena, struct list *roles, snowflake id)
{
    size_t i = roles->count;

    id_list_add(arena, roles, id);
    for (snowflake *ids = roles->items; i && ids[i - 1] > id; i--) {
        ids[i] = ids[i - 1];
        ids[i - 1] = id;
    }
}

static enum err read_roles_and_permissions(struct tx *tx, struct member_access *s)
{
    struct rows rows;
    enum err e = tx_query(tx, RANKED_ROLES, BIND(v_id(s->guild_id), v_id(s->user_id)), &rows);

    if (e)
        return e;
    s->top_position = -1;
    while (rows_next(&rows)) {
        snowflake id = row_id(&rows, 0);
        int64_t position = row_int(&rows, 2);

        if (id != s->guild_id)
            insert_role_id_sorted(tx_arena(tx), &s->member->roles, id);
        s->input.base |= (uint64_t)row_int(&rows, 1);
        if (s->top_position < 0 || role_is_above(position, id, s->top_position, s->top_role)) {
            s->top_position = position;
            s->top_role = id;
        }
    }
    return rows_end(&rows);
}

static enum err read_member_access(struct tx *tx, snowflake guild_id, snowflake user_id,
                                   enum err not_member, struct member_access *s)
{
    struct rows row;

    *s = (struct member_access){ .guild_id = guild_id, .user_id = user_id };
    enum err e = tx_one_or(tx, FIND_MEMBER_ACCESS, BIND(v_id(guild_id), v_id(user_id)),
                           ERR_UNKNOWN_GUILD, &row);
    if (e)
        return e;
    s->owner_id = row_id(&row, OWNER_COLUMN);
    s->automod_version = row_id(&row, OWNER_COLUMN + 1);
    if (row_column_is_null(&row, 0))
        return not_member;
    s->member = arena_alloc_unzeroed(tx_arena(tx), sizeof *s->member);
    member_from_row(&row, s->member);
    e = read_roles_and_permissions(tx, s);
    if (e)
        return e;
    const struct opt_int *until = &s->member->communication_disabled_until;
    s->input = (struct permission_computation_input){
        .base = s->input.base,
        .guild_id = guild_id,
        .user_id = user_id,
        .owner = s->owner_id == user_id,
        .timed_out = until->given == GIVEN && until->value > clock_us(),
        .quarantined = s->member->flags & MEMBER_QUARANTINED,
        .pending = s->member->pending,
        .roles = s->member->roles.items,
        .role_count = s->member->roles.count,
    };
    if (row_int(&row, OWNER_COLUMN + 2) > 0)
        e = remove_permissions_that_need_mfa(tx, s);
    if (!e)
        e = check_verification_level(tx, s, row_int(&row, OWNER_COLUMN + 3));
    s->permissions = permissions_in_guild(&s->input) & ~s->withheld;
    return e;
}

enum err member_access_find(struct tx *tx, snowflake guild_id, snowflake user_id,
                            struct member_access *ret)
{
    return read_member_access(tx, guild_id, user_id, ERR_MISSING_ACCESS, ret);
}

enum err member_access_find_of_other_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                          struct member_access *ret)
{
    return read_member_access(tx, guild_id, user_id, ERR_UNKNOWN_MEMBER, ret);
}

static const char APPLICATION_FLAGS[] =
    "select flags from applications where bot_id = $1 and removed = 0";

enum err bot_read_application_flags(struct tx *tx, snowflake bot_id, int64_t *ret, bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, APPLICATION_FLAGS, BIND(v_id(bot_id)), &row, ret_found);

    *ret = !e && *ret_found ? row_int(&row, 0) : 0;
    return e;
}
