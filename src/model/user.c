/* user.c - JSON schemas of users. */
#include "model/fields/types.h"
#include "model/user.h"

static bool is_username(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'))
            return false;
        if (c == '.' && i && s.p[i - 1] == '.')
            return false;
    }
    return true;
}

static const struct string_rule username_rule = {
    is_username,
    "USERNAME_INVALID_CONTAINS",
    "Usernames are made of a-z, 0-9, _ and single dots.",
};

/* Returns true for an E.164 number: at most 15 digits, no leading zero. */
static bool is_phone_number(struct str s)
{
    if (s.n < 8 || s.n > 16 || s.p[0] != '+' || s.p[1] == '0')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}
static const struct string_rule phone_rule = { is_phone_number, "PHONE_NUMBER_INVALID",
                                               "Must be a phone number such as +15550100." };
const struct type type_phone = { .kind = KIND_STRING,
                                 .rule = &phone_rule,
                                 .doc = "Phone number in the form +15550100" };

const struct type type_username = { .kind = KIND_STRING,
                                    .flags = TYPE_TRIM | TYPE_LOWER,
                                    .min = 2,
                                    .max = 32,
                                    .rule = &username_rule,
                                    .doc = "Unique name: a-z, 0-9, _ and single dots" };
const struct type type_display_name = { .kind = KIND_STRING,
                                        .rule = &rule_visible_name,
                                        .flags = TYPE_TRIM,
                                        .min = 1,
                                        .max = 32,
                                        .doc = "Display name" };

const struct type type_flag_bits = { .kind = KIND_INT, .doc = "Bit set" };

/* clang-format off */
#define PUBLIC_USER_FIELDS_WITH(flags_, how_)                                                            \
    USER_FIELDS_WITH(flags_, how_),                                                                      \
    { FIELD(struct user, banner), .type = &type_asset_hash, .flags = NULLABLE },                   \
    { FIELD(struct user, accent_color), .type = &type_color, .flags = NULLABLE }
#define PUBLIC_USER_FIELDS PUBLIC_USER_FIELDS_WITH(public_flags, RESPONSE_ALIAS)

#define CURRENT_USER_FIELDS                                                                            \
    PUBLIC_USER_FIELDS_WITH(flags, 0),                                                                \
    { FIELD(struct user, email), .type = &type_text, .flags = NULLABLE },                          \
    { FIELD(struct user, phone), .type = &type_text, .flags = NULLABLE },                          \
    { FIELD(struct user, verified), .type = &type_bool },                                          \
    { FIELD(struct user, mfa_enabled), .type = &type_bool },                                       \
    { FIELD(struct user, locale), .type = &type_locale },                                          \
    { FIELD(struct user, premium_type), .type = &type_count },                                     \
    { FIELD(struct user, bio), .type = &type_text },                                               \
    { FIELD(struct user, nsfw_allowed), .type = &type_bool, .flags = NULLABLE }
/* clang-format on */

static const struct field partial_user_fields[] = { PARTIAL_USER_FIELDS, { 0 } };
static const struct field public_user_fields[] = { PUBLIC_USER_FIELDS, { 0 } };
static const struct field current_user_fields[] = { CURRENT_USER_FIELDS, { 0 } };
static const struct field user_with_token_fields[] = {
    CURRENT_USER_FIELDS,
    { FIELD(struct user_with_token, token), .type = &type_text },
    { 0 },
};
static const struct field user_in_ready_fields[] = {
    CURRENT_USER_FIELDS,
    { FIELD(struct user_in_ready, pronouns), .type = &type_text },
    { FIELD(struct user_in_ready, purchased_flags), .type = &type_flag_bits },
    { FIELD(struct user_in_ready, premium_usage_flags), .type = &type_flag_bits },
    { FIELD(struct user_in_ready, desktop), .type = &type_bool },
    { FIELD(struct user_in_ready, mobile), .type = &type_bool },
    { 0 },
};

/* clang-format off */
#define OAUTH2_USER_FIELDS                                                                            \
    PUBLIC_USER_FIELDS,                                                                            \
    { FIELD(struct user, mfa_enabled), .type = &type_bool },                                       \
    { FIELD(struct user, locale), .type = &type_locale },                                          \
    { FIELD(struct user, premium_type), .type = &type_count }
/* clang-format on */

static const struct field oauth2_user_fields[] = { OAUTH2_USER_FIELDS, { 0 } };
static const struct field oauth2_user_with_email_fields[] = {
    OAUTH2_USER_FIELDS,
    { FIELD(struct user, email), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct user, verified), .type = &type_bool },
    { 0 },
};
static const struct field profile_user_fields[] = {
    PUBLIC_USER_FIELDS,
    { FIELD(struct user, bio), .type = &type_text },
    { 0 },
};

const struct type type_partial_users = { .kind = KIND_ARRAY, .of = &type_partial_user };
const struct type type_profile_user = { .kind = KIND_OBJECT, .schema = &profile_user_schema };
const struct type type_partial_user = { .kind = KIND_OBJECT, .schema = &partial_user_schema };
const struct schema partial_user_schema = {
    .name = "PartialUser",
    .size = sizeof(struct user),
    .fields = partial_user_fields,
    .doc = "An account, with the fields that everyone can read.",
};
const struct schema public_user_schema = {
    .name = "PublicUser",
    .size = sizeof(struct user),
    .fields = public_user_fields,
    .doc = "An account with its banner and accent colour.",
};
const struct schema current_user_schema = {
    .name = "User",
    .size = sizeof(struct user),
    .fields = current_user_fields,
    .doc = "The caller's account.",
};
const struct schema user_with_token_schema = {
    .name = "UserWithToken",
    .size = sizeof(struct user_with_token),
    .fields = user_with_token_fields,
    .doc = "The caller's account and the token to use from now on.",
};
const struct schema user_in_ready_schema = {
    .name = "UserInReady",
    .size = sizeof(struct user_in_ready),
    .fields = user_in_ready_fields,
};
const struct schema oauth2_user_schema = {
    .name = "Identity",
    .size = sizeof(struct user),
    .fields = oauth2_user_fields,
    .doc = "An account, as an OAuth2 app gets it.",
};
const struct schema oauth2_user_with_email_schema = {
    .name = "IdentityWithEmail",
    .size = sizeof(struct user),
    .fields = oauth2_user_with_email_fields,
    .doc = "An account, as an OAuth2 app with the scope email gets it.",
};
const struct schema profile_user_schema = {
    .name = "ProfileUser",
    .size = sizeof(struct user),
    .fields = profile_user_fields,
    .doc = "An account as part of a profile.",
};
