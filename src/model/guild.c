/* guild.c - JSON schemas of guilds. */
#include "model/fields/types.h"
#include "model/guild.h"

#include <string.h>

#include "model/emoji.h"
#include "model/sticker.h"
#include "model/scheduled_event.h"
#include "model/sound.h"
#include "model/stage.h"
#include "model/voice_state.h"

const struct type type_guild_name = { .kind = KIND_STRING,
                                      .rule = &rule_visible_name,
                                      .flags = TYPE_TRIM,
                                      .min = 2,
                                      .max = 100,
                                      .doc = "Guild name" };

static const struct field incidents_fields[] = {
    { FIELD(struct guild_incidents, invites_disabled_until), .type = &type_time,
      .flags = NULLABLE },
    { FIELD(struct guild_incidents, dms_disabled_until), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct guild_incidents, raid_detected_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct guild_incidents, dm_spam_detected_at), .type = &type_time, .flags = NULLABLE },
    { 0 },
};
static const struct schema incidents_schema = {
    .name = "GuildIncidents",
    .size = sizeof(struct guild_incidents),
    .fields = incidents_fields,
    .doc = "Features that a guild has disabled temporarily.",
};
static const struct type type_guild_incidents = { .kind = KIND_OBJECT,
                                                  .schema = &incidents_schema };

/* clang-format off */
#define GUILD_FIELDS                                                                               \
    { FIELD(struct guild, id), .type = &type_id },                                                 \
    { FIELD(struct guild, name), .type = &type_guild_name },                                       \
    { FIELD(struct guild, owner_id), .type = &type_id },                                           \
    { FIELD(struct guild, icon), .type = &type_asset_hash, .flags = NULLABLE },                    \
    { FIELD(struct guild, banner), .type = &type_asset_hash, .flags = NULLABLE },                  \
    { FIELD(struct guild, splash), .type = &type_asset_hash, .flags = NULLABLE },                  \
    { FIELD(struct guild, discovery_splash), .type = &type_asset_hash, .flags = NULLABLE },        \
    { FIELD(struct guild, home_header), .type = &type_asset_hash, .flags = NULLABLE },             \
    { FIELD(struct guild, description), .type = &type_text, .flags = NULLABLE },                   \
    { FIELD(struct guild, features), .type = &type_raw, .doc = "Names of features" },              \
    { FIELD(struct guild, roles), .type = &type_roles },                                           \
    { FIELD(struct guild, emojis), .type = &type_emojis },                                         \
    { FIELD(struct guild, stickers), .type = &type_stickers },                                       \
    { FIELD(struct guild, afk_channel_id), .type = &type_id, .flags = NULLABLE },                  \
    { FIELD(struct guild, afk_timeout), .type = &type_count },                                     \
    { FIELD(struct guild, system_channel_id), .type = &type_id, .flags = NULLABLE },               \
    { FIELD(struct guild, system_channel_flags), .type = &type_count },                            \
    { FIELD(struct guild, rules_channel_id), .type = &type_id, .flags = NULLABLE },                \
    { FIELD(struct guild, public_updates_channel_id), .type = &type_id, .flags = NULLABLE },       \
    { FIELD(struct guild, safety_alerts_channel_id), .type = &type_id, .flags = NULLABLE },        \
    { FIELD(struct guild, widget_channel_id), .type = &type_id, .flags = NULLABLE },               \
    { FIELD(struct guild, application_id), .type = &type_id, .flags = NULLABLE },                  \
    { FIELD(struct guild, vanity_url_code), .type = &type_text, .flags = NULLABLE },               \
    { FIELD(struct guild, verification_level), .type = &type_count },                              \
    { FIELD(struct guild, default_message_notifications), .type = &type_count },                   \
    { FIELD(struct guild, explicit_content_filter), .type = &type_count },                         \
    { FIELD(struct guild, mfa_level), .type = &type_count },                                       \
    { FIELD(struct guild, nsfw_level), .type = &type_count },                                      \
    { FIELD(struct guild, nsfw), .type = &type_bool, .flags = DEPRECATED },                        \
    { FIELD(struct guild, premium_tier), .type = &type_count },                                    \
    { FIELD(struct guild, premium_subscription_count), .type = &type_count },                      \
    { FIELD(struct guild, premium_progress_bar_enabled), .type = &type_bool },                     \
    { FIELD(struct guild, preferred_locale), .type = &type_locale },                               \
    { FIELD(struct guild, region), .type = &type_text, .flags = DEPRECATED },                      \
    { FIELD(struct guild, max_members), .type = &type_count },                                     \
    { FIELD(struct guild, max_presences), .type = &type_count, .flags = NULLABLE },                \
    { FIELD(struct guild, max_video_channel_users), .type = &type_count },                         \
    { FIELD(struct guild, max_stage_video_channel_users), .type = &type_count },                   \
    { FIELD(struct guild, widget_enabled), .type = &type_bool },                                   \
    { FIELD(struct guild, incidents_data), .type = &type_guild_incidents, .flags = NULLABLE },     \
    { FIELD(struct guild, hub_type), .type = &type_always_null, .flags = NULLABLE },                   \
    { FIELD(struct guild, approximate_member_count), .type = &type_count, .flags = OPTIONAL },     \
    { FIELD(struct guild, approximate_presence_count), .type = &type_count, .flags = OPTIONAL }

