/* join.c - POST /integrations/{integration.any}/join: subscribers join the guild of an
 * integration. */
#include "integrations/internal.h"

#include "platform/members/members.h"

/* Results that earlier stages pass to the handler. */
struct joining {
    bool partners;
    snowflake id;               /* integration id */
    struct linked_account mine; /* connection that the caller joins with */
    struct str account_id, secret;
    enum platform platform;
    bool asked;
    enum provider_result result;
    bool is_partner;
};

/* --- choice of the connection --------------------------------------------------------- */

static enum err leads_to(struct tx *tx, struct linked_account *c, struct str id, bool *ret)
{
    enum err e = connection_load_integrations(tx, c);
    const struct connection_integration *all = c->integrations.value.items;

    *ret = false;
    for (size_t n = 0; n < c->integrations.value.count && !e; n++)
        *ret |= str_eq(all[n].id, id);
    return e;
}

/* Finds a connection of the caller that lists the integration (*ret_listed), else one that the
 * provider can be asked about. */
static enum err choose_connection(struct call *call, struct joining *j, bool *ret_listed)
{
    struct str type = platform_name(j->platform);
    struct list list;
    bool any = false, good = false;
    enum err e = connections_of(call->tx, call->caller->id, &list);

    *ret_listed = false;
    for (size_t n = 0; n < list.count && !e && !*ret_listed; n++) {
        struct linked_account *c = (struct linked_account *)list.items + n;

        if (!str_eq(c->type, type) || !c->verified)
            continue;
        any = true;
        if (c->revoked)
            continue;
        good = true;
        j->mine = *c;
        e = leads_to(call->tx, c, call_text(call, "integration.any"), ret_listed);
    }
    if (e)
        return e;
    return good ? OK : any ? ERR_CONNECTION_REVOKED : ERR_UNKNOWN_CONNECTION;
}

/* --- the integration ------------------------------------------------------------------ */

static enum err find_integration(struct call *call, struct joining *j, struct integration_row *i)
{
    uint64_t id;

    if (j->partners)
        return partners_guild() ? OK : ERR_UNKNOWN_INTEGRATION;
    if (!str_to_u64(call_text(call, "integration.any"), &id) || id > INT64_MAX)
        return ERR_UNKNOWN_INTEGRATION;
    enum err e = integration_find(call->tx, id, i);
    if (!e && i->platform == PLATFORM_NONE)
        e = ERR_UNKNOWN_INTEGRATION;
    j->platform = i->platform;
    j->id = id;
    return e;
}

static bool is_open(const struct joining *j, const struct integration_row *i)
{
    return platform_is_on(j->platform) && (j->partners || (i->enabled && !i->revoked_at));
}

static enum err read_owner_secret(struct call *call, struct joining *j,
                                  const struct integration_row *i)
{
    struct linked_account owner = j->mine;
    bool found = true;
    enum err e = OK;

    if (!j->partners)
        e = connection_of_account(call->tx, i->type, i->account_id, &owner, &found);
    if (!e && found)
        j->secret =
            secret_open(call->arena, api_options(call->api)->auth, owner.user_id, owner.secret);
    j->account_id = j->partners ? j->mine.id : i->account_id;
    return e;
}

/* Refuses what can be refused without the provider. If a connection lists the integration, the
 * provider is not asked. */
static enum err look_at_connections(struct call *call)
{
    struct joining *j = call_passed(call, "joining");
    struct integration_row i = { 0 };
    bool listed = false;

    enum err e = find_integration(call, j, &i);
    if (!e)
        e = choose_connection(call, j, &listed);
    if (!e && !is_open(j, &i))
        e = ERR_FEATURE_DISABLED;
    if (!e)
        e = read_owner_secret(call, j, &i);
    j->asked = !listed || j->partners;
    if (!j->asked)
        call->await = NULL;
    return e;
}

/* --- provider request ----------------------------------------------------------------- */

static void join_answered(void *arg, const struct provider_answer *a)
{
    struct call *call = arg;
    struct joining *j = call_passed(call, "joining");

    j->result = a->result;
    j->is_partner = a->account.is_partner;
    call_resume(call, OK);
}

