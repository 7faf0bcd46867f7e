/* internal.h - declarations that the files of guilds/ share. */
#ifndef PLATFORM_GUILDS_INTERNAL_H
#define PLATFORM_GUILDS_INTERNAL_H

#include "platform/guilds/guilds.h"

enum {
    MOST_ROLES = 250,
    MOST_CHANNELS = 500,
    MAX_NEW_GUILD_OVERWRITES = 1000, /* maximum number in all channels of a POST /guilds body */
};

/* --- rows.c, role_rows.c: the SQL ----------------------------------------------------- */

/* Inserts a guild without members, roles or channels. */
enum err guild_insert(struct tx *tx, const struct guild *g);
enum err guild_update(struct tx *tx, const struct guild *g);
/* Finds a guild that is being created or deleted. Returns ERR_UNKNOWN_GUILD for any other id. */
enum err guild_find_hidden_from_users(struct tx *tx, snowflake id, struct guild *ret);
enum err guild_set_hidden_from_users(struct tx *tx, snowflake id, bool hidden);
/* Returns an error if the account is no member, a bot, or the owner of the guild already. */
enum err check_new_guild_owner(struct tx *tx, const struct guild *g, snowflake user_id);

enum err role_update_position(struct tx *tx, snowflake id, int64_t position);

/* --- schema.c: bodies, queries and replies of guilds ---------------------------------- */

struct new_guild_channel {
    struct opt_id id, parent_id; /* placeholder ids, which other objects of the body refer to */
    int64_t type;
    struct str name;
    struct opt_str topic;
    struct opt_int bitrate, user_limit, rate_limit_per_user;
    struct opt_bool nsfw;
    struct list permission_overwrites; /* struct overwrite */
};
struct guild_create_request {
    struct str name;
    struct opt_image icon;
    struct opt_int afk_timeout, verification_level, default_message_notifications,
        explicit_content_filter, system_channel_flags;
    struct opt_id afk_channel_id, system_channel_id; /* placeholder ids of entries in .channels */
    struct opt_list roles, channels; /* struct role_edit, struct new_guild_channel */
    struct opt_str region;
};
struct guild_patch {
    struct opt_str name, description, preferred_locale, region;
    struct opt_image icon, banner, splash, discovery_splash, home_header;
    struct opt_id owner_id, afk_channel_id, system_channel_id, rules_channel_id,
        public_updates_channel_id, safety_alerts_channel_id;
    struct opt_int afk_timeout, verification_level, default_message_notifications,
        explicit_content_filter, system_channel_flags;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_list features; /* struct str */
};
struct guild_get_query {
    bool with_counts;
};
struct user_guilds_query {
    struct opt_id before, after;
    int64_t limit;
    bool with_counts;
};
/* An entry of GET /users/@me/guilds. */
struct user_guild {
    snowflake id;
    struct str name, features;
    struct opt_str icon, banner;
    bool owner;
    uint64_t permissions;
    struct opt_int approximate_member_count, approximate_presence_count;
};

extern const struct schema guild_query_schema, user_guilds_query_schema;
extern const struct type guild_create_body, guild_patch_body, user_guilds_reply;

/* --- role_schema.c -------------------------------------------------------------------- */

struct role_edit {
    struct opt_id id; /* placeholder id, only in the body of POST /guilds */
    struct opt_str name, unicode_emoji;
    struct opt_id permissions;
    struct opt_int color;
    struct opt_object colors; /* struct role_colors */
    struct opt_bool hoist, mentionable;
    struct opt_image icon;
};
struct role_position {
    snowflake id;
    struct opt_int position;
};

extern const struct type role_body, role_positions_body, type_role_edits;

/* Applies an edit to a role. A null field is reset to its default; the default of the permissions
 * is `base`. */
void role_edit_apply(struct arena *arena, struct role *r, const struct role_edit *in,
                     uint64_t base);

/* --- handlers of routes -------------------------------------------------------------- */

enum err validate_guild_create_request(struct call *call);
enum err create_guild(struct call *call);
enum err schedule_storing_guild_pictures(struct call *call);
enum err modify_guild(struct call *call);
enum err get_guild_audit_log(struct call *call);
enum err list_current_user_guilds(struct call *call);
enum err move_roles(struct call *call);

/* --- preview.c ------------------------------------------------------------------------ */

extern const struct type guild_preview_reply, basic_guild_reply;
enum err get_guild_preview(struct call *call);
enum err get_basic_guild(struct call *call);

/* --- audit.c, audit_log.c ------------------------------------------------------------- */

struct audit_entry {
    snowflake id, guild_id;
    struct opt_id user_id, target_id;
    int64_t action_type;
    struct opt_str reason;
    const struct audit_log_options *options; /* options of the entry, or NULL */
    struct list changes;                     /* struct audit_log_change */
};

extern const struct schema audit_entry_schema;
extern const struct type type_audit_options, type_audit_changes;
extern const struct schema audit_log_query_schema;
extern const struct type audit_log_reply;

/* --- message_orphans.c -------------------------------------------------------------------- */

extern const struct job_kind message_orphans_job;

#endif
