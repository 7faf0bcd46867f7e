/* expiry.c - removes the role, or the member, when a subscription has ended.
 *
 * Every 15 minutes the job checks the members whose grace period is over. It asks the provider
 * about each once more; without an answer it changes nothing. */
#include "integrations/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "integrations/chain.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { LEASE_MS = 120 * 1000, EVERY_S = 900, MOST_ACCOUNTS = 50 };

/* State of the job: one member. Contains no pointers, because it is copied between calls. */
struct lapse {
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

static bool expiry_acts(const struct integration_row *i)
{
    return i->enabled && !i->revoked_at && platform_is_on(i->platform);
}

static int64_t lapsed_before(const struct integration_row *i)
{
    return clock_us() - i->expire_grace_period * DAY;
}

static const char NEXT_LAPSE[] =
    "select user_id from integration_members where integration_id = $1 and user_id > $2 "
    "and lapsed_at <= $3 order by user_id limit 1";
static const char ACCOUNTS[] =
    "select id from connections where user_id = $1 and type = $2 and verified = 1 "
    "and revoked = 0 order by id limit $3";

static enum err read_accounts(struct call *call, const struct integration_row *i, struct lapse *l)
{
    struct rows rows;
    enum err e = tx_query(call->tx, ACCOUNTS,
                          BIND(v_id(l->user_id), v_text(i->type), v_int(MOST_ACCOUNTS)), &rows);

    l->count = l->asked = 0;
    if (e)
        return e;
    while (rows_next(&rows))
        snprintf(l->accounts[l->count++], sizeof *l->accounts, "%.*s", STR_FMT(row_text(&rows, 0)));
    return rows_end(&rows);
}

static enum err read_owner(struct call *call, const struct integration_row *i, struct lapse *l)
{
    struct linked_account c;
    bool found;
    enum err e = connection_of_account(call->tx, i->type, i->account_id, &c, &found);

    if (e)
        return e;
    struct str secret =
        found ? secret_open(call->arena, api_options(call->api)->auth, c.user_id, c.secret)
              : (struct str){ 0 };
    snprintf(l->secret, sizeof l->secret, "%.*s", STR_FMT(secret));
    snprintf(l->account_id, sizeof l->account_id, "%.*s", STR_FMT(i->account_id));
    l->platform = i->platform;
    return OK;
}

/* Reads the next member whose grace period is over, in a read transaction. */
static enum err run_find(struct call *call)
{
    struct lapse *l = call_passed(call, "lapse");
    struct integration_row i;
    struct rows row;

    l->found = l->subscribes = false;
    enum err e = integration_find(call->tx, l->id, &i);
    if (e || !expiry_acts(&i))
        return e == ERR_UNKNOWN_INTEGRATION ? OK : e;
    e = tx_one(call->tx, NEXT_LAPSE, BIND(v_id(l->id), v_id(l->user_id), v_int(lapsed_before(&i))),
               &row, &l->found);
    if (e || !l->found)
        return e;
    l->user_id = row_id(&row, 0);
    e = read_owner(call, &i, l);
    return e ? e : read_accounts(call, &i, l);
}

static const char FORGET[] = "update integration_members set lapsed_at = null "
                             "where integration_id = $1 and user_id = $2";
static const char STILL_LAPSED[] = "select 1 from integration_members where integration_id = $1 "
                                   "and user_id = $2 and lapsed_at <= $3";

/* *ret: the member may be kicked; never the owner, members who manage the guild, or bots. */
static enum err may_kick(struct tx *tx, const struct integration_row *i, snowflake user_id,
                         bool *ret)
{
    uint64_t keepers = PERMISSION(MANAGE_GUILD) | PERMISSION(ADMINISTRATOR);
    struct standing s;
    struct user user;

    *ret = false;
    if (i->expire_behavior != EXPIRE_KICK)
        return OK;
    enum err e = standing_of_member(tx, i->guild_id, user_id, &s);
    if (!e)
        e = user_find(tx, user_id, &user);
    if (!e)
        *ret = s.owner_id != user_id && !(s.rights & keepers) && user.bot.given != GIVEN;
    return e;
}

static enum err expiry_expire(struct call *call, const struct integration_row *i, snowflake user_id)
{
    bool kick;
    enum err e = may_kick(call->tx, i, user_id, &kick);

