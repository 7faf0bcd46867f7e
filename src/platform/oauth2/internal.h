/* internal.h - declarations shared by the files of oauth2/. */
#ifndef PLATFORM_OAUTH2_INTERNAL_H
#define PLATFORM_OAUTH2_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/applications/applications.h"
#include "platform/oauth2/oauth2.h"
#include "platform/webhooks/webhooks.h"

enum { CODE_SECONDS = 600, ACCESS_SECONDS = 604800, OAUTH2_DIGEST_BYTES = 32 };
/* Lengths of RFC 7636: the challenge is 32 bytes in base64url; the verifier has 43 to 128
 * characters. */
enum { CHALLENGE_LENGTH = 43, VERIFIER_LEAST = 43, VERIFIER_MOST = 128 };

/* --- scopes.c ------------------------------------------------------------------------- */

struct oauth2_scopes {
    struct list list; /* struct str; no scope occurs twice */
    uint64_t bits;    /* scopes as a bit set (auth_oauth2_scope_bit) */
    struct str text;  /* scope names separated by spaces */
};
/* Parses scope names. Returns false if the text has no scope or an unknown scope. */
bool oauth2_scopes_parse(struct arena *a, struct str text, struct oauth2_scopes *ret);
struct oauth2_scopes oauth2_scopes_union(struct arena *a, const struct oauth2_scopes *one,
                                         const struct oauth2_scopes *two);
bool oauth2_scopes_contain(const struct oauth2_scopes *s, const char *name);

/* --- schema.c ------------------------------------------------------------------------- */

struct oauth2_authorize_query {
    snowflake client_id;
    struct str scope;
    struct opt_str response_type, redirect_uri, state, code_challenge, code_challenge_method;
    struct opt_str nonce;
    struct opt_int integration_type;
    struct opt_id guild_id;
    uint64_t permissions;
};
struct oauth2_authorize_body {
    bool authorize;
    struct opt_int integration_type;
    struct opt_id guild_id, channel_id, webhook_channel_id, permissions;
};
struct authorize_reply_guild {
    snowflake id;
    struct str name;
    struct opt_str icon;
    int64_t mfa_level;
    uint64_t permissions;
};
struct oauth2_authorize_reply {
    const struct application *application;
    const struct user *user, *bot;
    bool authorized;
    int64_t integration_type;
    struct opt_str redirect_uri;
    struct list scopes;
    uint64_t permissions;
    struct opt_id guild_id;
    struct str query;
    struct opt_list guilds;
};
struct authorize_redirect_reply {
    struct str url, location;
};
struct oauth2_token_form {
    struct opt_str grant_type, code, redirect_uri, refresh_token, scope, client_id, client_secret,
        code_verifier;
};
struct token_revoke_form {
    struct opt_str token, client_id, client_secret;
};
struct access_token_reply {
    struct str token_type, access_token, scope;
    int64_t expires_in;
    struct opt_str refresh_token, id_token;
    const struct guild *guild;
    const struct webhook *webhook;
};
struct oauth2_key {
    struct str kty, use, kid, n, e, alg;
};
struct oauth2_keys {
    struct list keys;
};
struct openid_userinfo {
    snowflake sub;
    struct opt_str email, preferred_username, nickname, picture, locale;
    struct opt_bool email_verified;
};
struct empty_json_reply {
    struct opt_bool nothing;
};
struct oauth2_error {
    struct str error, error_description;
};
struct current_authorization {
    const struct application *application;
    struct list scopes;
    struct opt_int expires;
    const struct user *user;
};
struct authorizations_query {
    struct opt_list application_ids;
};

extern const struct schema authorize_query_schema, grants_query_schema;
extern const struct type authorize_body, authorize_reply, redirect_reply, token_form_body,
    revoke_form_body, access_reply, empty_reply, oauth2_error, current_authorization, grants_reply,
    oauth2_keys_reply, userinfo_reply;

/* --- rows.c --------------------------------------------------------------------------- */

