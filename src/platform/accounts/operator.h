/* operator.h - what the operator does with accounts: come in as anybody, keep out, let in.
 *
 * Whoever may open files in the server's data folder may act for every person: they ask
 * the running server for a token through its control socket.
 *
 * These functions belong to the account domain, not to admin/, because they write its tables and
 * because people do some of the same things for themselves (account_pause, account_delete). */
#ifndef PLATFORM_ACCOUNTS_OPERATOR_H
#define PLATFORM_ACCOUNTS_OPERATOR_H

#include "api/auth/auth.h"
#include "api/jobs/jobs.h"
#include "model/user.h"

/* Long enough for a tool that forgot to log out not to matter. */
enum { OPERATOR_TOKEN_S = 15 * 60 };

/* A new token of a person, good for a quarter of an hour. ERR_UNKNOWN_USER: no person has
 * that name. Waits for the store: not on a loop. */
enum err operator_token(struct store *store, struct auth *auth, struct str username,
                        struct arena *arena, struct str *ret);

/* --- orders, each inside a call's transaction ----------------------------------------- */

/* Every token, of whatever kind, and every session of it end. */
enum err account_revoke(struct call *call, snowflake id);
/* A person's tokens end with it; a bot's comes back when the bot does. */
enum err account_set_disabled(struct call *call, const struct user *u, bool disabled);
/* The same by a person for itself, until it comes back (account_undelete). users.disabled is 1
 * where the operator has done it. */
enum { ACCOUNT_PAUSED = 2 };
enum err account_pause(struct call *call, const struct user *u);
/* Everything that was begun with the old one ends. */
enum err account_set_password(struct call *call, snowflake id, struct str hash);
/* For somebody who lost it. */
enum err account_drop_mfa(struct call *call, struct user *u);
enum err account_set_premium(struct call *call, struct user *u, int64_t type);
/* Of a person who owns nothing that others use. Cannot be undone. */
enum err account_end(struct call *call, const struct user *u);
bool account_is_ended(struct arena *arena, const struct user *u);
extern const struct job_kind account_leftovers; /* goes on with it */

/* Does it own what others use: guilds, applications, teams? */
enum err account_owns(struct call *call, snowflake id, bool *ret);
/* It ends after so many days, unless that is taken back; nobody gets in until then.
 * ERR_OWNS_THINGS: of who owns something. */
enum { ACCOUNT_DELETION_DAYS = 14 };
enum err account_delete(struct call *call, struct user *u);
/* Takes a deletion or a pause back. */
enum err account_undelete(struct call *call, struct user *u);
extern const struct job_kind account_deletion;

/* A code that lets people register where that needs one. Only its digest is stored: the code
 * itself is known once, to whoever made it. */
struct registration_invite {
    snowflake id;
    struct str code, prefix; /* the prefix is for lists */
    int64_t uses, expires_at, created_at;
};
enum err registration_invite_make(struct call *call, struct registration_invite *i);
/* Lists the codes that can still be used: struct registration_invite without code. */
enum err registration_invites_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret);
/* By id or by the code itself. ERR_NOT_FOUND */
enum err registration_invite_revoke(struct call *call, struct str name,
                                    struct registration_invite *ret);
extern const struct job_kind registration_codes;

#endif
