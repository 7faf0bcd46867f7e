/* internal.h - what the files of accounts/ share. */
#ifndef PLATFORM_ACCOUNTS_INTERNAL_H
#define PLATFORM_ACCOUNTS_INTERNAL_H

#include "platform/accounts/accounts.h"
#include "platform/accounts/settings.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* By username or email; password_hash filled. */
enum err user_find_login(struct tx *tx, struct str login, struct user *ret, bool *ret_found);
/* ERR_STORE_CONFLICT never: *ret_taken says which name was taken ("username", "email")
 * or NULL. */
enum err user_insert(struct tx *tx, const struct user *u, const char **ret_taken);
enum err user_update(struct tx *tx, const struct user *u, const char **ret_taken);

/* --- password.c ----------------------------------------------------------------------- */

/* Argon2id; takes tens of milliseconds and megabytes: only in a compute stage. */
enum err password_hash(const struct api *api, struct arena *a, struct str password,
                       struct str *ret);
/* hash.p == NULL: does the same work and says no, so that nobody learns which
 * logins exist by the clock. */
bool password_verify(const struct api *api, struct str hash, struct str password);

/* --- addresses.c ---------------------------------------------------------------------- */

/* p == NULL: none of that name lies elsewhere. */
enum err picture_find_address(struct tx *tx, snowflake owner, struct str hash, struct str *ret);
/* Sends the caller there. */
enum err picture_reply_address(struct call *call, struct str url);

/* --- schema.c ------------------------------------------------------------------------- */

struct registration {
    struct str username;
    struct opt_str global_name, email, password, date_of_birth, invite;
};
struct login {
    struct str login, password;
    bool undelete;
};
struct user_patch {
    struct opt_str username, global_name, bio, email, password, code, new_password, date_of_birth;
    struct opt_image avatar, banner;
    struct opt_int accent_color;
};

struct token_reply {
    struct str token;
};
struct login_settings {
    struct str locale, theme;
};
/* A token, or what is needed to go on with the second factor. */
struct login_reply {
    snowflake user_id;
    struct opt_str token;
    const struct login_settings *user_settings;
    struct opt_bool mfa, sms, totp, backup;
    struct opt_str webauthn, ticket, login_instance_id;
};

extern const struct type type_login, type_password, type_given_password;
extern const struct type registration_body, login_body, user_patch_body;
extern const struct type token_reply, login_reply, own_user_reply, patched_user_reply,
    public_user_reply;

/* --- routes.c, profile.c -------------------------------------------------------------- */

/* Refusals that registering and changing an account share. */
enum err check_date_of_birth(struct call *call, struct opt_str date);
enum err check_username(struct call *call, struct str name);
enum err check_email(struct call *call, struct opt_str email);
enum err refuse_taken(struct call *call, const char *field);

/* Answers somebody who knows the password, or has a mailed link: with a token, or with a ticket
 * where a second factor is asked for. undelete: a deletion is taken back in the end. */
enum err login_reply_to(struct call *call, const struct user *user, bool undelete);
/* Answers somebody who has shown to be the account's owner with a new token. */
enum err login_grant(struct call *call, const struct user *user);
/* Every session of the caller's ends, and a new one begins. */
enum err own_token_renew(struct call *call, struct str *ret);

/* --- own_password.c ------------------------------------------------------------------- */

/* In prepare: the caller's password is checked before the handler runs. */
void own_password_ask(struct call *call, struct str given);
enum err refuse_own_password(struct call *call); /* notes that it is not the one */
/* In the handler: the caller, whose password is still the one that was checked. */
enum err own_password_find(struct call *call, struct user *ret);

extern const struct type account_deletion_body;
enum err prepare_delete_account(struct call *call);
enum err delete_account(struct call *call);
enum err disable_account(struct call *call);

enum err prepare_modify_current_user(struct call *call);
enum err modify_current_user(struct call *call);

/* --- own_profile.c -------------------------------------------------------------------- */

extern const struct type own_profile_body, own_profile_reply;
enum err prepare_modify_own_profile(struct call *call);
enum err modify_own_profile(struct call *call);

/* --- registration.c ------------------------------------------------------------------- */

/* Before anything is looked at: ERR_FEATURE_DISABLED when nobody may register. */
enum err registration_check(struct call *call);
/* Decides whether the caller may register. A code of the operator is used up and removed from
 * *invite; any other invite stays, to be accepted with the new account. If only an invite to a
 * guild admits the caller, *ret_guild_required is set. */
enum err registration_admit(struct call *call, struct opt_str *invite, bool *ret_guild_required);

/* --- own_routes.c: the rows of these -------------------------------------------------- */

enum err get_sessions(struct call *call);
enum err log_out_sessions(struct call *call);
extern const struct type session_list_reply, session_logout_body;

enum err get_note(struct call *call);
enum err put_note(struct call *call);
extern const struct type note_reply, note_body;

enum err get_settings(struct call *call);
enum err modify_settings(struct call *call);
/* With default_guilds_restricted, members of a guild that somebody joins may not write to them. */
enum err settings_restrict_guild(struct call *call, const struct member *m);
extern const struct user_settings settings_defaults; /* but the locale */

/* --- guesses.c: wrong passwords ------------------------------------------------------- */

/* What is tried, with the hash that it has to fit (p == NULL: none does). The login is what
 * tries are counted for: the name that was given, or the account's own. */
struct guess {
    struct str login, hash, password;
    bool known_address;
};
/* In a hash stage: every password that a caller sends is checked here, and wrong ones are
 * counted. ERR_RATE_LIMITED: there were too many, and this one was not looked at. */
enum err password_guess(struct call *call, const struct guess *g, bool *ret_right);

/* Has the account been entered from the caller's address? */
enum err address_find(struct call *call, snowflake user_id, bool *ret_known);
/* Notes that the account has logged in from the call's address. */
enum err address_keep(struct call *call, snowflake user_id);
/* After a change of the password every address is unknown again. */
enum err addresses_forget(struct call *call, snowflake user_id);

/* --- locale.c ------------------------------------------------------------------------- */

/* What the two headers ask for; p == NULL: nothing that we have. */
struct str locale_wanted(struct str named, struct str accepted);

/* --- rules.c: decisions without input or output --------------------------------------- */

/* Whole years from one day to another, both YYYY-MM-DD. */
int64_t age_on(struct str birth, struct str today);

#endif
