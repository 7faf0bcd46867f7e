/* guild.h - a place with members, roles and channels. */
#ifndef MODEL_GUILD_H
#define MODEL_GUILD_H

#include "model/channel.h"
#include "model/member.h"
#include "model/role.h"
#include "model/welcome.h"

enum { GUILD_AFK_TIMEOUT = 300 }; /* seconds, of a new guild */

/* What a guild has stopped for a while; nothing is ever detected. */
struct guild_incidents {
    struct opt_int invites_disabled_until, dms_disabled_until, raid_detected_at,
        dm_spam_detected_at;
};

struct guild {
    snowflake id, owner_id;
    struct str name;
    struct opt_str icon, banner, splash, discovery_splash, home_header, description;
    struct str features;  /* JSON array of text, as it is kept */
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
    bool nsfw; /* for adults, by its nsfw_level; so far none is */
    const struct guild_incidents *incidents_data; /* NULL: nothing is stopped */
    const struct welcome_screen *welcome_screen;  /* in invites; NULL: none */
    struct str hub_type;                          /* always null */
    struct opt_int approximate_member_count, approximate_presence_count;
    int64_t member_count; /* not shown in the REST object */
};

/* What sessions get when they join, or see a guild for the first time. */
/* Something about a user, written out in the two parts that READY may have it in. */
struct written_person {
    snowflake id;
    struct str object; /* with "user_id" in the place of "user" */
    struct str user;   /* a partial one */
};

/* People who were written out for all who are shown them: as one list, in which everybody has
 * their user, or one by one. */
struct written_people {
    struct str list; /* JSON */
    struct written_person *each;
    size_t count;
};

/* What a guild is for all who are shown it, as members of an object. */
struct written_guild {
    struct str beside;     /* what some clients want beside its own fields, … */
    struct str properties; /* … and these; the id is in the first */
    struct str *channels;  /* each as an object, in the order of the list they were written from */
};

struct gateway_guild {
    struct guild guild; /* first: the rows of a guild hold for it too */
    int64_t joined_at;
    bool large;
    struct opt_bool unavailable;            /* absent when it was joined just now, else false */
    struct list members, channels, threads; /* struct member, struct channel */
    const struct written_people *people;    /* in the place of members; or NULL */
    const struct written_guild *written;    /* all that is not the viewer's own; or NULL */
    struct list channel_texts;              /* struct str: with that, those that are shown */
    struct str presences;                   /* a JSON list: the gateway knows them */
    struct list voice_states, stage_instances, guild_scheduled_events, soundboard_sounds,
        activity_instances;
};

struct guild_ref {
    snowflake id;
};
struct guild_role_event {
    snowflake guild_id;
    const struct role *role;
};
struct guild_role_gone {
    snowflake guild_id, role_id;
};
struct guild_user_event {
    snowflake guild_id;
    const struct user *user;
    struct opt_int delete_message_secs;
};

extern const struct schema guild_schema, gateway_guild_schema;
extern const struct schema guild_seen_schema; /* of a gateway_guild what differs by who sees it */
extern const struct schema guild_ref_schema;  /* GUILD_DELETE */
extern const struct schema guild_role_event_schema; /* GUILD_ROLE_CREATE, _UPDATE */
extern const struct schema guild_role_gone_schema;  /* GUILD_ROLE_DELETE */
extern const struct schema guild_user_event_schema; /* GUILD_MEMBER_REMOVE, GUILD_BAN_* */
extern const struct type type_guild, type_guild_name;

/* By the name of the feature. */
bool guild_has_feature(const struct guild *g, const char *name);
/* Has it the regions that are not for everybody? */
bool guild_is_vip(const struct guild *g);

#endif
