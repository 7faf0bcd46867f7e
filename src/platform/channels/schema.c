/* schema.c - JSON schemas of the request bodies of channels. */
#include "platform/channels/internal.h"

static const struct enum_choice guild_types[] = {
    { CHANNEL_TEXT, NULL, "TEXT", "Text" },
    { CHANNEL_VOICE, NULL, "VOICE", "Voice" },
    { CHANNEL_CATEGORY, NULL, "CATEGORY", "Contains channels" },
    { CHANNEL_ANNOUNCEMENT, NULL, "ANNOUNCEMENT", "Announcement channel" },
    { CHANNEL_STAGE, NULL, "STAGE", "Voice with an audience" },
    { CHANNEL_FORUM, NULL, "FORUM", "Contains only threads" },
    { CHANNEL_MEDIA, NULL, "MEDIA", "A forum for pictures and videos" },
    { 0 },
};
static const struct enum_choice quality_modes[] = {
    { 1, NULL, "AUTO", "Automatic quality" },
    { 2, NULL, "FULL", "720p" },
    { 0 },
};

static const struct type type_guild_type = { .kind = KIND_INT, .choices = guild_types };
static const struct type type_quality_mode = { .kind = KIND_INT, .choices = quality_modes };
static const struct type type_bitrate = { .kind = KIND_INT,
                                          .min = 8000,
                                          .max = 96000,
                                          .doc = "Bits per second; at most 64000 on a "
                                                 "stage" };
static const struct type type_user_limit = {
    .kind = KIND_INT, .min = 0, .max = 10000, .doc = "0: no limit; at most 99 except on a stage"
};
static const struct type type_slowmode = {
    .kind = KIND_INT, .min = 0, .max = 21600, .doc = "Seconds between messages of one member"
};
static const struct type type_region = { .kind = KIND_STRING, .doc = "Region id; null: automatic" };

static const struct enum_choice sort_orders[] = {
    { 0, NULL, "LATEST_ACTIVITY", "By the last message" },
    { 1, NULL, "CREATION_DATE", "By creation time" },
    { 0 },
};
static const struct enum_choice layouts[] = {
    { 0, NULL, "NOT_SET", "Chosen by the client" },
    { 1, NULL, "LIST_VIEW", "A list" },
    { 2, NULL, "GALLERY_VIEW", "Tiles" },
    { 0 },
};
static const struct enum_choice tag_settings[] = {
    { 0, "match_some", "MATCH_SOME", "Posts with one of the tags" },
    { 0, "match_all", "MATCH_ALL", "Posts with all of the tags" },
    { 0 },
};
static const struct type type_sort_order = { .kind = KIND_INT, .choices = sort_orders };
static const struct type type_layout = { .kind = KIND_INT, .choices = layouts };
static const struct type type_tag_setting = { .kind = KIND_STRING, .choices = tag_settings };
static const struct type type_applied_tags = { .kind = KIND_ARRAY, .max = 5, .of = &type_id };

static const struct enum_choice overwrite_types[] = {
    { OVERWRITE_ROLE, NULL, "ROLE", "For all members with a role", "role" },
    { OVERWRITE_MEMBER, NULL, "MEMBER", "For one member", "member" },
    { 0 },
};
static const struct type type_overwrite_type = { .kind = KIND_INT, .choices = overwrite_types };
static const struct field overwrite_draft_fields[] = {
    { FIELD(struct overwrite, id), .type = &type_id },
    { FIELD(struct overwrite, type), .type = &type_overwrite_type, .flags = OPTIONAL | NULLABLE,
      .fallback = OVERWRITE_TYPE_FROM_ID,
      .doc = "If omitted: role if the guild has a role with this id, else member" },
    { FIELD(struct overwrite, allow), .type = &type_permissions, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct overwrite, deny), .type = &type_permissions, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema overwrite_draft_schema = {
    .name = "OverwriteDraft",
    .size = sizeof(struct overwrite),
    .fields = overwrite_draft_fields,
    .doc = "An overwrite to set in a channel.",
};
static const struct type type_overwrite_draft = { .kind = KIND_OBJECT,
                                                  .schema = &overwrite_draft_schema };
static const struct type type_overwrite_drafts = { .kind = KIND_ARRAY,
                                                   .of = &type_overwrite_draft };

/* Fields that the bodies for creating and changing a channel share, with equal limits. */
#define EDIT_FIELDS                                                                               \
    { FIELD(struct channel_edit, topic), .type = &type_topic, .flags = OPTIONAL | NULLABLE },     \
        { FIELD(struct channel_edit, position), .type = &type_count,                              \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, parent_id), .type = &type_id, .flags = OPTIONAL | NULLABLE,  \
          .doc = "A category of the guild" },                                                     \
        { FIELD(struct channel_edit, nsfw), .type = &type_bool, .flags = OPTIONAL | NULLABLE },   \
        { FIELD(struct channel_edit, rate_limit_per_user), .type = &type_slowmode,                \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, bitrate), .type = &type_bitrate,                             \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, user_limit), .type = &type_user_limit,                       \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, rtc_region), .type = &type_region,                           \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, video_quality_mode), .type = &type_quality_mode,             \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, default_auto_archive_duration),                              \
          .type = &type_archive_minutes, .flags = OPTIONAL | NULLABLE },                          \
        { FIELD(struct channel_edit, default_thread_rate_limit_per_user), .type = &type_slowmode, \
          .flags = OPTIONAL | NULLABLE },                                                         \
        { FIELD(struct channel_edit, available_tags), .type = &type_forum_tags,                   \
          .flags = OPTIONAL | NULLABLE, .doc = "Forums; 20 at most" },                            \
        { FIELD(struct channel_edit, default_reaction_emoji), .type = &type_default_reaction,     \
          .flags = OPTIONAL | NULLABLE, .doc = "Forums" },                                        \
        { FIELD(struct channel_edit, default_sort_order), .type = &type_sort_order,               \
          .flags = OPTIONAL | NULLABLE, .doc = "Forums" },                                        \
        { FIELD(struct channel_edit, default_forum_layout), .type = &type_layout,                 \
          .flags = OPTIONAL | NULLABLE, .doc = "Forums" },                                        \
        { FIELD(struct channel_edit, default_tag_setting), .type = &type_tag_setting,             \
          .flags = OPTIONAL | NULLABLE, .doc = "Forums" },                                        \
    {                                                                                             \
        FIELD(struct channel_edit, permission_overwrites), .type = &type_overwrite_drafts,        \
                                                           .flags = OPTIONAL | NULLABLE           \
    }

