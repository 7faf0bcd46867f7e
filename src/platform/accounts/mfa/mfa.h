/* mfa.h - second factor of accounts: TOTP codes, security keys, backup codes, tickets for log-ins
 * that still need one of them. */
#ifndef PLATFORM_ACCOUNTS_MFA_MFA_H
#define PLATFORM_ACCOUNTS_MFA_MFA_H

#include "api/call.h"
#include "model/user.h"
#include "platform/accounts/mfa/totp.h"

enum { MFA_BACKUP_CODES = 10, MFA_BACKUP_LETTERS = 8 };

struct mfa_settings {
    snowflake user_id;
    bool has_totp; /* whether TOTP is enabled; else the account has only security keys */
    unsigned char secret[TOTP_SECRET];
    int64_t last_step;
    struct str codes_salt;
    int64_t codes_used;
};

/* --- rows of the second factor ------------------------------------------------------- */

/* Finds an account's second-factor settings. Returns ERR_MFA_OFF if it has no second factor. */
enum err mfa_settings_find(struct call *call, snowflake user_id, struct mfa_settings *ret);
/* Enables the second factor of an account. If m has TOTP, m->last_step must be the time step of the
 * code with which the user confirmed m->secret. */
enum err mfa_settings_insert(struct call *call, struct mfa_settings *m);
/* Add or remove TOTP of an account that also has a security key. */
enum err mfa_add_totp(struct call *call, const struct mfa_settings *m);
enum err mfa_remove_totp(struct call *call, snowflake user_id);
/* Removes the second factor with all security keys. Does nothing if the account has none. */
enum err mfa_settings_remove(struct call *call, snowflake user_id);
/* Replaces all backup codes; the previous ones become invalid. */
enum err mfa_replace_backup_codes(struct call *call, struct mfa_settings *m);

/* --- TOTP and backup codes ----------------------------------------------------------- */

/* Consumes a TOTP code or a backup code. Returns ERR_MFA_CODE if the code is wrong or already
 * used. */
enum err mfa_consume_totp_code(struct call *call, const struct mfa_settings *m, struct str code);
enum err mfa_consume_backup_code(struct call *call, const struct mfa_settings *m, struct str code);
/* Counts an attempt with a second-factor code; a right code is subtracted again after the call.
 * Call it in the prepare stage of routes whose body has a password and a code. */
enum err mfa_count_code_attempt_of_caller(struct call *call, const struct opt_str *code);
/* Consumes the TOTP or backup code that the caller sent. If the caller sent none, returns OK if the
 * account has no second factor, else ERR_MFA_CODE. Handlers call check_caller_second_factor or
 * check_caller_identity, which also accept a security key. */
enum err mfa_consume_caller_code(struct call *call, const struct user *caller,
                                 const struct opt_str *code);

/* An attempt with a ticket and a code, for rate limits. The route's prepare stage calls
 * mfa_count_code_attempt. If the code was right, the handler sets call->after to
 * mfa_uncount_code_attempt, which subtracts the attempt again. */
struct mfa_attempt {
    snowflake user_id;
    struct str ticket; /* ticket of a log-in; p is NULL if the caller is already logged in */
    bool undelete;
};
enum err mfa_count_code_attempt(struct call *call, const struct mfa_attempt *t);
void mfa_uncount_code_attempt(struct call *call);

extern const struct type type_mfa_code; /* type of the field with a TOTP or backup code */
/* Returns the backup code with this index, allocated in the call's arena. */
struct str mfa_derive_backup_code(const struct call *call, const struct mfa_settings *m,
                                  int number);
bool mfa_backup_code_is_used(const struct mfa_settings *m, int number);
/* Returns all backup codes (struct backup_code). */
struct list mfa_list_backup_codes(const struct call *call, const struct mfa_settings *m);

/* --- tickets: signed, valid for minutes, for one account and one purpose --------------- */

/* Purposes of tickets. TICKET_VERIFY asks for a proof of identity; TICKET_VERIFIED is that proof;
 * TICKET_NEW_KEY permits to register a security key. These three are valid only in the session for
 * which they were created. */
enum mfa_ticket_purpose {
    TICKET_LOGIN,
    TICKET_UNDELETE,
    TICKET_CODES,
    TICKET_NEW_CODES,
    TICKET_VERIFY,
    TICKET_VERIFIED,
    TICKET_NEW_KEY,
};

/* Creates a ticket, which becomes invalid when the account's password changes, and when its second
 * factor is turned on or off. */
struct str mfa_ticket_create(const struct call *call, const struct user *u,
                             enum mfa_ticket_purpose purpose);
/* Verifies a ticket's signature, purpose and expiry without the database. *ret is the ticket's
 * account id. Then call mfa_ticket_matches_user, which checks that the account's password is still
 * the same. */
bool mfa_ticket_verify(const struct call *call, struct str ticket, enum mfa_ticket_purpose purpose,
                       snowflake *ret_user_id);
bool mfa_ticket_matches_user(const struct call *call, struct str ticket, const struct user *u);
/* Returns the time in seconds at which a verified ticket expires. */
int64_t mfa_ticket_expiry(struct str ticket);

/* --- verification.c: proof of identity for sensitive calls ----------------------------- */

/* Requires a proof of identity, because a stolen token must not suffice. The proof is the header
 * X-Discord-MFA-Authorization with the token of POST /mfa/finish, or fields of the body: a code if
 * the account has a second factor, otherwise the password. Call it in the prepare stage. */
enum err require_identity_proof(struct call *call, const struct opt_str *password,
                                const struct opt_str *code);
/* Reads the caller's account. If the proof is missing, replies with status 401, code 60003 and a
 * ticket for POST /mfa/finish, and *ret_verified is false: the handler then returns OK. An account
 * with neither password nor second factor needs no proof. Call it in the handler. */
enum err check_caller_identity(struct call *call, struct user *ret, bool *ret_verified);

/* Checks the second factor in routes whose body has a code: the code, or without a code the header
 * X-Discord-MFA-Authorization. If both are missing and the account has a security key for the
 * caller's page, replies as check_caller_identity does; without such a key, returns ERR_MFA_CODE.
 * Call it in the handler, after mfa_count_code_attempt_of_caller in prepare. */
enum err check_caller_second_factor(struct call *call, const struct user *caller,
                                    const struct opt_str *code, bool *ret_verified);

extern const struct rate_limit limit_mfa; /* attempts per IP address */
extern const struct type mfa_finish_body;
enum err validate_mfa_verification_request(struct call *call);
enum err finish_verification(struct call *call);

#endif
