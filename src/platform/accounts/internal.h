/* internal.h - declarations that the files of accounts/ share. */
#ifndef PLATFORM_ACCOUNTS_INTERNAL_H
#define PLATFORM_ACCOUNTS_INTERNAL_H

#include "platform/accounts/accounts.h"
#include "platform/accounts/placeholders.h"
#include "platform/accounts/settings/settings.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* Finds an account by username or email address; *ret includes the password hash. */
enum err user_find_by_login(struct tx *tx, struct str login, struct user *ret, bool *ret_found);
/* *ret_taken: as user_insert. */
enum err user_update(struct tx *tx, const struct user *u, const char **ret_taken);

/* --- placeholders.c ------------------------------------------------------------------- */

/* Invalidates the claim codes of a placeholder account. */
enum err placeholder_account_delete_claim_code(struct tx *tx, snowflake user_id);
/* Turns a placeholder account into an ordinary account, because a person has claimed it. */
enum err placeholder_account_make_ordinary(struct tx *tx, snowflake user_id);
extern const struct type account_claim_body;
enum err validate_account_claim_request(struct call *call);
enum err claim_account(struct call *call);
/* Creates a second code with which the account can be claimed, for a person who has logged in at
 * the server from which it was copied; valid for 15 minutes. The code that the bot has sent stays
 * valid. ret->p is NULL if the account cannot be claimed. */
enum err placeholder_account_create_login_claim_code(struct tx *tx, snowflake user_id,
                                                     struct str *ret);

/* --- claim_identity.c, claim_provider_http.c ---------------------------------------------- */

enum claim_provider_result {
    CLAIM_PROVIDER_FAILED, /* no valid answer */
    CLAIM_PROVIDER_REFUSES_CODE,
    CLAIM_PROVIDER_REFUSES_SERVER, /* client id, secret or redirect address are wrong */
    CLAIM_PROVIDER_OK,
};
/* Stage data of a claim: the code of the provider, and its answer. */
struct claimed_identity {
    struct str code;
    enum claim_provider_result result;
    snowflake user_id; /* set with CLAIM_PROVIDER_OK */
};
/* AWAIT stage: fills the call's struct claimed_identity. */
void request_identity_from_claim_provider(struct call *call);

extern const struct type identity_claim_start_reply, identity_claim_body, identity_claim_code_reply;
enum err require_claim_provider_configured(struct call *call);
enum err start_identity_claim(struct call *call);
enum err schedule_identity_claim_verification(struct call *call);
enum err complete_identity_claim(struct call *call);

/* --- password.c ----------------------------------------------------------------------- */

/* Hashes a password with the given cost instead of the configured one. */
enum err password_hash_with_cost(struct password_cost cost, struct arena *a, struct str password,
                                 struct str *ret);
/* Returns the digest of a secret with at least 96 random bits (registration code, claim code,
 * token, ticket). So much randomness makes salt and stretching unnecessary. */
struct str random_secret_compute_digest(struct arena *arena, struct str secret);
/* Compares a password with a hash. If hash.p is NULL (unknown login), hashes the password anyway
 * and returns false, so that the response time does not reveal which logins exist. */
bool password_verify(const struct api *api, struct str hash, struct str password);

/* --- external_pictures.c -------------------------------------------------------------- */

/* Finds the URL of a picture. ret->p is NULL if the owner has no external picture with that
 * hash. */
enum err external_picture_find_url(struct tx *tx, snowflake owner, struct str hash,
                                   struct str *ret);
enum err redirect_to_external_picture(struct call *call, struct str url);

/* --- schema.c ------------------------------------------------------------------------- */

