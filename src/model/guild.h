/* guild.h - guilds, and their form in GUILD_CREATE and READY. */
#ifndef MODEL_GUILD_H
#define MODEL_GUILD_H

#include "model/channel.h"
#include "model/member.h"
#include "model/role.h"
#include "model/welcome.h"

enum { GUILD_AFK_TIMEOUT = 300 }; /* seconds; default of a new guild */

/* Incident actions of a guild. The struct members …_detected_at are never set. */
struct guild_incidents {
    struct opt_int invites_disabled_until, dms_disabled_until, raid_detected_at,
        dm_spam_detected_at;
};

struct guild {
    snowflake id, owner_id;
    struct str name;
    struct opt_str icon, banner, splash, discovery_splash, home_header, description;
    struct str features;  /* JSON array of strings, as stored */
    struct list roles;    /* struct role */
    struct list emojis;   /* struct emoji */
    struct list stickers; /* struct sticker */
    struct opt_id afk_channel_id, system_channel_id, rules_channel_id, public_updates_channel_id,
        safety_alerts_channel_id, widget_channel_id, application_id;
    struct opt_str vanity_url_code;
    int64_t afk_timeout, verification_level, default_message_notifications, explicit_content_filter,
        mfa_level, nsfw_level, premium_tier, system_channel_flags, premium_subscription_count,
        max_members, max_video_channel_users, max_stage_video_channel_users;
    struct opt_int max_presences;
    struct str preferred_locale, region;
    bool widget_enabled, premium_progress_bar_enabled;
    bool nsfw; /* always false */
    /* Active incident actions; NULL if no incident action is active. */
    const struct guild_incidents *incidents_data;
    /* Welcome screen of the guild; set only in invites; NULL if the guild has none. */
    const struct welcome_screen *welcome_screen;
    struct str hub_type; /* always null */
    struct opt_int approximate_member_count, approximate_presence_count;
    int64_t member_count; /* only in gateway events */
};

/* JSON of a member (or a similar object), encoded once for all recipients: one text without "user",
 * and one text with the user. */
struct encoded_member {
    snowflake id;
    struct str object; /* object with "user_id" instead of "user" */
    struct str user;   /* partial user */
};

/* Members of a guild, encoded once for all recipients: as one JSON array, and each member
 * separately. */
struct encoded_members {
    struct str list; /* JSON array of all members */
    struct encoded_member *each;
    size_t count;
};

/* JSON of those fields of a guild that are equal for all recipients, encoded once. */
struct encoded_guild {
    /* JSON fields that some clients expect next to "properties", not inside it. */
    struct str top_level_fields;
    struct str properties; /* all other fields of the guild */
    struct str *channels;  /* each channel as a JSON object, in the order of the channels */
};

struct gateway_guild {
    /* Must be the first struct member: the schema of a guild is also used for this struct. */
    struct guild guild;
    int64_t joined_at;
    bool large;
    /* Absent if the user has just joined the guild; false in other cases. */
    struct opt_bool unavailable;
    struct list members, channels, threads; /* struct member, struct channel */
    /* Members as encoded JSON; if not NULL, they replace `members`. */
    const struct encoded_members *encoded_members;
    /* Encoded fields that are the same for all recipients, or NULL. */
    const struct encoded_guild *encoded;
    /* items: struct str, the JSON of each visible channel; used if `encoded` is set. */
    struct list channel_texts;
    struct str presences; /* JSON array, which the gateway sets */
    struct list voice_states, stage_instances, guild_scheduled_events, soundboard_sounds,
        activity_instances;
};

struct guild_delete_event {
    snowflake id;
};
struct guild_role_event {
    snowflake guild_id;
    const struct role *role;
};
struct guild_role_delete_event {
    snowflake guild_id, role_id;
};
struct guild_user_event {
    snowflake guild_id;
    const struct user *user;
    struct opt_int delete_message_secs;
};

extern const struct schema guild_schema, gateway_guild_schema;
extern const struct schema guild_per_recipient_schema; /* fields that depend on the recipient */
extern const struct schema guild_delete_event_schema;  /* payload of GUILD_DELETE */
extern const struct schema guild_role_event_schema; /* payload of GUILD_ROLE_CREATE and _UPDATE */
extern const struct schema guild_role_delete_event_schema; /* payload of GUILD_ROLE_DELETE */
extern const struct schema guild_user_event_schema; /* GUILD_MEMBER_REMOVE, GUILD_BAN_* payload */
extern const struct type type_guild, type_guild_name;

bool guild_has_feature(const struct guild *g, const char *name);
bool guild_may_use_vip_regions(const struct guild *g);

#endif
