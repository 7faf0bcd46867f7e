/* linking.c - links an account of another platform to a user, and removes the link. */
#include "integrations/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/members/members.h"
#include "platform/relationships/suggestions.h"

enum { STATE_BYTES = 24, STATE_SECONDS = 600 };

enum platform get_platform_from_path(const struct call *call)
{
    return platform_find_by_name(call_get_path_text(call, "connection.type"));
}

void emit_user_connections_update(struct call *call, snowflake user_id)
{
    static const struct field fields[] = {
        { FIELD(struct linked_platform_account, user_id), .type = &type_id },
        { 0 },
    };
    static const struct schema schema = { .name = "ConnectionsRef",
                                          .size = sizeof(struct linked_platform_account),
                                          .fields = fields,
                                          .doc = "Whose connections changed." };
    struct linked_platform_account c = { .user_id = user_id };

    call_emit_event(call, EVENT_USER_CONNECTIONS_UPDATE, audience_of_user(user_id), &schema, &c);
}

/* --- OAuth2 states of pending links --------------------------------------------------- */

static const char ADD_STATE[] =
    "insert into connection_states (digest, user_id, type, expires_at) values ($1, $2, $3, $4)";
static const char FIND_STATE[] = "select user_id from connection_states where digest = $1 "
                                 "and type = $2 and expires_at > $3";
static const char DELETE_STATE[] = "delete from connection_states where digest = $1";
static const char DELETE_EXPIRED_STATES[] = "delete from connection_states where expires_at <= $1";

static struct value compute_digest_of_oauth2_state(struct call *call, struct str state)
{
    return v_bytes(compute_digest_of_account_link_secret(
        call->arena, api_get_options(call->api)->auth, "connection-state", state));
}

/* GET /connections/{connection.type}/authorize */
enum err authorize_connection(struct call *call)
{
    enum platform p = get_platform_from_path(call);
    unsigned char secret[STATE_BYTES];
    int64_t now = clock_us();

    if (!platform_is_enabled(p))
        return ERR_FEATURE_DISABLED;
    randombytes_buf(secret, sizeof secret);
    struct str state = str_base64url_encode(call->arena, secret, sizeof secret);
    enum err e = tx_exec(call->tx, DELETE_EXPIRED_STATES, BIND(v_int(now)), NULL);
    if (!e)
        e = tx_exec(call->tx, ADD_STATE,
                    BIND(compute_digest_of_oauth2_state(call, state), v_id(call->caller->id),
                         v_text(platform_get_database_name(p)),
                         v_int(now + STATE_SECONDS * (int64_t)SECOND)),
                    NULL);
    if (e)
        return e;
    return call_reply_with_object(call, &(struct connection_authorize_url){
                                            platform_provider_get_authorize_url(call, p, state) });
}

enum err read_user_of_oauth2_state(struct call *call, const struct account_link_request *l,
                                   snowflake *ret_user)
{
    struct rows row;
    enum err e = tx_one_or(call->tx, FIND_STATE,
                           BIND(compute_digest_of_oauth2_state(call, l->state),
                                v_text(platform_get_database_name(l->platform)), v_int(clock_us())),
                           ERR_INVALID_OAUTH2_STATE, &row);

    if (e)
        return e;
    *ret_user = row_id(&row, 0);
    return OK;
}

/* --- provider request ----------------------------------------------------------------- */

static void on_linked_account_received_from_provider(void *arg,
                                                     const struct platform_provider_response *a)
{
    struct call *call = arg;
    struct account_link_request *l = call_get_stage_data(call, "account_link_request");

    l->result = a->result;
    l->account = a->account;
    l->account.id = str_dup(call->arena, a->account.id);
    l->account.name = str_dup(call->arena, a->account.name);
    l->account.secret = str_dup(call->arena, a->account.secret);
    call_resume_after_await(call, OK);
}

void request_account_from_provider(struct call *call)
{
    const struct account_link_request *l = call_get_stage_data(call, "account_link_request");

    platform_provider_send_request(
        call->api, call->loop,
        &(struct platform_provider_request){ .kind = ASK_EXCHANGE,
                                             .platform = l->platform,
                                             .code = l->code,
                                             .done = on_linked_account_received_from_provider,
                                             .arg = call });
}

/* --- storing the connection ----------------------------------------------------------- */

static const char COUNT[] = "select count(*) from connections where user_id = $1 "
                            "and not (type = $2 and id = $3)";
