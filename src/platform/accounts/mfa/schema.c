/* schema.c - JSON schemas of the second-factor bodies. */
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/bodies.h"
#include "platform/accounts/mfa/mfa.h"

static const struct type type_ticket = { .kind = KIND_STRING,
                                         .max = 200,
                                         .doc = "Signed ticket of the caller, valid for five "
                                                "minutes" };
const struct type type_mfa_code = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 32, .doc = "Six digits, or a backup code"
};
static const struct type type_secret = { .kind = KIND_STRING,
                                         .max = 64,
                                         .doc = "20 bytes in base32, chosen by the client" };

static const struct field login_fields[] = {
    { FIELD(struct mfa_login_request, ticket), .type = &type_ticket },
    { FIELD(struct mfa_login_request, code), .type = &type_mfa_code },
    { FIELD(struct mfa_login_request, login_instance_id), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema login_schema = {
    .name = "MfaLogin",
    .size = sizeof(struct mfa_login_request),
    .fields = login_fields,
    .doc = "The second step of a login.",
};
const struct type mfa_login_body = { .kind = KIND_OBJECT, .schema = &login_schema };

const struct type type_webauthn_response = {
    .kind = KIND_STRING,
    .max = 16384,
    .doc = "The PublicKeyCredential, as JSON in a string",
};
static const struct field webauthn_login_fields[] = {
    { FIELD(struct mfa_login_request, ticket), .type = &type_ticket },
    { FIELD(struct mfa_login_request, code), .type = &type_webauthn_response },
    { FIELD(struct mfa_login_request, login_instance_id), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema webauthn_login_schema = {
    .name = "SecurityKeyLogin",
    .size = sizeof(struct mfa_login_request),
    .fields = webauthn_login_fields,
    .doc = "The second step of a login, with a security key.",
};
const struct type webauthn_login_body = { .kind = KIND_OBJECT, .schema = &webauthn_login_schema };

static const struct field enable_fields[] = {
    { FIELD(struct mfa_enable_request, password), .type = &type_entered_password },
    { FIELD(struct mfa_enable_request, secret), .type = &type_secret,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct mfa_enable_request, code), .type = &type_mfa_code,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema enable_schema = {
    .name = "MfaEnable",
    .size = sizeof(struct mfa_enable_request),
    .fields = enable_fields,
    .doc = "A TOTP secret, and a code that confirms it.",
};
const struct type mfa_enable_body = { .kind = KIND_OBJECT, .schema = &enable_schema };

static const struct field disable_fields[] = {
    { FIELD(struct mfa_disable_request, code), .type = &type_mfa_code,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema disable_schema = {
    .name = "MfaDisable",
    .size = sizeof(struct mfa_disable_request),
    .fields = disable_fields,
    .doc = "A code that confirms disabling the second factor.",
};
const struct type mfa_disable_body = { .kind = KIND_OBJECT, .schema = &disable_schema };

static const struct field challenge_fields[] = {
    { FIELD(struct mfa_challenge_request, password), .type = &type_entered_password },
    { FIELD(struct mfa_challenge_request, code), .type = &type_mfa_code,
      .flags = OPTIONAL | NULLABLE, .doc = "Required" },
    { 0 },
};
static const struct schema challenge_schema = {
    .name = "BackupCodesChallenge",
    .size = sizeof(struct mfa_challenge_request),
    .fields = challenge_fields,
    .doc = "The password and a code of the second factor.",
};
const struct type mfa_challenge_body = { .kind = KIND_OBJECT, .schema = &challenge_schema };

static const struct field codes_request_fields[] = {
    { FIELD(struct mfa_backup_codes_request, key), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "Ignored" },
    { FIELD(struct mfa_backup_codes_request, nonce), .type = &type_ticket },
    { FIELD(struct mfa_backup_codes_request, regenerate), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Replace the codes; the old ones become invalid" },
    { 0 },
};
static const struct schema codes_request_schema = {
    .name = "BackupCodesRequest",
    .size = sizeof(struct mfa_backup_codes_request),
    .fields = codes_request_fields,
    .doc = "Whether to read or replace the backup codes.",
};
const struct type mfa_codes_body = { .kind = KIND_OBJECT, .schema = &codes_request_schema };

static const struct field backup_code_fields[] = {
    { FIELD(struct backup_code, user_id), .type = &type_id },
    { FIELD(struct backup_code, code), .type = &type_text },
    { FIELD(struct backup_code, consumed), .type = &type_bool },
    { 0 },
};
static const struct schema backup_code_schema = {
    .name = "BackupCode",
    .size = sizeof(struct backup_code),
    .fields = backup_code_fields,
    .doc = "A backup code, which works once.",
};
static const struct type type_backup_code = { .kind = KIND_OBJECT, .schema = &backup_code_schema };
const struct type type_backup_codes = { .kind = KIND_ARRAY, .of = &type_backup_code };

static const struct field enabled_fields[] = {
    { FIELD(struct mfa_enabled_reply, token), .type = &type_text },
    { FIELD(struct mfa_enabled_reply, backup_codes), .type = &type_backup_codes },
    { 0 },
};
static const struct schema enabled_schema = {
    .name = "MfaEnabled",
    .size = sizeof(struct mfa_enabled_reply),
    .fields = enabled_fields,
    .doc = "A new token, and the backup codes.",
};
const struct type mfa_enabled_reply = { .kind = KIND_OBJECT, .schema = &enabled_schema };

static const struct field nonces_fields[] = {
    { FIELD(struct mfa_challenge_nonces, nonce), .type = &type_text },
    { FIELD(struct mfa_challenge_nonces, regenerate_nonce), .type = &type_text },
    { 0 },
};
static const struct schema nonces_schema = {
    .name = "BackupCodesNonces",
    .size = sizeof(struct mfa_challenge_nonces),
    .fields = nonces_fields,
    .doc = "Nonces for reading and for replacing the backup codes.",
};
const struct type mfa_nonces_reply = { .kind = KIND_OBJECT, .schema = &nonces_schema };

static const struct field codes_fields[] = {
    { FIELD(struct mfa_backup_codes, backup_codes), .type = &type_backup_codes },
    { 0 },
};
static const struct schema codes_schema = {
    .name = "BackupCodes",
    .size = sizeof(struct mfa_backup_codes),
    .fields = codes_fields,
    .doc = "The account's backup codes.",
};
const struct type mfa_codes_reply = { .kind = KIND_OBJECT, .schema = &codes_schema };
