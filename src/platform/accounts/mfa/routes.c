/* routes.c - routes of the second factor: enable, disable, backup codes, log-in with a code. */
#include "base/clock.h"
#include "base/mem.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/bodies.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/mfa/webauthn_credentials.h"
#include "platform/accounts/operator.h"

/* --- rate limits of MFA codes -------------------------------------------------------- */

const struct rate_limit limit_mfa = {
    .name = "mfa", .count = 10, .window_s = 60, .by_address = true, .strict = true
};
/* Limits on wrong codes, per ticket and per account. At any time 3 of the 1,000,000 six-digit TOTP
 * codes are valid, so an attacker who may try many codes would guess one. */
static const struct rate_limit limit_ticket = {
    .name = "mfa-ticket", .count = 5, .window_s = 300, .strict = true
};
static const struct rate_limit limit_wrong_codes = {
    .name = "mfa-wrong", .count = 20, .window_s = 1800, .strict = true
};

static struct str account_id_to_limit_key(const snowflake *user_id)
{
    return str_slice((const char *)user_id, sizeof *user_id);
}

/* Counts every attempt before the check of the code. If the code was right,
 * mfa_uncount_code_attempt subtracts the attempt afterwards. */
enum err mfa_count_code_attempt(struct call *call, const struct mfa_attempt *t)
{
    if (t->ticket.p && call_count_against_rate_limit(call, &limit_ticket, t->ticket) != OK)
        return ERR_MFA_TICKET;
    return call_count_against_rate_limit(call, &limit_wrong_codes,
                                         account_id_to_limit_key(&t->user_id));
}

void mfa_uncount_code_attempt(struct call *call)
{
    const struct mfa_attempt *t = call_get_stage_data(call, "mfa_attempt");

    if (t->ticket.p)
        call_revert_rate_limit_count(call, &limit_ticket, t->ticket);
    call_revert_rate_limit_count(call, &limit_wrong_codes, account_id_to_limit_key(&t->user_id));
}

enum err mfa_count_code_attempt_of_caller(struct call *call, const struct opt_str *code)
{
    if (code->given != GIVEN)
        return OK;
    return call_count_against_rate_limit(call, &limit_wrong_codes,
                                         account_id_to_limit_key(&call->caller->id));
}

static void uncount_mfa_attempt_of_caller(struct call *call)
{
    call_revert_rate_limit_count(call, &limit_wrong_codes,
                                 account_id_to_limit_key(&call->caller->id));
}

enum err mfa_consume_caller_code(struct call *call, const struct user *caller,
                                 const struct opt_str *code)
{
    struct str text = code->given == GIVEN ? code->value : STR("");
    struct mfa_settings m;
    enum err e = OK;

    if (code->given == GIVEN)
        call->after = uncount_mfa_attempt_of_caller;
    if (caller->mfa_enabled)
        e = mfa_settings_find(call, caller->id, &m);
    if (e || !caller->mfa_enabled)
        return e;
    return text.n == TOTP_DIGITS ? mfa_consume_totp_code(call, &m, text)
                                 : mfa_consume_backup_code(call, &m, text);
}

/* --- completing a log-in with a code ------------------------------------------------- */

static enum err verify_login_ticket_and_count_attempt(struct call *call)
{
    const struct mfa_login_request *in = call->body;
    struct mfa_attempt *t = call_store_stage_data(call, "mfa_attempt", sizeof *t);

    t->ticket = in->ticket;
    if (!mfa_ticket_verify(call, in->ticket, TICKET_LOGIN, &t->user_id)) {
        t->undelete = true;
        if (!mfa_ticket_verify(call, in->ticket, TICKET_UNDELETE, &t->user_id))
            return ERR_MFA_TICKET;
    }
    return mfa_count_code_attempt(call, t);
}

static enum err finish_mfa_login(struct call *call,
                                 enum err (*use)(struct call *, const struct mfa_settings *,
                                                 struct str))
{
    const struct mfa_login_request *in = call->body;
    const struct mfa_attempt *t = call_get_stage_data(call, "mfa_attempt");
    struct user user;
    struct mfa_settings m;
    enum err e = user_find(call->tx, t->user_id, &user);

    if (!e)
        e = mfa_settings_find(call, user.id, &m);
    if (e == ERR_MFA_OFF || (!e && !mfa_ticket_matches_user(call, in->ticket, &user)))
        return ERR_MFA_TICKET;
    if (!e && user.disabled && !(user.paused && t->undelete))
        return ERR_ACCOUNT_DISABLED;
    if (!e && user.deleting && !t->undelete)
        return ERR_ACCOUNT_DELETING;
    if (!e)
        e = use(call, &m, in->code);
    if (!e && (user.deleting || user.paused))
        e = account_cancel_deletion(call, &user);
    call->after = mfa_uncount_code_attempt;
    return e ? e : reply_with_login_token(call, &user);
}

