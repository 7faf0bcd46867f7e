/* auth.h - credentials: made, recognised, forgotten.
 *
 * A token is three base64url segments: the account's id, the session that names
 * it, 32 random bytes. Only HMAC-SHA256(pepper, secret) is stored; the pepper
 * lies in a file beside the database, not in it. What was recognised is
 * remembered in a bounded cache that every revocation reaches before its own
 * reply leaves. */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "api/call.h"

struct auth;

/* Reads the pepper from <folder>/pepper.key, or makes it (mode 0600). */
enum err auth_open(const char *folder, struct store *store, struct auth **ret);
void auth_close(struct auth *a);

/* Addresses that nobody is let in from. */
struct bans;
struct bans *auth_bans(const struct auth *a);
bool auth_bans_address(const struct auth *a, struct str address);

/* The credential of an Authorization header. */
struct credential {
    enum caller_kind kind;
    snowflake account;
    unsigned char session[8];
    unsigned char secret[32];
    struct str token; /* without the scheme word */
    uint64_t forgets; /* see auth_will_find */
};

/* Which kind an Authorization header says it is, and the token without that word. */
enum caller_kind credential_kind(struct str authorization, struct str *ret_token);
/* Can it be chosen for a test world? 16-100 of A-Z a-z 0-9 _ and -. */
bool token_can_be_chosen(struct str text);
/* False: malformed. */
bool credential_parse(enum caller_kind kind, struct str token, struct credential *ret);

/* Before the transaction in which it is looked for: what is found may then be remembered,
 * unless something was revoked since now. */
void auth_will_find(struct auth *a, struct credential *c);

/* Recognise: first the cache, then the store. ERR_UNAUTHORIZED when it is nobody. */
bool auth_remembered(struct auth *a, enum caller_kind kind, struct str token, struct caller *ret);
enum err auth_find(struct auth *a, struct tx *tx, const struct credential *c, struct caller *ret);

/* Which tokens were recognised since this was last asked, of one part of the cache. */
enum { AUTH_PARTS = 16, AUTH_PART_MOST = 1024 };
struct token_name {
    unsigned char session[8];
};
size_t auth_take_used(struct auth *a, unsigned part, struct token_name ret[AUTH_PART_MOST]);

/* Where servers share a database: until then (clock_mono) what is remembered may be used. */
void auth_set_fresh(struct auth *a, int64_t until);

/* A new token for an account; its text is in the transaction's arena and nowhere
 * else. */
struct token_grant {
    enum caller_kind kind;
    snowflake user_id, application_id;
    struct str scopes;  /* space-separated; bearers */
    int64_t expires_at; /* 0: never */
    struct str client;  /* User-Agent, for the list of sessions */
    struct str code;    /* digest of the OAuth2 code that it came of; p == NULL: none */
    /* For test worlds. lasting: the same token each time, which follows from the server's key,
     * the account and this word. chosen: the token itself, as a world file says it. */
    struct str lasting, chosen;
};
enum err auth_issue(struct auth *a, struct tx *tx, const struct token_grant *grant,
                    struct str *ret_token);
enum err auth_revoke(struct tx *tx, const unsigned char session[8]);

/* How much was forgotten so far: of a credential that is looked for, what auth_will_find notes. */
uint64_t auth_forgets(struct auth *a);
/* Drops from the cache. Returns the count from which on lookups know. */
uint64_t auth_forget_session(struct auth *a, const unsigned char session[8]);
uint64_t auth_forget_account(struct auth *a, snowflake user_id);
/* All that an application holds: its bot's token, and what people gave it. */
uint64_t auth_forget_application(struct auth *a, snowflake application_id);

/* Bytes (at most 64) that follow from the server's key file, a word, an id and a salt, and
 * from nothing that is in the database alone: webhook tokens, signing keys. */
void auth_derive(const struct auth *a, const char *word, snowflake id, struct str salt,
                 unsigned char *out, size_t n);

/* The bit of an OAuth2 scope, or 0 when we do not know it. */
uint64_t auth_scope(struct str name);

#endif
