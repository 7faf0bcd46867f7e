/* role_rows.c - SQL of roles. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "model/fields/rows.h"
#include "platform/guilds/deletion.h"

#define ROLE_COLUMNS                                                                             \
    "id, guild_id, name, color, secondary_color, tertiary_color, permissions, position, hoist, " \
    "managed, mentionable, flags, icon, unicode_emoji, bot_id, integration_id"

static const struct role_tags *role_tags_from_row(const struct rows *r, struct arena *arena)
{
    if (row_column_is_null(r, 14) && row_column_is_null(r, 15))
        return NULL;
    struct role_tags *tags = arena_alloc(arena, sizeof *tags);
    tags->bot_id = (struct opt_id){ row_column_is_null(r, 14) ? ABSENT : GIVEN, row_id(r, 14) };
    tags->integration_id =
        (struct opt_id){ row_column_is_null(r, 15) ? ABSENT : GIVEN, row_id(r, 15) };
    return tags;
}

static void role_from_row(const struct rows *r, void *ret)
{
    struct role *role = ret;
    struct arena *arena = tx_arena(r->tx);
    struct role_colors *colors = arena_alloc(arena, sizeof *colors);

    *colors = (struct role_colors){
        .primary_color = row_int(r, 3),
        .secondary_color = row_optional_int(r, 4),
        .tertiary_color = row_optional_int(r, 5),
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
        .icon = row_optional_text(r, 12),
        .unicode_emoji = row_optional_text(r, 13),
        .tags = role_tags_from_row(r, arena),
    };
}

static const char ROLES_OF_GUILD[] =
    "select " ROLE_COLUMNS " from roles where guild_id = $1 and position >= 0 "
    "order by position, id desc";

enum err guild_roles_list(struct tx *tx, snowflake guild_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, ROLES_OF_GUILD, BIND(v_id(guild_id)), sizeof(struct role),
                        role_from_row, ret);
}

static const char FIND_ROLE[] =
    "select " ROLE_COLUMNS " from roles where id = $1 and guild_id = $2 and position >= 0";

enum err role_find(struct tx *tx, snowflake guild_id, snowflake id, struct role *ret)
{
    return tx_read_first(tx, FIND_ROLE, BIND(v_id(id), v_id(guild_id)), role_from_row, ret,
                         ERR_UNKNOWN_ROLE);
}

static const char ADD_ROLE[] =
    "insert into roles (id, guild_id, name, color, secondary_color, tertiary_color, permissions, "
    "position, hoist, managed, mentionable, icon, unicode_emoji, bot_id, integration_id, flags) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) "
    "on conflict (id) do update set name = $3, color = $4, secondary_color = $5, "
    "tertiary_color = $6, permissions = $7, position = $8, hoist = $9, managed = $10, "
    "mentionable = $11, icon = $12, unicode_emoji = $13, bot_id = $14, integration_id = $15, "
    "flags = $16";

enum err role_insert(struct tx *tx, const struct role *r)
{
    const struct role_colors none = { .primary_color = r->color };
    const struct role_colors *colors = r->colors ? r->colors : &none;
    const struct role_tags *tags = r->tags;

    return tx_exec(
        tx, ADD_ROLE,
        BIND(v_id(r->id), v_id(r->guild_id), v_text(r->name), v_int(colors->primary_color),
             sql_value_of_optional_int(colors->secondary_color),
             sql_value_of_optional_int(colors->tertiary_color), v_int((int64_t)r->permissions),
             v_int(r->position), v_int(r->hoist), v_int(r->managed), v_int(r->mentionable),
             sql_value_of_optional_text(r->icon), sql_value_of_optional_text(r->unicode_emoji),
             tags ? sql_value_of_optional_id(tags->bot_id) : v_null(),
             tags ? sql_value_of_optional_id(tags->integration_id) : v_null(), v_int(r->flags)),
        NULL);
}

static const char SAVE_ROLE[] =
    "update roles set name = $2, color = $3, secondary_color = $4, tertiary_color = $5, "
    "permissions = $6, hoist = $7, mentionable = $8, icon = $9, unicode_emoji = $10 where id = $1";

enum err role_update(struct tx *tx, const struct role *r)
{
    const struct role_colors *colors = r->colors;

    return tx_exec(tx, SAVE_ROLE,
                   BIND(v_id(r->id), v_text(r->name), v_int(colors->primary_color),
                        sql_value_of_optional_int(colors->secondary_color),
                        sql_value_of_optional_int(colors->tertiary_color),
                        v_int((int64_t)r->permissions), v_int(r->hoist), v_int(r->mentionable),
                        sql_value_of_optional_text(r->icon),
                        sql_value_of_optional_text(r->unicode_emoji)),
                   NULL);
}

static const char MOVE_ROLE[] = "update roles set position = $2 where id = $1";

enum err role_update_position(struct tx *tx, snowflake id, int64_t position)
{
    return tx_exec(tx, MOVE_ROLE, BIND(v_id(id), v_int(position)), NULL);
}

static const char MOVE_ALL_UP[] =
    "update roles set position = position + 1 where guild_id = $1 and id <> $1 "
    "and position >= 0";

enum err roles_shift_up_by_one_position(struct tx *tx, snowflake guild_id)
{
    return tx_exec(tx, MOVE_ALL_UP, BIND(v_id(guild_id)), NULL);
}

/* Moves the roles above a deleted role down by one position. Does nothing if another role has the
 * same position as the deleted role, because there is no gap then. */
static const char CLOSE_GAP[] =
    "update roles set position = position - 1 where guild_id = $1 and position > $2 "
    "and not exists (select 1 from roles r where r.guild_id = $1 and r.position = $2)";

enum err role_delete(struct call *call, const struct role *r)
{
    struct tx *tx = call->tx;
    enum err e = delete_stored_picture(call, "role-icons", r->id, &r->icon);

    if (!e)
        e = role_mark_deleted_and_run_deletion(call, r->id);
    if (!e)
        e = tx_exec(tx, CLOSE_GAP, BIND(v_id(r->guild_id), v_int(r->position)), NULL);
    return e;
}

enum err role_emit_delete(struct call *call, const struct role *r)
{
    struct guild_role_delete_event gone = { r->guild_id, r->id };

    call_emit_event(call, EVENT_GUILD_ROLE_DELETE, audience_of_guild(r->guild_id),
                    &guild_role_delete_event_schema, &gone);
    return hook_role_deleted(call, r);
}
