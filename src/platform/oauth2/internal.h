/* internal.h - what the files of oauth2/ share. */
#ifndef PLATFORM_OAUTH2_INTERNAL_H
#define PLATFORM_OAUTH2_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/applications/applications.h"
#include "platform/oauth2/oauth2.h"
#include "platform/webhooks/webhooks.h"

enum { CODE_SECONDS = 600, ACCESS_SECONDS = 604800, OAUTH2_DIGEST_BYTES = 32 };
/* RFC 7636: a challenge is 32 bytes in base64url. */
enum { CHALLENGE_LENGTH = 43, VERIFIER_LEAST = 43, VERIFIER_MOST = 128 };

/* --- scopes.c ------------------------------------------------------------------------- */

struct scopes {
    struct list list; /* struct str, each once */
    uint64_t bits;    /* of auth_scope */
    struct str text;  /* with a space between them */
};
/* False: none at all, or one that we do not know. */
bool scopes_parse(struct arena *a, struct str text, struct scopes *ret);
/* Both together. */
struct scopes scopes_join(struct arena *a, const struct scopes *one, const struct scopes *two);
bool scopes_have(const struct scopes *s, const char *name);

/* --- schema.c ------------------------------------------------------------------------- */

struct authorize_query {
    snowflake client_id;
    struct str scope;
    struct opt_str response_type, redirect_uri, state, code_challenge, code_challenge_method;
    struct opt_str nonce;
    struct opt_int integration_type;
    struct opt_id guild_id;
    uint64_t permissions;
};
struct authorize_body {
    bool authorize;
    struct opt_int integration_type;
    struct opt_id guild_id, channel_id, webhook_channel_id, permissions;
};
struct authorize_guild {
    snowflake id;
    struct str name;
    struct opt_str icon;
    int64_t mfa_level;
    uint64_t permissions;
};
struct authorize_reply {
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
struct redirect_reply {
    struct str url, location;
};
struct token_form {
    struct opt_str grant_type, code, redirect_uri, refresh_token, scope, client_id, client_secret,
        code_verifier;
};
struct revoke_form {
    struct opt_str token, client_id, client_secret;
};
struct access_reply {
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
struct userinfo {
    snowflake sub;
    struct opt_str email, preferred_username, nickname, picture, locale;
    struct opt_bool email_verified;
};
struct empty_reply {
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
struct grants_query {
    struct opt_list application_ids;
};

extern const struct schema authorize_query_schema, grants_query_schema;
extern const struct type authorize_body, authorize_reply, redirect_reply, token_form_body,
    revoke_form_body, access_reply, empty_reply, oauth2_error, current_authorization, grants_reply,
    oauth2_keys_reply, userinfo_reply;

/* --- rows.c --------------------------------------------------------------------------- */

struct authorization_code {
    snowflake user_id, application_id, guild_id; /* guild 0: none */
    struct str redirect_uri, scopes;
    struct str challenge;         /* of RFC 7636, S256; p == NULL: none */
    struct str nonce;             /* for the id token; p == NULL: none */
    snowflake webhook_channel_id; /* 0: none */
    int64_t integration_type, expires_at;
    uint64_t permissions;
    bool pending; /* installs at the exchange */
    bool used;
    snowflake webhook_id; /* what was made when it was used; 0: nothing */
};
enum err code_insert(struct tx *tx, struct str digest, const struct authorization_code *c);
enum err code_find(struct tx *tx, struct str digest, struct authorization_code *ret, bool *found);
/* It stays until it expires, so that a second use is noticed. */
enum err code_mark_used(struct tx *tx, struct str digest);
enum err code_note_webhook(struct tx *tx, struct str digest, snowflake webhook_id);

/* What somebody allowed an application. */
struct authorization {
    snowflake id, user_id, application_id;
    struct list scopes; /* struct str */
    bool installed;
    const struct application *application;
};
enum err authorization_of(struct tx *tx, snowflake user_id, snowflake application_id,
                          struct authorization *ret, bool *ret_found);
/* ERR_UNKNOWN_TOKEN when it is not this user's. */
enum err authorization_find(struct tx *tx, snowflake id, snowflake user_id,
                            struct authorization *ret);
/* The newest first, with applications. */
enum err authorizations_of(struct tx *tx, snowflake user_id, struct list *ret);
/* Adds to what was allowed before. */
enum err authorization_add(struct call *call, const struct account_app *who,
                           const struct scopes *scopes, bool installed);
enum err authorization_delete(struct call *call, const struct authorization *a);
/* Ends all tokens that an application has of somebody. */
enum err tokens_end(struct call *call, snowflake user_id, snowflake application_id);
/* Ends those that came of one code, and of refreshing them. */
enum err tokens_end_of_code(struct call *call, snowflake user_id, struct str digest);
enum err token_scopes(struct tx *tx, const unsigned char session[8], struct str *ret);
/* The digest of the code that a token came of; p == NULL: of none. */
enum err token_code(struct tx *tx, const unsigned char session[8], struct str *ret);
enum err tokens_drop_expired(struct tx *tx, snowflake user_id, snowflake application_id);

/* --- request.c: what an application asks for ------------------------------------------ */

struct request {
    struct application *application;
    struct scopes scopes;
    enum integration_type integration_type;
    bool installs;           /* bot or applications.commands is asked for */
    bool with_code;          /* response_type=code */
    bool with_token;         /* response_type=token */
    struct str redirect_uri; /* p == NULL: none */
};
/* From the query, and what the body says of where to install. */
enum err request_read(struct call *call, const struct opt_int *integration_type,
                      struct request *ret);
/* Brings it about: into the guild, or onto the account. Checks what must still hold. */
enum err request_install(struct call *call, const struct application *a, const struct scopes *s,
                         enum integration_type type, snowflake guild_id, uint64_t permissions);
/* May the caller install it there? */
enum err request_check_place(struct call *call, const struct request *r, snowflake guild_id);
/* Apps that are not public are installed by their makers. ERR_APPLICATION_NOT_YOURS. */
enum err request_check_public(struct call *call, const struct request *r);
/* Into a group that the caller is in: its commands, and no bot. ERR_UNKNOWN_CHANNEL,
 * ERR_MISSING_ACCESS, ERR_CHANNEL_TYPE. */
enum err request_install_group(struct call *call, const struct request *r, snowflake channel_id);

/* --- token.c: an access token for somebody who allowed it ----------------------------- */

/* code: the digest of the code that it comes of, or nothing. */
enum err access_issue(struct call *call, snowflake user_id, snowflake application_id,
                      const struct scopes *scopes, struct str code, struct access_reply *ret);

/* --- incoming.c ----------------------------------------------------------------------- */

/* May the caller have a webhook made in the channel of the body? *ret_channel is 0 where the scope
 * webhook.incoming is not asked for. */
enum err incoming_check(struct call *call, const struct scopes *s, snowflake *ret_channel);
/* May it still be made, in the name of who allowed it? Then make it. */
enum err incoming_may(struct call *call, const struct authorization_code *code, bool *ret);
enum err incoming_make(struct call *call, const struct application *a,
                       const struct authorization_code *code, const struct webhook **ret);
/* Deletes what the code's use made, if it is still there. */
enum err incoming_take_back(struct call *call, const struct authorization_code *code);

/* --- openid.c ------------------------------------------------------------------------- */

/* Of POST /oauth2/authorize: sees to it that there is a key where openid is asked for. */
enum err prepare_authorize(struct call *call);
/* Keeps the key that was made for this call, if one was. */
enum err openid_keep_key(struct call *call);
/* For the look of POST /oauth2/token: an id token like this will be asked for. It is signed on the
 * pool, because that takes too long for a transaction that others wait for. */
enum err openid_plan(struct call *call, snowflake user_id, snowflake application_id,
                     struct str nonce);
/* Who somebody is, for an application with the scope openid. nonce.p NULL: none. */
enum err openid_issue(struct call *call, snowflake user_id, snowflake application_id,
                      struct str nonce, struct opt_str *ret);

/* --- replies.c ------------------------------------------------------------------------ */

/* An answer of RFC 6749's own shape. */
enum err oauth2_fail(struct call *call, int status, const char *error, const char *description);
/* Of codes only this is kept. */
struct str code_digest(const struct call *call, struct str code);
/* One more name=value in a URL's query. */
struct str url_with(struct arena *a, struct str url, const char *name, struct str value);

/* --- handlers ------------------------------------------------------------------------- */

enum err get_authorization(struct call *call);
enum err authorize(struct call *call);
enum err exchange_token(struct call *call);
enum err prepare_token(struct call *call);
enum err revoke_token(struct call *call);
enum err get_current_authorization(struct call *call);
enum err list_grants(struct call *call);
enum err list_application_grants(struct call *call);
enum err delete_grant(struct call *call);
enum err list_oauth2_keys(struct call *call);
enum err get_userinfo(struct call *call);

/* --- deletion.c ----------------------------------------------------------------------- */

/* Codes that the account gave to applications: tokens can be had for them. */
enum err codes_revoke(struct call *call, snowflake user_id);
extern const struct deletion_rule oauth2_deletions[];

#endif
