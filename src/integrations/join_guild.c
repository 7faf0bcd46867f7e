/* join_guild.c - POST /integrations/{integration.any}/join: a subscriber joins the integration's
 * guild. */
#include "integrations/internal.h"

#include "platform/members/members.h"

/* Results of the checks of a request to join a guild, for its handler. */
struct join_attempt {
    bool partners;
    snowflake id;                              /* integration id */
    struct linked_platform_account connection; /* connection through which the caller joins */
    struct str account_id, secret;
    enum platform platform;
    bool asked;
    enum platform_provider_result result;
    bool is_partner;
};

/* --- choice of the connection --------------------------------------------------------- */

static enum err linked_account_includes_integration(struct tx *tx,
                                                    struct linked_platform_account *c,
                                                    struct str id, bool *ret)
{
    enum err e = read_integrations_of_linked_account(tx, c);
    const struct integration_of_linked_account *all = c->integrations.value.items;

    *ret = false;
    for (size_t n = 0; n < c->integrations.value.count && !e; n++)
        *ret |= str_eq(all[n].id, id);
    return e;
}

/* Chooses a connection of the caller that lists the integration, and sets ret_listed to true.
 * Otherwise chooses a connection with which the provider can be asked. */
static enum err choose_linked_account_for_integration(struct call *call, struct join_attempt *j,
                                                      bool *ret_listed)
{
    struct str type = platform_get_database_name(j->platform);
    struct list list;
    bool any = false, good = false;
    enum err e = read_linked_accounts_of_user(call->tx, call->caller->id, &list);

    *ret_listed = false;
    for (size_t n = 0; n < list.count && !e && !*ret_listed; n++) {
        struct linked_platform_account *c = (struct linked_platform_account *)list.items + n;

        if (!str_eq(c->type, type) || !c->verified)
            continue;
        any = true;
        if (c->revoked)
            continue;
        good = true;
        j->connection = *c;
        e = linked_account_includes_integration(
            call->tx, c, call_get_path_text(call, "integration.any"), ret_listed);
    }
    if (e)
        return e;
    return good ? OK : any ? ERR_CONNECTION_REVOKED : ERR_UNKNOWN_CONNECTION;
}

/* --- the integration ------------------------------------------------------------------ */

static enum err read_joined_integration(struct call *call, struct join_attempt *j,
                                        struct integration_row *i)
{
    uint64_t id;

    if (j->partners)
        return get_partners_guild_id() ? OK : ERR_UNKNOWN_INTEGRATION;
    if (!str_to_u64(call_get_path_text(call, "integration.any"), &id) || id > INT64_MAX)
        return ERR_UNKNOWN_INTEGRATION;
    enum err e = read_integration(call->tx, id, i);
    if (!e && i->platform == PLATFORM_NONE)
        e = ERR_UNKNOWN_INTEGRATION;
    j->platform = i->platform;
    j->id = id;
    return e;
}

static bool integration_is_joinable(const struct join_attempt *j, const struct integration_row *i)
{
    return platform_is_enabled(j->platform) && (j->partners || (i->enabled && !i->revoked_at));
}

static enum err read_owner_connection_secret(struct call *call, struct join_attempt *j,
                                             const struct integration_row *i)
{
    struct linked_platform_account owner = j->connection;
    bool found = true;
    enum err e = OK;

    if (!j->partners)
        e = read_linked_account_of_platform_account(call->tx, i->type, i->account_id, &owner,
                                                    &found);
    if (!e && found)
        j->secret = decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                                  owner.user_id, owner.secret);
    j->account_id = j->partners ? j->connection.id : i->account_id;
    return e;
}

/* Checks everything that needs no request to the provider. If a connection of the caller has the
 * integration in its list, no request to the provider is sent later. */
static enum err check_connections_before_join(struct call *call)
{
    struct join_attempt *j = call_get_stage_data(call, "join_attempt");
    struct integration_row i = { 0 };
    bool listed = false;

    enum err e = read_joined_integration(call, j, &i);
    if (!e)
        e = choose_linked_account_for_integration(call, j, &listed);
    if (!e && !integration_is_joinable(j, &i))
        e = ERR_FEATURE_DISABLED;
    if (!e)
        e = read_owner_connection_secret(call, j, &i);
    j->asked = !listed || j->partners;
    if (!j->asked)
        call->await = NULL;
    return e;
}

/* --- provider request ----------------------------------------------------------------- */