static const struct field create_fields[] = {
    { FIELD(struct channel_edit, name), .type = &type_channel_name },
    { FIELD(struct channel_edit, type), .type = &type_guild_type, .flags = OPTIONAL | NULLABLE },
    EDIT_FIELDS,
    { 0 },
};
static const struct schema create_schema = {
    .name = "ChannelDraft",
    .size = sizeof(struct channel_edit),
    .fields = create_fields,
    .doc = "A new channel of a guild.",
};

static const struct field edit_fields[] = {
    { FIELD(struct channel_edit, name), .type = &type_channel_name, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel_edit, type), .type = &type_guild_type, .flags = OPTIONAL,
      .doc = "Text to announcement, or the reverse" },
    EDIT_FIELDS,
    { FIELD(struct channel_edit, icon), .type = &type_image_upload, .flags = OPTIONAL | NULLABLE,
      .doc = "Groups" },
    { FIELD(struct channel_edit, owner), .type = &type_id, .flags = OPTIONAL, .doc = "Groups" },
    { FIELD(struct channel_edit, archived), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Threads" },
    { FIELD(struct channel_edit, locked), .type = &type_bool, .flags = OPTIONAL, .doc = "Threads" },
    { FIELD(struct channel_edit, auto_archive_duration), .type = &type_archive_minutes,
      .flags = OPTIONAL, .doc = "Threads" },
    { FIELD(struct channel_edit, invitable), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Private threads" },
    { FIELD(struct channel_edit, applied_tags), .type = &type_applied_tags,
      .flags = OPTIONAL | NULLABLE, .doc = "Posts" },
    { FIELD(struct channel_edit, flags), .type = &type_count, .flags = OPTIONAL,
      .doc = "Posts: 2 (pinned); forums: 16 (a tag is required)" },
    { 0 },
};
static const struct schema edit_schema = {
    .name = "ChannelPatch",
    .size = sizeof(struct channel_edit),
    .fields = edit_fields,
    .doc = "Changes of a channel; fields that its type does not have are ignored.",
};

static const struct field move_fields[] = {
    { FIELD(struct channel_position_change, id), .type = &type_id },
    { FIELD(struct channel_position_change, position), .type = &type_count,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel_position_change, parent_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel_position_change, lock_permissions), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE, .doc = "Copy the overwrites of the category" },
    { 0 },
};
static const struct schema move_schema = {
    .name = "ChannelMove",
    .size = sizeof(struct channel_position_change),
    .fields = move_fields,
    .doc = "The new position of a channel.",
};
static const struct type type_move = { .kind = KIND_OBJECT, .schema = &move_schema };

static const struct field overwrite_fields[] = {
    { FIELD(struct overwrite_edit, type), .type = &type_overwrite_type },
    { FIELD(struct overwrite_edit, allow), .type = &type_permissions,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct overwrite_edit, deny), .type = &type_permissions, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema overwrite_edit_schema = {
    .name = "OverwriteEdit",
    .size = sizeof(struct overwrite_edit),
    .fields = overwrite_fields,
    .doc = "Permissions to allow or deny in a channel.",
};

static const struct field channels_query_fields[] = {
    { FIELD(struct guild_channels_query, permissions), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Include the caller's permissions in each channel" },
    { 0 },
};
const struct schema channels_query_schema = {
    .name = "ChannelsQuery",
    .size = sizeof(struct guild_channels_query),
    .fields = channels_query_fields,
    .doc = "Options for listing channels.",
};

static const struct field leave_query_fields[] = {
    { FIELD(struct channel_leave_query, silent), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Leave a group without a system message" },
    { 0 },
};
const struct schema leave_query_schema = {
    .name = "LeaveQuery",
    .size = sizeof(struct channel_leave_query),
    .fields = leave_query_fields,
    .doc = "Options for leaving a channel.",
};

const struct type channel_create_body = { .kind = KIND_OBJECT, .schema = &create_schema };
const struct type channel_edit_body = { .kind = KIND_OBJECT, .schema = &edit_schema };
const struct type channel_moves_body = { .kind = KIND_ARRAY,
                                         .of = &type_move,
                                         .max = MAX_CHANNELS };
const struct type overwrite_body = { .kind = KIND_OBJECT, .schema = &overwrite_edit_schema };
