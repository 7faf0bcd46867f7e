/* templates.h - how a guild is arranged, kept under a code, to found other guilds after.
 *
 * A template is a guild's settings, roles and channels at one moment (source.c), packed into one
 * column. A guild may have fifty thousand overwrites, so a template is read and packed outside of
 * the transaction that keeps it, and a guild that is founded after one is written in steps
 * (use.c). Begin with routes.c. */
#ifndef PLATFORM_TEMPLATES_TEMPLATES_H
#define PLATFORM_TEMPLATES_TEMPLATES_H

#include "platform/guilds/guilds.h"

/* A guild's template without its source; a guild has one at most. */
struct template_entry {
    snowflake guild_id, creator_id;
    struct str code, name;
    struct opt_str description;
    int64_t usage_count, created_at, updated_at;
};
enum err template_entry_of(struct tx *tx, snowflake guild_id, struct template_entry *ret,
                           bool *ret_found);
/* Keeps how the guild is arranged now as its template. Without a code it gets one.
 * ERR_HAS_TEMPLATE: another guild's has this code. */
enum err template_entry_put(struct tx *tx, struct template_entry *t);

extern const struct domain templates_domain;
extern const struct world_parts templates_world;

#endif
