/* rows.c - guilds and roles in the store. */
#include "platform/guilds/guilds.h"

#include "platform/rows.h"

#define GUILD_COLUMNS                                                                             \
    "id, name, owner_id, icon, banner, splash, discovery_splash, home_header, description, "      \
    "features, afk_channel_id, afk_timeout, system_channel_id, system_channel_flags, "            \
    "rules_channel_id, public_updates_channel_id, safety_alerts_channel_id, verification_level, " \
    "default_message_notifications, explicit_content_filter, preferred_locale, "                  \
    "premium_progress_bar_enabled, member_count"

static void read_guild(const struct rows *r, struct guild *g)
{
    *g = (struct guild){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .owner_id = row_id(r, 2),
        .icon = row_opt_text(r, 3),
        .banner = row_opt_text(r, 4),
        .splash = row_opt_text(r, 5),
        .discovery_splash = row_opt_text(r, 6),
        .home_header = row_opt_text(r, 7),
        .description = row_opt_text(r, 8),
        .features = row_text(r, 9),
        .afk_channel_id = row_opt_id(r, 10),
        .afk_timeout = row_int(r, 11),
        .system_channel_id = row_opt_id(r, 12),
        .system_channel_flags = row_int(r, 13),
        .rules_channel_id = row_opt_id(r, 14),
        .public_updates_channel_id = row_opt_id(r, 15),
        .safety_alerts_channel_id = row_opt_id(r, 16),
        .verification_level = row_int(r, 17),
        .default_message_notifications = row_int(r, 18),
        .explicit_content_filter = row_int(r, 19),
        .preferred_locale = row_text(r, 20),
        .premium_progress_bar_enabled = row_bool(r, 21),
        .member_count = row_int(r, 22),
        .region = STR("deprecated"),
        .max_members = 500000,
        .max_video_channel_users = 25,
        .max_stage_video_channel_users = 50,
    };
}

static const char FIND_GUILD[] = "select " GUILD_COLUMNS " from guilds where id = $1";

enum err guild_find(struct tx *tx, snowflake id, struct guild *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_GUILD, BIND(v_id(id)), &row, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_GUILD;
    read_guild(&row, ret);
    return OK;
}

#define ROLE_COLUMNS                                                                             \
    "id, guild_id, name, color, secondary_color, tertiary_color, permissions, position, hoist, " \
    "managed, mentionable, flags, icon, unicode_emoji, bot_id, integration_id"

static const struct role_tags *read_tags(const struct rows *r, struct arena *arena)
{
    if (row_null(r, 14) && row_null(r, 15))
        return NULL;
    struct role_tags *tags = arena_alloc(arena, sizeof *tags);
    tags->bot_id = (struct opt_id){ row_null(r, 14) ? ABSENT : GIVEN, row_id(r, 14) };
    tags->integration_id = (struct opt_id){ row_null(r, 15) ? ABSENT : GIVEN, row_id(r, 15) };
    return tags;
}

static void read_role(const struct rows *r, struct role *role)
{
    struct arena *arena = tx_arena(r->tx);
    struct role_colors *colors = arena_alloc(arena, sizeof *colors);

    *colors = (struct role_colors){
        .primary_color = row_int(r, 3),
        .secondary_color = row_opt_int(r, 4),
        .tertiary_color = row_opt_int(r, 5),
    };
    *role = (struct role){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .name = row_text(r, 2),
        .color = colors->primary_color,
        .colors = colors,
        .permissions = (uint64_t)row_int(r, 6),
        .position = row_int(r, 7),
        .hoist = row_bool(r, 8),
        .managed = row_bool(r, 9),
        .mentionable = row_bool(r, 10),
        .flags = row_int(r, 11),
        .icon = row_opt_text(r, 12),
        .unicode_emoji = row_opt_text(r, 13),
        .tags = read_tags(r, arena),
    };
}

static const char ROLES_OF_GUILD[] =
    "select " ROLE_COLUMNS " from roles where guild_id = $1 order by position, id desc";

enum err guild_roles(struct tx *tx, snowflake guild_id, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, ROLES_OF_GUILD, BIND(v_id(guild_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        read_role(&rows, list_add(tx_arena(tx), ret, sizeof(struct role)));
    return rows_end(&rows);
}

enum err guild_load_roles(struct tx *tx, struct guild *g)
{
    return guild_roles(tx, g->id, &g->roles);
}

static const char FIND_ROLE[] =
    "select " ROLE_COLUMNS " from roles where id = $1 and guild_id = $2";

enum err role_find(struct tx *tx, snowflake guild_id, snowflake id, struct role *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_ROLE, BIND(v_id(id), v_id(guild_id)), &row, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_ROLE;
    read_role(&row, ret);
    return OK;
}

static const char ADD_ROLE[] =
    "insert into roles (id, guild_id, name, color, secondary_color, tertiary_color, permissions, "
    "position, hoist, managed, mentionable, icon, unicode_emoji, bot_id, integration_id) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";

enum err role_insert(struct tx *tx, const struct role *r)
{
    const struct role_colors none = { .primary_color = r->color };
    const struct role_colors *colors = r->colors ? r->colors : &none;
    const struct role_tags *tags = r->tags;

    return tx_exec(tx, ADD_ROLE,
                   BIND(v_id(r->id), v_id(r->guild_id), v_text(r->name),
                        v_int(colors->primary_color), v_opt_int(colors->secondary_color),
                        v_opt_int(colors->tertiary_color), v_int((int64_t)r->permissions),
                        v_int(r->position), v_int(r->hoist), v_int(r->managed),
                        v_int(r->mentionable), v_opt_text(r->icon), v_opt_text(r->unicode_emoji),
                        tags ? v_opt_id(tags->bot_id) : v_null(),
                        tags ? v_opt_id(tags->integration_id) : v_null()),
                   NULL);
}
