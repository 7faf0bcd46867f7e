/* guilds.h - guilds of world files, and what their parts share. */
#ifndef PLATFORM_WORLDS_GUILDS_GUILDS_H
#define PLATFORM_WORLDS_GUILDS_GUILDS_H

#include "api/jobs.h"
#include "platform/guilds/guilds.h"
#include "platform/worlds/file/file.h"

struct world_guild {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, features, preferred_locale;
    struct opt_int afk_timeout, system_channel_flags, verification_level,
        default_message_notifications, explicit_content_filter, mfa_level;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_str afk_channel, system_channel, rules_channel, public_updates_channel,
        safety_alerts_channel;
    struct opt_str vanity_code;
    struct opt_int vanity_uses;
};
enum err world_add_everyone(struct tx *tx, snowflake guild);

struct world_overwrite {
    struct opt_str role, member, allow, deny;
};
struct world_channel {
    struct opt_id id;
    struct str name, type;
    struct opt_str parent, topic, rtc_region, owner;
    struct opt_int position, rate_limit_per_user, bitrate, user_limit, video_quality_mode, flags;
    struct opt_int default_auto_archive_duration, auto_archive_duration, archived_at;
    struct opt_bool nsfw, archived, locked;
    struct opt_list overwrites; /* struct world_overwrite */

    /* Of forums and media channels, and of what stands in channels; threads.c. */
    struct opt_list tags; /* struct world_tag */
    struct opt_str default_reaction, default_tag_setting;
    struct opt_int default_sort_order, default_forum_layout, default_thread_rate_limit_per_user;
    struct opt_list applied_tags, people; /* struct str */
    struct opt_bool invitable;
};
struct world_tag {
    struct opt_id id;
    struct str name;
    struct opt_bool moderated;
    struct opt_str emoji;
};
extern const struct type world_tag_list;

/* threads.c: what only some channels have; all channels are there. */
enum err import_forum(struct importing *im, const struct world_channel *c, snowflake id,
                      snowflake guild, const struct place *at);
enum err import_thread(struct importing *im, const struct world_channel *c, snowflake id,
                       snowflake parent, const struct place *at);
enum err export_threads(struct exporting *ex, struct opt_list *channels);

/* emojis.c: characters of Unicode, or the name or id of an emoji of the guild. */
struct emoji_shown {
    struct opt_id id; /* both null: there is none */
    struct opt_str name;
    bool animated;
};
enum err refer_emoji(struct importing *im, snowflake guild, const struct opt_str *to,
                     const struct place *at, struct emoji_shown *ret);
struct opt_str shown_emoji(struct tx *tx, struct opt_id id, struct opt_str name);

extern const struct naming sticker_naming, event_naming;

#endif
