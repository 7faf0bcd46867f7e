/* erasure.c - final deletion of an account: personal data at once, dependent rows in steps.
 *
 * The users row remains, without name, credentials or personal data, because messages and other
 * objects still refer to their author. */
#include "platform/accounts/internal.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "platform/accounts/operator.h"

/* Maximum number of guilds left or relationships deleted per erasure step; each emits events. */
enum { ERASURE_STEP_ROWS = 40 };

static enum err erase_account_row_batch(struct call *call, snowflake id)
{
    struct deletion_step_limits step = { ERASURE_STEP_ROWS, ERASURE_STEP_ROWS, INT64_MAX };
    enum err e = deletion_apply_all_rules(call, WITH_ACCOUNT, id, &step);

    return e ? e : deletion_schedule_next_step(call, &account_erasure_job, id, &step, STR(""));
}

static const char BLANK[] =
    "update users set username = $2, global_name = 'Deleted User', email = null, phone = null, "
    "password_hash = null, avatar = null, banner = null, bio = '', accent_color = null, "
    "date_of_birth = null, mfa_enabled = 0, premium_type = 0, disabled = 1, deleting = 1, "
    "pronouns = '', theme_colors = null where id = $1";

static struct str erased_account_name(struct arena *a, snowflake id)
{
    return str_printf(a, "deleted_%llu", (unsigned long long)id);
}

bool account_is_erased(struct arena *arena, const struct user *u)
{
    return u->deleting && str_eq(u->username, erased_account_name(arena, u->id));
}

enum err account_erase(struct call *call, const struct user *u)
{
    struct str name = erased_account_name(call->arena, u->id);
    enum err e = tx_exec(call->tx, BLANK, BIND(v_id(u->id), v_text(name)), NULL);

    if (!e)
        e = job_cancel(call, &account_deletion_job, u->id);
    if (!e)
        e = delete_stored_picture(call, "avatars", u->id, &u->avatar);
    if (!e)
        e = delete_stored_picture(call, "banners", u->id, &u->banner);
    if (!e)
        e = account_revoke_tokens(call, u->id);
    return e ? e : erase_account_row_batch(call, u->id);
}

static enum err run_account_erasure_job(struct call *call, const struct job *job)
{
    struct user user;
    enum err e = user_find(call->tx, job->key, &user);

    if (e == ERR_UNKNOWN_USER)
        return OK;
    return e || !account_is_erased(call->arena, &user) ? e
                                                       : erase_account_row_batch(call, job->key);
}

const struct job_kind account_erasure_job = {
    .name = "account-leftovers",
    .doc = "Removes a deleted account from guilds and friendships.",
    .run = run_account_erasure_job,
};

/* --- scheduling a deletion in 14 days ------------------------------------------------ */

#define DAY_US (INT64_C(86400) * 1000 * 1000)

static const char SET_DELETING[] = "update users set deleting = $2 where id = $1";

static enum err set_deletion_flag_of_account(struct call *call, struct user *u, bool deleting)
{
    u->deleting = deleting;
    call_revoke_account_tokens(call, u->id);
    return tx_exec(call->tx, SET_DELETING, BIND(v_id(u->id), v_int(deleting)), NULL);
}

static const char OWNS[] =
    "select 1 from guilds where owner_id = $1 and removed = 0 union all "
    "select 1 from applications where owner_id = $1 and removed = 0 union all "
    "select 1 from teams where owner_id = $1 limit 1";

enum err account_owns_guild_app_or_team(struct call *call, snowflake id, bool *ret)
{
    return tx_exists(call->tx, OWNS, BIND(v_id(id)), ret);
}

enum err account_schedule_deletion(struct call *call, struct user *u)
{
    bool owns;
    enum err e = account_owns_guild_app_or_team(call, u->id, &owns);

    if (e || owns)
        return e ? e : ERR_OWNS_THINGS;
    e = set_deletion_flag_of_account(call, u, true);
    if (!e)
        e = account_revoke_tokens(call, u->id);
    return e ? e
             : job_schedule(call, &account_deletion_job, u->id,
                            clock_us() + ACCOUNT_DELETION_DAYS * DAY_US, STR(""));
}

static const char END_PAUSE[] = "update users set disabled = 0 where id = $1 and disabled = $2";

enum err account_cancel_deletion(struct call *call, struct user *u)
{
    enum err e = set_deletion_flag_of_account(call, u, false);

    if (!e && u->paused) {
        u->disabled = u->paused = false;
        e = tx_exec(call->tx, END_PAUSE, BIND(v_id(u->id), v_int(ACCOUNT_PAUSED)), NULL);
    }
    return e ? e : job_cancel(call, &account_deletion_job, u->id);
}

/* Erases the account. If the account has become the owner of a guild, application or team since the
 * deletion was scheduled, the job retries one day later. */
static enum err run_account_deletion_job(struct call *call, const struct job *job)
{
    struct user user;
    bool owns = false;
    enum err e = user_find(call->tx, job->key, &user);

    if (e == ERR_UNKNOWN_USER || (!e && (!user.deleting || account_is_erased(call->arena, &user))))
        return OK;
    if (!e)
        e = account_owns_guild_app_or_team(call, user.id, &owns);
    if (e)
        return e;
    return owns ? job_schedule(call, &account_deletion_job, user.id, clock_us() + DAY_US, STR(""))
                : account_erase(call, &user);
}

const struct job_kind account_deletion_job = {
    .name = "account-deletion",
    .doc = "Deletes an account 14 days after its owner requested it.",
    .run = run_account_deletion_job,
};