static const char SAVE[] =
    "insert into connections (user_id, type, id, name, friend_sync, is_partner, secret, created_at) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, type, id) do update set "
    "name = excluded.name, verified = 1, revoked = 0, is_partner = excluded.is_partner, "
    "friend_sync = case when cast($9 as bigint) = 1 then excluded.friend_sync "
    "else connections.friend_sync end, secret = excluded.secret";

static enum err check_connection_limit(struct call *call, const struct account_link_request *l)
{
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, COUNT,
                             BIND(v_id(l->user_id), v_text(platform_get_database_name(l->platform)),
                                  v_text(l->account.id)),
                             &n);

    return e || n < MOST_CONNECTIONS ? e : ERR_MAX_CONNECTIONS;
}

/* Removes the link of another user, because a platform account belongs to the user who proved
 * ownership last. */
static enum err unlink_account_from_previous_user(struct call *call,
                                                  const struct account_link_request *l)
{
    struct linked_platform_account old;
    bool found;
    enum err e = read_linked_account_of_platform_account(
        call->tx, platform_get_database_name(l->platform), l->account.id, &old, &found);

    return e || !found || old.user_id == l->user_id
               ? e
               : delete_linked_account_and_its_effects(call, &old);
}

static enum err upsert_linked_account(struct call *call, const struct account_link_request *l)
{
    struct str encrypted = encrypt_linked_account_secret(
        call->arena, api_get_options(call->api)->auth, l->user_id, l->account.secret);

    return tx_exec(call->tx, SAVE,
                   BIND(v_id(l->user_id), v_text(platform_get_database_name(l->platform)),
                        v_text(l->account.id), v_text(l->account.name), v_int(l->friend_sync.value),
                        v_int(l->account.is_partner), encrypted.p ? v_bytes(encrypted) : v_null(),
                        v_int(clock_us()), v_int(l->friend_sync.given == GIVEN)),
                   NULL);
}

/* Schedules a sync of the revoked integrations that use this platform account. */
static enum err schedule_syncs_of_platform_account(struct call *call, struct str type,
                                                   struct str id)
{
    struct list all;
    enum err e = read_integrations_of_account(call->tx, type, id, &all);

    for (size_t n = 0; n < all.count && !e; n++) {
        const struct integration_row *i = (const struct integration_row *)all.items + n;

        if (i->enabled && i->revoked_at)
            e = schedule_integration_sync(call, i->id);
    }
    return e;
}

enum err complete_account_link(struct call *call, struct account_link_request *l,
                               struct linked_platform_account *ret)
{
    struct str type = platform_get_database_name(l->platform);
    enum err e = read_user_of_oauth2_state(call, l, &l->user_id);

    if (e)
        return e;
    if (l->result == PROVIDER_TEMPORARY)
        return ERR_UNAVAILABLE;
    if (l->result)
        return ERR_INVALID_CONNECTION;
    e = check_connection_limit(call, l);
    if (!e)
        e = tx_exec(call->tx, DELETE_STATE, BIND(compute_digest_of_oauth2_state(call, l->state)),
                    NULL);
    if (!e)
        e = unlink_account_from_previous_user(call, l);
    if (!e)
        e = upsert_linked_account(call, l);
    if (!e)
        e = update_subscriber_roles_of_user(call, l->user_id, type);
    if (!e)
        e = schedule_syncs_of_platform_account(call, type, l->account.id);
    if (!e)
        e = read_linked_account(call->tx, l->user_id, type, l->account.id, ret);
    if (!e && ret->friend_sync)
        e = schedule_linked_account_friend_sync(call, l->user_id);
    if (!e)
        e = read_integrations_of_linked_account(call->tx, ret);
    if (!e)
        emit_user_connections_update(call, l->user_id);
    return e;
}

/* --- POST /connections/{connection.type}/callback ------------------------------------- */

/* Refuses an OAuth2 state that was issued to another user. */
static enum err check_oauth2_state_is_of_caller(struct call *call)
{
    struct account_link_request *l = call_get_stage_data(call, "account_link_request");
    enum err e = read_user_of_oauth2_state(call, l, &l->user_id);

    return e || l->user_id == call->caller->id ? e : ERR_INVALID_OAUTH2_STATE;
}

enum err prepare_account_link_callback(struct call *call)
{
    const struct account_link_callback_body *in = call->body;
    struct account_link_request *l = call_store_stage_data(call, "account_link_request", sizeof *l);

