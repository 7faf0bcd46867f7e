/* connections.c - routes that list, modify, delete and refresh connections, and list platforms. */
#include "integrations/internal.h"

#include "model/fields/types.h"
#include "api/deletion.h"
#include "platform/relationships/suggestions.h"

/* --- bodies --------------------------------------------------------------------------- */

struct connection_patch {
    struct opt_int visibility, metadata_visibility;
    struct opt_bool friend_sync, show_activity;
};

static const struct type type_visibility = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct field patch_fields[] = {
    { FIELD(struct connection_patch, visibility), .type = &type_visibility, .flags = OPTIONAL,
      .doc = "0: only the owner sees it, 1: everybody" },
    { FIELD(struct connection_patch, metadata_visibility), .type = &type_visibility,
      .flags = OPTIONAL },
    { FIELD(struct connection_patch, friend_sync), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Suggest friends from the platform" },
    { FIELD(struct connection_patch, show_activity), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "ConnectionPatch",
    .size = sizeof(struct connection_patch),
    .fields = patch_fields,
    .doc = "How a connection is shown and used.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct type type_code = { .kind = KIND_STRING, .min = 1, .max = 512 };
static const struct field callback_fields[] = {
    { FIELD(struct account_link_callback_body, code), .type = &type_code,
      .doc = "Code from the platform" },
    { FIELD(struct account_link_callback_body, state), .type = &type_code,
      .doc = "State from the URL" },
    { FIELD(struct account_link_callback_body, friend_sync), .type = &type_bool,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema callback_schema = {
    .name = "ConnectionCallback",
    .size = sizeof(struct account_link_callback_body),
    .fields = callback_fields,
    .doc = "Completes a link.",
};
static const struct type callback_type = { .kind = KIND_OBJECT, .schema = &callback_schema };

static const struct field url_fields[] = {
    { FIELD(struct connection_authorize_url, url), .type = &type_text,
      .doc = "URL for the user to open" },
    { 0 },
};
static const struct schema url_schema = {
    .name = "ConnectionAddress",
    .size = sizeof(struct connection_authorize_url),
    .fields = url_fields,
    .doc = "URL at which a link starts.",
};
static const struct type url_reply = { .kind = KIND_OBJECT, .schema = &url_schema };

/* --- path parameters ------------------------------------------------------------------ */

static enum err resolve_platform_of_path(struct call *call)
{
    return get_platform_from_path(call) == PLATFORM_NONE ? ERR_UNKNOWN_PROVIDER : OK;
}

static enum err read_linked_account_of_caller(struct call *call,
                                              struct linked_platform_account *ret)
{
    return read_linked_account(call->tx, call->caller->id,
                               platform_get_database_name(get_platform_from_path(call)),
                               call_get_path_text(call, "connection.id"), ret);
}

/* Checks that the connection exists. Runs before the handler returns errors of the body. */
static enum err require_linked_account_of_caller(struct call *call)
{
    struct linked_platform_account c;

    return read_linked_account_of_caller(call, &c);
}

/* --- GET /users/@me/connections ------------------------------------------------------- */

/* GET …/connections. If an app calls it with a bearer token, the reply omits the guilds that the
 * user could join. */
static enum err list_connections(struct call *call)
{
    bool full = call->caller->kind == CALLER_USER;
    struct list list;
    enum err e = read_linked_accounts_of_user(call->tx, call->caller->id, &list);

    for (size_t n = 0; n < list.count && !e && full; n++)
        e = read_integrations_of_linked_account(call->tx,
                                                (struct linked_platform_account *)list.items + n);
    return e ? e : call_reply_with_object(call, &list);
}

/* --- PATCH and DELETE …/{connection.type}/{connection.id} ----------------------------- */

static const char CHANGE[] =
    "update connections set visibility = $4, metadata_visibility = $5, friend_sync = $6, "
    "show_activity = $7 where user_id = $1 and type = $2 and id = $3";
static const char DELETE_FRIENDS[] =
    "delete from connection_friends where user_id = $1 and type = $2 and id = $3";

static enum err update_connection_settings(struct call *call,
                                           const struct linked_platform_account *c)
{
    struct value user = v_id(c->user_id), type = v_text(c->type), id = v_text(c->id);
    enum err e = tx_exec(call->tx, CHANGE,
                         BIND(user, type, id, v_int(c->visibility), v_int(c->metadata_visibility),
                              v_int(c->friend_sync), v_int(c->show_activity)),
                         NULL);

    if (!e && !c->friend_sync)
        e = tx_exec(call->tx, DELETE_FRIENDS, BIND(user, type, id), NULL);
    if (!e && !c->friend_sync)
        e = friend_suggestions_search_now(call, c->user_id);
    if (!e && !c->friend_sync)
        e = friend_suggestions_delete_for_all_recipients(call, c->user_id, c->type);
    return e;
}

static enum err modify_connection(struct call *call)
{
    const struct connection_patch *in = call->body;
    struct linked_platform_account c;
    enum err e = read_linked_account_of_caller(call, &c);

    if (e)
        return e;
    bool begins = in->friend_sync.given == GIVEN && in->friend_sync.value && !c.friend_sync;
    if (in->visibility.given == GIVEN)
        c.visibility = in->visibility.value;
    if (in->metadata_visibility.given == GIVEN)
        c.metadata_visibility = in->metadata_visibility.value;
    if (in->friend_sync.given == GIVEN)
        c.friend_sync = in->friend_sync.value;
    if (in->show_activity.given == GIVEN)
        c.show_activity = in->show_activity.value;
    e = update_connection_settings(call, &c);
    if (!e && begins)
        e = schedule_linked_account_friend_sync(call, c.user_id);
    if (!e)
        e = read_integrations_of_linked_account(call->tx, &c);
    if (e)
        return e;
    emit_user_connections_update(call, c.user_id);
    return call_reply_with_object(call, &c);
}

static enum err delete_connection(struct call *call)
{
    struct linked_platform_account c;
    enum err e = read_linked_account_of_caller(call, &c);

    return e ? e : delete_linked_account_and_its_effects(call, &c);
}

/* --- POST …/refresh ------------------------------------------------------------------- */

struct connection_refresh {
    struct str secret;
    enum platform_provider_result result;
    bool is_partner;
    struct str name;
};

static enum err read_linked_account_secret(struct call *call)
{
    struct connection_refresh *r = call_get_stage_data(call, "connection_refresh");
    struct linked_platform_account c;
    enum err e = read_linked_account_of_caller(call, &c);

    if (!e)
        r->secret = decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                                  c.user_id, c.secret);
    return e;
}

static void on_account_read_from_provider(void *arg, const struct platform_provider_response *a)
{
    struct call *call = arg;
    struct connection_refresh *r = call_get_stage_data(call, "connection_refresh");

    r->result = a->result;
    r->is_partner = a->account.is_partner;
    r->name = str_dup(call->arena, a->account.name);
    call_resume_after_await(call, OK);
}

static void request_provider_account(struct call *call)
{
    const struct connection_refresh *r = call_get_stage_data(call, "connection_refresh");

    platform_provider_send_request(call->api, call->loop,
                                   &(struct platform_provider_request){
                                       .kind = ASK_ACCOUNT,
                                       .platform = get_platform_from_path(call),
                                       .account_id = call_get_path_text(call, "connection.id"),
                                       .secret = r->secret,
                                       .done = on_account_read_from_provider,
                                       .arg = call });
}

static enum err prepare_refresh_connection(struct call *call)
{
    enum platform p = get_platform_from_path(call);

    call_store_stage_data(call, "connection_refresh", sizeof(struct connection_refresh));
    if (p != PLATFORM_NONE && !platform_is_enabled(p))
        return ERR_FEATURE_DISABLED;
    call->read = read_linked_account_secret;
    call->await = request_provider_account;
    return OK;
}

static const char REFRESH[] = "update connections set name = $4, is_partner = $5, revoked = $6 "
                              "where user_id = $1 and type = $2 and id = $3";

static enum err refresh_connection(struct call *call)
{
    const struct connection_refresh *r = call_get_stage_data(call, "connection_refresh");
    struct linked_platform_account c;
    enum err e = read_linked_account_of_caller(call, &c);

    if (e)
        return e;
    if (r->result == PROVIDER_TEMPORARY)
        return ERR_UNAVAILABLE;
    bool revoked = r->result != PROVIDER_OK;
    e = tx_exec(call->tx, REFRESH,
                BIND(v_id(c.user_id), v_text(c.type), v_text(c.id),
                     v_text(revoked ? c.name : r->name), v_int(!revoked && r->is_partner),
                     v_int(revoked)),
                NULL);
    if (!e)
        e = update_subscriber_roles_of_user(call, c.user_id, c.type);
    if (!e && c.friend_sync && !revoked)
        e = schedule_linked_account_friend_sync(call, c.user_id);
    if (!e)
        emit_user_connections_update(call, c.user_id);
    return e;
}

/* --- list of platforms ---------------------------------------------------------------- */

struct connection_platform {
    bool enabled;
};
struct connection_kind_entry {
    struct str name;
    struct connection_platform kind;
};
static const struct field kind_fields[] = {
    { FIELD(struct connection_platform, enabled), .type = &type_bool },
    { 0 },
};
static const struct schema kind_schema = {
    .name = "ConnectionKind",
    .size = sizeof(struct connection_platform),
    .fields = kind_fields,
    .doc = "Whether accounts of a platform can be connected here.",
};
static const struct type type_connection_kind = { .kind = KIND_OBJECT, .schema = &kind_schema };
static const struct type connection_kinds_reply = { .kind = KIND_MAP, .of = &type_connection_kind };

/* GET /connections */
static enum err list_connection_kinds(struct call *call)
{
    struct list kinds = { 0 };

    for (enum platform p = 0; p < PLATFORM_COUNT; p++)
        *(struct connection_kind_entry *)list_append(call->arena, &kinds,
                                                     sizeof(struct connection_kind_entry)) =
            (struct connection_kind_entry){ integration_get_displayed_type(
                                                platform_get_database_name(p)),
                                            { platform_is_enabled(p) } };
    return call_reply_with_object(call, &kinds);
}

/* --- routes --------------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    {
        .name = "connection.type",
        .field = "connection_type",
        .is_text = true,
        .doc = "A platform: platform_a or platform_b.",
        .resolve = resolve_platform_of_path,
    },
    {
        .name = "connection.id",
        .field = "connection_id",
        .is_text = true,
        .doc = "An account of the platform that the caller has connected.",
    },
    { 0 },
};

#define ONE "/users/@me/connections/{connection.type}/{connection.id}"
static const struct rate_limit callback_limit = { "connection-callback", 10, 60 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/connections",
        .name = "list_connections",
        .doc = "The accounts of other platforms that the caller has connected.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "connections",
        .reply = &type_connections,
        .handle = list_connections,
    },
    {
        .method = PATCH,
        .path = ONE,
        .name = "modify_connection",
        .doc = "Change how a connection is shown and used.",
        .auth = AUTH_USER,
        .body = &patch_body,
        .reply = &type_connection,
        .fires = (const enum event[]){ EVENT_USER_CONNECTIONS_UPDATE,
                                       EVENT_FRIEND_SUGGESTION_DELETE, EVENT_NONE },
        .admit = require_linked_account_of_caller,
        .handle = modify_connection,
    },
    {
        .method = DELETE,
        .path = ONE,
        .name = "delete_connection",
        .doc = "Remove a connection; guilds that were joined through it are left.",
        .auth = AUTH_USER,
        .status = 204,
        .fires = (const enum event[]){ LINK_EVENTS, EVENT_NONE },
        .admit = require_linked_account_of_caller,
        .handle = delete_connection,
    },
    {
        .method = POST,
        .path = ONE "/refresh",
        .name = "refresh_connection",
        .doc = "Ask the platform about the account again.",
        .auth = AUTH_USER,
        .status = 204,
        .fires = (const enum event[]){ EVENT_GUILD_MEMBER_UPDATE, EVENT_USER_CONNECTIONS_UPDATE,
                                       EVENT_NONE },
        .limit = &callback_limit,
        .prepare = prepare_refresh_connection,
        .admit = require_linked_account_of_caller,
        .handle = refresh_connection,
    },
    {
        .method = GET,
        .path = "/connections",
        .name = "list_connection_kinds",
        .doc = "The platforms whose accounts can be connected, by name.",
        .auth = AUTH_USER,
        .store = ROUTE_STORE_NONE,
        .reply = &connection_kinds_reply,
        .handle = list_connection_kinds,
    },
    {
        .method = GET,
        .path = "/connections/{connection.type}/authorize",
        .name = "authorize_connection",
        .doc = "URL on which a user connects an account; valid for ten minutes.",
        .auth = AUTH_USER,
        .store = ROUTE_STORE_WRITE,
        .reply = &url_reply,
        .handle = authorize_connection,
    },
    {
        .method = POST,
        .path = "/connections/{connection.type}/callback",
        .name = "callback_connection",
        .doc = "Connect the account that a platform's code identifies.",
        .auth = AUTH_USER,
        .body = &callback_type,
        .reply = &type_connection,
        .fires = (const enum event[]){ LINK_EVENTS, EVENT_NONE },
        .limit = &callback_limit,
        .prepare = prepare_account_link_callback,
        .handle = callback_connection,
    },
    { 0 },
};

const struct domain connections_domain = {
    .name = "Connections",
    .doc = "Accounts of other platforms that users have connected.",
    .routes = routes,
    .resolvers = resolvers,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_FEW(WITH_ACCOUNT, "connections", "user_id") },
                                        { 0 } },
};
