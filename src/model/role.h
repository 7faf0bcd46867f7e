/* role.h - roles of guilds. */
#ifndef MODEL_ROLE_H
#define MODEL_ROLE_H

#include "model/fields/types.h"

struct role_colors {
    int64_t primary_color;
    struct opt_int secondary_color, tertiary_color;
};

/* Tells which bot or integration manages a role; members cannot assign such a role. */
struct role_tags {
    struct opt_id bot_id, integration_id;
};

struct role {
    snowflake id, guild_id;
    struct str name;
    int64_t color; /* equal to colors.primary_color */
    const struct role_colors *colors;
    uint64_t permissions;
    int64_t position, flags;
    bool hoist, managed, mentionable;
    struct opt_str icon, unicode_emoji;
    const struct role_tags *tags; /* NULL if there are none */
};

extern const struct type type_role, type_roles, type_role_name, type_role_colors;

/* Returns whether a role is above another role. At equal positions the role with the smaller
 * (older) id is higher. */
bool role_is_above(int64_t position, snowflake id, int64_t other_position, snowflake other_id);

#endif
