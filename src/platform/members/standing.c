/* standing.c - where a member stands in a guild: rights and rank. */
#include "platform/members/members.h"

#include "base/clock.h"

static const char OWNER_OF_GUILD[] =
    "select owner_id, automod_version, mfa_level from guilds where id = $1 and removed = 0";

/* A bot has what its owner has, or the owner of the team that it belongs to. */
static const char HAS_SECOND_FACTOR[] =
    "select case when u.bot = 0 then u.mfa_enabled else (select o.mfa_enabled from applications a "
    "left join teams t on t.id = a.team_id join users o on o.id = coalesce(t.owner_id, a.owner_id) "
    "where a.bot_id = u.id) end from users u where u.id = $1";

/* Where a guild asks moderators for a second factor, who has none may not moderate, whatever
 * the roles say. What can be seen stays the same. */
static enum err withhold_rights(struct tx *tx, struct standing *s)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, HAS_SECOND_FACTOR, BIND(v_id(s->user_id)), &row, &found);

    if (!e && !(found && row_int(&row, 0) > 0))
        s->withheld = PERMISSIONS_MFA;
    return e;
}

/* The member's roles and @everyone, the highest last. */
static const char RANKED_ROLES[] =
    "select r.id, r.permissions, r.position from roles r where r.id = $1 union all "
    "select r.id, r.permissions, r.position from member_roles m join roles r on r.id = m.role_id "
    "where m.guild_id = $1 and m.user_id = $2";

static enum err add_roles(struct tx *tx, struct standing *s)
{
    struct rows rows;
    enum err e = tx_query(tx, RANKED_ROLES, BIND(v_id(s->guild_id), v_id(s->user_id)), &rows);

    if (e)
        return e;
    s->top_position = -1;
    while (rows_next(&rows)) {
        snowflake id = row_id(&rows, 0);
        int64_t position = row_int(&rows, 2);

        s->rights_of.base |= (uint64_t)row_int(&rows, 1);
        if (s->top_position < 0 || role_is_above(position, id, s->top_position, s->top_role)) {
            s->top_position = position;
            s->top_role = id;
        }
    }
    return rows_end(&rows);
}

void standing_foresee(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    tx_foresee(tx, OWNER_OF_GUILD, BIND(v_id(guild_id)));
    member_foresee(tx, guild_id, user_id);
    tx_foresee(tx, RANKED_ROLES, BIND(v_id(guild_id), v_id(user_id)));
}

static enum err standing_load(struct tx *tx, snowflake guild_id, snowflake user_id,
                              enum err not_member, struct standing *s)
{
    struct arena *arena = tx_arena(tx);
    struct rows row;
    bool found;

    *s = (struct standing){ .guild_id = guild_id, .user_id = user_id };
    enum err e = tx_one(tx, OWNER_OF_GUILD, BIND(v_id(guild_id)), &row, &found);
    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_GUILD;
    s->owner_id = row_id(&row, 0);
    s->automod_version = row_id(&row, 1);
    bool guarded = row_int(&row, 2) > 0;

    s->member = arena_alloc(arena, sizeof *s->member);
    e = member_find(tx, guild_id, user_id, s->member);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? not_member : e;
    const struct opt_int *until = &s->member->communication_disabled_until;
    s->rights_of = (struct rights_of){
        .guild_id = guild_id,
        .user_id = user_id,
        .owner = s->owner_id == user_id,
        .timed_out = until->given == GIVEN && until->value > clock_us(),
        .quarantined = s->member->flags & MEMBER_QUARANTINED,
        .pending = s->member->pending,
        .roles = s->member->roles.items,
        .role_count = s->member->roles.count,
    };
    e = add_roles(tx, s);
    if (!e && guarded)
        e = withhold_rights(tx, s);
    s->rights = rights_in_guild(&s->rights_of) & ~s->withheld;
    return e;
}

enum err standing_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct standing *ret)
{
    return standing_load(tx, guild_id, user_id, ERR_MISSING_ACCESS, ret);
}

enum err standing_of_member(struct tx *tx, snowflake guild_id, snowflake user_id,
                            struct standing *ret)
{
    return standing_load(tx, guild_id, user_id, ERR_UNKNOWN_MEMBER, ret);
}
