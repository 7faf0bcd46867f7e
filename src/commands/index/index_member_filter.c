/* index_member_filter.c - filters a guild's index: lists the commands that a member can use in at
 * least one channel. */
#include "commands/index/index.h"
#include "commands/permissions/permission_deletion.h"
#include "model/fields/ids.h"

static const char PERMISSIONS_OF_GUILD[] =
    "select p.target_id, p.entity_id, p.type, p.permission from command_permissions p "
    "where p.guild_id = $1 and " PERMISSION_NOT_DELETED " order by p.target_id, p.position";

/* Reads the permission rows of the guild. *ret_channels says whether a row names a channel. */
static enum err read_command_permission_rows(struct command_index_member *r, bool *ret_channels)
{
    struct arena *arena = tx_arena(r->tx);
    struct rows rows;
    enum err e =
        tx_query(r->tx, PERMISSIONS_OF_GUILD, BIND(v_id(r->member_access->guild_id)), &rows);

    *ret_channels = false;
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct command_permission *p = list_append(arena, &r->rows, sizeof *p);

        *p = (struct command_permission){ row_id(&rows, 1), row_int(&rows, 2), row_bool(&rows, 3) };
        id_list_add(arena, &r->targets, row_id(&rows, 0));
        *ret_channels |= p->type == COMMAND_PERMISSION_CHANNEL;
    }
    return rows_end(&rows);
}

enum err read_command_index_member(struct tx *tx, const struct member_access *s, bool adult,
                                   struct command_index_member *ret)
{
    bool channels;

    *ret = (struct command_index_member){ .tx = tx, .member_access = s, .adult = adult };
    enum err e = read_command_permission_rows(ret, &channels);
    return e ? e : read_channel_permission_classes(tx, s, channels, &ret->channel_classes);
}

/* Returns the index of the first permission row of a target, by binary search, because the rows are
 * sorted by target. */
static size_t find_first_row_of_target(const struct list *targets, snowflake target_id)
{
    const snowflake *all = targets->items;
    size_t low = 0, high = targets->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (all[middle] < target_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct list find_command_index_permission_rows(const struct command_index_member *r,
                                               snowflake target_id)
{
    const snowflake *targets = r->targets.items;
    struct command_permission *rows = r->rows.items;
    size_t first = find_first_row_of_target(&r->targets, target_id), end = first;

    while (end < r->targets.count && targets[end] == target_id)
        end++;
    return end > first ? (struct list){ rows + first, end - first } : (struct list){ 0 };
}

bool command_is_allowed_in_any_channel(const struct command_index_member *r,
                                       struct command_permission_input *q)
{
    const struct channel_permission_class *p = r->channel_classes.items;

    for (size_t i = 0; i < r->channel_classes.count; i++) {
        q->user_permissions = p[i].permissions;
        q->channel_id = p[i].channel_id;
        q->thread = p[i].thread;
        q->nsfw_allowed = r->adult && p[i].nsfw;
        if (evaluate_command_permission(q) == COMMAND_ALLOWED)
            return true;
    }
    return false;
}

/* --- permission rows in the reply ----------------------------------------------------- */

static bool member_has_role(const struct member_access *s, snowflake id)
{
    for (size_t i = 0; i < s->input.role_count; i++)
        if (s->input.roles[i] == id)
            return true;
    return id == s->guild_id;
}

static void add_command_permission_rule(struct arena *arena, struct opt_list *list,
                                        const struct command_permission *p)
{
    struct command_index_permission *rule = list_append(arena, &list->value, sizeof *rule);

    list->given = GIVEN;
    rule->id = str_printf(arena, "%llu", (unsigned long long)p->id);
    rule->permission = p->permission;
}

const struct command_index_permissions *find_command_permissions_that_concern_member(
    const struct command_index_member *r, snowflake target_id)
{
    struct arena *arena = tx_arena(r->tx);
    struct list rows = find_command_index_permission_rows(r, target_id);
    const struct command_permission *p = rows.items;

    if (!rows.count)
        return NULL;
    struct command_index_permissions *ret = arena_alloc(arena, sizeof *ret);
    for (size_t i = 0; i < rows.count; i++) {
        if (p[i].type == COMMAND_PERMISSION_CHANNEL)
            add_command_permission_rule(arena, &ret->channels, &p[i]);
        else if (p[i].type == COMMAND_PERMISSION_ROLE && member_has_role(r->member_access, p[i].id))
            add_command_permission_rule(arena, &ret->roles, &p[i]);
        else if (p[i].type == COMMAND_PERMISSION_USER && p[i].id == r->member_access->user_id)
            ret->user = opt_bool_present(p[i].permission);
    }
    return ret;
}
