/* mfa.h - the second factor of accounts: codes, backup codes, and what stands for a half-done
 * log-in. */
#ifndef PLATFORM_ACCOUNTS_MFA_MFA_H
#define PLATFORM_ACCOUNTS_MFA_MFA_H

#include "api/call.h"
#include "model/user.h"
#include "platform/accounts/mfa/totp.h"

enum { MFA_BACKUP_CODES = 10, MFA_BACKUP_LETTERS = 8 };

struct mfa {
    snowflake user_id;
    unsigned char secret[TOTP_SECRET];
    int64_t last_step;
    struct str codes_salt;
    int64_t codes_used;
};

/* --- rows ----------------------------------------------------------------------------- */

/* ERR_MFA_OFF when the account has none. */
enum err mfa_find(struct call *call, snowflake user_id, struct mfa *ret);
/* Turns it on with this secret, a code of which was of that step. */
enum err mfa_add(struct call *call, struct mfa *m);
/* Fine when there is none. */
enum err mfa_drop(struct call *call, snowflake user_id);
/* Other backup codes; those of before are none any more. */
enum err mfa_new_codes(struct call *call, struct mfa *m);

/* --- codes ---------------------------------------------------------------------------- */

/* Uses up a code of six digits, or a backup code: ERR_MFA_CODE when it is neither, or was used
 * before. */
enum err mfa_use_totp(struct call *call, const struct mfa *m, struct str code);
enum err mfa_use_backup(struct call *call, const struct mfa *m, struct str code);
/* In prepare, of a code that the caller gives beside the password: a try counts, and is taken back
 * when it was right. */
enum err mfa_count_own_try(struct call *call, const struct opt_str *code);
/* In the handler: uses up that code, of six digits or a backup code. OK without one for an account
 * that has no second factor; ERR_MFA_CODE otherwise. */
enum err mfa_use_own(struct call *call, const struct user *caller, const struct opt_str *code);

extern const struct type type_mfa_code; /* of bodies with such a code */
/* Backup codes by their number, in the call's arena. */
struct str mfa_backup_code(const struct call *call, const struct mfa *m, int number);
bool mfa_backup_used(const struct mfa *m, int number);

/* --- tickets: for a few minutes, of one account, for one purpose ----------------------- */

enum ticket_purpose { TICKET_LOGIN, TICKET_UNDELETE, TICKET_CODES, TICKET_NEW_CODES };

/* Void as soon as the account has another password. */
struct str ticket_make(const struct call *call, const struct user *u, enum ticket_purpose purpose);
/* Without the store: is it one of ours, and whose? ticket_fits says whether it is still good. */
bool ticket_read(const struct call *call, struct str ticket, enum ticket_purpose purpose,
                 snowflake *ret_user_id);
bool ticket_fits(const struct call *call, struct str ticket, const struct user *u);

#endif
