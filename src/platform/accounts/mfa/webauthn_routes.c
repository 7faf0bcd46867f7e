/* webauthn_routes.c - routes of security keys and passkeys: register, list, rename, delete. */
#include "api/deletion.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/bodies.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/mfa/webauthn_credentials.h"

/* --- bodies ------------------------------------------------------------------------------- */

struct credential_draft {
    struct opt_str password, code; /* proof of identity, before the challenge */
    struct opt_str name, ticket, credential;
};
struct credential_patch {
    struct opt_str name;
};
/* Reply to a key's registration: ticket and challenge (first call), or the key (second call). */
struct credential_reply {
    struct opt_str ticket, challenge;
    struct opt_id id;
    struct opt_int type, last_used;
    struct opt_str name, cred_id;
    struct opt_list backup_codes;
};
struct deleted_credential {
    snowflake id;
    int64_t type;
};

static const struct type type_key_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 32, .doc = "Name of the key"
};
static const struct type type_ticket = { .kind = KIND_STRING,
                                         .max = 200,
                                         .doc = "The ticket of the first call" };

static const struct field draft_fields[] = {
    { FIELD(struct credential_draft, password), .type = &type_entered_password,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Proof of identity for the first call, if the account has no second factor" },
    { FIELD(struct credential_draft, code), .type = &type_mfa_code, .flags = OPTIONAL | NULLABLE,
      .doc = "Proof of identity for the first call, if the account has a second factor" },
    { FIELD(struct credential_draft, name), .type = &type_key_name, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct credential_draft, ticket), .type = &type_ticket, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct credential_draft, credential), .type = &type_webauthn_response,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "AuthenticatorDraft",
    .size = sizeof(struct credential_draft),
    .fields = draft_fields,
    .doc = "A security key; without ticket and credential, a request for a challenge.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field patch_fields[] = {
    { FIELD(struct credential_patch, name), .type = &type_key_name, .flags = OPTIONAL },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "AuthenticatorPatch",
    .size = sizeof(struct credential_patch),
    .fields = patch_fields,
    .doc = "A change of a security key.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field key_fields[] = {
    { FIELD(struct webauthn_credential, id), .type = &type_id },
    { FIELD(struct webauthn_credential, type), .type = &type_count, .doc = "Always 1 (WebAuthn)" },
    { FIELD(struct webauthn_credential, name), .type = &type_key_name },
    { FIELD(struct webauthn_credential, last_used), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct webauthn_credential, cred_id), .type = &type_text,
      .doc = "Id that the key chose, in base64url" },
    { 0 },
};
static const struct schema key_schema = {
    .name = "Authenticator",
    .size = sizeof(struct webauthn_credential),
    .fields = key_fields,
    .doc = "A security key or passkey of the account.",
};
static const struct type key_reply = { .kind = KIND_OBJECT, .schema = &key_schema };
static const struct type keys_reply = { .kind = KIND_ARRAY, .of = &key_reply };

static const struct field created_fields[] = {
    { FIELD(struct credential_reply, ticket), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct credential_reply, challenge), .type = &type_text, .flags = OPTIONAL,
      .doc = "Options for navigator.credentials.create, as JSON in a string" },
    { FIELD(struct credential_reply, id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct credential_reply, type), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct credential_reply, name), .type = &type_key_name, .flags = OPTIONAL },
    { FIELD(struct credential_reply, last_used), .type = &type_time, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct credential_reply, cred_id), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct credential_reply, backup_codes), .type = &type_backup_codes, .flags = OPTIONAL },
    { 0 },
};
static const struct schema created_schema = {
    .name = "CreatedAuthenticator",
    .size = sizeof(struct credential_reply),
    .fields = created_fields,
    .doc = "A challenge for a new security key, or the new key and the account's backup codes.",
};
static const struct type created_reply = { .kind = KIND_OBJECT, .schema = &created_schema };

static const struct field deleted_fields[] = {
    { FIELD(struct deleted_credential, id), .type = &type_id },
    { FIELD(struct deleted_credential, type), .type = &type_count },
    { 0 },
};
static const struct schema deleted_schema = {
    .size = sizeof(struct deleted_credential),
    .fields = deleted_fields,
};