static void on_subscription_read_from_provider(void *arg,
                                               const struct platform_provider_response *a)
{
    struct call *call = arg;
    struct join_attempt *j = call_get_stage_data(call, "join_attempt");

    j->result = a->result;
    j->is_partner = a->account.is_partner;
    call_resume_after_await(call, OK);
}

static void request_subscription_from_provider(struct call *call)
{
    const struct join_attempt *j = call_get_stage_data(call, "join_attempt");

    platform_provider_send_request(
        call->api, call->loop,
        &(struct platform_provider_request){ .kind = j->partners ? ASK_ACCOUNT : ASK_IS_SUBSCRIBER,
                                             .platform = j->platform,
                                             .account_id = j->account_id,
                                             .subscriber_id = j->connection.id,
                                             .secret = j->secret,
                                             .done = on_subscription_read_from_provider,
                                             .arg = call });
}

enum err prepare_join_integration(struct call *call)
{
    struct join_attempt *j = call_store_stage_data(call, "join_attempt", sizeof *j);

    j->partners = str_is(call_get_path_text(call, "integration.any"), PARTNERS_INTEGRATION_ID);
    j->platform = PLATFORM_A;
    call->read = check_connections_before_join;
    call->await = request_subscription_from_provider;
    return OK;
}

static enum err check_provider_allows_join(const struct join_attempt *j, bool listed)
{
    if (!j->asked)
        return listed ? OK : ERR_MISSING_ACCESS;
    if (j->result == PROVIDER_TEMPORARY)
        return ERR_UNAVAILABLE;
    if (j->result || (j->partners && !j->is_partner))
        return ERR_MISSING_ACCESS;
    return OK;
}

static const char SUBSCRIBES[] = "select 1 from integration_subscribers where integration_id = $1 "
                                 "and subscriber_id = $2";

/* Reads the role that the caller gets as a subscriber. The owner of the platform account may also
 * join, but gets no role. */
static enum err read_subscriber_role(struct call *call, const struct join_attempt *j,
                                     const struct integration_row *i, snowflake *ret)
{
    bool found;
    enum err e = j->asked ? insert_integration_subscriber(call->tx, i, j->connection.id) : OK;

    if (!e)
        e = tx_exists(call->tx, SUBSCRIBES, BIND(v_id(i->id), v_text(j->connection.id)), &found);
    *ret = !e && found ? i->role_id : 0;
    return e;
}

static const char UPDATE_JOIN_SOURCE[] =
    "update members set join_source = $3 where guild_id = $1 and user_id = $2";

static enum err update_membership_after_join(struct call *call, const struct join_attempt *j,
                                             const struct integration_row *i,
                                             const struct member_to_add_to_guild *n)
{
    enum err e =
        tx_exec(call->tx, UPDATE_JOIN_SOURCE,
                BIND(v_id(n->guild_id), v_id(n->user_id), v_int(JOIN_SOURCE_INTEGRATION)), NULL);

    return e || j->partners ? e
                            : upsert_member_row_of_integration(call->tx, i, n->user_id, 0, true);
}

static enum err join_guild_of_integration(struct call *call, const struct join_attempt *j,
                                          const struct integration_row *i)
{
    struct member_to_add_to_guild newcomer = { .guild_id = j->partners ? get_partners_guild_id()
                                                                       : i->guild_id,
                                               .user_id = call->caller->id };
    snowflake role = 0;
    struct member member;
    bool new_member = false;

    enum err e = j->partners ? OK : read_subscriber_role(call, j, i, &role);
    if (role)
        newcomer.roles = (struct list){ &role, 1 };
    if (!e)
        e = member_add_to_guild(call, &newcomer, &member, &new_member);
    if (e)
        return e;
    if (new_member)
        return update_membership_after_join(call, j, i, &newcomer);
    return role ? add_or_remove_subscriber_role(call, i, newcomer.user_id, true) : OK;
}

enum err join_integration(struct call *call)
{
    struct join_attempt *j = call_get_stage_data(call, "join_attempt");
    struct join_attempt now = { .partners = j->partners, .platform = j->platform };
    struct integration_row i = { 0 };
    bool listed = false;

    enum err e = read_joined_integration(call, &now, &i);
    if (!e)
        e = choose_linked_account_for_integration(call, &now, &listed);
    if (!e && !integration_is_joinable(&now, &i))
        e = ERR_FEATURE_DISABLED;
    if (!e)
        e = check_provider_allows_join(j, listed);
    if (!e && !j->asked)
        j->connection = now.connection;
    return e ? e : join_guild_of_integration(call, j, &i);
}
