/* roles.c - roles of guilds, in and out of world files. */
#include "model/guild.h"
#include "model/permissions/permissions.h"
#include "platform/worlds/guilds/guilds.h"

/* --- rows ----------------------------------------------------------------------------- */

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

/* --- in ------------------------------------------------------------------------------- */

static const char ADD_ROLE[] =
    "insert into roles (id, guild_id, name, permissions) values ($1, $2, $3, $4)";
static const char DRESS_ROLE[] =
    "update roles set name = $2, permissions = coalesce($3, permissions), "
    "color = coalesce($4, color), secondary_color = coalesce($5, secondary_color), "
    "tertiary_color = coalesce($6, tertiary_color), position = coalesce($7, position), "
    "hoist = coalesce($8, hoist), mentionable = coalesce($9, mentionable), "
    "managed = coalesce($10, managed), flags = coalesce($11, flags), "
    "unicode_emoji = coalesce($12, unicode_emoji), bot_id = coalesce($13, bot_id) where id = $1";

static enum err dress_role(struct importing *im, const struct world_role *r, snowflake id,
                           struct opt_int position, snowflake bot)
{
    struct opt_bool managed = bot ? (struct opt_bool){ GIVEN, true } : r->managed;
    struct value rights = v_null();
    struct str wrong;
    uint64_t bits;

    if (r->permissions.given == GIVEN &&
        rights_read(r->permissions.value, im->arena, &bits, &wrong))
        rights = v_int((int64_t)bits);
    return tx_exec(im->tx, DRESS_ROLE,
                   BIND(v_id(id), v_text(r->name), rights, v_opt_int(r->color),
                        v_opt_int(r->secondary_color), v_opt_int(r->tertiary_color),
                        v_opt_int(position), v_opt_bool(r->hoist), v_opt_bool(r->mentionable),
                        v_opt_bool(managed), v_opt_int(r->flags), v_opt_text(r->unicode_emoji),
                        bot ? v_id(bot) : v_null()),
                   NULL);
}

static enum err import_role(struct importing *im, const struct world_role *r,
                            const struct place *at, snowflake guild, int64_t from_below)
{
    struct place bot_at = place_key(at, STR("bot"));
    struct opt_int position = r->position;
    unsigned before = im->form->problems;
    snowflake id = 0, bot;
    enum err e = settle(im, &role_naming, guild, r->id, r->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &r->bot, &bot_at, &bot);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_ROLES, !id);
    if (!id) {
        id = r->id.given == GIVEN ? r->id.value : snowflake_new();
        e = tx_exec(im->tx, ADD_ROLE, BIND(v_id(id), v_id(guild), v_text(r->name), v_int(0)), NULL);
    }
    if (id == guild)
        position = (struct opt_int){ GIVEN, 0 };
    else if (position.given != GIVEN)
        position = (struct opt_int){ GIVEN, from_below };
    return e ? e : dress_role(im, r, id, position, bot);
}

enum err add_everyone(struct importing *im, snowflake guild)
{
    return tx_exec(im->tx, ADD_ROLE,
                   BIND(v_id(guild), v_id(guild), v_text(STR("@everyone")),
                        v_int((int64_t)PERMISSIONS_DEFAULT)),
                   NULL);
}

enum err import_roles(struct importing *im, const struct opt_list *list, snowflake guild,
                      const struct place *up)
{
    struct place all = place_key(up, STR("roles"));
    const struct world_role *roles = list->value.items;
    int64_t below = (int64_t)list->value.count;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count; i++)
        if (str_is(roles[i].name, "@everyone"))
            below--;
    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = import_role(im, &roles[i], &at, guild, below);
        if (!str_is(roles[i].name, "@everyone"))
            below--;
    }
    return e;
}

/* --- out ------------------------------------------------------------------------------ */

static const char ROLES[] =
    "select r.id, r.name, r.permissions, r.color, r.secondary_color, r.tertiary_color, r.position, "
    "r.hoist, r.mentionable, r.managed, r.flags, r.unicode_emoji, b.username from roles r "
    "left join users b on b.id = r.bot_id where r.guild_id = $1 and r.position >= 0 "
    "order by r.position desc, r.id";

enum err export_roles(struct exporting *ex, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, ROLES, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_role *x = shown_item(ex->tx, ret, sizeof *x);

        *x = (struct world_role){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .permissions = rights_write((uint64_t)row_int(&r, 2), tx_arena(ex->tx)),
            .color = shown_int(&r, 3, 0),
            .secondary_color = shown_int(&r, 4, -1),
            .tertiary_color = shown_int(&r, 5, -1),
            .position = shown_int(&r, 6, -1),
            .hoist = shown_bool(&r, 7, false),
            .mentionable = shown_bool(&r, 8, false),
            .managed = shown_bool(&r, 9, false),
            .flags = shown_int(&r, 10, 0),
            .unicode_emoji = shown_text(&r, 11, NULL),
            .bot = shown_text(&r, 12, NULL),
        };
    }
    return rows_end(&r);
}
