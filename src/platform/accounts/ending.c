/* ending.c - final deletion of an account: personal data at once, dependent rows in steps.
 *
 * The users row remains, without name, credentials or personal data, because messages and other
 * objects still refer to their author. */
#include "platform/accounts/internal.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "platform/accounts/operator.h"

enum { ENDING_AT_ONCE = 40 }; /* guilds or relationships ended per step; each sends events */

static enum err step_account(struct call *call, snowflake id)
{
    struct deletion_step step = { ENDING_AT_ONCE, ENDING_AT_ONCE, INT64_MAX };
    enum err e = deletion_walk(call, WITH_ACCOUNT, id, &step);

    return e ? e : deletion_continue(call, &account_leftovers, id, &step, STR(""));
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
    .doc = "Removes a deleted account from guilds and friendships.",
    .run = run_account,
};

/* --- deletion request, 14 days before --------------------------------------------------- */

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

/* Retries one day later if the account owns guilds, applications or teams by now. */
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
    .doc = "Deletes an account 14 days after its owner requested it.",
    .run = run_deletion,
};
