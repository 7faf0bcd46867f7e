/* schema.c - JSON schemas of the request and response bodies of accounts. */
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"

static bool is_email_address(struct str s)
{
    const char *at = s.n ? memchr(s.p, '@', s.n) : NULL;

    if (!at || at == s.p || at == s.p + s.n - 1)
        return false;
    struct str domain = str_skip_bytes(s, (size_t)(at - s.p) + 1);
    /* Line breaks are refused, because they would inject header lines into a mail. */
    return !memchr(domain.p, '@', domain.n) && !memchr(s.p, ' ', s.n) &&
           rule_visible_name.is_valid(s);
}

static const struct string_rule email_rule = { is_email_address, "EMAIL_TYPE_INVALID_EMAIL",
                                               "Not a well formed email address." };

const struct type type_email = { .kind = KIND_STRING,
                                 .flags = TYPE_TRIM | TYPE_LOWER,
                                 .min = 3,
                                 .max = 254,
                                 .rule = &email_rule,
                                 .doc = "Email address" };
const struct type type_password = { .kind = KIND_STRING, .min = 8, .max = 72, .doc = "Password" };
/* An entered password is only compared, so it needs no minimum length. */
const struct type type_entered_password = { .kind = KIND_STRING, .max = 72, .doc = "Password" };
const struct type type_login = {
    .kind = KIND_STRING, .flags = TYPE_TRIM | TYPE_LOWER, .max = 254, .doc = "Email or username"
};
static const struct type type_date = { .kind = KIND_STRING, .max = 10, .doc = "YYYY-MM-DD" };
static const struct type type_bio = { .kind = KIND_STRING, .max = 190, .doc = "About me" };
static const struct type type_token = { .kind = KIND_STRING, .doc = "Credential; keep it secret" };

static const struct field registration_fields[] = {
    { FIELD(struct registration_request, username), .type = &type_username },
    { FIELD(struct registration_request, global_name), .type = &type_display_name,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct registration_request, email), .type = &type_email,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct registration_request, password), .type = &type_password,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Without a password the account can only use its token" },
    { FIELD(struct registration_request, date_of_birth), .type = &type_date,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct registration_request, invite), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "Code of an invite to accept, or a registration code" },
    { 0 },
};
static const struct schema registration_schema = {
    .name = "Registration",
    .size = sizeof(struct registration_request),
    .fields = registration_fields,
    .doc = "A new account.",
};

static const struct field login_fields[] = {
    { FIELD(struct login_request, login), .type = &type_login },
    { FIELD(struct login_request, password), .type = &type_entered_password },
    { FIELD(struct login_request, undelete), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Cancel a scheduled deletion, or enable an account that its owner disabled" },
    { 0 },
};
static const struct schema login_schema = {
    .name = "Login",
    .size = sizeof(struct login_request),
    .fields = login_fields,
    .doc = "A login.",
};

static const struct field user_patch_fields[] = {
    { FIELD(struct user_patch, username), .type = &type_username, .flags = OPTIONAL },
    { FIELD(struct user_patch, global_name), .type = &type_display_name,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct user_patch, avatar), .type = &type_image_upload, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct user_patch, banner), .type = &type_image_upload, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct user_patch, bio), .type = &type_bio, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct user_patch, accent_color), .type = &type_color, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct user_patch, email), .type = &type_email, .flags = OPTIONAL },
    { FIELD(struct user_patch, password), .type = &type_entered_password,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Current password; needed to change name, email, password or date of birth" },
    { FIELD(struct user_patch, code), .type = &type_mfa_code, .flags = OPTIONAL | NULLABLE,
      .doc = "Code of the second factor, if there is one; needed with the password" },
    { FIELD(struct user_patch, new_password), .type = &type_password, .flags = OPTIONAL },
    { FIELD(struct user_patch, date_of_birth), .type = &type_date, .flags = OPTIONAL },
    { 0 },
};
static const struct schema user_patch_schema = {
    .name = "UserPatch",
    .size = sizeof(struct user_patch),
    .fields = user_patch_fields,
    .doc = "Changes of the caller's account.",
};

static const struct field token_fields[] = {
    { FIELD(struct token_reply, token), .type = &type_token },
    { 0 },
};
static const struct schema token_schema = {
    .name = "Token",
    .size = sizeof(struct token_reply),
    .fields = token_fields,
    .doc = "A token.",
};

static const struct field login_settings_fields[] = {
    { FIELD(struct login_settings, locale), .type = &type_locale },
    { FIELD(struct login_settings, theme), .type = &type_text },
    { 0 },
};
static const struct schema login_settings_schema = {
    .name = "LoginSettings",
    .size = sizeof(struct login_settings),
    .fields = login_settings_fields,
    .doc = "Settings that a client needs right after the login.",
};
static const struct type type_login_settings = { .kind = KIND_OBJECT,
                                                 .schema = &login_settings_schema };
static const struct field login_reply_fields[] = {
    { FIELD(struct login_reply, user_id), .type = &type_id },
    { FIELD(struct login_reply, token), .type = &type_token, .flags = OPTIONAL },
    { FIELD(struct login_reply, user_settings), .type = &type_login_settings, .flags = OPTIONAL },
    { FIELD(struct login_reply, settings), .type = &type_login_settings, .flags = OPTIONAL,
      .doc = "The same, for Spacebar's clients" },
    { FIELD(struct login_reply, mfa), .type = &type_bool, .flags = OPTIONAL,
      .doc = "The login needs a second factor; there is no token yet" },
    { FIELD(struct login_reply, sms), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct login_reply, totp), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct login_reply, backup), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct login_reply, webauthn), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct login_reply, ticket), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct login_reply, login_instance_id), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema login_reply_schema = {
    .name = "LoginResult",
    .size = sizeof(struct login_reply),
    .fields = login_reply_fields,
    .doc = "The result of a login: a token, or a ticket for the second factor.",
};

const struct type registration_body = { .kind = KIND_OBJECT, .schema = &registration_schema };
const struct type login_body = { .kind = KIND_OBJECT, .schema = &login_schema };
const struct type user_patch_body = { .kind = KIND_OBJECT, .schema = &user_patch_schema };
const struct type token_reply = { .kind = KIND_OBJECT, .schema = &token_schema };
const struct type login_reply = { .kind = KIND_OBJECT, .schema = &login_reply_schema };
const struct type current_user_reply = { .kind = KIND_OBJECT, .schema = &current_user_schema };
const struct type patched_user_reply = { .kind = KIND_OBJECT, .schema = &user_with_token_schema };
const struct type public_user_reply = { .kind = KIND_OBJECT, .schema = &public_user_schema };
