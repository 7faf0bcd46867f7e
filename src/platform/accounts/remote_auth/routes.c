/* routes.c - routes of log-ins by a QR code: scan, confirm, cancel, exchange of the ticket. */
#include "api/deletion.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/remote_auth/remote_auth.h"

struct remote_auth_scan {
    struct str fingerprint;
};
struct remote_auth_decision {
    struct str handshake_token;
    bool temporary_token;
    struct opt_str password, code;
};
struct remote_auth_exchange {
    struct str ticket;
};
struct handshake_reply {
    struct str handshake_token;
};
struct encrypted_token_reply {
    struct str encrypted_token;
};

static const struct type type_secret = { .kind = KIND_STRING, .min = 1, .max = 200 };

static const struct field scan_fields[] = {
    { FIELD(struct remote_auth_scan, fingerprint), .type = &type_secret,
      .doc = "The text of the QR code after /ra/" },
    { 0 },
};
static const struct schema scan_schema = {
    .name = "RemoteAuthScan",
    .size = sizeof(struct remote_auth_scan),
    .fields = scan_fields,
    .doc = "The fingerprint of a device that wants to log in.",
};
static const struct type scan_body = { .kind = KIND_OBJECT, .schema = &scan_schema };

static const struct field decision_fields[] = {
    { FIELD(struct remote_auth_decision, handshake_token), .type = &type_secret },
    { FIELD(struct remote_auth_decision, temporary_token), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Ignored" },
    { FIELD(struct remote_auth_decision, password), .type = &type_entered_password,
      .flags = OPTIONAL | NULLABLE, .doc = "Proof of an account without a second factor" },
    { FIELD(struct remote_auth_decision, code), .type = &type_mfa_code,
      .flags = OPTIONAL | NULLABLE, .doc = "Proof of an account with a second factor" },
    { 0 },
};
static const struct schema decision_schema = {
    .name = "RemoteAuthDecision",
    .size = sizeof(struct remote_auth_decision),
    .fields = decision_fields,
    .doc = "The handshake token of a scanned code.",
};
static const struct type decision_body = { .kind = KIND_OBJECT, .schema = &decision_schema };

static const struct field exchange_fields[] = {
    { FIELD(struct remote_auth_exchange, ticket), .type = &type_secret },
    { 0 },
};
static const struct schema exchange_schema = {
    .name = "RemoteAuthExchange",
    .size = sizeof(struct remote_auth_exchange),
    .fields = exchange_fields,
    .doc = "The ticket that the device received.",
};
static const struct type exchange_body = { .kind = KIND_OBJECT, .schema = &exchange_schema };

static const struct field handshake_fields[] = {
    { FIELD(struct handshake_reply, handshake_token), .type = &type_text },
    { 0 },
};
static const struct schema handshake_schema = {
    .name = "RemoteAuthHandshake",
    .size = sizeof(struct handshake_reply),
    .fields = handshake_fields,
    .doc = "A token with which the caller confirms or cancels.",
};
static const struct type handshake_reply = { .kind = KIND_OBJECT, .schema = &handshake_schema };

static const struct field encrypted_fields[] = {
    { FIELD(struct encrypted_token_reply, encrypted_token), .type = &type_text },
    { 0 },
};
static const struct schema encrypted_schema = {
    .name = "RemoteAuthToken",
    .size = sizeof(struct encrypted_token_reply),
    .fields = encrypted_fields,
    .doc = "A token, encrypted with the key of the device.",
};
static const struct type encrypted_reply = { .kind = KIND_OBJECT, .schema = &encrypted_schema };

/* POST /users/@me/remote-auth */
static enum err scan_remote_login(struct call *call)
{
    const struct remote_auth_scan *in = call->body;
    struct handshake_reply out;
    enum err e = remote_login_mark_scanned(call, in->fingerprint, &out.handshake_token);

    if (!e && !out.handshake_token.p)
        e = ERR_UNKNOWN_SESSION;
    return e ? e : call_reply_with_object(call, &out);
}

static enum err require_proof_to_finish_remote_login(struct call *call)
{
    const struct remote_auth_decision *in = call->body;

    return require_identity_proof(call, &in->password, &in->code);
}

static enum err confirm_or_cancel_remote_login(struct call *call, enum remote_login_state state)
{
    const struct remote_auth_decision *in = call->body;
    bool found;
    enum err e = remote_login_confirm_or_cancel(call, in->handshake_token, state, &found);

    return e ? e : found ? OK : ERR_UNKNOWN_SESSION;
}

/* POST /users/@me/remote-auth/finish. Needs a proof of identity, because with a stolen token alone
 * nobody may log in further devices. */
static enum err finish_remote_login(struct call *call)
{
    struct user user;
    bool verified;
    enum err e = check_caller_identity(call, &user, &verified);

    return e || !verified ? e : confirm_or_cancel_remote_login(call, REMOTE_LOGIN_CONFIRMED);
}

/* POST /users/@me/remote-auth/cancel */
static enum err cancel_remote_login(struct call *call)
{
    return confirm_or_cancel_remote_login(call, REMOTE_LOGIN_CANCELLED);
}

static enum err refuse_remote_ticket(struct call *call)
{
    return call_add_field_error(call, "ticket", "TICKET_INVALID",
                                "This ticket is invalid, used or expired. Scan a new code.");
}

/* POST /users/@me/remote-auth/login. The ticket works once: the row is deleted. */
static enum err exchange_remote_ticket(struct call *call)
{
    const struct remote_auth_exchange *in = call->body;
    struct remote_login login;
    struct encrypted_token_reply out;
    struct user user;
    struct str token;
    bool found, deleted = false;
    enum err e = remote_login_find_by_ticket(call->tx, in->ticket, &login, &found);

    if (!e && found)
        e = remote_login_delete(call->tx, login.id, &deleted);
    if (!e && !deleted)
        return refuse_remote_ticket(call);
    if (!e)
        e = user_find(call->tx, login.user_id, &user);
    if (!e && (user.disabled || user.deleting))
        return user.disabled ? ERR_ACCOUNT_DISABLED : ERR_ACCOUNT_DELETING;
    if (!e)
        e = known_login_address_save(call, user.id);
    if (!e)
        e = issue_login_token(call, user.id, &token);
    if (e)
        return e;
    return remote_auth_key_encrypt(call->arena, login.public_key, token, &out.encrypted_token)
               ? call_reply_with_object(call, &out)
               : ERR_INTERNAL;
}

static const struct rate_limit limit_scan = {
    .name = "remote-auth", .count = 10, .window_s = 60, .strict = true
};
static const struct rate_limit limit_exchange = {
    .name = "remote-auth-login", .count = 10, .window_s = 60, .by_address = true, .strict = true
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/users/@me/remote-auth",
        .name = "scan_remote_login",
        .doc =
            "Start to let a device in that shows a QR code; the device learns the caller's name.",
        .auth = AUTH_USER,
        .body = &scan_body,
        .reply = &handshake_reply,
        .limit = &limit_scan,
        .handle = scan_remote_login,
    },
    {
        .method = POST,
        .path = "/users/@me/remote-auth/finish",
        .name = "finish_remote_login",
        .doc = "Let the device in. Needs a proof of identity, as POST /auth/sessions/logout does.",
        .auth = AUTH_USER,
        .body = &decision_body,
        .limit = &limit_scan,
        .prepare = require_proof_to_finish_remote_login,
        .handle = finish_remote_login,
    },
    {
        .method = POST,
        .path = "/users/@me/remote-auth/cancel",
        .name = "cancel_remote_login",
        .doc = "Do not let the device in.",
        .auth = AUTH_USER,
        .body = &decision_body,
        .limit = &limit_scan,
        .handle = cancel_remote_login,
    },
    {
        .method = POST,
        .path = "/users/@me/remote-auth/login",
        .name = "exchange_remote_ticket",
        .doc = "Exchange the ticket of the WebSocket /remote-auth for an encrypted token; works "
               "once.",
        .auth = AUTH_OPEN,
        .body = &exchange_body,
        .reply = &encrypted_reply,
        .limit = &limit_exchange,
        .handle = exchange_remote_ticket,
    },
    { 0 },
};

const struct domain remote_auth_domain = {
    .name = "Log-in by QR code",
    .doc = "A device that is logged in lets another device in, which shows a QR code.",
    .routes = routes,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_FEW(WITH_ACCOUNT, "remote_logins", "user_id") },
                                        { 0 } },
};
