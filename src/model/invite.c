/* invite.c - JSON schemas of invites. */
#include "model/invite.h"

static const struct field invite_channel_fields[] = {
    { FIELD(struct channel, id), .type = &type_id },
    { FIELD(struct channel, type), .type = &type_count },
    { FIELD(struct channel, name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct channel, icon), .type = &type_asset_hash, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema invite_channel_schema = {
    .name = "InviteChannel",
    .size = sizeof(struct channel),
    .fields = invite_channel_fields,
    .doc = "The channel that an invite leads to.",
};
static const struct type type_invite_channel = { .kind = KIND_OBJECT,
                                                 .schema = &invite_channel_schema };

static const struct field invite_guild_fields[] = {
    { FIELD(struct guild, id), .type = &type_id },
    { FIELD(struct guild, name), .type = &type_guild_name },
    { FIELD(struct guild, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct guild, splash), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct guild, banner), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct guild, description), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct guild, features), .type = &type_raw },
    { FIELD(struct guild, verification_level), .type = &type_count },
    { FIELD(struct guild, vanity_url_code), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct guild, nsfw_level), .type = &type_count },
    { FIELD(struct guild, nsfw), .type = &type_bool, .flags = DEPRECATED },
    { FIELD(struct guild, premium_tier), .type = &type_count },
    { FIELD(struct guild, premium_subscription_count), .type = &type_count },
    { FIELD(struct guild, welcome_screen), .type = &type_welcome_screen, .flags = OPTIONAL },
    { 0 },
};
static const struct schema invite_guild_schema = {
    .name = "InviteGuild",
    .size = sizeof(struct guild),
    .fields = invite_guild_fields,
    .doc = "A guild, with the fields that invited users can read.",
};
static const struct type type_invite_guild = { .kind = KIND_OBJECT,
                                               .schema = &invite_guild_schema };

