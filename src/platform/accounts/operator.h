/* operator.h - operator actions on accounts: issue tokens, disable, enable, revoke, delete.
 *
 * Anyone with access to the server's data folder can act as any user: the control socket there
 * issues tokens.
 *
 * These functions are in accounts/, not in admin/, because they write the tables of accounts/ and
 * because users can do some of these actions on their own account (account_disable_by_owner,
 * account_schedule_deletion). */
#ifndef PLATFORM_ACCOUNTS_OPERATOR_H
#define PLATFORM_ACCOUNTS_OPERATOR_H

#include "api/auth/auth.h"
#include "api/jobs/jobs.h"
#include "model/user.h"

/* Lifetime of an operator token in seconds. It is short, because a tool may exit without logging
 * out. */
enum { OPERATOR_TOKEN_S = 15 * 60 };

/* Issues a token for a user, valid for 15 minutes. Returns ERR_UNKNOWN_USER if no user account
 * (bots excluded) has that name. Waits for the store, so never call it on an event loop. */
enum err issue_token_for_operator(struct store *store, struct auth *auth, struct str username,
                                  struct arena *arena, struct str *ret);

/* Returns the username that is most similar to `name`, which is not a username, for error messages.
 * Returns NULL if none is similar. */
enum err find_similar_username(struct tx *tx, struct arena *arena, struct str name,
                               const char **ret);

/* --- account actions, each inside a call's transaction ---------------------------------- */

/* Revokes every token, of all types, and closes every session of the account. */
enum err account_revoke_tokens(struct call *call, snowflake id);
/* Disables or enables an account, for the operator. Disabling revokes a user's tokens. A bot's
 * token is not revoked: it works again when the bot is enabled. */
enum err account_set_disabled(struct call *call, const struct user *u, bool disabled);
/* Value of the column users.disabled if the owner disabled the account (1 if the operator did).
 * account_disable_by_owner sets this value, account_cancel_deletion clears it. */
enum { ACCOUNT_PAUSED = 2 };
enum err account_disable_by_owner(struct call *call, const struct user *u);
/* Sets the password hash, revokes every token and deletes every known IP address of the account. */
enum err account_set_password(struct call *call, snowflake id, struct str hash);
/* Removes the second factor, for a user who lost it. */
enum err account_remove_mfa(struct call *call, struct user *u);
enum err account_set_premium(struct call *call, struct user *u, int64_t type);
/* Erases the account permanently. The account must not own guilds, applications or teams. */
enum err account_erase(struct call *call, const struct user *u);
bool account_is_erased(struct arena *arena, const struct user *u);
extern const struct job_kind account_erasure_job; /* deletes the other rows in steps */

enum err account_owns_guild_app_or_team(struct call *call, snowflake id, bool *ret);
/* Days between account_schedule_deletion and the deletion; the owner can cancel it in this time.
 * account_schedule_deletion returns ERR_OWNS_THINGS if the account owns guilds, applications or
 * teams. */
enum { ACCOUNT_DELETION_DAYS = 14 };
enum err account_schedule_deletion(struct call *call, struct user *u);
/* Cancels a scheduled deletion, or enables an account that its owner disabled. */
enum err account_cancel_deletion(struct call *call, struct user *u);
extern const struct job_kind account_deletion_job;

/* A code that permits a registration on servers that require one. Only the code's digest is stored;
 * registration_invite_create returns the plain code once. */
struct registration_invite {
    snowflake id;
    struct str code, prefix; /* prefix: first characters of the code, shown in lists */
    int64_t uses, expires_at, created_at;
};
enum err registration_invite_create(struct call *call, struct registration_invite *i);
/* Lists the codes that are still usable as struct registration_invite, without the field .code. */
enum err registration_invites_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret);
/* Revokes a code. name is the code or its id. Returns ERR_NOT_FOUND if there is no such code. */
enum err registration_invite_revoke(struct call *call, struct str name,
                                    struct registration_invite *ret);
extern const struct job_kind registration_codes_job;

#endif
