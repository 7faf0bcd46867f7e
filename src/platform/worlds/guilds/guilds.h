/* guilds.h - what of a world file is a guild's, a file a kind: its rows, the way in, the way out.
 */
#ifndef PLATFORM_WORLDS_GUILDS_GUILDS_H
#define PLATFORM_WORLDS_GUILDS_GUILDS_H

#include "platform/worlds/file/file.h"

struct world_role {
    struct opt_id id;
    struct str name;
    struct opt_str permissions, unicode_emoji, bot;
    struct opt_int color, secondary_color, tertiary_color, position, flags;
    struct opt_bool hoist, mentionable, managed;
};
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
    struct opt_list overwrites, messages; /* struct world_overwrite, world_message */

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
struct world_member {
    struct str user;
    struct opt_str nick, bio;
    struct opt_list roles; /* struct str */
    struct opt_int joined_at, premium_since, timed_out_until, flags;
    struct opt_bool mute, deaf, pending;
};
struct world_ban {
    struct str user;
    struct opt_str reason;
};
struct world_installed {
    struct opt_id id;
    struct str application;
    struct opt_str by, scopes;
    struct opt_str commands; /* JSON: those of this guild alone */
};
/* An export has their names and marks, not their files. */
struct world_emoji {
    struct opt_id id;
    struct str name;
    struct opt_bool animated;
    struct opt_list roles; /* struct str; of guilds only */
    struct opt_str by;
    struct opt_image image;
};
struct world_sticker {
    struct opt_id id;
    struct str name, tags;
    struct opt_str description, format, by;
    struct opt_image image;
};
struct world_sound {
    struct opt_id id;
    struct str name;
    struct opt_real volume;
    struct opt_str emoji, unicode_emoji, by;
    struct opt_str sound; /* a data URI */
};
struct world_webhook {
    struct opt_id id;
    struct str name, channel;
    struct opt_str by, application;
};
struct world_rule {
    struct opt_id id;
    struct str name, by;
    int64_t trigger_type;
    struct opt_object trigger_metadata; /* struct automod_metadata */
    struct list actions;                /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* struct str */
};
/* What a guild shows to those who are not in it yet; pages.c. */
struct world_welcome_channel {
    struct str channel, description;
    struct opt_str emoji;
};
struct world_welcome_screen {
    struct opt_bool enabled;
    struct opt_str description;
    struct opt_list channels; /* struct world_welcome_channel */
};
struct world_widget {
    struct opt_bool enabled;
    struct opt_str channel;
};
/* What newcomers are asked; newcomers.c, onboarding.c. */
struct world_member_form {
    struct opt_bool enabled;
    struct opt_int version;
    struct opt_str description;
    struct list form_fields; /* struct form_field */
};
struct world_join_request {
    struct opt_id id;
    struct str user, status;
    struct opt_int created_at, reviewed_at;
    struct opt_str reviewed_by, rejection_reason;
    struct opt_list responses; /* struct form_field */
};
struct world_option {
    struct opt_id id;
    struct str title;
    struct opt_str description, emoji;
    struct opt_list roles, channels; /* struct str */
};
struct world_prompt {
    struct opt_id id;
    struct str title;
    struct opt_int type;
    struct opt_bool single_select, required, in_onboarding;
    struct list options; /* struct world_option */
};
struct world_onboarding {
    struct opt_bool enabled;
    struct opt_int mode;
    struct opt_list prompts, default_channels; /* struct world_prompt, struct str */
};
/* What is planned, and what is going on; events.c. */
struct world_event_exception {
    int64_t original_start;
    struct opt_int scheduled_start_time, scheduled_end_time;
    struct opt_bool is_canceled;
};
struct world_event {
    struct opt_id id;
    struct str name;
    struct opt_str by, description, channel, location, status;
    int64_t scheduled_start_time;
    struct opt_int scheduled_end_time;
    struct opt_object recurrence_rule; /* struct event_recurrence */
    struct opt_list exceptions;        /* struct world_event_exception */
    struct opt_list users;             /* struct str */
};
struct world_stage {
    struct opt_id id;
    struct str channel, topic;
    struct opt_int privacy_level;
    struct opt_str event;
};
struct world_template {
    struct opt_str code, description, by;
    struct str name;
    struct opt_int usage_count, created_at, updated_at;
};
struct world_guild {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, features, preferred_locale;
    struct opt_int afk_timeout, system_channel_flags, verification_level,
        default_message_notifications, explicit_content_filter, mfa_level;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_list roles, channels, members, bans, applications, integrations, emojis, sounds,
        stickers, automod, webhooks;
    struct opt_str afk_channel, system_channel, rules_channel, public_updates_channel,
        safety_alerts_channel;
    struct opt_list join_requests, scheduled_events, stages;
    struct opt_object welcome_screen, widget, member_form, onboarding, template;
    struct opt_str vanity_code;
    struct opt_int vanity_uses;
};

