/* ending.c - the end of an account: what it is called goes at once, the rest in steps.
 *
 * The row stays, as what others read was written by it: without a name, a way in or anything
 * that tells who it was. */
#include "platform/accounts/internal.h"

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "platform/accounts/operator.h"

enum { ENDING_AT_ONCE = 40 }; /* guilds left, bonds ended: each tells others */

/* What only the account itself ever saw, in tables where one account has few rows … */
static const struct sql own_rows[] = {
    SQL_TEXT("delete from user_settings where user_id = $1"),
    SQL_TEXT("delete from settings_protos where user_id = $1"),
    SQL_TEXT("delete from mfa where user_id = $1"),
    SQL_TEXT("delete from mailed_links where user_id = $1"),
    SQL_TEXT("delete from known_addresses where user_id = $1"),
    SQL_TEXT("delete from contact_lists where user_id = $1"),
    SQL_TEXT("delete from bulk_add_tokens where user_id = $1"),
    SQL_TEXT("delete from legacy_tags where user_id = $1"),
    SQL_TEXT("delete from connections where user_id = $1"),
    SQL_TEXT("delete from role_connections where user_id = $1"),
    SQL_TEXT("delete from authorizations where user_id = $1"),
    SQL_TEXT("delete from authorization_codes where user_id = $1"),
};

/* … and where it may have many: $2 of them at a time. */
#define SOME_OF(table, whose, key)                                                               \
    {                                                                                            \
        &"delete from " table " where " whose " = $1 and " key " in (select " key " from " table \
         " where " whose " = $1 limit $2)"                                                       \
    }
static const struct sql many_rows[] = {
    SOME_OF("notes", "user_id", "target_id"),
    SOME_OF("contacts", "user_id", "digest"),
    SOME_OF("read_states", "user_id", "entity_id"),
    SOME_OF("mentions_hidden", "user_id", "message_id"),
    SOME_OF("user_guild_settings", "user_id", "guild_id"),
    SOME_OF("friend_requests", "user_id", "target_id"),
    SOME_OF("friend_requests", "target_id", "user_id"),
    SOME_OF("friend_suggestions", "user_id", "suggested_id"),
    SOME_OF("friend_suggestions", "suggested_id", "user_id"),
    SOME_OF("dismissed_suggestions", "user_id", "suggested_id"),
    SOME_OF("gif_picks", "user_id", "gif"),
};

static enum err drop_many(struct call *call, snowflake id, int64_t *room)
{
    for (size_t i = 0; i < COUNT_OF(many_rows) && *room > 0; i++) {
        int64_t gone = 0;
        enum err e = tx_exec(call->tx, many_rows[i], BIND(v_id(id), v_int(*room)), &gone);

        if (e)
            return e;
        *room -= gone;
    }
    return OK;
}

static enum err step_account(struct call *call, snowflake id)
{
    int64_t room = ENDING_AT_ONCE;
    enum err e = hook_account_ending(call, &(struct account_ending){ id, &room });

    if (!e)
        e = drop_many(call, id, &room);
    if (!e && room <= 0)
        return job_schedule(call, &account_leftovers, id, clock_us(), STR(""));
    for (size_t i = 0; !e && i < COUNT_OF(own_rows); i++)
        e = tx_exec(call->tx, own_rows[i], BIND(v_id(id)), NULL);
    return e;
}

static const char BLANK[] =
    "update users set username = $2, global_name = 'Deleted User', email = null, phone = null, "
    "password_hash = null, avatar = null, banner = null, bio = '', accent_color = null, "
    "date_of_birth = null, mfa_enabled = 0, premium_type = 0, disabled = 1, deleting = 1, "
    "pronouns = '', theme_colors = null where id = $1";

static struct str ended_name(struct arena *a, snowflake id)
{
    return str_printf(a, "deleted_%llu", (unsigned long long)id);
}

bool account_is_ended(struct arena *arena, const struct user *u)
{
    return u->deleting && str_eq(u->username, ended_name(arena, u->id));
}

enum err account_end(struct call *call, const struct user *u)
{
    struct str name = ended_name(call->arena, u->id);
    enum err e = tx_exec(call->tx, BLANK, BIND(v_id(u->id), v_text(name)), NULL);

    if (!e)
        e = job_cancel(call, &account_deletion, u->id);
    if (!e)
        e = picture_drop(call, "avatars", u->id, &u->avatar);
    if (!e)
        e = picture_drop(call, "banners", u->id, &u->banner);
    if (!e)
        e = account_revoke(call, u->id);
    return e ? e : step_account(call, u->id);
}

static enum err run_account(struct call *call, const struct job *job)
{
    struct user user;
    enum err e = user_find(call->tx, job->key, &user);

    if (e == ERR_UNKNOWN_USER)
        return OK;
    return e || !account_is_ended(call->arena, &user) ? e : step_account(call, job->key);
}

const struct job_kind account_leftovers = {
    .name = "account-leftovers",
    .doc = "Takes a deleted account out of guilds and friendships.",
    .run = run_account,
};

/* --- two weeks before ------------------------------------------------------------------ */

#define DAY_US (INT64_C(86400) * 1000 * 1000)

static const char SET_DELETING[] = "update users set deleting = $2 where id = $1";

static enum err set_deleting(struct call *call, struct user *u, bool deleting)
{
    u->deleting = deleting;
    call_forget_account(call, u->id);
    return tx_exec(call->tx, SET_DELETING, BIND(v_id(u->id), v_int(deleting)), NULL);
}

static const char OWNS[] =
    "select 1 from guilds where owner_id = $1 and removed = 0 union all "
    "select 1 from applications where owner_id = $1 and removed = 0 union all "
    "select 1 from teams where owner_id = $1 limit 1";

enum err account_owns(struct call *call, snowflake id, bool *ret)
{
    struct rows row;

    return tx_one(call->tx, OWNS, BIND(v_id(id)), &row, ret);
}

enum err account_delete(struct call *call, struct user *u)
{
    bool owns;
    enum err e = account_owns(call, u->id, &owns);

    if (e || owns)
        return e ? e : ERR_OWNS_THINGS;
    e = set_deleting(call, u, true);
    if (!e)
        e = account_revoke(call, u->id);
    return e ? e
             : job_schedule(call, &account_deletion, u->id,
                            clock_us() + ACCOUNT_DELETION_DAYS * DAY_US, STR(""));
}

static const char END_PAUSE[] = "update users set disabled = 0 where id = $1 and disabled = $2";

enum err account_undelete(struct call *call, struct user *u)
{
    enum err e = set_deleting(call, u, false);

    if (!e && u->paused) {
        u->disabled = u->paused = false;
        e = tx_exec(call->tx, END_PAUSE, BIND(v_id(u->id), v_int(ACCOUNT_PAUSED)), NULL);
    }
    return e ? e : job_cancel(call, &account_deletion, u->id);
}

/* What somebody was given meanwhile is not taken from others: the day after it is looked at
 * again. */
static enum err run_deletion(struct call *call, const struct job *job)
{
    struct user user;
    bool owns = false;
    enum err e = user_find(call->tx, job->key, &user);

    if (e == ERR_UNKNOWN_USER || (!e && (!user.deleting || account_is_ended(call->arena, &user))))
        return OK;
    if (!e)
        e = account_owns(call, user.id, &owns);
    if (e)
        return e;
    return owns ? job_schedule(call, &account_deletion, user.id, clock_us() + DAY_US, STR(""))
                : account_end(call, &user);
}

const struct job_kind account_deletion = {
    .name = "account-deletion",
    .doc = "Deletes an account two weeks after that was asked for.",
    .run = run_deletion,
};