/* Fields that depend on the recipient. */
#define GUILD_JOINED_FIELDS                                                                        \
    { FIELD(struct gateway_guild, joined_at), .type = &type_time },                                \
    { FIELD(struct gateway_guild, large), .type = &type_bool },                                    \
    { FIELD(struct gateway_guild, unavailable), .type = &type_bool, .flags = OPTIONAL }
#define GUILD_MEMBERS_FIELD                                                                        \
    { FIELD(struct gateway_guild, members), .type = &type_members }
#define GUILD_PER_RECIPIENT_FIELDS                                                                          \
    { FIELD(struct gateway_guild, threads), .type = &type_channels },                              \
    { FIELD(struct gateway_guild, presences), .type = &type_raw },                                 \
    { FIELD(struct gateway_guild, voice_states), .type = &type_voice_states },                     \
    { FIELD(struct gateway_guild, stage_instances), .type = &type_stages },                        \
    { FIELD(struct gateway_guild, guild_scheduled_events), .type = &type_scheduled_events }
/* clang-format on */

static const struct field guild_fields[] = { GUILD_FIELDS, { 0 } };
static const struct field guild_per_recipient_fields[] = {
    GUILD_JOINED_FIELDS,
    GUILD_MEMBERS_FIELD,
    GUILD_PER_RECIPIENT_FIELDS,
    { 0 },
};
static const struct field gateway_guild_fields[] = {
    GUILD_FIELDS,
    GUILD_JOINED_FIELDS,
    { FIELD_AS(struct gateway_guild, guild.member_count, "member_count"), .type = &type_count },
    GUILD_MEMBERS_FIELD,
    { FIELD(struct gateway_guild, channels), .type = &type_channels },
    GUILD_PER_RECIPIENT_FIELDS,
    { FIELD(struct gateway_guild, soundboard_sounds), .type = &type_sounds },
    { FIELD(struct gateway_guild, activity_instances), .type = &type_always_empty_list },
    { 0 },
};
const struct schema guild_schema = {
    .name = "Guild",
    .size = sizeof(struct guild),
    .fields = guild_fields,
    .doc = "A guild with members, roles and channels.",
};
const struct schema gateway_guild_schema = {
    .name = "GatewayGuild",
    .size = sizeof(struct gateway_guild),
    .fields = gateway_guild_fields,
    .doc = "A guild with its members, channels, threads and states, as sent by the gateway.",
};
const struct schema guild_per_recipient_schema = {
    .name = "GuildSeen",
    .size = sizeof(struct gateway_guild),
    .fields = guild_per_recipient_fields,
    .doc = "The fields of a guild that depend on the recipient.",
};
const struct type type_guild = { .kind = KIND_OBJECT, .schema = &guild_schema };

static const struct field guild_ref_fields[] = {
    { FIELD(struct guild_delete_event, id), .type = &type_id },
    { 0 },
};
const struct schema guild_delete_event_schema = {
    .name = "GuildRef",
    .size = sizeof(struct guild_delete_event),
    .fields = guild_ref_fields,
    .doc = "A guild that the receiver can no longer access.",
};

static const struct field guild_role_event_fields[] = {
    { FIELD(struct guild_role_event, guild_id), .type = &type_id },
    { FIELD(struct guild_role_event, role), .type = &type_role },
    { 0 },
};
const struct schema guild_role_event_schema = {
    .name = "GuildRoleEvent",
    .size = sizeof(struct guild_role_event),
    .fields = guild_role_event_fields,
    .doc = "A role that was created or changed.",
};

static const struct field guild_role_delete_fields[] = {
    { FIELD(struct guild_role_delete_event, guild_id), .type = &type_id },
    { FIELD(struct guild_role_delete_event, role_id), .type = &type_id },
    { 0 },
};
const struct schema guild_role_delete_event_schema = {
    .name = "GuildRoleGone",
    .size = sizeof(struct guild_role_delete_event),
    .fields = guild_role_delete_fields,
    .doc = "A role that was deleted.",
};

static const struct field guild_user_event_fields[] = {
    { FIELD(struct guild_user_event, guild_id), .type = &type_id },
    { FIELD(struct guild_user_event, user), .type = &type_partial_user },
    { FIELD(struct guild_user_event, delete_message_secs), .type = &type_count, .flags = OPTIONAL },
    { 0 },
};
const struct schema guild_user_event_schema = {
    .name = "GuildUserEvent",
    .size = sizeof(struct guild_user_event),
    .fields = guild_user_event_fields,
    .doc = "An account that left a guild, or was banned or unbanned.",
};

/* Searches the name in g->features, which is the text of a JSON array of names without escapes. */
bool guild_has_feature(const struct guild *g, const char *name)
{
    struct str rest = g->features;

    for (str_cut(&rest, '"'); rest.n; str_cut(&rest, '"'))
        if (str_is(str_cut(&rest, '"'), name))
            return true;
    return false;
}

bool guild_may_use_vip_regions(const struct guild *g)
{
    return guild_has_feature(g, "VIP_REGIONS");
}
