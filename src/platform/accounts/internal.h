/* internal.h - declarations that the files of accounts/ share. */
#ifndef PLATFORM_ACCOUNTS_INTERNAL_H
#define PLATFORM_ACCOUNTS_INTERNAL_H

#include "platform/accounts/accounts.h"
#include "platform/accounts/settings.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* Finds an account by username or email; fills password_hash. */
enum err user_find_by_login(struct tx *tx, struct str login, struct user *ret, bool *ret_found);
/* *ret_taken: as user_insert. */
enum err user_update(struct tx *tx, const struct user *u, const char **ret_taken);

/* --- password.c ----------------------------------------------------------------------- */

/* Argon2id: tens of milliseconds and several megabytes; call it only in a compute stage. */
enum err password_hash(const struct api *api, struct arena *a, struct str password,
                       struct str *ret);
/* If hash.p == NULL, hashes the password anyway and returns false, so that timing does not reveal
 * which logins exist. */
bool password_verify(const struct api *api, struct str hash, struct str password);

/* --- external_pictures.c -------------------------------------------------------------- */

/* ret->p == NULL if the owner has no external picture with that hash. */
enum err external_picture_find_url(struct tx *tx, snowflake owner, struct str hash,
                                   struct str *ret);
/* Redirects the caller to the URL. */
enum err redirect_to_external_picture(struct call *call, struct str url);

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
/* Either a token, or the ticket for the second factor. */
struct login_reply {
    snowflake user_id;
    struct opt_str token;
    const struct login_settings *user_settings;
    struct opt_bool mfa, sms, totp, backup;
    struct opt_str webauthn, ticket, login_instance_id;
};

extern const struct type type_login, type_password, type_entered_password;
extern const struct type registration_body, login_body, user_patch_body;
extern const struct type token_reply, login_reply, current_user_reply, patched_user_reply,
    public_user_reply;

/* --- routes.c, current_user.c --------------------------------------------------------- */

enum err check_date_of_birth(struct call *call, struct opt_str date);
enum err check_username(struct call *call, struct str name);
enum err check_email(struct call *call, struct opt_str email);
enum err refuse_taken_name_or_email(struct call *call, const char *field);

/* Replies to a caller who proved the account with a password or mailed link: a token, or a ticket
 * if it has a second factor. undelete: cancel a pending deletion when the log-in is complete. */
enum err reply_to_login(struct call *call, const struct user *user, bool undelete);
/* Replies with a new token to a caller who has completed the log-in. */
enum err reply_with_login_token(struct call *call, const struct user *user);
/* Ends all sessions of the caller and starts a new one; *ret is the new token. */
enum err caller_tokens_replace(struct call *call, struct str *ret);

/* --- caller_password.c ---------------------------------------------------------------- */

/* Call in prepare: checks the caller's password before the handler runs. */
void require_caller_password(struct call *call, struct str given);
enum err refuse_wrong_password(struct call *call); /* replies "Password does not match." */
/* Call in the handler: reads the caller's account; fails if the password changed since the
 * check. */
enum err read_caller_after_password_check(struct call *call, struct user *ret);

extern const struct type account_deletion_body;
enum err prepare_delete_account(struct call *call);
enum err delete_account(struct call *call);
enum err disable_account(struct call *call);

enum err prepare_modify_current_user(struct call *call);
enum err modify_current_user(struct call *call);

/* --- current_user_profile.c ----------------------------------------------------------- */

extern const struct type current_user_profile_body, current_user_profile_reply;
enum err prepare_modify_user_profile(struct call *call);
enum err modify_current_user_profile(struct call *call);

/* --- registration.c ------------------------------------------------------------------- */

/* Call first in prepare: returns ERR_FEATURE_DISABLED if registration is closed. */
enum err require_registration_open(struct call *call);
/* Decides whether the caller may register. A registration code of the operator is consumed and
 * removed from *invite; any other invite remains, to be accepted with the new account. If only an
 * invite to a guild admits the caller, *ret_guild_required is set. */
enum err registration_authorize(struct call *call, struct opt_str *invite,
                                bool *ret_guild_required);

/* --- current_user_routes.c: route table for these handlers ------------------------------ */

enum err get_login_sessions(struct call *call);
enum err log_out_login_sessions(struct call *call);
extern const struct type session_list_reply, session_logout_body;

enum err get_note(struct call *call);
enum err put_note(struct call *call);
extern const struct type note_reply, note_body;

enum err get_user_settings(struct call *call);
enum err modify_user_settings(struct call *call);
/* If default_guilds_restricted is set, adds a newly joined guild to restricted_guilds, so that its
 * members cannot send direct messages to this user. */
enum err user_settings_restrict_joined_guild(struct call *call, const struct member *m);
extern const struct user_settings user_settings_defaults; /* All defaults except the locale. */

/* --- password_attempts.c: wrong passwords --------------------------------------------- */

/* A password attempt. hash: the hash to match (p == NULL: nothing matches). login: key of the
 * attempt counters, either the login that the client sent or the account's username. */
struct password_attempt {
    struct str login, hash, password;
    bool known_address;
};
/* Call in a hash stage. Checks a password that a caller sent and counts it if it is wrong.
 * ERR_RATE_LIMITED: too many attempts; the password was not checked. */
enum err password_check_and_count_attempt(struct call *call, const struct password_attempt *g,
                                          bool *ret_right);

/* *ret_known: the account has logged in from the caller's address before. */
enum err known_login_address_find(struct call *call, snowflake user_id, bool *ret_known);
/* Records that the account has logged in from the caller's address. */
enum err known_login_address_save(struct call *call, snowflake user_id);
/* Deletes all known addresses of the account; called when the password changes. */
enum err known_login_addresses_delete(struct call *call, snowflake user_id);

/* --- locale.c ------------------------------------------------------------------------- */

/* Returns the supported locale that the two header values ask for; p == NULL if there is none. */
struct str locale_from_header_values(struct str named, struct str accepted);

/* --- rules.c: pure functions ------------------------------------------------------------ */

/* Returns the whole years between two dates, both YYYY-MM-DD. */
int64_t age_in_years_on(struct str birth, struct str today);

#endif