extern const struct type world_guild_list, world_role_list, world_member_list, world_ban_list,
    world_installed_list, world_channel_list, world_overwrite_list, world_emoji_list,
    world_application_emoji_list, world_sound_list, world_sticker_list, world_rule_list,
    world_tag_list, world_welcome_channel_list, world_join_request_list, world_option_list,
    world_prompt_list, world_event_exception_list, world_event_list, world_stage_list,
    world_webhook_list;
extern const struct type world_welcome_screen_type, world_widget_type, world_member_form_type,
    world_onboarding_type, world_template_type;

/* --- in ------------------------------------------------------------------------------- */

import_step import_guild;
/* The first one listed is the highest. */
enum err import_roles(struct importing *im, const struct opt_list *list, snowflake guild,
                      const struct place *up);
enum err add_everyone(struct importing *im, snowflake guild);
import_step import_member, import_ban, import_installed;
enum err add_member(struct importing *im, snowflake guild, snowflake user, bool *ret_new);
/* Of the guild: all are made, then dressed; then threads get what they share with forums. */
import_step import_channel, dress_channel, fill_thread;
import_step import_emoji, import_application_emoji;
import_step import_sound, import_sticker, import_rule, import_webhook;
import_step import_join_request, import_event, import_stage;
/* What there is one of: entry is NULL where the file does not say it. */
import_step import_welcome_screen, import_widget, import_member_form, import_onboarding,
    import_template;

extern const struct naming emoji_naming, webhook_naming;

/* threads.c: what only some channels have; all channels are there. */
enum err import_forum(struct importing *im, const struct world_channel *c, snowflake id,
                      snowflake guild, const struct place *at);
enum err import_thread(struct importing *im, const struct world_channel *c, snowflake id,
                       snowflake parent, const struct place *at);
/* Counts what was said there. */
enum err count_thread(struct importing *im, snowflake id);

/* emojis.c: characters of Unicode, or the name or id of an emoji of the guild. */
struct emoji_shown {
    struct opt_id id; /* both null: there is none */
    struct opt_str name;
    bool animated;
};
enum err refer_emoji(struct importing *im, snowflake guild, const struct opt_str *to,
                     const struct place *at, struct emoji_shown *ret);
struct opt_str shown_emoji(struct tx *tx, struct opt_id id, struct opt_str name);

/* guilds.c: the guild has this feature from now on. */
enum err world_add_feature(struct importing *im, snowflake guild, const char *name);
/* Something has to be done at that time; one that is noted already stays. */
enum err world_note_job(struct importing *im, const char *kind, snowflake key, int64_t due);

/* --- out ------------------------------------------------------------------------------ */

struct named_row {
    snowflake id;
    struct str name;
};
/* A guild that is exported, and what its entry may call things by name. */
struct exporting {
    struct tx *tx;
    const struct world_parts *parts;
    snowflake guild;
    struct list roles, channels, emojis, applications; /* struct named_row */
};
/* By name where only one has it, else by id. Absent when there is no such thing. */
struct opt_str shown_reference(struct tx *tx, const struct list *things, snowflake id);
/* The same for a list of ids; what is gone is left out. */
struct opt_list shown_references(struct tx *tx, const struct list *things, const struct list *ids);

typedef enum err export_part(struct exporting *ex, struct opt_list *ret);
export_part export_roles, export_members, export_bans, export_installed, export_channels;
export_part export_guild_emojis, export_sounds, export_stickers, export_rules;
export_part export_join_requests, export_events, export_stages, export_webhooks;
typedef enum err export_single(struct exporting *ex, struct opt_object *ret);
export_single export_welcome_screen, export_widget, export_member_form, export_onboarding,
    export_template;
/* threads.c */
enum err export_threads(struct exporting *ex, struct opt_list *channels);

enum err export_guilds(struct tx *tx, const struct world_parts *parts, struct opt_list *ret);
enum err export_application_emojis(struct tx *tx, snowflake application, struct opt_list *ret);

#endif
