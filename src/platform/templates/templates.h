/* templates.h - guild templates: compressed snapshots of a guild's settings, roles and channels
 * (serialized_guild.c), from which new guilds are created in steps (use_template.c). A guild may
 * have 50,000 overwrites, so snapshots are encoded outside of the write transaction. Owns the table
 * guild_templates. May include threads/ and lower layers. Start with routes.c. */
#ifndef PLATFORM_TEMPLATES_TEMPLATES_H
#define PLATFORM_TEMPLATES_TEMPLATES_H

#include "platform/guilds/guilds.h"

/* Metadata of a guild's template, without the serialized guild. A guild has at most one
 * template. */
struct template_summary {
    snowflake guild_id, creator_id;
    struct str code, name;
    struct opt_str description;
    int64_t usage_count, created_at, updated_at;
};
enum err template_summary_read(struct tx *tx, snowflake guild_id, struct template_summary *ret,
                               bool *ret_found);
/* Stores the guild's current state as its template. If t has no code, generates one. Returns
 * ERR_HAS_TEMPLATE if another guild's template has this code. */
enum err template_save_from_guild(struct tx *tx, struct template_summary *t);

extern const struct domain templates_domain;
extern const struct world_file_fields templates_world;

#endif
