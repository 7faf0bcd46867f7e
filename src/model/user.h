/* user.h - users (accounts) and their forms in the API.
 *
 * Everyone can read the partial user; the account itself can read more fields. Folder model/ has
 * the objects that all folders share, with their schemas. It owns no table and may use store/,
 * net/, json/ and base/. Invariant: one struct and one schema per object. Start here, then read
 * channel.h and events/events.h. */
#ifndef MODEL_USER_H
#define MODEL_USER_H

#include "model/fields/types.h"

struct user {
    snowflake id;
    struct str username;
    struct str discriminator; /* always "0", because usernames are unique */
    struct opt_str global_name, avatar, banner, email, phone;
    struct opt_int accent_color;
    struct str bio, locale, pronouns;
    int64_t flags, public_flags, premium_type;
    bool verified, mfa_enabled;
    struct opt_bool bot, system; /* either true or absent */
    struct opt_bool nsfw_allowed;
    struct str avatar_decoration_data, primary_guild, collectibles; /* always null */

    /* The members below are not part of the JSON object. */
    /* Hash of the password; NULL pointer if the account has no password. */
    struct str password_hash;
    struct str date_of_birth;
    bool disabled, deleting;
    bool paused; /* the account's owner has disabled the account and can enable it again */
};

/* Account flags that the server evaluates. */
#define USER_SPAMMER     (INT64_C(1) << 20)
#define USER_QUARANTINED (INT64_C(1) << 44)

/* Response to PATCH /users/@me: the user, and the new token. */
struct user_with_token {
    /* Must be the first struct member: the schema of a user is also used for this struct. */
    struct user user;
    struct str token;
};

/* The user object in READY. It has fields that clients expect, but that Guildhall does not use. */
struct user_in_ready {
    struct user user;
    struct str pronouns;
    int64_t purchased_flags, premium_usage_flags;
    bool desktop, mobile;
};

extern const struct type type_username, type_display_name;
extern const struct type type_phone; /* phone number (E.164): + and digits */
extern const struct type type_partial_user, type_partial_users, type_profile_user;
extern const struct type type_flag_bits; /* type of a set of flag bits, which is a number in JSON */

extern const struct schema partial_user_schema; /* id, username, avatar and other basic fields */
/* The partial user with banner and accent_color, for GET /users/{id}. */
extern const struct schema public_user_schema;
extern const struct schema current_user_schema; /* all fields, for the account itself */
extern const struct schema user_with_token_schema, user_in_ready_schema;
/* The user object that an OAuth2 app gets: with the scope identify, and with the scopes identify
 * and email. */
extern const struct schema oauth2_user_schema, oauth2_user_with_email_schema;
extern const struct schema profile_user_schema; /* public user and bio */

/* The fields of a partial user, for the schemas of objects that begin with the fields of a user. */
/* clang-format off */
#define USER_FIELDS_WITH(flags_, how_)                                                                   \
    { FIELD(struct user, id), .type = &type_id },                                                  \
    { FIELD(struct user, username), .type = &type_username },                                      \
    { FIELD(struct user, discriminator), .type = &type_text, .doc = "\"0\": names are unique" },   \
    { FIELD(struct user, global_name), .type = &type_display_name, .flags = NULLABLE },            \
    { FIELD(struct user, avatar), .type = &type_asset_hash, .flags = NULLABLE },                   \
    { FIELD(struct user, avatar_decoration_data), .type = &type_always_null, .flags = NULLABLE },      \
    { FIELD(struct user, primary_guild), .type = &type_always_null, .flags = NULLABLE },               \
    { FIELD(struct user, collectibles), .type = &type_always_null, .flags = NULLABLE },                \
    { FIELD(struct user, public_flags), .type = &type_flag_bits },                                   \
    { FIELD_AS(struct user, flags_, "flags"), .type = &type_flag_bits, .flags = how_ },              \
    { FIELD(struct user, bot), .type = &type_bool, .flags = OPTIONAL },                            \
    { FIELD(struct user, system), .type = &type_bool, .flags = OPTIONAL }
/* The fields of a partial user. Its JSON field "flags" has only the public flags, because other
 * users may see only these. */
#define PARTIAL_USER_FIELDS USER_FIELDS_WITH(public_flags, RESPONSE_ALIAS)
/* clang-format on */

#endif
