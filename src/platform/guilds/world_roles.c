/* world_roles.c - import and export of roles in world files (JSON data sets). */
#include "model/guild.h"
#include "model/permissions/permissions.h"
#include "platform/guilds/internal.h"
#include "platform/worlds/import_export.h"

struct world_role {
    struct opt_id id;
    struct str name;
    struct opt_str permissions, unicode_emoji, bot,
        icon; /* icon: hash of a picture in the archive of a copied guild */
    struct opt_int color, secondary_color, tertiary_color, position, flags;
    struct opt_bool hoist, mentionable, managed;
};

static const struct field role_fields[] = {
    MAYBE(struct world_role, id, type_id),
    MUST(struct world_role, name, type_role_name),
    MAYBE(struct world_role, permissions, type_world_permissions),
    MAYBE(struct world_role, color, type_color),
    MAYBE(struct world_role, secondary_color, type_color),
    MAYBE(struct world_role, tertiary_color, type_color),
    MAYBE(struct world_role, position, type_count),
    MAYBE(struct world_role, hoist, type_bool),
    MAYBE(struct world_role, mentionable, type_bool),
    MAYBE(struct world_role, managed, type_bool),
    MAYBE(struct world_role, flags, type_int),
    MAYBE(struct world_role, unicode_emoji, type_text),
    MAYBE(struct world_role, bot, type_world_ref),
    MAYBE(struct world_role, icon, type_world_name),
    { 0 },
};

static void validate_world_role(struct form *form, const struct json_path *here, const void *object)
{
    world_file_check_permissions(form, here, "permissions",
                                 &((const struct world_role *)object)->permissions);
}

WORLD_OBJECT(role, role_fields, validate_world_role);

/* --- import from a world file -------------------------------------------------------- */

/* Applies the fields of a world file to a role. Fields that the file omits are not changed. */
static void apply_world_role(struct world_file_importer *im, const struct world_role *r,
                             snowflake bot, struct role *to)
{
    struct role_colors *colors = arena_alloc(im->arena, sizeof *colors);
    struct role_tags *tags = arena_alloc(im->arena, sizeof *tags);
    struct str wrong;
    uint64_t bits;

    *colors = to->colors ? *to->colors : (struct role_colors){ 0 };
    WORLD_SET_IF_GIVEN(colors->primary_color, r->color);
    WORLD_SET_OPT_IF_GIVEN(colors->secondary_color, r->secondary_color);
    WORLD_SET_OPT_IF_GIVEN(colors->tertiary_color, r->tertiary_color);
    to->colors = colors;
    if (bot) {
        *tags = to->tags ? *to->tags : (struct role_tags){ 0 };
        tags->bot_id = opt_id_or_null(bot);
        to->tags = tags;
    }
    to->name = r->name;
    if (r->permissions.given == GIVEN &&
        permission_names_parse(r->permissions.value, im->arena, &bits, &wrong))
        to->permissions = bits;
    WORLD_SET_IF_GIVEN(to->hoist, r->hoist);
    WORLD_SET_IF_GIVEN(to->mentionable, r->mentionable);
    if (bot || r->managed.given == GIVEN)
        to->managed = bot || r->managed.value;
    WORLD_SET_IF_GIVEN(to->flags, r->flags);
    WORLD_SET_OPT_IF_GIVEN(to->unicode_emoji, r->unicode_emoji);
}

static enum err import_role(struct world_file_importer *im, const struct world_role *r,
                            const struct json_path *at, snowflake guild, int64_t from_below)
{
    unsigned before = im->form->problems;
    snowflake id = 0, bot;
    enum err e = world_file_find_existing_object(im, &role_naming, guild, r->id, r->name, at, &id);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &r->bot, at, "bot", &bot);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_ROLES, !id);
    struct role role = { .id = r->id.given == GIVEN ? r->id.value : snowflake_new(),
                         .guild_id = guild };
    e = id ? role_find(im->tx, guild, id, &role) : OK;
    if (e)
        return e;
    apply_world_role(im, r, bot, &role);
    role.position = role.id == guild             ? 0
                    : r->position.given == GIVEN ? r->position.value
                                                 : from_below;
    e = world_file_import_archived_picture(im, "role-icons", role.id, &r->icon, &role.icon);
    return e ? e : role_insert(im->tx, &role);
}

/* Imports the roles of a guild. The file lists the highest role first. */
static enum err import_roles(struct world_file_importer *im, const void *entries,
                             const struct json_path *all, snowflake guild)
{
    const struct opt_list *list = entries;
    const struct world_role *roles = list->value.items;
    int64_t below = (int64_t)list->value.count;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count; i++)
        if (str_is(roles[i].name, "@everyone"))
            below--;
    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct json_path at = json_path_index(all, i);

        e = import_role(im, &roles[i], &at, guild, below);
        if (!str_is(roles[i].name, "@everyone"))
            below--;
    }
    return e;
}

/* --- export to a world file ---------------------------------------------------------- */

static const char ROLES[] =
    "select r.id, r.name, r.permissions, r.color, r.secondary_color, r.tertiary_color, r.position, "
    "r.hoist, r.mentionable, r.managed, r.flags, r.unicode_emoji, b.username from roles r "
    "left join users b on b.id = r.bot_id where r.guild_id = $1 and r.position >= 0 "
    "order by r.position desc, r.id";

static bool world_role_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct world_role *x = entry;

    *x = (struct world_role){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .permissions = permission_names_encode((uint64_t)row_int(r, 2), tx_arena(ex->tx)),
        .color = export_nondefault_int(r, 3, 0),
        .secondary_color = export_nondefault_int(r, 4, -1),
        .tertiary_color = export_nondefault_int(r, 5, -1),
        .position = export_nondefault_int(r, 6, -1),
        .hoist = export_nondefault_bool(r, 7, false),
        .mentionable = export_nondefault_bool(r, 8, false),
        .managed = export_nondefault_bool(r, 9, false),
        .flags = export_nondefault_int(r, 10, 0),
        .unicode_emoji = export_nondefault_text(r, 11, NULL),
        .bot = export_nondefault_text(r, 12, NULL),
    };
    return true;
}

const struct world_file_fields roles_world = { (const struct world_file_field[]){
    { "guild", "roles", &world_role_list, .order = 10, .whole = true, .import = import_roles,
      .select = { &ROLES }, .read = world_role_from_row },
    { 0 },
} };