static enum err log_in_with_totp(struct call *call)
{
    return finish_mfa_login(call, mfa_consume_totp_code);
}

static enum err log_in_with_backup_code(struct call *call)
{
    return finish_mfa_login(call, mfa_consume_backup_code);
}

static enum err consume_assertion_of_ticket(struct call *call, const struct mfa_settings *m,
                                            struct str code)
{
    const struct mfa_login_request *in = call->body;

    return webauthn_consume_assertion(call, m->user_id, in->ticket, code);
}

static enum err log_in_with_security_key(struct call *call)
{
    return finish_mfa_login(call, consume_assertion_of_ticket);
}

/* --- enabling and disabling the second factor ---------------------------------------- */

/* An account with a security key proves its identity with the header
 * X-Discord-MFA-Authorization, because the code in the body belongs to the new TOTP secret. */
static enum err require_proof_to_enable_totp(struct call *call)
{
    static const struct opt_str no_field = { .given = ABSENT };

    require_caller_password(call, ((const struct mfa_enable_request *)call->body)->password);
    return require_identity_proof(call, &no_field, &no_field);
}

/* Client dialogs ask for the secret first, then for the code, so the secret is checked first. */
static enum err parse_new_totp_factor(const struct mfa_enable_request *in, struct mfa_settings *m)
{
    if (in->secret.given != GIVEN || !totp_secret_parse(in->secret.value, m->secret))
        return ERR_MFA_SECRET;
    m->last_step = in->code.given == GIVEN
                       ? totp_find_matching_step(m->secret, in->code.value, clock_s(), -1)
                       : -1;
    return m->last_step < 0 ? ERR_MFA_CODE : OK;
}

static enum err enable_totp(struct call *call)
{
    const struct mfa_enable_request *in = call->body;
    struct mfa_enabled_reply out;
    struct mfa_settings m = { .user_id = call->caller->id };
    struct user user;
    bool verified = true;
    enum err e = read_caller_after_password_check(call, &user);

    if (!e && user.mfa_enabled)
        e = mfa_settings_find(call, user.id, &m);
    if (!e && m.has_totp)
        e = ERR_MFA_ON;
    if (!e && user.mfa_enabled)
        e = check_caller_identity(call, &user, &verified);
    if (e || !verified)
        return e;
    e = parse_new_totp_factor(in, &m);
    m.has_totp = true;
    if (!e)
        e = user.mfa_enabled ? mfa_add_totp(call, &m) : mfa_settings_insert(call, &m);
    if (!e)
        e = replace_all_caller_tokens(call, &out.token);
    if (e)
        return e;
    user.mfa_enabled = true;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(user.id), &current_user_schema,
                    &user);
    out.backup_codes = mfa_list_backup_codes(call, &m);
    return call_reply_with_object(call, &out);
}

static enum err disable_totp(struct call *call)
{
    const struct mfa_disable_request *in = call->body;
    struct token_reply out;
    struct list keys = { 0 };
    struct user user;
    struct mfa_settings m;
    bool verified = false;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (!e)
        e = user.mfa_enabled ? mfa_settings_find(call, user.id, &m) : ERR_MFA_OFF;
    if (!e && !m.has_totp)
        e = ERR_MFA_OFF;
    if (!e)
        e = check_caller_second_factor(call, &user, &in->code, &verified);
    if (e || !verified)
        return e;
    e = webauthn_credentials_list(call->tx, user.id, &keys);
    if (!e)
        e = keys.count ? mfa_remove_totp(call, user.id) : mfa_settings_remove(call, user.id);
    if (!e)
        e = replace_all_caller_tokens(call, &out.token);
    if (e)
        return e;
    user.mfa_enabled = keys.count > 0;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(user.id), &current_user_schema,
                    &user);
    return call_reply_with_object(call, &out);
}

static enum err count_code_attempt_to_disable_totp(struct call *call)
{
    return mfa_count_code_attempt_of_caller(
        call, &((const struct mfa_disable_request *)call->body)->code);
}

/* --- routes of backup codes ---------------------------------------------------------- */

static enum err require_password_for_backup_codes(struct call *call)
{
    const struct mfa_challenge_request *in = call->body;

    require_caller_password(call, in->password);
    return mfa_count_code_attempt_of_caller(call, &in->code);
}

/* Viewing backup codes needs a second factor and the password, because a backup code can disable
 * the second factor. */
static enum err view_backup_codes_challenge(struct call *call)
{
    const struct mfa_challenge_request *in = call->body;
    struct user user;
    bool verified = false;
    enum err e = read_caller_after_password_check(call, &user);

    if (!e && !user.mfa_enabled)
        e = ERR_MFA_OFF;
    if (!e)
        e = check_caller_second_factor(call, &user, &in->code, &verified);
    if (e || !verified)
        return e;
    return call_reply_with_object(
        call, &(struct mfa_challenge_nonces){ mfa_ticket_create(call, &user, TICKET_CODES),
                                              mfa_ticket_create(call, &user, TICKET_NEW_CODES) });
}

