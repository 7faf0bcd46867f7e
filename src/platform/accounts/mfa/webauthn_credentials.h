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

/* Writes the options and the challenge with which a browser creates a key, as {"publicKey": …}. */
enum err webauthn_encode_creation_options(struct call *call, const struct user *user,
                                          struct str ticket, struct str *ret);
/* Writes the options with which one of the account's keys signs the challenge of a ticket, as JSON.
 * A browser offers a key only to pages of the host where the key was registered: *ret is null if
 * the account has no key for the host of the calling page. */
enum err webauthn_encode_request_options(struct call *call, snowflake user_id, struct str ticket,
                                         struct opt_str *ret);

/* Verifies a new key's response to the challenge of a ticket and stores the key. If the response is
 * invalid, adds a form error for the field "credential". */
enum err webauthn_credential_register(struct call *call, snowflake user_id, struct str ticket,
                                      struct str credential, struct webauthn_credential *key);
/* Verifies a key's response to the challenge of a ticket. Returns ERR_MFA_CODE if it is invalid. To
 * prevent replays, a key accepts each ticket once, and no ticket that expires before one that the
 * key already accepted. */
enum err webauthn_consume_assertion(struct call *call, snowflake user_id, struct str ticket,
                                    struct str credential);

enum err webauthn_credentials_list(struct tx *tx, snowflake user_id, struct list *ret);
/* Finds a security key of the account. Returns ERR_NOT_FOUND if the account does not have it. */
enum err webauthn_credential_find(struct tx *tx, snowflake user_id, snowflake id,
                                  struct webauthn_credential *ret);
enum err webauthn_credential_rename(struct tx *tx, const struct webauthn_credential *key);
enum err webauthn_credential_delete(struct tx *tx, const struct webauthn_credential *key);

#endif
