/* routes.c - routes to verify an email address and to reset a password with mailed links.
 *
 * POST /auth/forgot does not reveal which accounts exist: the handler replies at once, and a job
 * finds the account later. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mail/mailed_links.h"
#include "platform/accounts/operator.h"

struct mail_login {
    struct str login;
};
struct mail_token {
    struct str token;
};
struct mail_reset {
    struct str token, password;
};
struct verified_reply {
    snowflake user_id;
};

static const struct type type_link_token = { .kind = KIND_STRING,
                                             .max = 100,
                                             .doc = "The part of the mailed link after #token=" };

static const struct field login_fields[] = {
    { FIELD(struct mail_login, login), .type = &type_login },
    { 0 },
};
static const struct schema forgot_schema = {
    .name = "ForgottenPassword",
    .size = sizeof(struct mail_login),
    .fields = login_fields,
    .doc = "The account whose password was forgotten.",
};
static const struct type forgot_body = { .kind = KIND_OBJECT, .schema = &forgot_schema };

static const struct field token_fields[] = {
    { FIELD(struct mail_token, token), .type = &type_link_token },
    { 0 },
};
static const struct schema verify_schema = {
    .name = "MailedToken",
    .size = sizeof(struct mail_token),
    .fields = token_fields,
    .doc = "A token from a mailed link.",
};
static const struct type verify_body = { .kind = KIND_OBJECT, .schema = &verify_schema };

static const struct field reset_fields[] = {
    { FIELD(struct mail_reset, token), .type = &type_link_token },
    { FIELD(struct mail_reset, password), .type = &type_password },
    { 0 },
};
static const struct schema reset_schema = {
    .name = "PasswordReset",
    .size = sizeof(struct mail_reset),
    .fields = reset_fields,
    .doc = "A new password, and the token from the mailed link.",
};
static const struct type reset_body = { .kind = KIND_OBJECT, .schema = &reset_schema };

static const struct field verified_fields[] = {
    { FIELD(struct verified_reply, user_id), .type = &type_id },
    { 0 },
};
static const struct schema verified_schema = {
    .name = "VerifiedAddress",
    .size = sizeof(struct verified_reply),
    .fields = verified_fields,
    .doc = "The account whose address is now verified.",
};
static const struct type verified_reply = { .kind = KIND_OBJECT, .schema = &verified_schema };

/* Limits mail requests per IP address, because each mail is a burden for its recipient and the mail
 * server. */
static const struct rate_limit limit_mail = {
    .name = "mail", .count = 5, .window_s = 60, .by_address = true, .strict = true
};

static enum err require_mail_configured(struct call *call)
{
    return mail_is_configured(call) ? OK : ERR_FEATURE_DISABLED;
}

/* --- POST /auth/forgot ---------------------------------------------------------------- */

/* Only a verified address may receive a password reset link. */
static enum err run_password_forgotten_job(struct call *call, const struct job *job)
{
    struct user user;
    bool found;
    int64_t wait_ms;
    enum err e = user_find_by_login(call->tx, job->data, &user, &found);

    if (e || !found || user.disabled || !user.verified || user.email.given != GIVEN)
        return e;
    return mailed_link_send(call, &user, LINK_RESET, &wait_ms);
}

static const struct job_kind password_forgotten_job = {
    .name = "password-forgotten",
    .doc = "Finds the account of a forgotten password and mails it a link.",
    .run = run_password_forgotten_job,
};

static enum err forgot_password(struct call *call)
{
    const struct mail_login *in = call->body;
    int64_t wait_ms;
    enum err e = count_mail_request_of_client(call, &wait_ms);

    if (e || wait_ms)
        return e ? e : call_refuse_as_rate_limited(call, wait_ms);
    return job_schedule(call, &password_forgotten_job, snowflake_new(), clock_us(), in->login);
}

/* --- POST /auth/reset ----------------------------------------------------------------- */

/* Checks the token before the new password is hashed, because hashing is expensive and an invalid
 * token should not cause it. */
