/* index_rules.c - filters a guild's index: shows a member the commands it can use in some
 * channel. */
#include "commands/index/index.h"
#include "commands/permissions/permission_drops.h"
#include "model/fields/ids.h"

static const char PERMISSIONS_OF_GUILD[] =
    "select p.target_id, p.entity_id, p.type, p.permission from command_permissions p "
    "where p.guild_id = $1 and " PERMISSION_STANDS " order by p.target_id, p.position";

/* Reads the permission rows of the guild. *ret_channels: some row names a channel. */
static enum err load_rows(struct index_reader *r, bool *ret_channels)
{
    struct arena *arena = tx_arena(r->tx);
    struct rows rows;
    enum err e = tx_query(r->tx, PERMISSIONS_OF_GUILD, BIND(v_id(r->standing->guild_id)), &rows);

    *ret_channels = false;
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct command_permission *p = list_add(arena, &r->rows, sizeof *p);

        *p = (struct command_permission){ row_id(&rows, 1), row_int(&rows, 2), row_bool(&rows, 3) };
        ids_add(arena, &r->targets, row_id(&rows, 0));
        *ret_channels |= p->type == COMMAND_PERMISSION_CHANNEL;
    }
    return rows_end(&rows);
}

void index_reader_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    tx_prefetch(tx, PERMISSIONS_OF_GUILD, BIND(v_id(guild_id)));
    index_places_prefetch(tx, guild_id, user_id);
}

enum err index_reader_load(struct tx *tx, const struct standing *s, bool adult,
                           struct index_reader *ret)
{
    bool channels;

    *ret = (struct index_reader){ .tx = tx, .standing = s, .adult = adult };
    enum err e = load_rows(ret, &channels);
    return e ? e : index_places(tx, s, channels, &ret->places);
}

/* Returns the index of the first row of a target, by binary search; rows are sorted by target. */
static size_t first_row_of(const struct list *targets, snowflake target_id)
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

struct list index_rows_of(const struct index_reader *r, snowflake target_id)
{
    const snowflake *targets = r->targets.items;
    struct command_permission *rows = r->rows.items;
    size_t first = first_row_of(&r->targets, target_id), end = first;

    while (end < r->targets.count && targets[end] == target_id)
        end++;
    return end > first ? (struct list){ rows + first, end - first } : (struct list){ 0 };
}

bool index_usable(const struct index_reader *r, struct command_question *q)
{
    const struct index_place *p = r->places.items;

    for (size_t i = 0; i < r->places.count; i++) {
        q->rights = p[i].rights;
        q->channel_id = p[i].channel_id;
        q->thread = p[i].thread;
        q->nsfw_allowed = r->adult && p[i].nsfw;
        if (command_judge(q) == COMMAND_ALLOWED)
            return true;
    }
    return false;
}

/* --- permission rows in the reply ----------------------------------------------------- */

static bool has_role(const struct standing *s, snowflake id)
{
    for (size_t i = 0; i < s->rights_of.role_count; i++)
        if (s->rights_of.roles[i] == id)
            return true;
    return id == s->guild_id;
}

static void add_rule(struct arena *arena, struct opt_list *list, const struct command_permission *p)
{
    struct command_rule *rule = list_add(arena, &list->value, sizeof *rule);

    list->given = GIVEN;
    rule->id = str_printf(arena, "%llu", (unsigned long long)p->id);
    rule->permission = p->permission;
}

const struct command_index_permissions *index_permissions(const struct index_reader *r,
                                                          snowflake target_id)
{
    struct arena *arena = tx_arena(r->tx);
    struct list rows = index_rows_of(r, target_id);
    const struct command_permission *p = rows.items;

    if (!rows.count)
        return NULL;
    struct command_index_permissions *ret = arena_alloc(arena, sizeof *ret);
    for (size_t i = 0; i < rows.count; i++) {
        if (p[i].type == COMMAND_PERMISSION_CHANNEL)
            add_rule(arena, &ret->channels, &p[i]);
        else if (p[i].type == COMMAND_PERMISSION_ROLE && has_role(r->standing, p[i].id))
            add_rule(arena, &ret->roles, &p[i]);
        else if (p[i].type == COMMAND_PERMISSION_USER && p[i].id == r->standing->user_id)
            ret->user = given_bool(p[i].permission);
    }
    return ret;
}