static enum err get_backup_codes(struct call *call)
{
    const struct mfa_backup_codes_request *in = call->body;
    enum mfa_ticket_purpose purpose = in->regenerate ? TICKET_NEW_CODES : TICKET_CODES;
    snowflake user_id;
    struct user user;
    struct mfa_settings m;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (!e && (!mfa_ticket_verify(call, in->nonce, purpose, &user_id) || user_id != user.id ||
               !mfa_ticket_matches_user(call, in->nonce, &user)))
        return call_add_field_error(call, "nonce", "NONCE_INVALID",
                                    "This nonce is invalid or has expired. Request a new one.");
    if (!e)
        e = mfa_settings_find(call, user.id, &m);
    if (!e && in->regenerate)
        e = mfa_replace_backup_codes(call, &m);
    return e ? e
             : call_reply_with_object(
                   call, &(struct mfa_backup_codes){ mfa_list_backup_codes(call, &m) });
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/auth/mfa/totp",
        .name = "log_in_with_totp",
        .doc = "Finish a login with a TOTP code. Each code works once.",
        .auth = AUTH_OPEN,
        .body = &mfa_login_body,
        .reply = &login_reply,
        .limit = &limit_mfa,
        .prepare = verify_login_ticket_and_count_attempt,
        .handle = log_in_with_totp,
    },
    {
        .method = POST,
        .path = "/auth/mfa/backup",
        .name = "log_in_with_backup_code",
        .doc = "Finish a login with a backup code. Each code works once.",
        .auth = AUTH_OPEN,
        .body = &mfa_login_body,
        .reply = &login_reply,
        .limit = &limit_mfa,
        .prepare = verify_login_ticket_and_count_attempt,
        .handle = log_in_with_backup_code,
    },
    {
        .method = POST,
        .path = "/auth/mfa/webauthn",
        .name = "log_in_with_security_key",
        .doc = "Finish a login with a security key or passkey, which signs the challenge in "
               "`webauthn` of the answer to POST /auth/login.",
        .auth = AUTH_OPEN,
        .body = &webauthn_login_body,
        .reply = &login_reply,
        .limit = &limit_mfa,
        .prepare = verify_login_ticket_and_count_attempt,
        .handle = log_in_with_security_key,
    },
    {
        .method = POST,
        .path = "/users/@me/mfa/totp/enable",
        .name = "enable_totp",
        .doc = "Enable TOTP codes as a second factor. All other tokens of the account are revoked. "
               "An account with a security key needs a proof of identity in the header "
               "X-Discord-MFA-Authorization, too.",
        .auth = AUTH_USER,
        .body = &mfa_enable_body,
        .reply = &mfa_enabled_reply,
        .fires = (const enum event[]){ EVENT_USER_UPDATE, EVENT_NONE },
        .prepare = require_proof_to_enable_totp,
        .handle = enable_totp,
    },
    {
        .method = POST,
        .path = "/users/@me/mfa/totp/disable",
        .name = "disable_totp",
        .doc =
            "Disable TOTP codes as a second factor. All other tokens of the account are revoked.",
        .auth = AUTH_USER,
        .body = &mfa_disable_body,
        .reply = &token_reply,
        .fires = (const enum event[]){ EVENT_USER_UPDATE, EVENT_NONE },
        .prepare = count_code_attempt_to_disable_totp,
        .handle = disable_totp,
    },
    {
        .method = POST,
        .path = "/auth/verify/view-backup-codes-challenge",
        .name = "view_backup_codes_challenge",
        .doc = "Get nonces to read or replace the backup codes; needs the password and a code of "
               "the second factor.",
        .auth = AUTH_USER,
        .body = &mfa_challenge_body,
        .reply = &mfa_nonces_reply,
        .prepare = require_password_for_backup_codes,
        .handle = view_backup_codes_challenge,
    },
    {
        .method = POST,
        .path = "/users/@me/mfa/codes-verification",
        .name = "get_backup_codes",
        .doc = "Get the backup codes, or replace them.",
        .auth = AUTH_USER,
        .body = &mfa_codes_body,
        .reply = &mfa_codes_reply,
        .handle = get_backup_codes,
    },
    {
        .method = POST,
        .path = "/mfa/finish",
        .name = "finish_verification",
        .doc = "Prove the caller's identity for a call that was answered 401 with code 60003. The "
               "token goes into the header X-Discord-MFA-Authorization of the repeated call; it is "
               "valid for five minutes, and only in this session.",
        .auth = AUTH_USER,
        .body = &mfa_finish_body,
        .reply = &token_reply,
        .limit = &limit_mfa,
        .prepare = validate_mfa_verification_request,
        .handle = finish_verification,
    },
    { 0 },
};

const struct domain mfa_domain = {
    .name = "Second factor",
    .doc = "TOTP codes and security keys as a second factor besides the password.",
    .routes = routes,
};
