/* internal.h - declarations shared by the files of templates/. */
#ifndef PLATFORM_TEMPLATES_INTERNAL_H
#define PLATFORM_TEMPLATES_INTERNAL_H

#include "platform/channels/channels.h"
#include "platform/templates/templates.h"

/* --- serialized_guild.c: serialized guilds -------------------------------------------- */

/* Inside a template, roles and channels are identified by small numbers instead of snowflakes;
 * @everyone is 0. */
struct template_overwrite {
    int64_t id, type;
    uint64_t allow, deny;
};
struct template_role {
    int64_t id, color;
    struct str name;
    uint64_t permissions;
    const struct role_colors *colors;
    bool hoist, mentionable;
    struct opt_str icon, unicode_emoji;
};
struct template_tag {
    int64_t id;
    struct str name;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
    bool moderated;
};
struct template_channel {
    int64_t id, type, position, bitrate, user_limit, rate_limit_per_user;
    struct opt_str name, topic, default_tag_setting;
    bool nsfw;
    struct opt_int parent_id, default_auto_archive_duration, default_thread_rate_limit_per_user,
        default_sort_order, default_forum_layout;
    struct list permission_overwrites; /* struct template_overwrite */
    struct opt_list available_tags;    /* struct template_tag */
    struct opt_object default_reaction_emoji;
    struct str template;
    struct str theme_color; /* always null */
};
struct template_source_guild {
    struct str name, preferred_locale;
    struct opt_str description, region, icon_hash;
    int64_t verification_level, default_message_notifications, explicit_content_filter, afk_timeout,
        system_channel_flags;
    struct opt_int afk_channel_id, system_channel_id;
    struct list roles, channels; /* struct template_role, struct template_channel */
};
extern const struct type type_template_source;

/* Reads a guild's current settings, roles and channels for a template. Skips managed roles,
 * threads, and overwrites for members. */
enum err template_source_guild_read(struct tx *tx, snowflake guild_id,
                                    struct template_source_guild *ret);

enum { TEMPLATE_DIGEST = 16 };
/* A guild as JSON, in the form that templates store, and the digest of that JSON. */
struct encoded_source_guild {
    struct str json;
    unsigned char digest[TEMPLATE_DIGEST];
};
void template_source_guild_encode(struct arena *arena, const struct template_source_guild *s,
                                  struct encoded_source_guild *ret);
/* Parses JSON that template_source_guild_encode has written. Returns ERR_INTERNAL if it is invalid.
 */
enum err template_source_guild_parse(struct arena *arena, struct str json,
                                     struct template_source_guild **ret);
/* Compresses the JSON of a template. p of the result is NULL if the compression fails. */
struct str template_source_guild_compress(struct arena *arena, struct str json);
/* Decompresses the JSON of a template. Returns ERR_INTERNAL if the result does not have `size`
 * bytes. */
enum err template_source_guild_decompress(struct arena *arena, struct str packed, int64_t size,
                                          struct str *ret);

/* --- rows.c --------------------------------------------------------------------------- */

struct guild_template {
    struct str code, name;
    struct opt_str description;
    int64_t usage_count, created_at, updated_at;
    snowflake creator_id, source_guild_id;
    const struct user *creator; /* NULL if the account was deleted */
    struct opt_bool
        is_dirty; /* true if the guild has changed since the template was synchronised, else null */
    struct str serialized_source_guild;
    const struct template_source_guild
        *shape; /* only declares the schema for OpenAPI; always NULL */

    /* Internal fields, not part of the JSON. */
    struct str packed, digest;
    int64_t size;
};
extern const struct type type_guild_template, type_guild_templates;   /* for the OpenAPI document */
extern const struct type type_stored_template, type_stored_templates; /* for replies */

/* Reads a template, but neither its creator nor its serialized guild. Returns ERR_UNKNOWN_TEMPLATE
 * if the code is unknown. */
enum err template_find(struct tx *tx, struct str code, struct guild_template *ret);
enum err template_find_of_guild(struct tx *tx, snowflake guild_id, struct guild_template *ret,
                                bool *ret_found);
/* Reads the template's creator and decompresses its serialized guild. */
enum err template_read_creator_and_serialized_guild(struct tx *tx, struct guild_template *t);
/* Inserts a template and generates its code. Returns ERR_HAS_TEMPLATE if the guild already has a
 * template. */
enum err template_insert(struct tx *tx, struct guild_template *t);
/* Reads all fields of a template again, except the serialized guild, because another call may have
 * changed them. May return ERR_UNKNOWN_TEMPLATE. */
enum err template_reread_fields_except_guild(struct tx *tx, struct guild_template *t);
enum err template_save_fields(struct tx *tx, const struct guild_template *t);
enum err template_save_serialized_guild(struct tx *tx, const struct guild_template *t);
enum err template_delete(struct tx *tx, struct str code);
enum err template_increment_usage(struct tx *tx, struct str code);

/* --- use_template.c ------------------------------------------------------------------- */

struct template_use_body {
    struct str name;
    struct opt_image icon;
};
extern const struct type template_guild_body;

enum err schedule_guild_creation_from_template(struct call *call);
enum err use_template(struct call *call);

#endif
