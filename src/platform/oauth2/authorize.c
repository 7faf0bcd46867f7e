/* authorize.c - GET and POST /oauth2/authorize: data of the consent page; the user's decision. */
#include "platform/oauth2/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* --- GET /oauth2/authorize ------------------------------------------------------------ */

static const char GUILDS_OF_USER[] =
    "select g.id, g.name, g.icon, g.mfa_level from members m join guilds g on g.id = m.guild_id and g.removed = 0 "
    "where m.user_id = $1 order by g.id";

static enum err list_guilds_of_caller(struct call *call, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(call->tx, GUILDS_OF_USER, BIND(v_id(call->caller->id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct authorize_reply_guild *g = list_append(call->arena, ret, sizeof *g);

        g->id = row_id(&rows, 0);
        g->name = row_text(&rows, 1);
        g->icon = (struct opt_str){ row_column_is_null(&rows, 2) ? GIVEN_NULL : GIVEN,
                                    row_text(&rows, 2) };
        g->mfa_level = row_int(&rows, 3);
    }
    e = rows_end(&rows);
    for (size_t i = 0; i < ret->count && !e; i++) {
        struct authorize_reply_guild *g = (struct authorize_reply_guild *)ret->items + i;
        struct member_access standing;

        e = member_access_find(call->tx, g->id, call->caller->id, &standing);
        g->permissions = e ? 0 : standing.permissions;
    }
    return e;
}

static enum err user_has_granted_scopes(struct call *call,
                                        const struct oauth2_authorization_request *r, bool *ret)
{
    struct oauth2_authorization old;
    bool found;
    enum err e = oauth2_authorization_find_of_user(call->tx, call->caller->id, r->application->id,
                                                   &old, &found);

    *ret = false;
    if (e || !found)
        return e;
    struct oauth2_scopes none = { 0 };
    struct oauth2_scopes before =
        oauth2_scopes_union(call->arena, &none, &(struct oauth2_scopes){ .list = old.scopes });
    *ret = (r->scopes.bits & ~before.bits) == 0;
    return OK;
}

static struct str append_query_parameter(struct arena *a, struct str query, const char *name,
                                         struct opt_str v)
{
    if (v.given != GIVEN)
        return query;
    return STR_CONCAT(a, query, STR("&"), str_of(name), STR("="), str_percent_encode(a, v.value));
}

/* Returns the query parameters in normalized form. The consent page sends them back in its POST
 * request, so that the user grants exactly what the page displayed. */
static struct str format_normalized_query(struct call *call,
                                          const struct oauth2_authorization_request *r)
{
    const struct oauth2_authorize_query *q = call->query;
    struct arena *a = call->arena;
    struct str s = str_printf(a, "client_id=%llu&integration_type=%d",
                              (unsigned long long)q->client_id, (int)r->integration_type);

    s = append_query_parameter(a, s, "scope", (struct opt_str){ GIVEN, r->scopes.text });
    s = append_query_parameter(a, s, "response_type", q->response_type);
    s = append_query_parameter(a, s, "redirect_uri", q->redirect_uri);
    s = append_query_parameter(a, s, "state", q->state);
    s = append_query_parameter(a, s, "code_challenge", q->code_challenge);
    s = append_query_parameter(a, s, "code_challenge_method", q->code_challenge_method);
    return append_query_parameter(a, s, "nonce", q->nonce);
}

enum err get_authorization(struct call *call)
{
    const struct oauth2_authorize_query *q = call->query;
    struct oauth2_authorize_reply out = { 0 };
    struct oauth2_authorization_request r;
    struct user user;

    enum err e = oauth2_authorization_request_parse(call, NULL, &r);
    if (!e)
        e = user_find(call->tx, call->caller->id, &user);
    if (!e)
        e = user_has_granted_scopes(call, &r, &out.authorized);
    if (!e && ((r.installs && r.integration_type == INSTALL_GUILD) ||
               oauth2_scopes_contain(&r.scopes, "webhook.incoming"))) {
        out.guilds.given = GIVEN;
        e = list_guilds_of_caller(call, &out.guilds.value);
    }
    if (e)
        return e;

    out.application = r.application;
    out.user = &user;
    out.integration_type = r.integration_type;
    if (r.redirect_uri.p)
        out.redirect_uri = (struct opt_str){ GIVEN, r.redirect_uri };
    out.scopes = r.scopes.list;
    out.permissions = q->permissions;
    out.guild_id = q->guild_id;
    out.query = format_normalized_query(call, &r);
    if (oauth2_scopes_contain(&r.scopes, "bot"))
        out.bot = r.application->bot;
    return call_reply_with_object(call, &out);
}

/* --- POST /oauth2/authorize ----------------------------------------------------------- */

/* Redirects to the application's redirect URI. If the request has none, redirects to a page of this
 * server. */
static enum err reply_with_redirect(struct call *call, struct str url)
{
    const struct oauth2_authorize_query *q = call->query;

    if (q->state.given == GIVEN)
        url = url_add_query_parameter(call->arena, url, "state", q->state.value);
    return call_reply_with_object(call, &(struct authorize_redirect_reply){ url, url });
}

/* Appends name=value to a URL fragment, which browsers do not send to servers. */
static struct str append_fragment_parameter(struct arena *a, struct str fragment, const char *name,
                                            struct str value)
{
    struct str sep = fragment.n ? STR("&") : STR("#");

    return STR_CONCAT(a, fragment, sep, str_of(name), STR("="), str_percent_encode(a, value));
}

static enum err reply_with_redirect_fragment(struct call *call, struct str url, struct str fragment)
{
    const struct oauth2_authorize_query *q = call->query;

    if (q->state.given == GIVEN)
        fragment = append_fragment_parameter(call->arena, fragment, "state", q->state.value);
    url = STR_CONCAT(call->arena, url, fragment);
    return call_reply_with_object(call, &(struct authorize_redirect_reply){ url, url });
}

static enum err reply_access_denied(struct call *call, const struct oauth2_authorization_request *r,
                                    struct str url)
{
    struct str why = STR("access_denied");

    if (r->with_token)
        return reply_with_redirect_fragment(
            call, url, append_fragment_parameter(call->arena, STR(""), "error", why));
    return reply_with_redirect(call, url_add_query_parameter(call->arena, url, "error", why));
}

/* Implicit grant: the reply contains an access token, but no code and no refresh token. */
static enum err reply_with_implicit_token(struct call *call,
                                          const struct oauth2_authorization_request *r,
                                          struct str url)
{
    struct arena *a = call->arena;
    struct access_token_reply out = { 0 };
    snowflake user = call->caller->id, app = r->application->id;
    enum err e = oauth2_authorization_add_scopes(
        call, &(struct account_app_installation){ user, app }, &r->scopes, false);

    if (!e)
        e = oauth2_access_token_issue(call, user, app, &r->scopes, (struct str){ 0 }, &out);
    if (e)
        return e;
    struct str f = append_fragment_parameter(a, STR(""), "access_token", out.access_token);
    f = append_fragment_parameter(a, f, "token_type", out.token_type);
    f = append_fragment_parameter(a, f, "expires_in",
                                  str_printf(a, "%lld", (long long)out.expires_in));
    return reply_with_redirect_fragment(call, url,
                                        append_fragment_parameter(a, f, "scope", out.scope));
}

static struct str choose_redirect_url(struct call *call,
                                      const struct oauth2_authorization_request *r)
{
    if (r->redirect_uri.p)
        return r->redirect_uri;
    return STR_CONCAT(call->arena, api_get_base_url(call, "http"), STR("/oauth2/authorized"));
}

static enum err issue_authorization_code(struct call *call,
                                         const struct oauth2_authorization_request *r,
                                         snowflake guild_id, snowflake webhook_channel,
                                         uint64_t permissions, struct str *ret)
{
    const struct oauth2_authorize_query *q = call->query;
    unsigned char secret[32];
    struct authorization_code code = {
        .user_id = call->caller->id,
        .application_id = r->application->id,
        .redirect_uri = r->redirect_uri,
        .scopes = r->scopes.text,
        .challenge = q->code_challenge.given == GIVEN ? q->code_challenge.value : (struct str){ 0 },
        .nonce = q->nonce.given == GIVEN ? q->nonce.value : (struct str){ 0 },
        .integration_type = r->integration_type,
        .guild_id = guild_id,
        .webhook_channel_id = webhook_channel,
        .permissions = permissions,
        .pending = r->installs && r->application->integration_require_code_grant,
        .expires_at = clock_us() + CODE_SECONDS * INT64_C(1000000),
    };

    randombytes_buf(secret, sizeof secret);
    *ret = str_base64url_encode(call->arena, secret, sizeof secret);
    return authorization_code_insert(call->tx, authorization_code_compute_digest(call, *ret),
                                     &code);
}

enum err authorize(struct call *call)
{
    const struct oauth2_authorize_body *in = call->body;
    snowflake guild_id = in->guild_id.given == GIVEN ? in->guild_id.value : 0;
    uint64_t permissions = in->permissions.given == GIVEN ? in->permissions.value : 0;
    snowflake webhook_channel = 0;
    struct oauth2_authorization_request r;
    struct str code;

    enum err e = oauth2_authorization_request_parse(call, &in->integration_type, &r);
    if (!e)
        e = openid_store_signing_key(call);
    if (e)
        return e;
    struct str url = choose_redirect_url(call, &r);
    if (!in->authorize)
        return reply_access_denied(call, &r, url);

    bool group = r.installs && in->channel_id.given == GIVEN;
    if (!r.installs || group || r.integration_type == INSTALL_USER)
        guild_id = 0;
    if (group)
        e = install_application_in_group(call, &r, in->channel_id.value);
    else if (r.installs)
        e = check_install_permission(call, &r, guild_id);
    if (!e)
        e = check_incoming_webhook_permission(call, &r.scopes, &webhook_channel);
    if (!e && r.installs && !group && !r.application->integration_require_code_grant)
        e = install_application(call, r.application, &r.scopes, r.integration_type, guild_id,
                                permissions);
    if (!e && r.with_code)
        e = issue_authorization_code(call, &r, guild_id, webhook_channel, permissions, &code);
    if (e)
        return e;
    if (r.with_token)
        return reply_with_implicit_token(call, &r, url);
    if (r.with_code)
        url = url_add_query_parameter(call->arena, url, "code", code);
    if (guild_id)
        url =
            url_add_query_parameter(call->arena, url, "guild_id",
                                    str_printf(call->arena, "%llu", (unsigned long long)guild_id));
    return reply_with_redirect(call, url);
}