struct registration_request {
    struct str username;
    struct opt_str global_name, email, password, date_of_birth, invite;
};
struct login_request {
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
/* Reply to a log-in: a token, or a ticket with which the client sends the second factor. */
struct login_reply {
    snowflake user_id;
    struct opt_str token;
    const struct login_settings *user_settings, *settings; /* Spacebar's clients read settings */
    struct opt_bool mfa, sms, totp, backup;
    struct opt_str webauthn, ticket, login_instance_id;
};

extern const struct type type_login, type_email, type_password, type_entered_password;
extern const struct type registration_body, login_body, user_patch_body;
extern const struct type token_reply, login_reply, current_user_reply, patched_user_reply,
    public_user_reply;

/* --- routes.c, current_user.c --------------------------------------------------------- */

enum err check_date_of_birth_is_allowed(struct call *call, struct opt_str date);
enum err check_username_is_allowed(struct call *call, struct str name);
enum err check_email_is_allowed(struct call *call, struct opt_str email);
enum err refuse_username_or_email_in_use(struct call *call, const char *field);

/* Replies to a caller who has sent the password or opened a mailed link. The reply is a token, or a
 * ticket if the account has a second factor. If undelete is true, the completed log-in cancels a
 * pending deletion. */
enum err reply_to_login_after_password_check(struct call *call, const struct user *user,
                                             bool undelete);
/* Replies with a new token to a caller who has completed the log-in. */
enum err reply_with_login_token(struct call *call, const struct user *user);
/* Issues a token for a completed log-in of this account. */
enum err issue_login_token(struct call *call, snowflake id, struct str *ret);
/* Ends all sessions of the caller and starts a new one; *ret is the new token. */
enum err replace_all_caller_tokens(struct call *call, struct str *ret);
/* Ends all log-in sessions of the caller except the one that sends the call. */
enum err end_other_login_sessions(struct call *call);

/* --- caller_password.c ---------------------------------------------------------------- */

/* Schedules a check of the password `given` before the handler runs. Call it in the route's
 * prepare stage. */
void require_caller_password(struct call *call, struct str given);
/* Schedules a check of the password `given`, which the client sent in the body field `field`. */
void require_caller_password_in_field(struct call *call, struct str given, const char *field);
enum err refuse_wrong_password(struct call *call); /* replies "Password does not match." */
/* Reads the caller's account in the handler. Fails if the password was changed after
 * require_caller_password checked it. */
enum err read_caller_after_password_check(struct call *call, struct user *ret);

extern const struct type account_deletion_body;
enum err require_password_and_mfa_code_of_caller(struct call *call);
enum err delete_account(struct call *call);
enum err disable_account(struct call *call);

enum err validate_current_user_patch(struct call *call);
enum err modify_current_user(struct call *call);

/* --- current_user_profile.c ----------------------------------------------------------- */

extern const struct type current_user_profile_body, current_user_profile_reply;
enum err schedule_storing_profile_banner(struct call *call);
enum err modify_current_user_profile(struct call *call);

/* --- registration.c ------------------------------------------------------------------- */

/* Returns ERR_FEATURE_DISABLED if registration is closed. Call it first in the prepare stage. */
enum err require_registration_open(struct call *call);
/* Decides whether the caller may register. If *invite is a registration code of the operator,
 * consumes the code and clears *invite. Otherwise *invite remains: a guild invite, which the new
 * account accepts. *ret_guild_required is true if only that invite permits the registration. */
enum err check_registration_and_consume_code(struct call *call, struct opt_str *invite,
                                             bool *ret_guild_required);

/* --- handlers of the routes in current_user_routes.c ------------------------------------ */

enum err get_login_sessions(struct call *call);
enum err require_proof_to_end_login_sessions(struct call *call);
enum err log_out_login_sessions(struct call *call);
extern const struct type session_list_reply, session_logout_body;

enum err get_note(struct call *call);
enum err put_note(struct call *call);
extern const struct type note_reply, note_body;

enum err get_user_settings(struct call *call);
enum err modify_user_settings(struct call *call);
/* If the user's setting default_guilds_restricted is on, adds a newly joined guild to
 * restricted_guilds, so that the guild's members cannot send direct messages to the user. */
enum err user_settings_restrict_dms_of_guild(struct call *call, const struct member *m);
extern const struct user_settings user_settings_defaults; /* all settings but the locale */

/* --- password_attempts.c: wrong passwords --------------------------------------------- */

/* A password that a caller sent. hash is the account's password hash; if its p is NULL, no password
 * matches. login is the key of the attempt counters: the login that the client sent, or the
 * username. */
struct password_attempt {
    struct str login, hash, password;
    bool known_address;
};
/* Checks a password that a caller sent, and counts the attempt if the password is wrong. Returns
 * ERR_RATE_LIMITED without a check after too many attempts. Call it in a hash stage. */
enum err password_check_and_count_attempt(struct call *call, const struct password_attempt *g,
                                          bool *ret_right);

/* *ret_known is true if the account has logged in from the caller's IP address before. */
enum err known_login_address_find(struct call *call, snowflake user_id, bool *ret_known);
/* Records that the account has logged in from the caller's IP address. */
enum err known_login_address_save(struct call *call, snowflake user_id);
/* Deletes all known IP addresses of the account. Call it when the password changes. */
enum err known_login_addresses_delete(struct call *call, snowflake user_id);

/* --- locale.c ------------------------------------------------------------------------- */

/* Returns the supported locale that the header values X-Discord-Locale and Accept-Language ask for.
 * The result's p is NULL if they name no supported locale. */
struct str determine_locale_from_header_values(struct str named, struct str accepted);

/* --- rules.c: pure functions ------------------------------------------------------------ */

/* Returns the whole years between two dates, both YYYY-MM-DD. */
int64_t age_in_years_on(struct str birth, struct str today);

#endif
