/* subscription_expiry.c - removes the role, or the member, when a subscription has ended. Every 15
 * minutes a job checks the members whose grace period is over. It asks the provider once more about
 * each of these members. If the provider does not respond, the member stays unchanged. */
#include "integrations/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "integrations/call_chain.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { NODE_LEASE_MS = 120 * 1000, EVERY_S = 900, MOST_ACCOUNTS = 50 };

/* State of the expiry job for one member. Has no pointers, because each transaction gets a copy. */
struct lapsed_member {
    snowflake id; /* integration id */
    snowflake user_id;
    enum platform platform;
    char account_id[4 * LONGEST_ACCOUNT_ID + 1];
    char secret[4 * LONGEST_SECRET + 1];
    char accounts[MOST_ACCOUNTS][4 * LONGEST_ACCOUNT_ID + 1]; /* platform accounts of the member */
    unsigned count, asked;
    bool found, subscribes;
};

/* --- rows ----------------------------------------------------------------------------- */

static bool integration_is_active(const struct integration_row *i)
{
    return i->enabled && !i->revoked_at && platform_is_enabled(i->platform);
}

static int64_t latest_expired_lapse_time(const struct integration_row *i)
{
    return clock_us() - i->expire_grace_period * DAY;
}

static const char NEXT_LAPSE[] =
    "select user_id from integration_members where integration_id = $1 and user_id > $2 "
    "and lapsed_at <= $3 order by user_id limit 1";
static const char ACCOUNTS[] =
    "select id from connections where user_id = $1 and type = $2 and verified = 1 "
    "and revoked = 0 order by id limit $3";

static enum err read_platform_accounts_of_member(struct call *call, const struct integration_row *i,
                                                 struct lapsed_member *l)
{
    struct rows rows;
    enum err e = tx_query(call->tx, ACCOUNTS,
                          BIND(v_id(l->user_id), v_text(i->type), v_int(MOST_ACCOUNTS)), &rows);

    l->count = l->asked = 0;
    if (e)
        return e;
    while (rows_next(&rows))
        snprintf(l->accounts[l->count++], sizeof *l->accounts, "%.*s",
                 STR_ARGS(row_text(&rows, 0)));
    return rows_end(&rows);
}

static enum err read_integration_owner(struct call *call, const struct integration_row *i,
                                       struct lapsed_member *l)
{
    struct linked_platform_account c;
    bool found;
    enum err e =
        read_linked_account_of_platform_account(call->tx, i->type, i->account_id, &c, &found);

    if (e)
        return e;
    struct str secret =
        found ? decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                              c.user_id, c.secret)
              : (struct str){ 0 };
    snprintf(l->secret, sizeof l->secret, "%.*s", STR_ARGS(secret));
    snprintf(l->account_id, sizeof l->account_id, "%.*s", STR_ARGS(i->account_id));
    l->platform = i->platform;
    return OK;
}

/* Reads the next member whose grace period is over, in a read transaction. */
static enum err read_next_member_with_ended_subscription(struct call *call)
{
    struct lapsed_member *l = call_get_stage_data(call, "lapsed_member");
    struct integration_row i;
    struct rows row;

    l->found = l->subscribes = false;
    enum err e = read_integration(call->tx, l->id, &i);
    if (e || !integration_is_active(&i))
        return e == ERR_UNKNOWN_INTEGRATION ? OK : e;
    e = tx_one(call->tx, NEXT_LAPSE,
               BIND(v_id(l->id), v_id(l->user_id), v_int(latest_expired_lapse_time(&i))), &row,
               &l->found);
    if (e || !l->found)
        return e;
    l->user_id = row_id(&row, 0);
    e = read_integration_owner(call, &i, l);
    return e ? e : read_platform_accounts_of_member(call, &i, l);
}

static const char CLEAR_LAPSE[] = "update integration_members set lapsed_at = null "
                                  "where integration_id = $1 and user_id = $2";
static const char STILL_LAPSED[] = "select 1 from integration_members where integration_id = $1 "
                                   "and user_id = $2 and lapsed_at <= $3";

/* Reads whether the member may be kicked. The guild's owner, its managers, and bots may not. */
static enum err read_whether_member_may_be_kicked(struct tx *tx, const struct integration_row *i,
                                                  snowflake user_id, bool *ret)
{
    uint64_t protected = PERMISSION(MANAGE_GUILD) | PERMISSION(ADMINISTRATOR);
    struct member_access s;
    struct user user;

    *ret = false;
    if (i->expire_behavior != EXPIRE_KICK)
        return OK;
    enum err e = member_access_find_of_other_user(tx, i->guild_id, user_id, &s);
    if (!e)
        e = user_find(tx, user_id, &user);
    if (!e)
        *ret = s.owner_id != user_id && !(s.permissions & protected) && user.bot.given != GIVEN;
    return e;
}