static void ask_provider(struct call *call)
{
    const struct joining *j = call_passed(call, "joining");

    provider_ask(call->api, call->loop,
                 &(struct provider_question){ .kind = j->partners ? ASK_ACCOUNT : ASK_IS_SUBSCRIBER,
                                              .platform = j->platform,
                                              .account_id = j->account_id,
                                              .subscriber_id = j->mine.id,
                                              .secret = j->secret,
                                              .done = join_answered,
                                              .arg = call });
}

enum err prepare_join_integration(struct call *call)
{
    struct joining *j = call_pass(call, "joining", sizeof *j);

    j->partners = str_is(call_text(call, "integration.any"), PARTNERS_ID);
    j->platform = PLATFORM_A;
    call->look = look_at_connections;
    call->await = ask_provider;
    return OK;
}

static enum err may_come(const struct joining *j, bool listed)
{
    if (!j->asked)
        return listed ? OK : ERR_MISSING_ACCESS;
    if (j->result == PROVIDER_TEMPORARY)
        return ERR_UNAVAILABLE;
    if (j->result || (j->partners && !j->is_partner))
        return ERR_MISSING_ACCESS;
    return OK;
}

static const char KEEP_SUBSCRIBER[] =
    "insert into integration_subscribers (integration_id, subscriber_id, round) "
    "values ($1, $2, $3) on conflict (integration_id, subscriber_id) do update set "
    "round = excluded.round";
static const char SUBSCRIBES[] = "select 1 from integration_subscribers where integration_id = $1 "
                                 "and subscriber_id = $2";

/* *ret: role of a subscriber. The owner of the platform account may join too, but gets no role. */
static enum err find_role(struct call *call, const struct joining *j,
                          const struct integration_row *i, snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = j->asked ? tx_exec(call->tx, KEEP_SUBSCRIBER,
                                    BIND(v_id(i->id), v_text(j->mine.id), v_int(i->round)), NULL)
                          : OK;

    if (!e)
        e = tx_one(call->tx, SUBSCRIBES, BIND(v_id(i->id), v_text(j->mine.id)), &row, &found);
    *ret = !e && found ? i->role_id : 0;
    return e;
}

static const char NOTE_SOURCE[] =
    "update members set join_source = $3 where guild_id = $1 and user_id = $2";

static enum err note_coming(struct call *call, const struct joining *j,
                            const struct integration_row *i, const struct newcomer *n)
{
    enum err e =
        tx_exec(call->tx, NOTE_SOURCE,
                BIND(v_id(n->guild_id), v_id(n->user_id), v_int(JOIN_SOURCE_INTEGRATION)), NULL);

    return e || j->partners ? e : subscriber_note(call->tx, i, n->user_id, 0, true);
}

static enum err join_come(struct call *call, const struct joining *j,
                          const struct integration_row *i)
{
    struct newcomer newcomer = { .guild_id = j->partners ? partners_guild() : i->guild_id,
                                 .user_id = call->caller->id };
    snowflake role = 0;
    struct member member;
    bool new_member = false;

    enum err e = j->partners ? OK : find_role(call, j, i, &role);
    if (role)
        newcomer.roles = (struct list){ &role, 1 };
    if (!e)
        e = member_join(call, &newcomer, &member, &new_member);
    if (e)
        return e;
    if (new_member)
        return note_coming(call, j, i, &newcomer);
    return role ? subscriber_set_role(call, i, newcomer.user_id, true) : OK;
}

enum err join_integration(struct call *call)
{
    struct joining *j = call_passed(call, "joining");
    struct joining now = { .partners = j->partners, .platform = j->platform };
    struct integration_row i = { 0 };
    bool listed = false;

    enum err e = find_integration(call, &now, &i);
    if (!e)
        e = choose_connection(call, &now, &listed);
    if (!e && !is_open(&now, &i))
        e = ERR_FEATURE_DISABLED;
    if (!e)
        e = may_come(j, listed);
    if (!e && !j->asked)
        j->mine = now.mine;
    return e ? e : join_come(call, j, &i);
}
