/* webauthn_credentials.h - security keys of accounts: challenges, rows, checks of what a key
 * signed. */
#ifndef PLATFORM_ACCOUNTS_MFA_WEBAUTHN_CREDENTIALS_H
#define PLATFORM_ACCOUNTS_MFA_WEBAUTHN_CREDENTIALS_H

#include "platform/accounts/mfa/mfa.h"

enum { WEBAUTHN_MAX_CREDENTIALS = 10 };

struct webauthn_credential {
    snowflake id;
    int64_t type; /* always 1 */
    struct str name, cred_id;
    struct opt_int last_used;
};

/* Writes the challenge of a ticket for a new key of this account, as JSON: {"publicKey": …}. */
enum err webauthn_creation_options(struct call *call, const struct user *user, struct str ticket,
                                   struct str *ret);
/* Writes the challenge of a ticket for the account's keys. A browser can use a key only on pages of
 * the host where the key was registered, so *ret is null if the account has no key for the page
 * that sent the call. */
enum err webauthn_request_options(struct call *call, snowflake user_id, struct str ticket,
                                  struct opt_str *ret);

/* Verifies a new key for the challenge of a ticket and stores it. If the key does not fit, adds an
 * error for the field "credential". */
enum err webauthn_credential_register(struct call *call, snowflake user_id, struct str ticket,
                                      struct str credential, struct webauthn_credential *key);
/* Verifies what a key signed for the challenge of a ticket; returns ERR_MFA_CODE if it does not
 * fit. A key accepts each ticket once, and no ticket that expires before the last one. */
enum err webauthn_consume_assertion(struct call *call, snowflake user_id, struct str ticket,
                                    struct str credential);

enum err webauthn_credentials_list(struct tx *tx, snowflake user_id, struct list *ret);
/* Return ERR_NOT_FOUND if the account does not have this key. */
enum err webauthn_credential_find(struct tx *tx, snowflake user_id, snowflake id,
                                  struct webauthn_credential *ret);
enum err webauthn_credential_rename(struct tx *tx, const struct webauthn_credential *key);
enum err webauthn_credential_delete(struct tx *tx, const struct webauthn_credential *key);

#endif