static enum err remove_expired_role_or_member(struct call *call, const struct integration_row *i,
                                              snowflake user_id)
{
    bool kick;
    enum err e = read_whether_member_may_be_kicked(call->tx, i, user_id, &kick);

    if (e)
        return e;
    if (kick) {
        e = member_remove_from_guild(call, i->guild_id, user_id);
        return e ? e : audit_log_record_action(call, i->guild_id, AUDIT_MEMBER_KICK, user_id);
    }
    e = tx_exec(call->tx, CLEAR_LAPSE, BIND(v_id(i->id), v_id(user_id)), NULL);
    if (!e)
        e = add_or_remove_subscriber_role(call, i, user_id, false);
    const struct list lost = { (snowflake[]){ i->role_id }, 1 }, none = { 0 };

    return e ? e : audit_log_record_member_roles(call, i->guild_id, user_id, &lost, &none);
}

/* Removes the role or the member. Checks all conditions again, because the data may have changed
 * since the read. */
static enum err remove_member_if_subscription_has_ended(struct call *call)
{
    const struct lapsed_member *l = call_get_stage_data(call, "lapsed_member");
    struct integration_row i;
    bool found;

    enum err e = read_integration(call->tx, l->id, &i);
    if (e || !integration_is_active(&i))
        return e == ERR_UNKNOWN_INTEGRATION ? OK : e;
    e = tx_exists(call->tx, STILL_LAPSED,
                  BIND(v_id(l->id), v_id(l->user_id), v_int(latest_expired_lapse_time(&i))),
                  &found);
    if (!e && found)
        e = l->subscribes
                ? tx_exec(call->tx, CLEAR_LAPSE, BIND(v_id(l->id), v_id(l->user_id)), NULL)
                : remove_expired_role_or_member(call, &i, l->user_id);
    return e ? e
             : job_schedule(call, &subscription_expiry_job, l->id,
                            clock_us() + INT64_C(1000) * NODE_LEASE_MS, STR(""));
}

static enum err schedule_next_expiry(struct call *call)
{
    const struct lapsed_member *l = call_get_stage_data(call, "lapsed_member");
    struct integration_row i;
    enum err e = read_integration(call->tx, l->id, &i);

    /* Do not schedule the job again. If the integration is enabled again, schedule_integration_sync
     * does. */
    if (e == ERR_UNKNOWN_INTEGRATION || (!e && !i.enabled))
        return job_cancel(call, &subscription_expiry_job, l->id);
    return e ? e
             : job_schedule(call, &subscription_expiry_job, l->id, clock_us() + EVERY_S * SECOND,
                            STR(""));
}

/* --- iteration over members ----------------------------------------------------------- */

static void finish_expiry_run(struct internal_call_chain *c)
{
    internal_call_chain_start_call(c, ROUTE_STORE_WRITE, schedule_next_expiry,
                                   internal_call_chain_free_after_last_call);
}

static void on_member_expired(struct call *call, enum err e, void *arg)
{
    (void)call;
    if (e)
        finish_expiry_run(arg);
    else
        internal_call_chain_schedule_next_step(arg);
}

static void request_subscription_of_next_account(struct internal_call_chain *c);

static void on_subscription_read_from_provider(void *arg,
                                               const struct platform_provider_response *a)
{
    struct internal_call_chain *c = arg;
    struct lapsed_member *l = c->state;

    if (a->result != PROVIDER_OK && a->result != PROVIDER_NOT_FOUND) {
        finish_expiry_run(c);
        return;
    }
    l->subscribes = a->result == PROVIDER_OK;
    l->asked++;
    request_subscription_of_next_account(c);
}

static void request_subscription_of_next_account(struct internal_call_chain *c)
{
    const struct lapsed_member *l = c->state;

    if (l->subscribes || l->asked == l->count) {
        internal_call_chain_start_call(c, ROUTE_STORE_WRITE,
                                       remove_member_if_subscription_has_ended, on_member_expired);
        return;
    }
    platform_provider_send_request(
        c->api, c->loop,
        &(struct platform_provider_request){ .kind = ASK_IS_SUBSCRIBER,
                                             .platform = l->platform,
                                             .account_id = str_of(l->account_id),
                                             .subscriber_id = str_of(l->accounts[l->asked]),
                                             .secret = str_of(l->secret),
                                             .done = on_subscription_read_from_provider,
                                             .arg = c });
}

static void on_ended_subscription_read(struct call *call, enum err e, void *arg)
{
    const struct lapsed_member *found = call_get_stage_data(call, "lapsed_member");
    struct internal_call_chain *c = arg;

    if (e || !found->found) {
        finish_expiry_run(c);
        return;
    }
    *(struct lapsed_member *)c->state = *found;
    request_subscription_of_next_account(c);
}

static void begin_reading_next_ended_subscription(struct internal_call_chain *c)
{
    internal_call_chain_start_call(c, ROUTE_STORE_READ, read_next_member_with_ended_subscription,
                                   on_ended_subscription_read);
}

static void start_expiry_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct lapsed_member first = { .id = job->key };

    internal_call_chain_schedule_next_step(internal_call_chain_new(
        api, loop, begin_reading_next_ended_subscription, "lapsed_member", &first, sizeof first));
}

const struct job_kind subscription_expiry_job = {
    .name = "integration-expiry",
    .doc = "Removes the role of members whose subscription has ended, or the members.",
    .start = start_expiry_job,
    .lease_ms = NODE_LEASE_MS,
};
