/* schema.c - JSON schemas of OAuth2 bodies and replies. */
#include "platform/oauth2/internal.h"

static const struct enum_choice positions[] = {
    { .value = INSTALL_GUILD, .name = "GUILD_INSTALL", .doc = "In a guild" },
    { .value = INSTALL_USER, .name = "USER_INSTALL", .doc = "On an account" },
    { 0 },
};
static const struct enum_choice response_types[] = {
    { .text = "code", .name = "CODE", .doc = "An authorization code" },
    { .text = "token",
      .name = "TOKEN",
      .doc = "An access token at once, for applications with PUBLIC_OAUTH2_CLIENT" },
    { 0 },
};
static const struct enum_choice challenge_methods[] = {
    { .text = "S256", .name = "S256", .doc = "base64url of the verifier's SHA-256 (RFC 7636)" },
    { 0 },
};
static const struct type type_challenge_method = { .kind = KIND_STRING,
                                                   .choices = challenge_methods };
static const struct type type_challenge = {
    .kind = KIND_STRING,
    .min = CHALLENGE_LENGTH,
    .max = CHALLENGE_LENGTH,
    .doc = "The exchange then needs the code_verifier of this challenge",
};
static const struct type type_position = { .kind = KIND_INT, .choices = positions };
static const struct type type_response_type = { .kind = KIND_STRING, .choices = response_types };
static const struct type type_scope = { .kind = KIND_STRING,
                                        .max = 1000,
                                        .doc = "Scopes, with a space between them" };
static const struct type type_redirect = { .kind = KIND_STRING,
                                           .max = 512,
                                           .doc = "One of the application's redirect_uris" };
static const struct type type_state = { .kind = KIND_STRING,
                                        .max = 2000,
                                        .doc = "Returned with the redirect" };
static const struct type type_nonce = { .kind = KIND_STRING,
                                        .max = 1000,
                                        .doc = "Returned in the id token, with the scope openid" };
static const struct type type_seconds = { .kind = KIND_INT, .doc = "Seconds" };
static const struct type type_secret = { .kind = KIND_STRING, .max = 1000 };

/* --- authorization -------------------------------------------------------------------- */

static const struct field authorize_query_fields[] = {
    { FIELD(struct oauth2_authorize_query, client_id), .type = &type_id },
    { FIELD(struct oauth2_authorize_query, scope), .type = &type_scope },
    { FIELD(struct oauth2_authorize_query, response_type), .type = &type_response_type,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, redirect_uri), .type = &type_redirect,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, state), .type = &type_state, .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, code_challenge), .type = &type_challenge,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, code_challenge_method), .type = &type_challenge_method,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, nonce), .type = &type_nonce, .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, integration_type), .type = &type_position,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_query, guild_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The proposed guild; only the guild of the body is used" },
    { FIELD(struct oauth2_authorize_query, permissions), .type = &type_permissions,
      .flags = OPTIONAL, .doc = "The proposed permissions; only those of the body are used" },
    { 0 },
};
const struct schema authorize_query_schema = {
    .name = "AuthorizeQuery",
    .size = sizeof(struct oauth2_authorize_query),
    .fields = authorize_query_fields,
    .once = true,
    .doc = "What an application requests. A repeated parameter is refused.",
};

