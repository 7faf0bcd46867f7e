/* routes.c - the table of OAuth2. */
#include "platform/oauth2/internal.h"

static const struct resolver resolvers[] = {
    {
        .name = "authorization.id",
        .field = "token_id",
        .doc = "Something the caller allowed an application.",
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/oauth2/authorize",
        .name = "get_authorization",
        .doc = "What a person is asked when an application wants something.",
        .auth = AUTH_USER,
        .query = &authorize_query_schema,
        .reply = &authorize_reply,
        .handle = get_authorization,
    },
    {
        .method = POST,
        .path = "/oauth2/authorize",
        .name = "authorize",
        .doc = "Allow an application what it asks for, or deny it. Installing needs MANAGE_GUILD.",
        .auth = AUTH_USER,
        .query = &authorize_query_schema,
        .body = &authorize_body,
        .reply = &redirect_reply,
        .fires = (const enum event[]){ INSTALL_EVENTS, EVENT_USER_APPLICATION_UPDATE, EVENT_NONE },
        .handle = authorize,
    },
    {
        .method = POST,
        .path = "/oauth2/token",
        .name = "exchange_token",
        .doc = "An access token for a code, for a refresh token, or for the owner itself.",
        .auth = AUTH_OPEN,
        .body = &token_form_body,
        .body_kinds = BODY_FORM,
        .reply = &access_reply,
        .fires = (const enum event[]){ INSTALL_EVENTS, EVENT_USER_APPLICATION_UPDATE, EVENT_NONE },
        .handle = exchange_token,
    },
    {
        .method = POST,
        .path = "/oauth2/token/revoke",
        .name = "revoke_token",
        .doc = "End all tokens that an application has of somebody.",
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
        .doc = "What the access token that calls stands for.",
        .auth = AUTH_BEARER,
        .reply = &current_authorization,
        .handle = get_current_authorization,
    },
    {
        .method = GET,
        .path = "/oauth2/tokens",
        .name = "list_grants",
        .doc = "Applications that the caller allowed something, the newest first.",
        .auth = AUTH_USER,
        .query = &grants_query_schema,
        .reply = &grants_reply,
        .handle = list_grants,
    },
    {
        .method = DELETE,
        .path = "/oauth2/tokens/{authorization.id}",
        .name = "delete_grant",
        .doc = "Take back what an application was allowed, and end its tokens.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_USER_APPLICATION_REMOVE, EVENT_NONE },
        .handle = delete_grant,
    },
    {
        .method = GET,
        .path = "/oauth2/applications/{application.id}/tokens",
        .name = "list_application_grants",
        .doc = "What the caller allowed one application.",
        .auth = AUTH_USER,
        .reply = &grants_reply,
        .handle = list_application_grants,
    },
    { 0 },
};

const struct domain oauth2_domain = {
    .name = "OAuth2",
    .doc = "People letting applications act for them, and into their guilds.",
    .routes = routes,
    .resolvers = resolvers,
};