/* --- handlers ------------------------------------------------------------------------------- */

static void emit_security_key_event(struct call *call, enum event event,
                                    const struct webauthn_credential *key)
{
    call_emit_event(call, event, audience_of_user(call->caller->id), &key_schema, key);
}

/* Emits USER_UPDATE to the account's clients after the second factor was turned on or off. */
static void emit_mfa_change(struct call *call, struct user *user, bool enabled)
{
    user->mfa_enabled = enabled;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(user->id), &current_user_schema,
                    user);
}

static enum err list_authenticators(struct call *call)
{
    struct list keys;
    enum err e = webauthn_credentials_list(call->tx, call->caller->id, &keys);

    return e ? e : call_reply_with_object(call, &keys);
}

/* A client registers a security key with two calls. The second call contains the ticket of the
 * first one; the ticket proves the identity, so the second call needs no password. */
static enum err require_proof_to_add_security_key(struct call *call)
{
    const struct credential_draft *in = call->body;
    snowflake user_id;

    if (in->credential.given != GIVEN)
        return require_identity_proof(call, &in->password, &in->code);
    return in->ticket.given == GIVEN &&
                   mfa_ticket_verify(call, in->ticket.value, TICKET_NEW_KEY, &user_id) &&
                   user_id == call->caller->id
               ? OK
               : ERR_MFA_TICKET;
}

static enum err reply_with_challenge(struct call *call)
{
    struct credential_reply out = { .ticket.given = GIVEN, .challenge.given = GIVEN };
    struct user user;
    bool verified;
    enum err e = check_caller_identity(call, &user, &verified);

    if (e || !verified)
        return e;
    out.ticket.value = mfa_ticket_create(call, &user, TICKET_NEW_KEY);
    e = webauthn_encode_creation_options(call, &user, out.ticket.value, &out.challenge.value);
    return e ? e : call_reply_with_object(call, &out);
}

static enum err create_authenticator(struct call *call)
{
    const struct credential_draft *in = call->body;
    struct webauthn_credential key = {
        .name = in->name.given == GIVEN ? in->name.value : STR("Security key"),
    };
    struct mfa_settings m = { .user_id = call->caller->id, .last_step = -1 };
    struct user user;

    if (in->credential.given != GIVEN)
        return reply_with_challenge(call);
    enum err e = user_find(call->tx, call->caller->id, &user);
    if (!e && !mfa_ticket_matches_user(call, in->ticket.value, &user))
        return ERR_MFA_TICKET;
    if (!e)
        e = webauthn_credential_register(call, user.id, in->ticket.value, in->credential.value,
                                         &key);
    if (!e)
        e = user.mfa_enabled ? mfa_settings_find(call, user.id, &m) : mfa_settings_insert(call, &m);
    if (!e && !user.mfa_enabled)
        e = end_other_login_sessions(call);
    if (e)
        return e;
    if (!user.mfa_enabled)
        emit_mfa_change(call, &user, true);
    emit_security_key_event(call, EVENT_AUTHENTICATOR_CREATE, &key);
    return call_reply_with_object(call,
                                  &(struct credential_reply){
                                      .id = { GIVEN, key.id },
                                      .type = { GIVEN, key.type },
                                      .name = { GIVEN, key.name },
                                      .last_used = key.last_used,
                                      .cred_id = { GIVEN, key.cred_id },
                                      .backup_codes = { GIVEN, mfa_list_backup_codes(call, &m) },
                                  });
}

static const struct opt_str no_field = { .given = ABSENT };

/* The proof is the header X-Discord-MFA-Authorization. */
static enum err require_proof_to_change_security_key(struct call *call)
{
    return require_identity_proof(call, &no_field, &no_field);
}

static enum err modify_authenticator(struct call *call)
{
    const struct credential_patch *in = call->body;
    struct webauthn_credential key;
    struct user user;
    bool verified;
    enum err e = check_caller_identity(call, &user, &verified);