static const struct field authorize_body_fields[] = {
    { FIELD(struct oauth2_authorize_body, authorize), .type = &type_bool },
    { FIELD(struct oauth2_authorize_body, integration_type), .type = &type_position,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct oauth2_authorize_body, guild_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct oauth2_authorize_body, channel_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "A group, instead of a guild" },
    { FIELD(struct oauth2_authorize_body, webhook_channel_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE,
      .doc = "With the scope webhook.incoming: channel of the webhook; needs MANAGE_WEBHOOKS" },
    { FIELD(struct oauth2_authorize_body, permissions), .type = &type_permissions,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema authorize_body_schema = {
    .name = "Authorize",
    .size = sizeof(struct oauth2_authorize_body),
    .fields = authorize_body_fields,
    .doc = "The user's decision.",
};

static const struct field authorize_guild_fields[] = {
    { FIELD(struct authorize_reply_guild, id), .type = &type_id },
    { FIELD(struct authorize_reply_guild, name), .type = &type_guild_name },
    { FIELD(struct authorize_reply_guild, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct authorize_reply_guild, mfa_level), .type = &type_count },
    { FIELD(struct authorize_reply_guild, permissions), .type = &type_permissions,
      .doc = "Permissions of the caller" },
    { 0 },
};
static const struct schema authorize_guild_schema = {
    .name = "AuthorizeGuild",
    .size = sizeof(struct authorize_reply_guild),
    .fields = authorize_guild_fields,
    .doc = "A guild that the caller is in.",
};
static const struct type type_authorize_guild = { .kind = KIND_OBJECT,
                                                  .schema = &authorize_guild_schema };
static const struct type type_authorize_guilds = { .kind = KIND_ARRAY,
                                                   .of = &type_authorize_guild };

static const struct field authorize_reply_fields[] = {
    { FIELD(struct oauth2_authorize_reply, application), .type = &type_public_application },
    { FIELD(struct oauth2_authorize_reply, user), .type = &type_partial_user },
    { FIELD(struct oauth2_authorize_reply, authorized), .type = &type_bool,
      .doc = "All scopes were granted before" },
    { FIELD(struct oauth2_authorize_reply, integration_type), .type = &type_position },
    { FIELD(struct oauth2_authorize_reply, redirect_uri), .type = &type_redirect,
      .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_reply, scopes), .type = &type_texts,
      .doc = "The requested scopes, without duplicates" },
    { FIELD(struct oauth2_authorize_reply, permissions), .type = &type_permissions,
      .doc = "The permissions requested in a guild" },
    { FIELD(struct oauth2_authorize_reply, guild_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The proposed guild" },
    { FIELD(struct oauth2_authorize_reply, query), .type = &type_text,
      .doc = "The query of POST that grants what this reply shows" },
    { FIELD(struct oauth2_authorize_reply, bot), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct oauth2_authorize_reply, guilds), .type = &type_authorize_guilds,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema authorize_reply_schema = {
    .name = "AuthorizeInfo",
    .size = sizeof(struct oauth2_authorize_reply),
    .fields = authorize_reply_fields,
    .doc = "What the consent page shows.",
};

static const struct field redirect_fields[] = {
    { FIELD(struct authorize_redirect_reply, url), .type = &type_text },
    { FIELD(struct authorize_redirect_reply, location), .type = &type_text, .doc = "The same URL" },
    { 0 },
};
static const struct schema redirect_schema = {
    .name = "Redirect",
    .size = sizeof(struct authorize_redirect_reply),
    .fields = redirect_fields,
    .doc = "Where the user is redirected to.",
};

/* --- tokens --------------------------------------------------------------------------- */

static const struct field token_form_fields[] = {
    { FIELD(struct oauth2_token_form, grant_type), .type = &type_text, .flags = OPTIONAL,
      .doc = "authorization_code, refresh_token or client_credentials" },
    { FIELD(struct oauth2_token_form, code), .type = &type_secret, .flags = OPTIONAL },
    { FIELD(struct oauth2_token_form, redirect_uri), .type = &type_redirect, .flags = OPTIONAL },
    { FIELD(struct oauth2_token_form, refresh_token), .type = &type_secret, .flags = OPTIONAL },
    { FIELD(struct oauth2_token_form, scope), .type = &type_scope, .flags = OPTIONAL },
    { FIELD(struct oauth2_token_form, client_id), .type = &type_text, .flags = OPTIONAL,
      .doc = "Here or by HTTP Basic, with the secret" },
    { FIELD(struct oauth2_token_form, client_secret), .type = &type_secret, .flags = OPTIONAL,
      .doc = "Applications with PUBLIC_OAUTH2_CLIENT need none for a code with a challenge" },
    { FIELD(struct oauth2_token_form, code_verifier), .type = &type_secret, .flags = OPTIONAL,
      .doc = "43 to 128 characters, for a code with a challenge" },
    { 0 },
};
static const struct schema token_form_schema = {
    .name = "TokenRequest",
    .size = sizeof(struct oauth2_token_form),
    .fields = token_form_fields,
    .doc = "Parameters of a token request.",
};

static const struct field revoke_form_fields[] = {
    { FIELD(struct token_revoke_form, token), .type = &type_secret, .flags = OPTIONAL },
    { FIELD(struct token_revoke_form, client_id), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct token_revoke_form, client_secret), .type = &type_secret, .flags = OPTIONAL },
    { 0 },
};
static const struct schema revoke_form_schema = {
    .name = "TokenRevocation",
    .size = sizeof(struct token_revoke_form),
    .fields = revoke_form_fields,
    .doc = "A token to revoke.",
};

static const struct field access_fields[] = {
    { FIELD(struct access_token_reply, token_type), .type = &type_text, .doc = "\"Bearer\"" },
    { FIELD(struct access_token_reply, access_token), .type = &type_secret },
    { FIELD(struct access_token_reply, scope), .type = &type_scope },
    { FIELD(struct access_token_reply, expires_in), .type = &type_seconds },
    { FIELD(struct access_token_reply, refresh_token), .type = &type_secret, .flags = OPTIONAL },
    { FIELD(struct access_token_reply, id_token), .type = &type_text, .flags = OPTIONAL,
      .doc = "With the scope openid: a JWT, signed with RS256" },
    { FIELD(struct access_token_reply, guild), .type = &type_guild, .flags = OPTIONAL },
    { FIELD(struct access_token_reply, webhook), .type = &webhook_reply, .flags = OPTIONAL,
      .doc = "With the scope webhook.incoming, for a code" },
    { 0 },
};
static const struct schema access_schema = {
    .name = "AccessToken",
    .size = sizeof(struct access_token_reply),
    .fields = access_fields,
    .doc = "An access token for a user.",
};

static const struct field empty_fields[] = {
    { FIELD(struct empty_json_reply, nothing), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Always absent" },
    { 0 },
};
static const struct schema empty_schema = {
    .name = "Empty",
    .size = sizeof(struct empty_json_reply),
    .fields = empty_fields,
    .doc = "An empty object.",
};

static const struct field oauth2_error_fields[] = {
    { FIELD(struct oauth2_error, error), .type = &type_text },
    { FIELD(struct oauth2_error, error_description), .type = &type_text },
    { 0 },
};
static const struct schema oauth2_error_schema = {
    .name = "OAuth2Error",
    .size = sizeof(struct oauth2_error),
    .fields = oauth2_error_fields,
    .doc = "An error in the format of RFC 6749.",
};

/* --- OpenID --------------------------------------------------------------------------- */

static const struct field oauth2_key_fields[] = {
    { FIELD(struct oauth2_key, kty), .type = &type_text, .doc = "\"RSA\"" },
    { FIELD(struct oauth2_key, use), .type = &type_text, .doc = "\"sig\"" },
    { FIELD(struct oauth2_key, kid), .type = &type_text },
    { FIELD(struct oauth2_key, n), .type = &type_text },
    { FIELD(struct oauth2_key, e), .type = &type_text },
    { FIELD(struct oauth2_key, alg), .type = &type_text, .doc = "\"RS256\"" },
    { 0 },
};
static const struct schema oauth2_key_schema = {
    .name = "OAuth2Key",
    .size = sizeof(struct oauth2_key),
    .fields = oauth2_key_fields,
    .doc = "The public key of id tokens (RFC 7517).",
};
static const struct type type_oauth2_key = { .kind = KIND_OBJECT, .schema = &oauth2_key_schema };
static const struct type type_oauth2_keys = { .kind = KIND_ARRAY, .of = &type_oauth2_key };
static const struct field oauth2_keys_fields[] = {
    { FIELD(struct oauth2_keys, keys), .type = &type_oauth2_keys },
    { 0 },
};
static const struct schema oauth2_keys_schema = {
    .name = "OAuth2Keys",
    .size = sizeof(struct oauth2_keys),
    .fields = oauth2_keys_fields,
    .doc = "Public keys of id tokens.",
};

static const struct field userinfo_fields[] = {
    { FIELD(struct openid_userinfo, sub), .type = &type_id },
    { FIELD(struct openid_userinfo, email), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "With the scope email" },
    { FIELD(struct openid_userinfo, email_verified), .type = &type_bool, .flags = OPTIONAL,
      .doc = "With the scope email" },
    { FIELD(struct openid_userinfo, preferred_username), .type = &type_text, .flags = OPTIONAL,
      .doc = "This field and the following need the scope identify" },
    { FIELD(struct openid_userinfo, nickname), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct openid_userinfo, picture), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct openid_userinfo, locale), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema userinfo_schema = {
    .name = "UserInfo",
    .size = sizeof(struct openid_userinfo),
    .fields = userinfo_fields,
    .doc = "A user, as OpenID Connect claims.",
};

/* --- authorizations ------------------------------------------------------------------- */

static const struct field current_fields[] = {
    { FIELD(struct current_authorization, application), .type = &type_public_application },
    { FIELD(struct current_authorization, scopes), .type = &type_texts },
    { FIELD(struct current_authorization, expires), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct current_authorization, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "With the scope identify" },
    { 0 },
};
static const struct schema current_schema = {
    .name = "CurrentAuthorization",
    .size = sizeof(struct current_authorization),
    .fields = current_fields,
    .doc = "Application, scopes and user of the calling token.",
};

static const struct field grant_fields[] = {
    { FIELD(struct oauth2_authorization, id), .type = &type_id },
    { FIELD(struct oauth2_authorization, scopes), .type = &type_texts },
    { FIELD(struct oauth2_authorization, application), .type = &type_public_application },
    { 0 },
};
static const struct schema grant_schema = {
    .name = "OAuth2Grant",
    .size = sizeof(struct oauth2_authorization),
    .fields = grant_fields,
    .doc = "An authorization of an application.",
};
static const struct type type_grant = { .kind = KIND_OBJECT, .schema = &grant_schema };

static const struct field grants_query_fields[] = {
    { FIELD(struct authorizations_query, application_ids), .type = &type_ids, .flags = OPTIONAL,
      .doc = "Only these applications" },
    { 0 },
};
const struct schema grants_query_schema = {
    .name = "OAuth2GrantsQuery",
    .size = sizeof(struct authorizations_query),
    .fields = grants_query_fields,
    .doc = "Which applications.",
};

const struct type authorize_body = { .kind = KIND_OBJECT, .schema = &authorize_body_schema };
const struct type authorize_reply = { .kind = KIND_OBJECT, .schema = &authorize_reply_schema };
const struct type redirect_reply = { .kind = KIND_OBJECT, .schema = &redirect_schema };
const struct type token_form_body = { .kind = KIND_OBJECT, .schema = &token_form_schema };
const struct type revoke_form_body = { .kind = KIND_OBJECT, .schema = &revoke_form_schema };
const struct type access_reply = { .kind = KIND_OBJECT, .schema = &access_schema };
const struct type empty_reply = { .kind = KIND_OBJECT, .schema = &empty_schema };
const struct type oauth2_error = { .kind = KIND_OBJECT, .schema = &oauth2_error_schema };
const struct type current_authorization = { .kind = KIND_OBJECT, .schema = &current_schema };
const struct type grants_reply = { .kind = KIND_ARRAY, .of = &type_grant };
const struct type oauth2_keys_reply = { .kind = KIND_OBJECT, .schema = &oauth2_keys_schema };
const struct type userinfo_reply = { .kind = KIND_OBJECT, .schema = &userinfo_schema };