    if (!in)
        return OK;
    *l = (struct account_link_request){ .platform = get_platform_from_path(call),
                                        .code = in->code,
                                        .state = in->state,
                                        .friend_sync = in->friend_sync };
    if (l->platform == PLATFORM_NONE)
        return OK;
    if (!platform_is_enabled(l->platform))
        return ERR_FEATURE_DISABLED;
    call->read = check_oauth2_state_is_of_caller;
    call->await = request_account_from_provider;
    return OK;
}

enum err callback_connection(struct call *call)
{
    struct account_link_request *l = call_get_stage_data(call, "account_link_request");
    struct linked_platform_account c;
    enum err e = check_oauth2_state_is_of_caller(call);

    if (!e)
        e = complete_account_link(call, l, &c);
    return e ? e : call_reply_with_object(call, &c);
}

/* --- removing a link ------------------------------------------------------------------ */

static const char DELETE_CONNECTION[] =
    "delete from connections where user_id = $1 and type = $2 and id = $3";
static const char JOINED_THROUGH[] =
    "select distinct x.guild_id from integration_members x "
    "join integrations i on i.id = x.integration_id join guilds g on g.id = x.guild_id "
    "where g.owner_id <> $1 and x.user_id = $1 and x.joined = 1 and i.type = $2 and not exists "
    "(select 1 from connections c left join integration_subscribers s on s.subscriber_id = c.id "
    "and s.integration_id = i.id where c.user_id = $1 and c.type = $2 "
    "and (c.id = i.account_id or s.subscriber_id is not null)) order by x.guild_id";

/* Tests whether the user joined the guild only because he was a partner, and is no longer a
 * partner. */
static const char JOINED_AS_PARTNER[] =
    "select 1 from members m join guilds g on g.id = m.guild_id where m.guild_id = $2 "
    "and m.user_id = $1 and m.join_source = $3 and g.owner_id <> $1 and not exists "
    "(select 1 from connections c where c.user_id = $1 and c.type = $4 and c.is_partner = 1) "
    "and not exists (select 1 from integration_members x where x.guild_id = m.guild_id "
    "and x.user_id = $1 and x.joined = 1)";

static enum err revoke_integrations_with_account(struct call *call,
                                                 const struct linked_platform_account *c)
{
    struct list all;
    enum err e = read_integrations_of_account(call->tx, c->type, c->id, &all);

    for (size_t n = 0; n < all.count && !e; n++) {
        struct integration_row *i = (struct integration_row *)all.items + n;

        if (i->revoked_at)
            continue;
        i->revoked_at = clock_us();
        e = update_integration_and_emit(call, i);
    }
    return e;
}

/* Removes the user from the guilds that he joined because of this connection. */
static enum err leave_guilds_joined_via_connection(struct call *call,
                                                   const struct linked_platform_account *c)
{
    struct list guilds;
    enum err e =
        tx_read_ids(call->tx, JOINED_THROUGH, BIND(v_id(c->user_id), v_text(c->type)), &guilds);

    for (size_t n = 0; n < guilds.count && !e; n++)
        e = member_remove_from_guild(call, ((const snowflake *)guilds.items)[n], c->user_id);
    return e;
}

static enum err leave_partners_guild(struct call *call, const struct linked_platform_account *c)
{
    snowflake guild = get_partners_guild_id();
    bool found;

    if (!c->is_partner || !guild || !str_eq(c->type, platform_get_database_name(PLATFORM_A)))
        return OK;
    enum err e = tx_exists(
        call->tx, JOINED_AS_PARTNER,
        BIND(v_id(c->user_id), v_id(guild), v_int(JOIN_SOURCE_INTEGRATION), v_text(c->type)),
        &found);
    return e || !found ? e : member_remove_from_guild(call, guild, c->user_id);
}

enum err delete_linked_account_and_its_effects(struct call *call,
                                               const struct linked_platform_account *c)
{
    enum err e = tx_exec(call->tx, DELETE_CONNECTION,
                         BIND(v_id(c->user_id), v_text(c->type), v_text(c->id)), NULL);

    if (!e)
        e = revoke_integrations_with_account(call, c);
    if (!e)
        e = leave_guilds_joined_via_connection(call, c);
    if (!e)
        e = leave_partners_guild(call, c);
    if (!e)
        e = update_subscriber_roles_of_user(call, c->user_id, c->type);
    if (!e)
        e = friend_suggestions_search_now(call, c->user_id);
    if (!e)
        e = friend_suggestions_delete_for_all_recipients(call, c->user_id, c->type);
    if (!e)
        emit_user_connections_update(call, c->user_id);
    return e;
}
