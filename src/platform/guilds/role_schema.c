/* role_schema.c - JSON schemas of role bodies; applies the fields of a body to a role. */
#include "platform/guilds/internal.h"

static const struct type type_role_icon = { .kind = KIND_IMAGE,
                                            .flags = TYPE_EMPTY_NONE,
                                            .max = 256 * 1024,
                                            .doc = "data:image/png;base64,… of at most 256 KiB" };
static const struct type type_emoji = {
    .kind = KIND_STRING, .flags = TYPE_EMPTY_NONE, .min = 1, .max = 32, .doc = "Emoji"
};

#define EITHER (OPTIONAL | NULLABLE)

static const struct field colors_fields[] = {
    { FIELD(struct role_colors, primary_color), .type = &type_color },
    { FIELD(struct role_colors, secondary_color), .type = &type_color, .flags = EITHER },
    { FIELD(struct role_colors, tertiary_color), .type = &type_color, .flags = EITHER },
    { 0 },
};
static const struct schema colors_schema = {
    .name = "RoleColorsDraft",
    .size = sizeof(struct role_colors),
    .fields = colors_fields,
    .doc = "The colours of a role.",
};
static const struct type type_colors = { .kind = KIND_OBJECT, .schema = &colors_schema };

/* clang-format off */
#define ROLE_FIELDS                                                                               \
    { FIELD(struct role_edit, name), .type = &type_role_name, .flags = EITHER },                 \
    { FIELD(struct role_edit, permissions), .type = &type_permissions, .flags = EITHER,          \
      .doc = "Default: the permissions of @everyone" },                                          \
    { FIELD(struct role_edit, color), .type = &type_color, .flags = EITHER | DEPRECATED },       \
    { FIELD(struct role_edit, colors), .type = &type_colors, .flags = EITHER,                    \
      .doc = "Takes precedence over color" },                                                               \
    { FIELD(struct role_edit, hoist), .type = &type_bool, .flags = EITHER },                     \
    { FIELD(struct role_edit, mentionable), .type = &type_bool, .flags = EITHER },               \
    { FIELD(struct role_edit, unicode_emoji), .type = &type_emoji, .flags = EITHER }
/* clang-format on */

static const struct field role_fields[] = {
    ROLE_FIELDS,
    { FIELD(struct role_edit, icon), .type = &type_role_icon, .flags = EITHER },
    { 0 },
};
static const struct schema role_draft_schema = {
    .name = "RoleDraft",
    .size = sizeof(struct role_edit),
    .fields = role_fields,
    .doc = "Fields of a role.",
};

static const struct field new_guild_role_fields[] = {
    { FIELD(struct role_edit, id), .type = &type_id, .flags = EITHER,
      .doc = "Placeholder id that overwrites in the body can refer to" },
    ROLE_FIELDS,
    { 0 },
};
static const struct schema new_guild_role_schema = {
    .name = "GuildRoleDraft",
    .size = sizeof(struct role_edit),
    .fields = new_guild_role_fields,
    .doc = "A role of a new guild.",
};
static const struct type type_new_guild_role = { .kind = KIND_OBJECT,
                                                 .schema = &new_guild_role_schema };

static const struct field position_fields[] = {
    { FIELD(struct role_position, id), .type = &type_id },
    { FIELD(struct role_position, position), .type = &type_count, .flags = EITHER },
    { 0 },
};
static const struct schema position_schema = {
    .name = "RolePlace",
    .size = sizeof(struct role_position),
    .fields = position_fields,
    .doc = "The new position of a role.",
};
static const struct type type_position = { .kind = KIND_OBJECT, .schema = &position_schema };

const struct type role_body = { .kind = KIND_OBJECT, .schema = &role_draft_schema };
const struct type role_positions_body = { .kind = KIND_ARRAY,
                                          .of = &type_position,
                                          .max = MOST_ROLES };
const struct type type_role_edits = { .kind = KIND_ARRAY,
                                      .of = &type_new_guild_role,
                                      .max = MOST_ROLES };

static struct opt_int color_or_null(struct opt_int color)
{
    return (struct opt_int){ color.given == GIVEN ? GIVEN : GIVEN_NULL, color.value };
}

/* The field `colors` sets all three colours. The older field `color` sets the first colour and
 * clears the others. */
static void apply_role_colors(struct arena *arena, struct role *r, const struct role_edit *in)
{
    struct role_colors *colors = arena_alloc(arena, sizeof *colors);

    colors->secondary_color = colors->tertiary_color = (struct opt_int){ .given = GIVEN_NULL };
    if (in->colors.given == GIVEN) {
        const struct role_colors *given = in->colors.value;

        colors->primary_color = given->primary_color;
        colors->secondary_color = color_or_null(given->secondary_color);
        colors->tertiary_color = color_or_null(given->tertiary_color);
    } else if (in->color.given == GIVEN) {
        colors->primary_color = in->color.value;
    } else if (r->colors && in->colors.given == ABSENT && in->color.given == ABSENT) {
        return;
    }
    r->color = colors->primary_color;
    r->colors = colors;
}

void role_edit_apply(struct arena *arena, struct role *r, const struct role_edit *in, uint64_t base)
{
    if (in->name.given != ABSENT)
        r->name = in->name.given == GIVEN ? in->name.value : STR("new role");
    if (in->permissions.given != ABSENT)
        r->permissions = in->permissions.given == GIVEN ? in->permissions.value : base;
    r->permissions &= PERMISSIONS_ALL;
    if (in->hoist.given != ABSENT)
        r->hoist = in->hoist.value;
    if (in->mentionable.given != ABSENT)
        r->mentionable = in->mentionable.value;
    if (in->unicode_emoji.given != ABSENT)
        r->unicode_emoji = in->unicode_emoji;
    apply_role_colors(arena, r, in);
}
