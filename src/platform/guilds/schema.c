/* schema.c - JSON schemas of the bodies, queries and replies of guilds. */
#include "platform/guilds/internal.h"

static const struct enum_choice verification_levels[] = {
    { 0, NULL, "NONE", "No requirement" },
    { 1, NULL, "LOW", "Only with a verified email" },
    { 2, NULL, "MEDIUM", "Only accounts older than five minutes" },
    { 3, NULL, "HIGH", "Only after ten minutes in the guild" },
    { 4, NULL, "VERY_HIGH", "Only with a phone number, which the operator assigns" },
    { 0 },
};
static const struct enum_choice notification_levels[] = {
    { 0, NULL, "ALL_MESSAGES", "Every message" },
    { 1, NULL, "ONLY_MENTIONS", "Messages that mention the user" },
    { 0 },
};
static const struct enum_choice filter_levels[] = {
    { 0, NULL, "DISABLED", "No media; no level has an effect here" },
    { 1, NULL, "MEMBERS_WITHOUT_ROLES", "Media of members without roles" },
    { 2, NULL, "ALL_MEMBERS", "Media of all members" },
    { 0 },
};
static const struct enum_choice afk_timeouts[] = {
    { 60, NULL, "1_MINUTE", "One minute" },    { 300, NULL, "5_MINUTES", "Five minutes" },
    { 900, NULL, "15_MINUTES", "15 minutes" }, { 1800, NULL, "30_MINUTES", "30 minutes" },
    { 3600, NULL, "60_MINUTES", "One hour" },  { 0 },
};
static const struct enum_choice draft_types[] = {
    { CHANNEL_TEXT, NULL, "TEXT", "Text" },
    { CHANNEL_VOICE, NULL, "VOICE", "Voice" },
    { CHANNEL_CATEGORY, NULL, "CATEGORY", "Contains the channels that name it as parent" },
    { 0 },
};

static const struct type type_verification = { .kind = KIND_INT, .choices = verification_levels };
static const struct type type_notifications = { .kind = KIND_INT, .choices = notification_levels };
/* Clients may send a voice region of the guild, because some libraries always do. It is ignored. */
static const struct type type_region = { .kind = KIND_STRING, .max = 100 };
static const struct type type_filter = { .kind = KIND_INT, .choices = filter_levels };
static const struct type type_afk_timeout = { .kind = KIND_INT, .choices = afk_timeouts };
static const struct type type_system_flags = { .kind = KIND_INT, .max = INT32_MAX };
static const struct type type_description = { .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 300 };
static const struct type type_draft_type = { .kind = KIND_INT, .choices = draft_types };
static const struct type type_bitrate = { .kind = KIND_INT, .min = 8000, .max = 96000 };
static const struct type type_user_limit = { .kind = KIND_INT, .max = 99 };
static const struct type type_slowmode = { .kind = KIND_INT, .max = 21600 };

#define EITHER (OPTIONAL | NULLABLE)

static const struct field channel_draft_fields[] = {
    { FIELD(struct new_guild_channel, id), .type = &type_id, .flags = EITHER,
      .doc = "Placeholder id that other parts of the body can refer to" },
    { FIELD(struct new_guild_channel, type), .type = &type_draft_type, .flags = EITHER },
    { FIELD(struct new_guild_channel, name), .type = &type_channel_name },
    { FIELD(struct new_guild_channel, topic), .type = &type_topic, .flags = EITHER },
    { FIELD(struct new_guild_channel, parent_id), .type = &type_id, .flags = EITHER,
      .doc = "A category that comes earlier in the list" },
    { FIELD(struct new_guild_channel, bitrate), .type = &type_bitrate, .flags = EITHER },
    { FIELD(struct new_guild_channel, user_limit), .type = &type_user_limit, .flags = EITHER },
    { FIELD(struct new_guild_channel, rate_limit_per_user), .type = &type_slowmode,
      .flags = EITHER },
    { FIELD(struct new_guild_channel, nsfw), .type = &type_bool, .flags = EITHER },
    { FIELD(struct new_guild_channel, permission_overwrites), .type = &type_overwrites,
      .flags = EITHER },
    { 0 },
};
static const struct schema channel_draft_schema = {
    .name = "GuildChannelDraft",
    .size = sizeof(struct new_guild_channel),
    .fields = channel_draft_fields,
    .doc = "A channel of a new guild.",
};
static const struct type type_channel_draft = { .kind = KIND_OBJECT,
                                                .schema = &channel_draft_schema };
static const struct type type_channel_drafts = { .kind = KIND_ARRAY,
                                                 .of = &type_channel_draft,
                                                 .max = MOST_CHANNELS };

static const struct field guild_draft_fields[] = {
    { FIELD(struct guild_create_request, name), .type = &type_guild_name },
    { FIELD(struct guild_create_request, icon), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_create_request, afk_timeout), .type = &type_afk_timeout, .flags = EITHER },
    { FIELD(struct guild_create_request, verification_level), .type = &type_verification,
      .flags = EITHER },
    { FIELD(struct guild_create_request, default_message_notifications),
      .type = &type_notifications, .flags = EITHER },
    { FIELD(struct guild_create_request, explicit_content_filter), .type = &type_filter,
      .flags = EITHER },
    { FIELD(struct guild_create_request, system_channel_flags), .type = &type_system_flags,
      .flags = EITHER },
    { FIELD(struct guild_create_request, afk_channel_id), .type = &type_id, .flags = EITHER,
      .doc = "A voice channel of the body" },
    { FIELD(struct guild_create_request, system_channel_id), .type = &type_id, .flags = EITHER,
      .doc = "A text channel of the body" },
    { FIELD(struct guild_create_request, roles), .type = &type_role_edits, .flags = EITHER,
      .doc = "The first one is @everyone" },
    { FIELD(struct guild_create_request, channels), .type = &type_channel_drafts, .flags = EITHER },
    { FIELD(struct guild_create_request, region), .type = &type_region,
      .flags = EITHER | DEPRECATED,
      .doc = "Of no effect: channels have regions, and a guild shows `deprecated`" },
    { 0 },
};
static const struct schema guild_draft_schema = {
    .name = "GuildDraft",
    .size = sizeof(struct guild_create_request),
    .fields = guild_draft_fields,
    .doc = "A new guild.",
};

