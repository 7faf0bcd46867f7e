/* world_roles.c - import and export of roles in world files. */
#include "model/guild.h"
#include "model/permissions/permissions.h"
#include "platform/guilds/internal.h"
#include "platform/worlds/file.h"

/* --- entries ---------------------------------------------------------------------------- */

struct world_role {
    struct opt_id id;
    struct str name;
    struct opt_str permissions, unicode_emoji, bot;
    struct opt_int color, secondary_color, tertiary_color, position, flags;
    struct opt_bool hoist, mentionable, managed;
};

static const struct field role_fields[] = {
    MAYBE(struct world_role, id, type_id),
    MUST(struct world_role, name, type_role_name),
    MAYBE(struct world_role, permissions, type_world_rights),
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
    { 0 },
};

static void check_role(struct form *form, const struct place *here, const void *object)
{
    world_check_rights(form, here, "permissions",
                       &((const struct world_role *)object)->permissions);
}

WORLD_OBJECT(role, role_fields, check_role);

/* --- import ----------------------------------------------------------------------------- */

/* Fields that the file omits remain unchanged. */
static void apply_role(struct importing *im, const struct world_role *r, snowflake bot,
                       struct role *to)
{
    struct role_colors *colors = arena_alloc(im->arena, sizeof *colors);
    struct role_tags *tags = arena_alloc(im->arena, sizeof *tags);
    struct str wrong;
    uint64_t bits;

    *colors = to->colors ? *to->colors : (struct role_colors){ 0 };
    WORLD_TAKE(colors->primary_color, r->color);
    WORLD_TAKE_OPT(colors->secondary_color, r->secondary_color);
    WORLD_TAKE_OPT(colors->tertiary_color, r->tertiary_color);
    to->colors = colors;
    if (bot) {
        *tags = to->tags ? *to->tags : (struct role_tags){ 0 };
        tags->bot_id = given_id(bot);
        to->tags = tags;
    }
    to->name = r->name;
    if (r->permissions.given == GIVEN &&
        rights_read(r->permissions.value, im->arena, &bits, &wrong))
        to->permissions = bits;
    WORLD_TAKE(to->hoist, r->hoist);
    WORLD_TAKE(to->mentionable, r->mentionable);
    if (bot || r->managed.given == GIVEN)
        to->managed = bot || r->managed.value;
    WORLD_TAKE(to->flags, r->flags);
    WORLD_TAKE_OPT(to->unicode_emoji, r->unicode_emoji);
}

static enum err import_role(struct importing *im, const struct world_role *r,
                            const struct place *at, snowflake guild, int64_t from_below)
{
    unsigned before = im->form->problems;
    snowflake id = 0, bot;
    enum err e = settle(im, &role_naming, guild, r->id, r->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &r->bot, at, "bot", &bot);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_ROLES, !id);
    struct role role = { .id = r->id.given == GIVEN ? r->id.value : snowflake_new(),
                         .guild_id = guild };
    e = id ? role_find(im->tx, guild, id, &role) : OK;
    if (e)
        return e;
    apply_role(im, r, bot, &role);
    role.position = role.id == guild             ? 0
                    : r->position.given == GIVEN ? r->position.value
                                                 : from_below;
    return role_insert(im->tx, &role);
}

/* The first role in the file is the highest. */
static enum err import_roles(struct importing *im, const void *entries, const struct place *all,
                             snowflake guild)
{
    const struct opt_list *list = entries;
    const struct world_role *roles = list->value.items;
    int64_t below = (int64_t)list->value.count;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count; i++)
        if (str_is(roles[i].name, "@everyone"))
            below--;
    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct place at = place_index(all, i);

        e = import_role(im, &roles[i], &at, guild, below);
        if (!str_is(roles[i].name, "@everyone"))
            below--;
    }
    return e;
}

/* --- export ----------------------------------------------------------------------------- */

static const char ROLES[] =
    "select r.id, r.name, r.permissions, r.color, r.secondary_color, r.tertiary_color, r.position, "
    "r.hoist, r.mentionable, r.managed, r.flags, r.unicode_emoji, b.username from roles r "
    "left join users b on b.id = r.bot_id where r.guild_id = $1 and r.position >= 0 "
    "order by r.position desc, r.id";

static bool read_roles_entry(struct exporting *ex, const struct rows *r, void *entry)
{
    struct world_role *x = entry;

    *x = (struct world_role){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .permissions = rights_write((uint64_t)row_int(r, 2), tx_arena(ex->tx)),
        .color = shown_int(r, 3, 0),
        .secondary_color = shown_int(r, 4, -1),
        .tertiary_color = shown_int(r, 5, -1),
        .position = shown_int(r, 6, -1),
        .hoist = shown_bool(r, 7, false),
        .mentionable = shown_bool(r, 8, false),
        .managed = shown_bool(r, 9, false),
        .flags = shown_int(r, 10, 0),
        .unicode_emoji = shown_text(r, 11, NULL),
        .bot = shown_text(r, 12, NULL),
    };
    return true;
}

const struct world_parts roles_world = { (const struct world_part[]){
    { "guild", "roles", &world_role_list, .order = 10, .whole = true, .import = import_roles,
      .select = { &ROLES }, .read = read_roles_entry },
    { 0 },
} };