static enum err check_password_reset_token(struct call *call)
{
    const struct mail_reset *in = call->body;
    struct user user;

    return mailed_link_find_user(call, in->token, LINK_RESET, &user);
}

static enum err hash_new_password(struct call *call)
{
    const struct mail_reset *in = call->body;
    struct str *hash = call_store_stage_data(call, "str", sizeof *hash);

    return password_hash(call->api, call->arena, in->password, hash);
}

static enum err schedule_password_reset_token_check(struct call *call)
{
    call->read = check_password_reset_token;
    call->hash = hash_new_password;
    return require_mail_configured(call);
}

static enum err reset_password(struct call *call)
{
    const struct mail_reset *in = call->body;
    const struct str *hash = call_get_stage_data(call, "str");
    struct user user;
    enum err e = mailed_link_consume(call, in->token, LINK_RESET, &user);

    if (!e)
        e = account_set_password(call, user.id, *hash);
    user.password_hash = *hash;
    return e ? e : reply_to_login_after_password_check(call, &user, false);
}

/* --- POST /auth/verify, /auth/verify/resend ------------------------------------------- */

/* The reply contains no token: a person who can read the mail is not necessarily the owner of the
 * account. */
static enum err verify_email(struct call *call)
{
    const struct mail_token *in = call->body;
    const char *taken;
    struct user user;
    enum err e = mailed_link_consume(call, in->token, LINK_VERIFY, &user);

    if (e)
        return e;
    user.verified = true;
    e = user_update(call->tx, &user, &taken);
    if (e)
        return e;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(user.id), &current_user_schema,
                    &user);
    return call_reply_with_object(call, &(struct verified_reply){ user.id });
}

static enum err resend_verification(struct call *call)
{
    struct user user;
    int64_t wait_ms = 0;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (e)
        return e;
    if (user.email.given != GIVEN)
        return call_add_field_error(call, "email", FORM_REQUIRED);
    if (user.verified)
        return OK;
    e = mailed_link_send(call, &user, LINK_VERIFY, &wait_ms);
    return e ? e : wait_ms ? call_refuse_as_rate_limited(call, wait_ms) : OK;
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/auth/forgot",
        .name = "forgot_password",
        .doc = "Mail a password reset link to the verified address of an account. The reply is "
               "the same if no such account exists.",
        .auth = AUTH_OPEN,
        .body = &forgot_body,
        .limit = &limit_mail,
        .prepare = require_mail_configured,
        .handle = forgot_password,
    },
    {
        .method = POST,
        .path = "/auth/reset",
        .name = "reset_password",
        .doc = "Set a new password with the mailed token and log in. All other tokens of the "
               "account are revoked.",
        .auth = AUTH_OPEN,
        .body = &reset_body,
        .reply = &login_reply,
        .limit = &limit_mail,
        .prepare = schedule_password_reset_token_check,
        .handle = reset_password,
    },
    {
        .method = POST,
        .path = "/auth/verify",
        .name = "verify_email",
        .doc = "Verify an email address with the mailed token.",
        .auth = AUTH_OPEN,
        .body = &verify_body,
        .reply = &verified_reply,
        .fires = (const enum event[]){ EVENT_USER_UPDATE, EVENT_NONE },
        .limit = &limit_mail,
        .prepare = require_mail_configured,
        .handle = verify_email,
    },
    {
        .method = POST,
        .path = "/auth/verify/resend",
        .name = "resend_verification",
        .doc = "Mail the link that verifies the caller's address again.",
        .auth = AUTH_USER,
        .limit = &limit_mail,
        .prepare = require_mail_configured,
        .handle = resend_verification,
    },
    { 0 },
};

const struct domain mail_domain = {
    .name = "Mailed links",
    .doc = "Email verification and password reset, if the server can send mail.",
    .routes = routes,
    .jobs = (const struct job_kind *const[]){ &password_forgotten_job, &mail_verify_job,
                                              &mail_reset_job, NULL },
};
