/* join_leave.c - adds, removes and updates members, with the events that the guild receives. */
#include "platform/members/internal.h"

#include "base/clock.h"

enum { MOST_GUILDS = 100, MOST_MEMBERS = 500000 };

static const char IS_BANNED[] = "select 1 from bans where guild_id = $1 and user_id = $2";
static const char GUILDS_OF_USER[] = "select count(*) from members m join guilds g on "
                                     "g.id = m.guild_id and g.removed = 0 where m.user_id = $1";
static const char MEMBERS_OF_GUILD[] = "select member_count, features, invites_disabled_until "
                                       "from guilds where id = $1";

enum err check_guild_limit_of_user(struct tx *tx, snowflake user_id)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, GUILDS_OF_USER, BIND(v_id(user_id)), &n);

    return e || n < MOST_GUILDS ? e : ERR_MAX_GUILDS;
}

/* Returns an error if the user is banned from the guild or is in the maximum number of guilds.
 * Callers skip this check for bots. */
static enum err check_user_may_join(struct tx *tx, const struct member_to_add_to_guild *n)
{
    bool found;

    enum err e = tx_exists(tx, IS_BANNED, BIND(v_id(n->guild_id), v_id(n->user_id)), &found);
    if (e || found)
        return e ? e : ERR_BANNED;
    return check_guild_limit_of_user(tx, n->user_id);
}

/* Returns true if the new member is pending: the guild has membership screening, the user is not a
 * bot, and the member gets no roles. */
static bool new_member_is_screened(const struct member_to_add_to_guild *n, const struct user *user,
                                   struct str features)
{
    const struct guild g = { .features = features };

    return !user->bot.value && !n->roles.count &&
           guild_has_feature(&g, "MEMBER_VERIFICATION_GATE_ENABLED");
}

/* Returns true if the guild has disabled joins, permanently or until a time. row is a row of
 * MEMBERS_OF_GUILD. */
static bool guild_has_paused_joins(const struct rows *row)
{
    const struct guild g = { .features = row_text(row, 1) };

    return guild_has_feature(&g, "INVITES_DISABLED") || row_int(row, 2) > clock_us();
}

static enum err check_join_allowed(struct tx *tx, const struct member_to_add_to_guild *n,
                                   const struct user *user, bool *ret_pending)
{
    struct rows row;

    enum err e = user->bot.value ? OK : check_user_may_join(tx, n);
    if (!e)
        e = tx_one_or(tx, MEMBERS_OF_GUILD, BIND(v_id(n->guild_id)), ERR_UNKNOWN_GUILD, &row);
    if (e)
        return e;
    if (!user->bot.value && guild_has_paused_joins(&row))
        return ERR_INVITES_PAUSED;
    *ret_pending = new_member_is_screened(n, user, row_text(&row, 1));
    return row_int(&row, 0) >= MOST_MEMBERS ? ERR_MAX_MEMBERS : OK;
}

static enum err insert_member_with_hooks(struct call *call, const struct member *m, bool temporary)
{
    enum err e = member_insert(call->tx, m, temporary);

    return e ? e : hook_membership_changes(call, m);
}

enum err member_add_to_guild(struct call *call, const struct member_to_add_to_guild *n,
                             struct member *ret, bool *ret_new)
{
    enum err e = member_find(call->tx, n->guild_id, n->user_id, ret);

    *ret_new = e == ERR_UNKNOWN_MEMBER;
    if (!e)
        return member_read_user(call->tx, ret);
    if (!*ret_new)
        return e;
    *ret = (struct member){
        .guild_id = n->guild_id,
        .user_id = n->user_id,
        .nick = n->nick,
        .roles = n->roles,
        .joined_at = clock_us(),
        .mute = n->mute,
        .deaf = n->deaf,
        .flags = n->flags,
    };
    e = member_read_user(call->tx, ret);
    if (!e)
        e = check_join_allowed(call->tx, n, ret->user, &ret->pending);
    if (!e)
        e = member_restore_sanctions(call->tx, ret);
    if (!e)
        e = insert_member_with_hooks(call, ret, n->temporary);
    if (!e)
        e = hook_member_joined(call, ret);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_MEMBER_ADD, audience_of_guild(n->guild_id),
                    &guild_member_schema, ret);
    return hook_member_add_emitted(call, ret);
}

enum err member_insert_guild_owner(struct call *call, const struct created_guild *made)
{
    struct member owner = { .guild_id = made->guild->id,
                            .user_id = made->guild->owner_id,
                            .joined_at = clock_us() };
    enum err e = check_guild_limit_of_user(call->tx, owner.user_id);

    return e ? e : insert_member_with_hooks(call, &owner, false);
}

enum err member_remove_from_guild(struct call *call, snowflake guild_id, snowflake user_id)
{
    struct user user;
    struct guild_user_event removed = { .guild_id = guild_id, .user = &user };
    struct guild_delete_event guild = { guild_id };
    bool done = false;
    struct member_leaving_guild leave = { guild_id, &user, &done };

    enum err e = user_find(call->tx, user_id, &user);
    if (!e)
        e = hook_member_leaving(call, &leave);
    if (e || done)
        return e;
    e = member_delete(call, guild_id, user_id);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_MEMBER_REMOVE, audience_of_guild(guild_id),
                    &guild_user_event_schema, &removed);
    call_emit_event(call, EVENT_GUILD_DELETE, audience_of_user(user_id), &guild_delete_event_schema,
                    &guild);
    return hook_member_left(call, &leave);
}

enum err member_emit_imported(struct call *call, snowflake guild_id, snowflake user_id,
                              bool created)
{
    struct member m;
    enum err e = member_find(call->tx, guild_id, user_id, &m);

    if (!e)
        e = member_read_user(call->tx, &m);
    if (!e && created)
        e = hook_membership_changes(call, &m);
    if (e)
        return e;
    call_emit_event(call, created ? EVENT_GUILD_MEMBER_ADD : EVENT_GUILD_MEMBER_UPDATE,
                    audience_of_guild(guild_id), &guild_member_schema, &m);
    return created ? OK : hook_member_changed(call, &m);
}

enum err member_update_and_emit(struct call *call, const struct member *m)
{
    struct member shown = *m;
    enum err e = member_update(call->tx, m);

    if (!e && !shown.user)
        e = member_read_user(call->tx, &shown);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_MEMBER_UPDATE, audience_of_guild(m->guild_id),
                    &guild_member_schema, &shown);
    return hook_member_changed(call, &shown);
}
