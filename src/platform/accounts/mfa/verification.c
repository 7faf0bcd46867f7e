/* verification.c - proof of identity for sensitive calls, and POST /mfa/finish. */
#include "api/api.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/mfa/webauthn_credentials.h"

/* --- reply to a sensitive call without a proof of identity --------------------------- */

struct mfa_method {
    struct str type;
    struct opt_str challenge;
    struct opt_bool backup_codes_allowed;
};
struct mfa_request {
    struct str ticket;
    struct list methods;
};
struct mfa_required_reply {
    struct str message;
    int64_t code;
    const struct mfa_request *mfa;
};

static const struct field method_fields[] = {
    { FIELD(struct mfa_method, type), .type = &type_text },
    { FIELD(struct mfa_method, challenge), .type = &type_text, .flags = OPTIONAL,
      .doc = "Options for navigator.credentials.get, as JSON in a string" },
    { FIELD(struct mfa_method, backup_codes_allowed), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema method_schema = {
    .name = "MfaMethod",
    .size = sizeof(struct mfa_method),
    .fields = method_fields,
    .doc = "A method to prove the caller's identity.",
};
static const struct type type_mfa_method = { .kind = KIND_OBJECT, .schema = &method_schema };
static const struct type type_mfa_methods = { .kind = KIND_ARRAY, .of = &type_mfa_method };

static const struct field request_fields[] = {
    { FIELD(struct mfa_request, ticket), .type = &type_text },
    { FIELD(struct mfa_request, methods), .type = &type_mfa_methods },
    { 0 },
};
static const struct schema request_schema = {
    .name = "MfaRequest",
    .size = sizeof(struct mfa_request),
    .fields = request_fields,
    .doc = "A ticket for POST /mfa/finish, and the methods that it accepts.",
};
static const struct type type_mfa_request = { .kind = KIND_OBJECT, .schema = &request_schema };

static const struct field required_fields[] = {
    { FIELD(struct mfa_required_reply, message), .type = &type_text },
    { FIELD(struct mfa_required_reply, code), .type = &type_count },
    { FIELD(struct mfa_required_reply, mfa), .type = &type_mfa_request },
    { 0 },
};
static const struct schema required_schema = {
    .name = "MfaRequired",
    .size = sizeof(struct mfa_required_reply),
    .fields = required_fields,
    .doc = "The call needs a proof of the caller's identity.",
};
static const struct type type_mfa_required = { .kind = KIND_OBJECT, .schema = &required_schema };

static enum err list_second_factors(struct call *call, const struct user *user, struct str ticket,
                                    struct list *ret)
{
    struct mfa_method *list = arena_array(call->arena, struct mfa_method, 3);
    struct opt_str challenge;
    struct mfa_settings m;
    size_t n = 0;
    enum err e = mfa_settings_find(call, user->id, &m);

    if (!e)
        e = webauthn_encode_request_options(call, user->id, ticket, &challenge);
    if (e)
        return e;
    if (challenge.given == GIVEN)
        list[n++] = (struct mfa_method){ .type = STR("webauthn"), .challenge = challenge };
    if (m.has_totp)
        list[n++] =
            (struct mfa_method){ .type = STR("totp"), .backup_codes_allowed = { GIVEN, true } };
    list[n++] = (struct mfa_method){ .type = STR("backup") };
    *ret = (struct list){ .items = list, .count = n };
    return OK;
}

static enum err reply_that_mfa_is_required(struct call *call, const struct user *user)
{
    struct mfa_method *password = arena_alloc(call->arena, sizeof *password);
    struct mfa_request mfa = { mfa_ticket_create(call, user, TICKET_VERIFY),
                               { .items = password, .count = 1 } };
    const struct error_info *info = error_info(ERR_MFA_REQUIRED);

    password->type = STR("password");
    enum err e = user->mfa_enabled ? list_second_factors(call, user, mfa.ticket, &mfa.methods) : OK;
    if (e)
        return e;
    call_set_status(call, info->status);
    return call_reply_with_object_of_type(
        call, &type_mfa_required,
        &(struct mfa_required_reply){ str_of(info->message), info->code, &mfa });
}

/* --- checking a proof -------------------------------------------------------------------- */

struct identity_proof {
    struct str token; /* token of the header X-Discord-MFA-Authorization; empty if invalid */
    struct opt_str code;
    bool has_password;
};

enum err require_identity_proof(struct call *call, const struct opt_str *password,
                                const struct opt_str *code)
{
    struct identity_proof *p = call_store_stage_data(call, "identity_proof", sizeof *p);
    struct str token =
        http_find_header(call->exchange->request, STR("X-Discord-MFA-Authorization"));
    snowflake user_id;

    if (mfa_ticket_verify(call, token, TICKET_VERIFIED, &user_id) && user_id == call->caller->id) {
        p->token = token;
        return OK;
    }
    p->code = *code;
    p->has_password = password->given == GIVEN;
    if (p->has_password)
        require_caller_password(call, password->value);
    return mfa_count_code_attempt_of_caller(call, code);
}

/* An account with a second factor must send a code, any other account its password, as in POST
 * /mfa/finish. */
static enum err check_identity_proof_in_body(struct call *call, const struct identity_proof *p,
                                             struct user *ret, bool *ret_verified)
{
    enum err e = p->has_password ? read_caller_after_password_check(call, ret)
                                 : user_find(call->tx, call->caller->id, ret);

    if (e)
        return e;
    if (ret->mfa_enabled && p->code.given == GIVEN) {
        *ret_verified = true;
        return mfa_consume_caller_code(call, ret, &p->code);
    }
    *ret_verified = !ret->mfa_enabled && (p->has_password || !ret->password_hash.p);
    return OK;
}

enum err check_caller_identity(struct call *call, struct user *ret, bool *ret_verified)
{
    const struct identity_proof *p = call_get_stage_data(call, "identity_proof");
    enum err e = OK;

    *ret_verified = false;
    if (p->token.n) {
        e = user_find(call->tx, call->caller->id, ret);
        *ret_verified = !e && mfa_ticket_matches_user(call, p->token, ret);
    } else {
        e = check_identity_proof_in_body(call, p, ret, ret_verified);
    }
    return e || *ret_verified ? e : reply_that_mfa_is_required(call, ret);
}

static bool caller_has_proof_in_header(struct call *call, const struct user *caller)
{
    struct str token =
        http_find_header(call->exchange->request, STR("X-Discord-MFA-Authorization"));
    snowflake user_id;

    return mfa_ticket_verify(call, token, TICKET_VERIFIED, &user_id) && user_id == caller->id &&
           mfa_ticket_matches_user(call, token, caller);
}

enum err check_caller_second_factor(struct call *call, const struct user *caller,
                                    const struct opt_str *code, bool *ret_verified)
{
    struct opt_str challenge = { .given = GIVEN_NULL };
    enum err e = OK;

    *ret_verified = true;
    if (!caller->mfa_enabled || code->given == GIVEN)
        return mfa_consume_caller_code(call, caller, code);
    if (caller_has_proof_in_header(call, caller))
        return OK;
    *ret_verified = false;
    e = webauthn_encode_request_options(call, caller->id, STR(""), &challenge);
    if (e)
        return e;
    return challenge.given == GIVEN ? reply_that_mfa_is_required(call, caller) : ERR_MFA_CODE;
}

/* --- POST /mfa/finish ------------------------------------------------------------------ */

struct mfa_verification {
    struct str ticket, mfa_type, data;
};

static const struct type type_ticket = { .kind = KIND_STRING,
                                         .max = 200,
                                         .doc = "The ticket of the answer with code 60003" };
static const struct enum_choice methods[] = {
    { 0, "password", "PASSWORD", "The password of an account without a second factor" },
    { 1, "totp", "TOTP", "A code of the authenticator app, or a backup code" },
    { 2, "backup", "BACKUP", "A backup code" },
    { 3, "webauthn", "WEBAUTHN", "A security key, which signs the challenge of the method" },
    { 0 },
};
static const struct type type_method = { .kind = KIND_STRING,
                                         .choices = methods,
                                         .doc = "One of the methods in the error with code 60003" };
static const struct type type_proof = { .kind = KIND_STRING,
                                        .max = 16384,
                                        .doc = "The password, a code, a backup code or the "
                                               "PublicKeyCredential as JSON" };

static const struct field verification_fields[] = {
    { FIELD(struct mfa_verification, ticket), .type = &type_ticket },
    { FIELD(struct mfa_verification, mfa_type), .type = &type_method },
    { FIELD(struct mfa_verification, data), .type = &type_proof },
    { 0 },
};
static const struct schema verification_schema = {
    .name = "MfaVerification",
    .size = sizeof(struct mfa_verification),
    .fields = verification_fields,
    .doc = "A proof of the caller's identity.",
};
const struct type mfa_finish_body = { .kind = KIND_OBJECT, .schema = &verification_schema };

static bool verification_uses_password(const struct mfa_verification *in)
{
    return str_is(in->mfa_type, "password");
}

enum err validate_mfa_verification_request(struct call *call)
{
    const struct mfa_verification *in = call->body;
    struct mfa_attempt *t = call_store_stage_data(call, "mfa_attempt", sizeof *t);

    t->ticket = in->ticket;
    if (!mfa_ticket_verify(call, in->ticket, TICKET_VERIFY, &t->user_id) ||
        t->user_id != call->caller->id)
        return ERR_MFA_TICKET;
    if (verification_uses_password(in)) {
        require_caller_password_in_field(call, in->data, "data");
        return OK;
    }
    return mfa_count_code_attempt(call, t);
}

/* A code of six digits is checked as a TOTP code, any other code as a backup code. The method
 * "totp" accepts both. */
static enum err check_verification_code(struct call *call, const struct user *user)
{
    const struct mfa_verification *in = call->body;
    struct mfa_settings m;
    enum err e = user->mfa_enabled ? mfa_settings_find(call, user->id, &m) : ERR_MFA_OFF;

    call->after = mfa_uncount_code_attempt;
    if (e)
        return e;
    if (str_is(in->mfa_type, "webauthn"))
        return webauthn_consume_assertion(call, user->id, in->ticket, in->data);
    return str_is(in->mfa_type, "totp") && in->data.n == TOTP_DIGITS
               ? mfa_consume_totp_code(call, &m, in->data)
               : mfa_consume_backup_code(call, &m, in->data);
}

enum err finish_verification(struct call *call)
{
    const struct mfa_verification *in = call->body;
    bool with_password = verification_uses_password(in);
    struct user user;
    enum err e = with_password ? read_caller_after_password_check(call, &user)
                               : user_find(call->tx, call->caller->id, &user);

    if (!e && !mfa_ticket_matches_user(call, in->ticket, &user))
        return ERR_MFA_TICKET;
    if (!e && with_password && user.mfa_enabled)
        return call_add_field_error(call, "mfa_type", FORM_CHOICES,
                                    "This account has a second factor: send a code instead.");
    if (!e && !with_password)
        e = check_verification_code(call, &user);
    if (e)
        return e;
    return call_reply_with_object(
        call, &(struct token_reply){ mfa_ticket_create(call, &user, TICKET_VERIFIED) });
}
