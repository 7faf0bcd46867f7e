/* role.c - JSON schemas of roles. */
#include "model/fields/types.h"
#include "model/role.h"

const struct type type_role_name = { .kind = KIND_STRING,
                                     .rule = &rule_visible_name,
                                     .flags = TYPE_TRIM,
                                     .min = 1,
                                     .max = 100,
                                     .doc = "Role name" };

static const struct field colors_fields[] = {
    { FIELD(struct role_colors, primary_color), .type = &type_color },
    { FIELD(struct role_colors, secondary_color), .type = &type_color, .flags = NULLABLE },
    { FIELD(struct role_colors, tertiary_color), .type = &type_color, .flags = NULLABLE },
    { 0 },
};
static const struct schema colors_schema = {
    .name = "RoleColors",
    .size = sizeof(struct role_colors),
    .fields = colors_fields,
    .doc = "The colours of a role.",
};
const struct type type_role_colors = { .kind = KIND_OBJECT, .schema = &colors_schema };

static const struct field tags_fields[] = {
    { FIELD(struct role_tags, bot_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct role_tags, integration_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
static const struct schema tags_schema = {
    .name = "RoleTags",
    .size = sizeof(struct role_tags),
    .fields = tags_fields,
    .doc = "The bot or integration that a managed role belongs to.",
};
static const struct type type_role_tags = { .kind = KIND_OBJECT, .schema = &tags_schema };

static const struct field role_fields[] = {
    { FIELD(struct role, id), .type = &type_id },
    { FIELD(struct role, name), .type = &type_role_name },
    { FIELD(struct role, color), .type = &type_color },
    { FIELD(struct role, colors), .type = &type_role_colors },
    { FIELD(struct role, permissions), .type = &type_permissions },
    { FIELD(struct role, position), .type = &type_count },
    { FIELD(struct role, hoist), .type = &type_bool },
    { FIELD(struct role, managed), .type = &type_bool },
    { FIELD(struct role, mentionable), .type = &type_bool },
    { FIELD(struct role, flags), .type = &type_count },
    { FIELD(struct role, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct role, unicode_emoji), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct role, tags), .type = &type_role_tags, .flags = OPTIONAL },
    { 0 },
};
static const struct schema role_schema = {
    .name = "Role",
    .size = sizeof(struct role),
    .fields = role_fields,
    .doc = "A role: permissions and colours that members share.",
};
const struct type type_role = { .kind = KIND_OBJECT, .schema = &role_schema };
const struct type type_roles = { .kind = KIND_ARRAY, .of = &type_role };

bool role_is_above(int64_t position, snowflake id, int64_t other_position, snowflake other_id)
{
    return position != other_position ? position > other_position : id < other_id;
}
