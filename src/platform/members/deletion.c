/* deletion.c - deletes the members of a guild, and the memberships of an account, in steps. */
#include "api/deletion.h"

#include "base/mem.h"
#include "model/fields/ids.h"
#include "platform/members/internal.h"

/* --- deletion of a guild ---------------------------------------------------------------- */

static const char MEMBERS_NEXT[] =
    "select user_id from members where guild_id = $1 order by user_id limit $2";

static enum err call_hooks_of_deleted_members(struct call *call, snowflake guild_id, int64_t count)
{
    struct list users = { 0 };
    enum err e = tx_read_ids(call->tx, MEMBERS_NEXT, BIND(v_id(guild_id), v_int(count)), &users);

    for (size_t i = 0; !e && i < users.count; i++)
        e = hook_membership_changes(
            call,
            &(struct member){ .guild_id = guild_id, .user_id = ((snowflake *)users.items)[i] });
    return e;
}

#define MEMBERS \
    "select user_id, avatar, banner from members where guild_id = $1 order by user_id limit $2"

static const struct deletion_rule member_rows[] = {
    { .mark = MARK_FILES("member-avatars", "user_id", "avatar", MEMBERS) },
    { .mark = MARK_FILES("member-banners", "user_id", "banner", MEMBERS),
      .remove = { &"delete from members where guild_id = $1 and user_id in (select user_id from "
                   "(" MEMBERS ") x)" } },
};

/* Calls the hooks for the next members of the guild, then deletes the rows of these members. */
static enum err delete_members_of_guild(struct call *call, snowflake guild_id,
                                        struct deletion_step_limits *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    while (!e && step->rows_left > 0 && gone == portion) {
        portion = deletion_step_batch_size(step);
        e = call_hooks_of_deleted_members(call, guild_id, portion);
        for (size_t i = 0; !e && i < COUNT_OF(member_rows); i++)
            e = deletion_rule_apply(call, &member_rows[i], guild_id, portion, &gone);
        deletion_step_subtract_deleted_rows(step, gone);
    }
    return e;
}

/* --- deletion of an account ------------------------------------------------------------- */

enum {
    ROWS_PER_LEAVE = 4
}; /* Leaving one guild counts as 4 deleted rows, because it emits an event and hooks write rows. */

static const char GUILDS_LEFT[] =
    "select guild_id from members where user_id = $1 order by guild_id limit $2";

static enum err remove_account_from_guilds(struct call *call, snowflake user_id,
                                           struct deletion_step_limits *step)
{
    struct list guilds = { 0 };
    int64_t most = (step->rows_left + ROWS_PER_LEAVE - 1) / ROWS_PER_LEAVE;
    enum err e = tx_read_ids(call->tx, GUILDS_LEFT, BIND(v_id(user_id), v_int(most)), &guilds);

    for (size_t i = 0; !e && i < guilds.count; i++)
        e = member_remove_from_guild(call, ((snowflake *)guilds.items)[i], user_id);
    deletion_step_subtract_deleted_rows(step, ROWS_PER_LEAVE * (int64_t)guilds.count);
    return e;
}

const struct deletion_rule member_deletions[] = {
    { DELETE_WHERE(WITH_GUILD, "member_roles", "guild_id, user_id, role_id", "guild_id = $1"),
      .phase = DELETE_FIRST },
    { WITH_GUILD, "members", .run = delete_members_of_guild, .phase = DELETE_PARTS },
    { WITH_ACCOUNT, "members", .run = remove_account_from_guilds, .phase = DELETE_PARTS },
    { DELETE_WHERE(WITH_ROLE, "member_roles", "guild_id, user_id, role_id", "role_id = $1") },
    { DELETE_OF(WITH_GUILD, "bans", "guild_id", "user_id") },
    { DELETE_OF(WITH_GUILD, "member_sanctions", "guild_id", "user_id") },
    { DELETE_WHERE(WITH_GUILD, "guild_days", "guild_id, day", "guild_id = $1") },
    { 0 },
};