    if (e)
        return e;
    if (kick) {
        e = member_leave(call, i->guild_id, user_id);
        return e ? e : audit(call, i->guild_id, AUDIT_MEMBER_KICK, user_id);
    }
    e = tx_exec(call->tx, FORGET, BIND(v_id(i->id), v_id(user_id)), NULL);
    if (!e)
        e = subscriber_set_role(call, i, user_id, false);
    const struct list lost = { (snowflake[]){ i->role_id }, 1 }, none = { 0 };

    return e ? e : audit_member_roles(call, i->guild_id, user_id, &lost, &none);
}

/* Removes the role or the member. Checks everything again, because the data may have changed since
 * it was read. */
static enum err run_expire(struct call *call)
{
    const struct lapse *l = call_passed(call, "lapse");
    struct integration_row i;
    struct rows row;
    bool found;

    enum err e = integration_find(call->tx, l->id, &i);
    if (e || !expiry_acts(&i))
        return e == ERR_UNKNOWN_INTEGRATION ? OK : e;
    e = tx_one(call->tx, STILL_LAPSED,
               BIND(v_id(l->id), v_id(l->user_id), v_int(lapsed_before(&i))), &row, &found);
    if (!e && found)
        e = l->subscribes ? tx_exec(call->tx, FORGET, BIND(v_id(l->id), v_id(l->user_id)), NULL)
                          : expiry_expire(call, &i, l->user_id);
    return e ? e
             : job_schedule(call, &expiry_kind, l->id, clock_us() + INT64_C(1000) * LEASE_MS,
                            STR(""));
}

static enum err run_later(struct call *call)
{
    const struct lapse *l = call_passed(call, "lapse");
    struct integration_row i;
    enum err e = integration_find(call->tx, l->id, &i);

    /* For a disabled integration sync_begin schedules the job again later. */
    if (e == ERR_UNKNOWN_INTEGRATION || (!e && !i.enabled))
        return job_cancel(call, &expiry_kind, l->id);
    return e ? e : job_schedule(call, &expiry_kind, l->id, clock_us() + EVERY_S * SECOND, STR(""));
}

/* --- iteration over members ----------------------------------------------------------- */

static void expiry_later(struct chain *c)
{
    chain_run(c, ROUTE_STORE_WRITE, run_later, chain_ended);
}

static void expiry_expired(struct call *call, enum err e, void *arg)
{
    (void)call;
    if (e)
        expiry_later(arg);
    else
        chain_go_on(arg);
}

static void ask_next(struct chain *c);

static void expiry_answered(void *arg, const struct provider_answer *a)
{
    struct chain *c = arg;
    struct lapse *l = c->state;

    if (a->result != PROVIDER_OK && a->result != PROVIDER_NOT_FOUND) {
        expiry_later(c);
        return;
    }
    l->subscribes = a->result == PROVIDER_OK;
    l->asked++;
    ask_next(c);
}

static void ask_next(struct chain *c)
{
    const struct lapse *l = c->state;

    if (l->subscribes || l->asked == l->count) {
        chain_run(c, ROUTE_STORE_WRITE, run_expire, expiry_expired);
        return;
    }
    provider_ask(c->api, c->loop,
                 &(struct provider_question){ .kind = ASK_IS_SUBSCRIBER,
                                              .platform = l->platform,
                                              .account_id = str_of(l->account_id),
                                              .subscriber_id = str_of(l->accounts[l->asked]),
                                              .secret = str_of(l->secret),
                                              .done = expiry_answered,
                                              .arg = c });
}

static void expiry_found(struct call *call, enum err e, void *arg)
{
    const struct lapse *found = call_passed(call, "lapse");
    struct chain *c = arg;

    if (e || !found->found) {
        expiry_later(c);
        return;
    }
    *(struct lapse *)c->state = *found;
    ask_next(c);
}

static void next_member(struct chain *c)
{
    chain_run(c, ROUTE_STORE_READ, run_find, expiry_found);
}

static void start_expiry(struct api *api, struct loop *loop, const struct job *job)
{
    struct lapse first = { .id = job->key };

    chain_go_on(chain_new(api, loop, next_member, "lapse", &first, sizeof first));
}

const struct job_kind expiry_kind = {
    .name = "integration-expiry",
    .doc = "Removes the role of members whose subscription has ended, or the members.",
    .start = start_expiry,
    .lease_ms = LEASE_MS,
};
