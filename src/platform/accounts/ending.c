/* ending.c - the end of an account: what it is called goes at once, the rest in steps.
 *
 * The row stays, as what others read was written by it: without a name, a way in or anything
 * that tells who it was. */
#include "platform/accounts/internal.h"

#include "api/hooks.h"
#include "api/jobs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "platform/accounts/operator.h"

enum { ENDING_AT_ONCE = 40 }; /* guilds left, bonds ended: each tells others */

/* What only the account itself ever saw; few rows each. */
static const char *const own_rows[] = {
    "delete from user_settings where user_id = $1",
    "delete from notes where user_id = $1",
    "delete from known_addresses where user_id = $1",
    "delete from contact_lists where user_id = $1",
    "delete from contacts where user_id = $1",
    "delete from bulk_add_tokens where user_id = $1",
    "delete from legacy_tags where user_id = $1",
    "delete from connections where user_id = $1",
    "delete from role_connections where user_id = $1",
    "delete from friend_suggestions where user_id = $1",
    "delete from friend_suggestions where suggested_id = $1",
    "delete from dismissed_suggestions where user_id = $1",
};

static enum err step_account(struct call *call, snowflake id)
{
    int64_t room = ENDING_AT_ONCE;
    enum err e = hook_account_ending(call, &(struct account_ending){ id, &room });

    if (!e && room <= 0)
        return job_schedule(call, &account_leftovers, id, clock_us(), STR(""));
    for (size_t i = 0; !e && i < COUNT_OF(own_rows); i++)
        e = tx_exec(call->tx, own_rows[i], BIND(v_id(id)), NULL);
    return e;
}

static const char BLANK[] =
    "update users set username = $2, global_name = 'Deleted User', email = null, phone = null, "
    "password_hash = null, avatar = null, banner = null, bio = '', accent_color = null, "
    "date_of_birth = null, premium_type = 0, disabled = 1, deleting = 1 where id = $1";

enum err account_end(struct call *call, const struct user *u)
{
    struct str name = str_printf(call->arena, "deleted_%llu", (unsigned long long)u->id);
    enum err e = tx_exec(call->tx, BLANK, BIND(v_id(u->id), v_text(name)), NULL);

    if (!e)
        e = picture_drop(call, "avatars", u->id, &u->avatar);
    if (!e)
        e = picture_drop(call, "banners", u->id, &u->banner);
    if (!e)
        e = account_revoke(call, u->id);
    return e ? e : step_account(call, u->id);
}

static const char IS_ENDED[] =
    "select 1 from users where id = $1 and deleting = 1 and password_hash is null";

static enum err run_account(struct call *call, const struct job *job)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, IS_ENDED, BIND(v_id(job->key)), &row, &found);

    return e || !found ? e : step_account(call, job->key);
}

const struct job_kind account_leftovers = {
    .name = "account-leftovers",
    .doc = "Takes a deleted account out of guilds and friendships.",
    .run = run_account,
};