    if (e || !verified)
        return e;
    e = webauthn_credential_find(call->tx, user.id, call_get_path_id(call, "authenticator.id"),
                                 &key);
    if (!e && in->name.given == GIVEN) {
        key.name = in->name.value;
        e = webauthn_credential_rename(call->tx, &key);
    }
    if (e)
        return e;
    emit_security_key_event(call, EVENT_AUTHENTICATOR_UPDATE, &key);
    return call_reply_with_object(call, &key);
}

static enum err delete_authenticator(struct call *call)
{
    struct webauthn_credential key;
    struct list left;
    struct user user;
    struct mfa_settings m;
    bool verified;
    enum err e = check_caller_identity(call, &user, &verified);

    if (e || !verified)
        return e;
    e = webauthn_credential_find(call->tx, user.id, call_get_path_id(call, "authenticator.id"),
                                 &key);
    if (!e)
        e = webauthn_credential_delete(call->tx, &key);
    if (!e)
        e = webauthn_credentials_list(call->tx, user.id, &left);
    if (!e)
        e = mfa_settings_find(call, user.id, &m);
    if (!e && !left.count && !m.has_totp) {
        e = mfa_settings_remove(call, user.id);
        if (!e)
            e = end_other_login_sessions(call);
        emit_mfa_change(call, &user, false);
    }
    if (e)
        return e;
    call_emit_event(call, EVENT_AUTHENTICATOR_DELETE, audience_of_user(user.id), &deleted_schema,
                    &(struct deleted_credential){ key.id, key.type });
    return OK;
}

static const struct path_resolver resolvers[] = {
    {
        .name = "authenticator.id",
        .field = "authenticator_id",
        .doc = "A security key of the caller.",
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/mfa/webauthn/credentials",
        .name = "list_authenticators",
        .doc = "List the security keys of the account.",
        .auth = AUTH_USER,
        .reply = &keys_reply,
        .handle = list_authenticators,
    },
    {
        .method = POST,
        .path = "/users/@me/mfa/webauthn/credentials",
        .name = "create_authenticator",
        .doc = "Register a security key or passkey. A first call without `credential` replies with "
               "`ticket` and `challenge`; it needs a proof of identity, as POST "
               "/auth/sessions/logout does. The second call has the ticket, the credential and a "
               "name. The first key turns the second factor on and ends all other sessions. A key "
               "works on pages of the host where it was registered.",
        .auth = AUTH_USER,
        .body = &draft_body,
        .reply = &created_reply,
        .limit = &limit_mfa,
        .fires = (const enum event[]){ EVENT_AUTHENTICATOR_CREATE, EVENT_USER_UPDATE, EVENT_NONE },
        .prepare = require_proof_to_add_security_key,
        .handle = create_authenticator,
    },
    {
        .method = PATCH,
        .path = "/users/@me/mfa/webauthn/credentials/{authenticator.id}",
        .name = "modify_authenticator",
        .doc = "Rename a security key. Needs a proof of identity in the header "
               "X-Discord-MFA-Authorization.",
        .auth = AUTH_USER,
        .body = &patch_body,
        .reply = &key_reply,
        .limit = &limit_mfa,
        .fires = (const enum event[]){ EVENT_AUTHENTICATOR_UPDATE, EVENT_NONE },
        .prepare = require_proof_to_change_security_key,
        .handle = modify_authenticator,
    },
    {
        .method = DELETE,
        .path = "/users/@me/mfa/webauthn/credentials/{authenticator.id}",
        .name = "delete_authenticator",
        .doc = "Delete a security key; if it is the last second factor, the second factor is off "
               "and all other sessions end. Needs a proof of identity in the header "
               "X-Discord-MFA-Authorization.",
        .auth = AUTH_USER,
        .status = 204,
        .limit = &limit_mfa,
        .fires = (const enum event[]){ EVENT_AUTHENTICATOR_DELETE, EVENT_USER_UPDATE, EVENT_NONE },
        .prepare = require_proof_to_change_security_key,
        .handle = delete_authenticator,
    },
    { 0 },
};

const struct domain webauthn_domain = {
    .name = "Security keys",
    .doc = "Security keys and passkeys as a second factor (WebAuthn).",
    .routes = routes,
    .resolvers = resolvers,
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_FEW(WITH_ACCOUNT, "webauthn_credentials", "user_id") }, { 0 } },
};