static const struct field invite_application_fields[] = {
    { FIELD(struct invite_target_application, id), .type = &type_id },
    { FIELD(struct invite_target_application, name), .type = &type_text },
    { FIELD(struct invite_target_application, description), .type = &type_text },
    { FIELD(struct invite_target_application, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { 0 },
};
static const struct schema invite_application_schema = {
    .name = "InviteApplication",
    .size = sizeof(struct invite_target_application),
    .fields = invite_application_fields,
    .doc = "The app of an activity that users are invited to.",
};
static const struct type type_invite_application = { .kind = KIND_OBJECT,
                                                     .schema = &invite_application_schema };

static const struct field invite_role_fields[] = {
    { FIELD(struct role, id), .type = &type_id },
    { FIELD(struct role, name), .type = &type_text },
    { FIELD(struct role, position), .type = &type_count },
    { FIELD(struct role, color), .type = &type_color },
    { FIELD(struct role, colors), .type = &type_role_colors },
    { FIELD(struct role, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct role, unicode_emoji), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema invite_role_schema = {
    .name = "InviteRole",
    .size = sizeof(struct role),
    .fields = invite_role_fields,
    .doc = "A role that new members get by an invite.",
};
static const struct type type_invite_role = { .kind = KIND_OBJECT, .schema = &invite_role_schema };
static const struct type type_invite_roles = { .kind = KIND_ARRAY, .of = &type_invite_role };

/* clang-format off */
#define INVITE_FIELDS                                                                              \
    { FIELD(struct invite, code), .type = &type_text },                                            \
    { FIELD(struct invite, type), .type = &type_count, .doc = "0: guild, 1: group, 2: friend" },   \
    { FIELD(struct invite, channel), .type = &type_invite_channel, .flags = NULLABLE },            \
    { FIELD(struct invite, guild), .type = &type_invite_guild, .flags = OPTIONAL },                \
    { FIELD(struct invite, guild_id), .type = &type_id, .flags = OPTIONAL },                       \
    { FIELD(struct invite, inviter), .type = &type_partial_user, .flags = OPTIONAL },              \
    { FIELD(struct invite, expires_at), .type = &type_time, .flags = NULLABLE },                   \
    { FIELD(struct invite, target_type), .type = &type_count, .flags = OPTIONAL },                 \
    { FIELD(struct invite, target_user), .type = &type_partial_user, .flags = OPTIONAL },          \
    { FIELD(struct invite, target_application), .type = &type_invite_application,                  \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct invite, approximate_member_count), .type = &type_count, .flags = OPTIONAL },    \
    { FIELD(struct invite, approximate_presence_count), .type = &type_count, .flags = OPTIONAL },  \
    { FIELD(struct invite, guild_scheduled_event), .type = &type_scheduled_event,                  \
      .flags = OPTIONAL, .doc = "Only if the request asked for it" },                              \
    { FIELD(struct invite, roles), .type = &type_invite_roles, .flags = OPTIONAL },                \
    { FIELD(struct invite, flags), .type = &type_count, .flags = OPTIONAL },                       \
    { FIELD_AS(struct invite, accepted_channel_id, "channel_id"), .type = &type_id,                \
      .flags = OPTIONAL, .doc = "After accepting: the id of `channel`, for Spacebar's clients" },  \
    { FIELD(struct invite, new_member), .type = &type_bool, .flags = OPTIONAL,                     \
      .doc = "After accepting: whether the caller was not a member before" }

#define INVITE_METADATA                                                                            \
    { FIELD(struct invite, uses), .type = &type_count },                                           \
    { FIELD(struct invite, max_uses), .type = &type_count },                                       \
    { FIELD(struct invite, max_age), .type = &type_count },                                        \
    { FIELD(struct invite, temporary), .type = &type_bool },                                       \
    { FIELD(struct invite, created_at), .type = &type_time }
/* clang-format on */

static const struct field invite_fields[] = { INVITE_FIELDS, { 0 } };
static const struct field full_invite_fields[] = { INVITE_FIELDS, INVITE_METADATA, { 0 } };
static const struct schema invite_schema = {
    .name = "Invite",
    .size = sizeof(struct invite),
    .fields = invite_fields,
    .doc = "An invite to a guild, to a group or to become friends.",
};
static const struct schema invite_with_metadata_schema = {
    .name = "FullInvite",
    .size = sizeof(struct invite),
    .fields = full_invite_fields,
    .doc = "An invite with the fields for members who manage invites.",
};

static const struct field invite_create_fields[] = {
    { FIELD(struct invite, channel_id), .type = &type_id },
    { FIELD(struct invite, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct invite, code), .type = &type_text },
    { FIELD(struct invite, type), .type = &type_count },
    { FIELD(struct invite, inviter), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct invite, expires_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct invite, target_type), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct invite, target_user), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct invite, target_application), .type = &type_invite_application,
      .flags = OPTIONAL },
    { FIELD(struct invite, roles), .type = &type_invite_roles, .flags = OPTIONAL },
    { FIELD(struct invite, flags), .type = &type_count, .flags = OPTIONAL },
    INVITE_METADATA,
    { 0 },
};
const struct schema invite_create_schema = {
    .name = "InviteCreated",
    .size = sizeof(struct invite),
    .fields = invite_create_fields,
    .doc = "An invite that was created.",
};
static const struct field invite_delete_fields[] = {
    { FIELD(struct invite, channel_id), .type = &type_id },
    { FIELD(struct invite, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct invite, code), .type = &type_text },
    { 0 },
};
const struct schema invite_delete_schema = {
    .name = "InviteDeleted",
    .size = sizeof(struct invite),
    .fields = invite_delete_fields,
    .doc = "An invite that was deleted or has expired.",
};

const struct type type_invite = { .kind = KIND_OBJECT, .schema = &invite_schema };
const struct type type_invite_with_metadata = { .kind = KIND_OBJECT,
                                                .schema = &invite_with_metadata_schema };
const struct type type_invites_with_metadata = { .kind = KIND_ARRAY,
                                                 .of = &type_invite_with_metadata };
