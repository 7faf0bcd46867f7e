/* routes.c - route table of OAuth2. */
#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/oauth2/internal.h"

static const struct path_resolver resolvers[] = {
    {
        .name = "authorization.id",
        .field = "token_id",
        .doc = "An authorization that the caller gave to an application.",
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/oauth2/authorize",
        .name = "get_authorization",
        .doc = "Data for the consent page: what the application requests.",
        .auth = AUTH_USER,
        .query = &authorize_query_schema,
        .reply = &authorize_reply,
        .handle = get_authorization,
    },
    {
        .method = POST,
        .path = "/oauth2/authorize",
        .name = "authorize",
        .doc = "Grant or deny what an application requests. Installing needs MANAGE_GUILD, "
               "webhook.incoming MANAGE_WEBHOOKS in the channel.",
        .auth = AUTH_USER,
        .query = &authorize_query_schema,
        .body = &authorize_body,
        .reply = &redirect_reply,
        .fires = (const enum event[]){ INSTALL_EVENTS, EVENT_USER_APPLICATION_UPDATE, EVENT_NONE },
        .prepare = schedule_signing_key_creation,
        .handle = authorize,
    },
    {
        .method = POST,
        .path = "/oauth2/token",
        .name = "exchange_token",
        .doc =
            "Issue an access token for a code, a refresh token, or the owner of the application.",
        .auth = AUTH_OPEN,
        .body = &token_form_body,
        .body_kinds = BODY_FORM,
        .reply = &access_reply,
        .fires = (const enum event[]){ INSTALL_EVENTS, EVENT_USER_APPLICATION_UPDATE,
                                       EVENT_WEBHOOKS_UPDATE, EVENT_NONE },
        .prepare = schedule_id_token_for_token_exchange,
        .handle = exchange_token,
    },
    {
        .method = POST,
        .path = "/oauth2/token/revoke",
        .name = "revoke_token",
        .doc = "Revoke all tokens of an application for the user of this token.",
        .auth = AUTH_OPEN,
        .body = &revoke_form_body,
        .body_kinds = BODY_FORM,
        .reply = &empty_reply,
        .handle = revoke_token,
    },
    {
        .method = GET,
        .path = "/oauth2/@me",
        .name = "get_current_authorization",
        .doc = "Application, scopes and user of the calling access token.",
        .auth = AUTH_BEARER,
        .reply = &current_authorization,
        .handle = get_current_authorization,
    },
    {
        .method = GET,
        .path = "/oauth2/keys",
        .name = "list_oauth2_keys",
        .doc = "Public keys of id tokens; empty until the scope openid is first granted.",
        .auth = AUTH_OPEN,
        .reply = &oauth2_keys_reply,
        .handle = list_oauth2_keys,
    },
    {
        .method = GET,
        .path = "/oauth2/userinfo",
        .name = "get_userinfo",
        .doc = "The user of the calling access token, as OpenID Connect claims.",
        .auth = AUTH_BEARER,
        .scope = "openid",
        .reply = &userinfo_reply,
        .handle = get_userinfo,
    },
    {
        .method = GET,
        .path = "/oauth2/tokens",
        .name = "list_grants",
        .doc = "Authorizations that the caller gave to applications, newest first.",
        .auth = AUTH_USER,
        .query = &grants_query_schema,
        .reply = &grants_reply,
        .handle = list_grants,
    },
    {
        .method = DELETE,
        .path = "/oauth2/tokens/{authorization.id}",
        .name = "delete_grant",
        .doc = "Revoke an authorization of an application, and its tokens.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_USER_APPLICATION_REMOVE, EVENT_NONE },
        .handle = delete_grant,
    },
    {
        .method = GET,
        .path = "/oauth2/applications/{application.id}/tokens",
        .name = "list_application_grants",
        .doc = "The caller's authorizations of one application.",
        .auth = AUTH_USER,
        .reply = &grants_reply,
        .handle = list_application_grants,
    },
    { 0 },
};

const struct domain oauth2_domain = {
    .name = "OAuth2",
    .doc = "Users authorize applications, and install them in guilds.",
    .routes = routes,
    .resolvers = resolvers,
    .hooks =
        &(const struct hook_listeners){ .account_revoked = authorization_codes_delete_of_user },
    .deletions = oauth2_deletions,
};