struct authorization_code {
    snowflake user_id, application_id, guild_id; /* guild_id is 0 without a guild */
    struct str redirect_uri, scopes;
    struct str challenge;         /* S256 code challenge (RFC 7636); p is NULL if none was sent */
    struct str nonce;             /* nonce of the id token; p is NULL if none was sent */
    snowflake webhook_channel_id; /* 0 without the scope webhook.incoming */
    int64_t integration_type, expires_at;
    uint64_t permissions;
    bool pending; /* whether the token exchange must install the app */
    bool used;
    snowflake webhook_id; /* webhook that the token exchange created; 0 if none */
};
enum err authorization_code_insert(struct tx *tx, struct str digest,
                                   const struct authorization_code *c);
enum err authorization_code_find(struct tx *tx, struct str digest, struct authorization_code *ret,
                                 bool *found);
/* Marks a code as used. The row remains until the code expires, so that a second use can be
 * detected. */
enum err authorization_code_mark_used(struct tx *tx, struct str digest);
enum err authorization_code_record_webhook(struct tx *tx, struct str digest, snowflake webhook_id);

/* The scopes that a user granted to an application. */
struct oauth2_authorization {
    snowflake id, user_id, application_id;
    struct list scopes; /* struct str */
    bool installed;
    const struct application *application;
};
enum err oauth2_authorization_find_of_user(struct tx *tx, snowflake user_id,
                                           snowflake application_id,
                                           struct oauth2_authorization *ret, bool *ret_found);
/* Reads an authorization. Returns ERR_UNKNOWN_TOKEN if it does not exist or belongs to another
 * user. */
enum err oauth2_authorization_find(struct tx *tx, snowflake id, snowflake user_id,
                                   struct oauth2_authorization *ret);
/* Reads the authorizations of a user with their applications, newest first. */
enum err oauth2_authorizations_read_of_user(struct tx *tx, snowflake user_id, struct list *ret);
/* Adds scopes to the user's authorization of the application. If the user has no authorization,
 * creates one. */
enum err oauth2_authorization_add_scopes(struct call *call,
                                         const struct account_app_installation *who,
                                         const struct oauth2_scopes *scopes, bool installed);
enum err oauth2_authorization_delete(struct call *call, const struct oauth2_authorization *a);
enum err revoke_oauth2_tokens_of_application(struct call *call, snowflake user_id,
                                             snowflake application_id);
/* Revokes the tokens that were issued for a code, including tokens that were issued later for a
 * refresh token. */
enum err revoke_oauth2_tokens_of_code(struct call *call, snowflake user_id, struct str digest);
enum err oauth2_token_read_scopes(struct tx *tx, const unsigned char session[8], struct str *ret);
/* Reads the digest of the code for which a token was issued. p is NULL if the token was issued
 * without a code. */
enum err oauth2_token_read_code_digest(struct tx *tx, const unsigned char session[8],
                                       struct str *ret);
enum err delete_expired_oauth2_tokens(struct tx *tx, snowflake user_id, snowflake application_id);

/* --- authorization_request.c: authorization requests ---------------------------------- */

struct oauth2_authorization_request {
    struct application *application;
    struct oauth2_scopes scopes;
    enum integration_type integration_type;
    bool installs;           /* the scopes include bot or applications.commands */
    bool with_code;          /* response_type is "code" */
    bool with_token;         /* response_type is "token" */
    struct str redirect_uri; /* URI for the redirect; p is NULL if none was sent or registered */
};
/* Parses the authorization request in the query. integration_type is that of the body. */
enum err oauth2_authorization_request_parse(struct call *call,
                                            const struct opt_int *integration_type,
                                            struct oauth2_authorization_request *ret);
/* Installs the app in a guild or on the caller's account. In a guild, the app gets only those
 * permissions that the caller has. */
enum err install_application(struct call *call, const struct application *a,
                             const struct oauth2_scopes *s, enum integration_type type,
                             snowflake guild_id, uint64_t permissions);
/* Returns an error unless the caller may install the app in the guild (guild_id is not 0) or on the
 * caller's account. */
