/* schema.c - JSON schemas of the bodies and replies of members and bans. */
#include "platform/members/internal.h"

static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = 1000, .doc = "How many" };
static const struct type type_name_start = {
    .kind = KIND_STRING, .min = 1, .max = 100, .doc = "Start of a name"
};
static const struct type type_role_ids = {
    .kind = KIND_ARRAY, .of = &type_id, .max = 250, .doc = "Roles, without @everyone"
};
static const struct type type_bio = { .kind = KIND_STRING, .max = 190, .doc = "About me" };
static const struct type type_purge_seconds = {
    .kind = KIND_INT, .min = 0, .max = 604800, .doc = "Delete messages of the last seconds"
};
static const struct type type_purge_days = { .kind = KIND_INT, .min = 0, .max = 7 };
static const struct type type_many_ids = {
    .kind = KIND_ARRAY, .of = &type_id, .min = 1, .max = 200
};

static const struct field member_list_fields[] = {
    { FIELD(struct members_page_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct members_page_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 1 },
    { 0 },
};
const struct schema member_list_query = {
    .name = "MemberList",
    .size = sizeof(struct members_page_query),
    .fields = member_list_fields,
    .doc = "Selects members.",
};

static const struct field member_search_fields[] = {
    { FIELD(struct member_search_request, query), .type = &type_name_start },
    { FIELD(struct member_search_request, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 1 },
    { 0 },
};
const struct schema member_search_query = {
    .name = "MemberSearch",
    .size = sizeof(struct member_search_request),
    .fields = member_search_fields,
    .doc = "Selects members by name.",
};

static const struct field member_patch_fields[] = {
    { FIELD(struct member_patch, nick), .type = &type_nick, .flags = OPTIONAL | NULLABLE,
      .doc = "MANAGE_NICKNAMES" },
    { FIELD(struct member_patch, roles), .type = &type_role_ids, .flags = OPTIONAL | NULLABLE,
      .doc = "MANAGE_ROLES" },
    { FIELD(struct member_patch, mute), .type = &type_bool, .flags = OPTIONAL | NULLABLE,
      .doc = "MUTE_MEMBERS" },
    { FIELD(struct member_patch, deaf), .type = &type_bool, .flags = OPTIONAL | NULLABLE,
      .doc = "DEAFEN_MEMBERS" },
    { FIELD(struct member_patch, channel_id), .type = &type_id, .flags = OPTIONAL | NULLABLE,
      .doc = "MOVE_MEMBERS; null disconnects" },
    { FIELD(struct member_patch, communication_disabled_until), .type = &type_time,
      .flags = OPTIONAL | NULLABLE, .doc = "MODERATE_MEMBERS; at most 28 days from now" },
    { FIELD(struct member_patch, flags), .type = &type_count, .flags = OPTIONAL | NULLABLE,
      .doc = "4: exempt from verification" },
    { 0 },
};
static const struct schema member_patch_schema = {
    .name = "MemberPatch",
    .size = sizeof(struct member_patch),
    .fields = member_patch_fields,
    .doc = "Changes of a member.",
};

static const struct field own_member_patch_fields[] = {
    { FIELD(struct current_member_patch, nick), .type = &type_nick, .flags = OPTIONAL | NULLABLE,
      .doc = "CHANGE_NICKNAME" },
    { FIELD(struct current_member_patch, avatar), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct current_member_patch, banner), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct current_member_patch, bio), .type = &type_bio, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema own_member_patch_schema = {
    .name = "OwnMemberPatch",
    .size = sizeof(struct current_member_patch),
    .fields = own_member_patch_fields,
    .doc = "Changes of the caller as a member.",
};

static const struct field member_addition_fields[] = {
    { FIELD(struct member_add_request, access_token), .type = &type_text,
      .doc = "Access token of the user, with the scope guilds.join" },
    { FIELD(struct member_add_request, nick), .type = &type_nick, .flags = OPTIONAL | NULLABLE,
      .doc = "MANAGE_NICKNAMES" },
    { FIELD(struct member_add_request, roles), .type = &type_role_ids, .flags = OPTIONAL,
      .doc = "MANAGE_ROLES" },
    { FIELD(struct member_add_request, mute), .type = &type_bool, .flags = OPTIONAL,
      .doc = "MUTE_MEMBERS" },
    { FIELD(struct member_add_request, deaf), .type = &type_bool, .flags = OPTIONAL,
      .doc = "DEAFEN_MEMBERS" },
    { FIELD(struct member_add_request, flags), .type = &type_count, .flags = OPTIONAL | NULLABLE,
      .doc = "4: exempt from verification; needs the same permissions as changing the flag" },
    { 0 },
};
static const struct schema member_addition_schema = {
    .name = "MemberAddition",
    .size = sizeof(struct member_add_request),
    .fields = member_addition_fields,
    .doc = "A user whom an application adds with an access token.",
};

static const struct field ban_list_fields[] = {
    { FIELD(struct bans_page_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct bans_page_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct bans_page_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 1000 },
    { 0 },
};
const struct schema ban_list_query = {
    .name = "BanList",
    .size = sizeof(struct bans_page_query),
    .fields = ban_list_fields,
    .doc = "Selects bans.",
};

static const struct type type_ban_reason = { .kind = KIND_STRING, .max = 512 };
static const struct field ban_query_fields[] = {
    { FIELD(struct ban_query, delete_message_days), .type = &type_purge_days,
      .flags = OPTIONAL | DEPRECATED, .doc = "Up to version 9" },
    { FIELD_AS(struct ban_query, delete_message_days_old, "delete-message-days"),
      .type = &type_purge_days, .flags = OPTIONAL | DEPRECATED, .doc = "Up to version 7" },
    { 0 },
};
const struct schema ban_query = {
    .name = "BanQuery",
    .size = sizeof(struct ban_query),
    .fields = ban_query_fields,
    .doc = "Options of a ban up to API version 9.",
};

static const struct field ban_request_fields[] = {
    { FIELD(struct ban_request, delete_message_seconds), .type = &type_purge_seconds,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct ban_request, delete_message_days), .type = &type_purge_days,
      .flags = OPTIONAL | NULLABLE | DEPRECATED },
    { FIELD(struct ban_request, reason), .type = &type_ban_reason,
      .flags = OPTIONAL | NULLABLE | DEPRECATED, .doc = "Up to version 9" },
    { 0 },
};
static const struct schema ban_request_schema = {
    .name = "BanRequest",
    .size = sizeof(struct ban_request),
    .fields = ban_request_fields,
    .doc = "Options of a ban.",
};

static const struct field bulk_ban_fields[] = {
    { FIELD(struct bulk_ban_request, user_ids), .type = &type_many_ids },
    { FIELD(struct bulk_ban_request, delete_message_seconds), .type = &type_purge_seconds,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema bulk_ban_schema = {
    .name = "BulkBanRequest",
    .size = sizeof(struct bulk_ban_request),
    .fields = bulk_ban_fields,
    .doc = "The users to ban.",
};
static const struct field bulk_ban_result_fields[] = {
    { FIELD(struct bulk_ban_result, banned_users), .type = &type_ids },
    { FIELD(struct bulk_ban_result, failed_users), .type = &type_ids },
    { 0 },
};
static const struct schema bulk_ban_result_schema = {
    .name = "BulkBanResult",
    .size = sizeof(struct bulk_ban_result),
    .fields = bulk_ban_result_fields,
    .doc = "The users who were banned and those who were not.",
};

static const struct field ban_fields[] = {
    { FIELD(struct guild_ban, user), .type = &type_partial_user },
    { FIELD(struct guild_ban, reason), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema ban_schema = {
    .name = "Ban",
    .size = sizeof(struct guild_ban),
    .fields = ban_fields,
    .doc = "A banned user.",
};

const struct type member_patch_body = { .kind = KIND_OBJECT, .schema = &member_patch_schema };
const struct type current_member_patch_body = { .kind = KIND_OBJECT,
                                                .schema = &own_member_patch_schema };
const struct type member_add_body = { .kind = KIND_OBJECT, .schema = &member_addition_schema };
const struct type ban_body = { .kind = KIND_OBJECT, .schema = &ban_request_schema };
const struct type bulk_ban_body = { .kind = KIND_OBJECT, .schema = &bulk_ban_schema };
const struct type type_ban = { .kind = KIND_OBJECT, .schema = &ban_schema };
const struct type type_bans = { .kind = KIND_ARRAY, .of = &type_ban };
const struct type bulk_ban_reply = { .kind = KIND_OBJECT, .schema = &bulk_ban_result_schema };
