/* auth.h - tokens: issue, authenticate, revoke.
 *
 * A token has three base64url segments: account id, session id, 32 random bytes. Only
 * HMAC-SHA256(pepper, secret) is stored; the pepper is in a file next to the database.
 * Authenticated tokens are cached. The cache is bounded, and a revocation removes the token from
 * the cache before the response to the revoking call is sent. */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "api/call.h"

struct auth;

/* Cost of hashing a password with Argon2id; tests use a lower cost. */
struct password_cost {
    unsigned long long ops;
    size_t memory; /* bytes */
};

/* Creates the state for tokens. Reads the pepper (secret key) from <folder>/pepper.key, or creates
 * it (mode 0600). */
enum err auth_new(const char *folder, struct store *store, struct auth **ret);
void auth_free(struct auth *a);

/* auth_get_address_ban_set returns the banned addresses; auth_is_address_banned searches them. */
struct address_ban_set;
struct address_ban_set *auth_get_address_ban_set(const struct auth *a);
bool auth_is_address_banned(const struct auth *a, struct str address);

/* The credential of an Authorization header. */
struct parsed_credential {
    enum caller_kind kind;
    snowflake account;
    unsigned char session[8];
    unsigned char secret[32];
    struct str token;          /* token without the scheme ("Bot", "Bearer") */
    uint64_t revocations_seen; /* auth_revocation_count before the lookup */
};

/* Returns the kind of token in an Authorization header, and the token without its scheme. */
enum caller_kind parse_credential_kind(struct str authorization, struct str *ret_token);
/* Returns whether a world file (test data) may contain this text as a token: 16-100 characters of
 * A-Z a-z 0-9 _ -. */
bool is_valid_world_file_token(struct str text);
/* Parses the ids and the secret of a token; returns false if the token is malformed. */
bool parse_credential_token(enum caller_kind kind, struct str token, struct parsed_credential *ret);

/* Call before the transaction that looks up the token. The result of the lookup may be cached only
 * if no token is revoked after this call. */
void auth_record_revocations_before_lookup(struct auth *a, struct parsed_credential *c);

/* Authenticate a token: auth_find_cached_token searches the cache, auth_find_stored_token the
 * database. auth_find_stored_token returns ERR_UNAUTHORIZED if the token is invalid. */
bool auth_find_cached_token(struct auth *a, enum caller_kind kind, struct str token,
                            struct caller *ret);
enum err auth_find_stored_token(struct auth *a, struct tx *tx, const struct parsed_credential *c,
                                struct caller *ret);

/* auth_collect_recently_used_tokens returns the tokens of one cache shard that were used since the
 * last call for this shard. */
enum { AUTH_CACHE_SHARDS = 16, AUTH_SHARD_ENTRIES = 1024 };
struct login_session_id {
    unsigned char session[8];
};
size_t auth_collect_recently_used_tokens(struct auth *a, unsigned part,
                                         struct login_session_id ret[AUTH_SHARD_ENTRIES]);

/* Used in a cluster only: allows the use of the token cache until this time
 * (clock_monotonic_ns). */
void auth_set_token_cache_valid_until(struct auth *a, int64_t until);

/* Describes a token to issue. auth_issue_token returns the token's text in the transaction's arena;
 * the text is not stored. */
struct token_to_issue {
    enum caller_kind kind;
    snowflake user_id, application_id;
    struct str scopes;  /* OAuth2 scopes, separated by spaces; only for CALLER_BEARER */
    int64_t expires_at; /* microseconds; 0 means never */
    struct str client;  /* User-Agent of the client, shown in the user's list of sessions */
    struct str code; /* digest of the OAuth2 code that was exchanged for this token; NULL pointer if
                      * there is none */
    /* For world files (test data). chosen is the whole text of the token. lasting is a seed: the
     * token is derived from the seed, the pepper and the account, so it is the same in every
     * import. */
    struct str lasting, chosen;
};
enum err auth_issue_token(struct auth *a, struct tx *tx, const struct token_to_issue *grant,
                          struct str *ret_token);
enum err auth_delete_token(struct tx *tx, const unsigned char session[8]);

/* Returns the number of revocations so far. auth_record_revocations_before_lookup stores this
 * number before a lookup. */
uint64_t auth_revocation_count(struct auth *a);
/* The auth_evict functions remove tokens from the cache and return the new number of revocations:
 * lookups that begin when auth_revocation_count is at least this number do not find the tokens. */
uint64_t auth_evict_session_token(struct auth *a, const unsigned char session[8]);
uint64_t auth_evict_account_tokens(struct auth *a, snowflake user_id);
/* Removes all tokens of an application from the cache: the tokens of its bot and its OAuth2
 * tokens. */
uint64_t auth_evict_application_tokens(struct auth *a, snowflake application_id);

/* Derives up to 64 bytes from the pepper, a purpose (`word`), an id and a salt; used for webhook
 * tokens and signing keys. Somebody who has only a copy of the database cannot compute them. */
void auth_derive_key(const struct auth *a, const char *word, snowflake id, struct str salt,
                     unsigned char *out, size_t n);

/* Returns the bit of an OAuth2 scope, or 0 if the scope is unknown. */
uint64_t auth_oauth2_scope_bit(struct str name);

#endif