static const struct field guild_patch_fields[] = {
    { FIELD(struct guild_patch, name), .type = &type_guild_name, .flags = OPTIONAL },
    { FIELD(struct guild_patch, description), .type = &type_description, .flags = EITHER },
    { FIELD(struct guild_patch, icon), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_patch, banner), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_patch, splash), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_patch, discovery_splash), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_patch, home_header), .type = &type_image_upload, .flags = EITHER },
    { FIELD(struct guild_patch, owner_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The new owner; only the current owner can set it" },
    { FIELD(struct guild_patch, afk_channel_id), .type = &type_id, .flags = EITHER,
      .doc = "A voice channel" },
    { FIELD(struct guild_patch, afk_timeout), .type = &type_afk_timeout, .flags = EITHER },
    { FIELD(struct guild_patch, system_channel_id), .type = &type_id, .flags = EITHER,
      .doc = "A text channel" },
    { FIELD(struct guild_patch, system_channel_flags), .type = &type_system_flags,
      .flags = EITHER },
    { FIELD(struct guild_patch, rules_channel_id), .type = &type_id, .flags = EITHER },
    { FIELD(struct guild_patch, public_updates_channel_id), .type = &type_id, .flags = EITHER },
    { FIELD(struct guild_patch, safety_alerts_channel_id), .type = &type_id, .flags = EITHER },
    { FIELD(struct guild_patch, verification_level), .type = &type_verification, .flags = EITHER },
    { FIELD(struct guild_patch, default_message_notifications), .type = &type_notifications,
      .flags = EITHER },
    { FIELD(struct guild_patch, explicit_content_filter), .type = &type_filter, .flags = EITHER },
    { FIELD(struct guild_patch, preferred_locale), .type = &type_locale, .flags = EITHER },
    { FIELD(struct guild_patch, premium_progress_bar_enabled), .type = &type_bool,
      .flags = EITHER },
    { FIELD(struct guild_patch, features), .type = &type_texts, .flags = EITHER,
      .doc = "Names that cannot be changed are ignored" },
    { FIELD(struct guild_patch, region), .type = &type_region, .flags = EITHER | DEPRECATED,
      .doc = "Of no effect: channels have regions, and a guild shows `deprecated`" },
    { 0 },
};
static const struct schema guild_patch_schema = {
    .name = "GuildPatch",
    .size = sizeof(struct guild_patch),
    .fields = guild_patch_fields,
    .doc = "Changes of a guild.",
};

static const struct field guild_query_fields[] = {
    { FIELD(struct guild_get_query, with_counts), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
const struct schema guild_query_schema = {
    .name = "GuildQuery",
    .size = sizeof(struct guild_get_query),
    .fields = guild_query_fields,
    .doc = "Options for reading a guild.",
};

static const struct type type_user_guilds_limit = { .kind = KIND_INT, .min = 1, .max = 200 };
static const struct field user_guilds_query_fields[] = {
    { FIELD(struct user_guilds_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct user_guilds_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct user_guilds_query, limit), .type = &type_user_guilds_limit, .flags = OPTIONAL,
      .fallback = 200 },
    { FIELD(struct user_guilds_query, with_counts), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
const struct schema user_guilds_query_schema = {
    .name = "OwnGuildsQuery",
    .size = sizeof(struct user_guilds_query),
    .fields = user_guilds_query_fields,
    .doc = "Selects guilds of the caller.",
};

static const struct field user_guild_fields[] = {
    { FIELD(struct user_guild, id), .type = &type_id },
    { FIELD(struct user_guild, name), .type = &type_guild_name },
    { FIELD(struct user_guild, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct user_guild, banner), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct user_guild, owner), .type = &type_bool },
    { FIELD(struct user_guild, permissions), .type = &type_permissions },
    { FIELD(struct user_guild, features), .type = &type_raw },
    { FIELD(struct user_guild, approximate_member_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct user_guild, approximate_presence_count), .type = &type_count,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema user_guild_schema = {
    .name = "OwnGuild",
    .size = sizeof(struct user_guild),
    .fields = user_guild_fields,
    .doc = "A guild that the caller is in.",
};
static const struct type type_user_guild = { .kind = KIND_OBJECT, .schema = &user_guild_schema };

const struct type guild_create_body = { .kind = KIND_OBJECT, .schema = &guild_draft_schema };
const struct type guild_patch_body = { .kind = KIND_OBJECT, .schema = &guild_patch_schema };
const struct type user_guilds_reply = { .kind = KIND_ARRAY, .of = &type_user_guild };

/* --- validating a vanity code -------------------------------------------------------- */

static bool is_vanity_code(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              s.p[i] == '-'))
            return false;
    return true;
}

static const struct string_rule rule_vanity = { is_vanity_code, FORM_CHOICES,
                                                "Only a-z, 0-9 and - can be in a code." };
const struct type type_vanity_code = {
    .kind = KIND_STRING, .flags = TYPE_LOWER | TYPE_TRIM, .rule = &rule_vanity, .min = 2, .max = 25
};