enum err check_install_permission(struct call *call, const struct oauth2_authorization_request *r,
                                  snowflake guild_id);
/* Returns ERR_APPLICATION_NOT_YOURS for a private app, unless the caller is one of its
 * developers. */
enum err check_application_is_public(struct call *call,
                                     const struct oauth2_authorization_request *r);
/* Installs the app's commands, without a bot, into a group channel of the caller. May return
 * ERR_UNKNOWN_CHANNEL, ERR_MISSING_ACCESS or ERR_CHANNEL_TYPE. */
enum err install_application_in_group(struct call *call,
                                      const struct oauth2_authorization_request *r,
                                      snowflake channel_id);

/* --- token.c: access tokens ----------------------------------------------------------- */

/* Issues an access token. code is the digest of the code that was exchanged for it; empty if there
 * was none. */
enum err oauth2_access_token_issue(struct call *call, snowflake user_id, snowflake application_id,
                                   const struct oauth2_scopes *scopes, struct str code,
                                   struct access_token_reply *ret);

/* --- incoming_webhook.c --------------------------------------------------------------- */

/* If the scopes contain webhook.incoming, checks that the caller may create a webhook in the
 * channel of the body, and sets *ret_channel to it. Otherwise *ret_channel is 0. */
enum err check_incoming_webhook_permission(struct call *call, const struct oauth2_scopes *s,
                                           snowflake *ret_channel);
/* Reads whether the user who granted the code may still create the webhook. */
enum err read_whether_user_may_create_webhook(struct call *call,
                                              const struct authorization_code *code, bool *ret);
enum err create_incoming_webhook(struct call *call, const struct application *a,
                                 const struct authorization_code *code, const struct webhook **ret);
/* Deletes the webhook that the token exchange created, if it still exists. */
enum err delete_incoming_webhook(struct call *call, const struct authorization_code *code);

/* --- openid.c ------------------------------------------------------------------------- */

/* Prepare stage of POST /oauth2/authorize. If the request has the scope openid and there is no
 * signing key yet, creates one. */
enum err schedule_signing_key_creation(struct call *call);
/* Stores the signing key if schedule_signing_key_creation has created one. */
enum err openid_store_signing_key(struct call *call);
/* Schedules the signing of an id token on the thread pool, because RSA takes too long for a
 * write transaction. Call it in the read stage of POST /oauth2/token. */
enum err openid_sign_id_token_in_compute_stage(struct call *call, snowflake user_id,
                                               snowflake application_id, struct str nonce);
/* Returns the signed id token of this call. nonce.p is NULL if the client sent no nonce. */
enum err openid_get_signed_id_token(struct call *call, snowflake user_id, snowflake application_id,
                                    struct str nonce, struct opt_str *ret);

/* --- replies.c ------------------------------------------------------------------------ */

/* Replies with an error in the format of RFC 6749. */
enum err oauth2_reply_error(struct call *call, int status, const char *error,
                            const char *description);
/* Returns the keyed digest of an authorization code. The store has only the digest. */
struct str authorization_code_compute_digest(const struct call *call, struct str code);
/* Appends name=value to a URL's query. */
struct str url_add_query_parameter(struct arena *a, struct str url, const char *name,
                                   struct str value);

/* --- handlers ------------------------------------------------------------------------- */

enum err get_authorization(struct call *call);
enum err authorize(struct call *call);
enum err exchange_token(struct call *call);
enum err schedule_id_token_for_token_exchange(struct call *call);
enum err revoke_token(struct call *call);
enum err get_current_authorization(struct call *call);
enum err list_grants(struct call *call);
enum err list_application_grants(struct call *call);
enum err delete_grant(struct call *call);
enum err list_oauth2_keys(struct call *call);
enum err get_userinfo(struct call *call);

/* --- deletion.c ----------------------------------------------------------------------- */

/* Deletes the authorization codes of an account. Otherwise they could still be exchanged for
 * tokens. */
enum err authorization_codes_delete_of_user(struct call *call, snowflake user_id);
extern const struct deletion_rule oauth2_deletions[];

#endif
