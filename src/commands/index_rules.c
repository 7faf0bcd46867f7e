/* index_rules.c - what a member sees of a guild's commands.
 *
 * A command that the member can use nowhere is left out. Nowhere is decided without walking
 * all channels: rights differ from the guild's only where a channel has overwrites. */
#include "commands/index.h"

#include "platform/channels/channels.h"

/* A row of the guild, of whatever target. */
struct target_row {
    snowflake target_id;
    struct command_permission permission;
};

static const char PERMISSIONS_OF_GUILD[] =
    "select target_id, entity_id, type, permission from command_permissions "
    "where guild_id = $1 order by target_id, position";

enum err index_reader_load(struct tx *tx, const struct standing *s, struct index_reader *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, PERMISSIONS_OF_GUILD, BIND(v_id(s->guild_id)), &rows);

    *ret = (struct index_reader){ .tx = tx, .standing = s };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct target_row *)list_add(tx_arena(tx), &ret->rows, sizeof(struct target_row)) =
            (struct target_row){ row_id(&rows, 0),
                                 { row_id(&rows, 1), row_int(&rows, 2), row_bool(&rows, 3) } };
    return rows_end(&rows);
}

/* Where the rows of a target begin; they are in the order of targets. */
static size_t first_of(const struct list *rows, snowflake target_id)
{
    const struct target_row *all = rows->items;
    size_t low = 0, high = rows->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (all[middle].target_id < target_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct list rows_of(const struct index_reader *r, snowflake target_id)
{
    const struct target_row *all = r->rows.items;
    struct list rows = { 0 };

    for (size_t i = first_of(&r->rows, target_id); i < r->rows.count; i++) {
        if (all[i].target_id != target_id)
            break;
        *(struct command_permission *)list_add(
            tx_arena(r->tx), &rows, sizeof(struct command_permission)) = all[i].permission;
    }
    return rows;
}

/* --- can it be used? ------------------------------------------------------------------ */

static enum err look_around(struct index_reader *r)
{
    struct list channels, threads;
    enum err e = guild_channels(r->tx, r->standing->guild_id, &channels, &threads);
    const struct channel *c = channels.items;

    r->looked_around = true;
    for (size_t i = 0; !e && i < channels.count; i++) {
        const struct list *overwrites = &c[i].permission_overwrites.value;
        uint64_t rights = rights_in_channel(&r->standing->rights_of, c[i].type, overwrites->items,
                                            overwrites->count, false);

        if (overwrites->count && rights & PERMISSION(VIEW_CHANNEL))
            *(uint64_t *)list_add(tx_arena(r->tx), &r->rights, sizeof rights) = rights;
    }
    return e;
}

/* Is there a channel where the member has what the command asks for? */
static enum err usable_somewhere(struct index_reader *r, uint64_t needs, bool *ret)
{
    enum err e = r->looked_around ? OK : look_around(r);
    const uint64_t *rights = r->rights.items;

    for (size_t i = 0; !e && !*ret && i < r->rights.count; i++)
        *ret = needs && (rights[i] & needs) == needs;
    return e;
}

enum err index_usable(struct index_reader *r, const struct bundle *b, const struct bundle_entry *k,
                      bool *ret)
{
    const struct standing *s = r->standing;
    struct command_question q = {
        .guild_id = s->guild_id,
        .user_id = s->user_id,
        .roles = s->rights_of.roles,
        .role_count = s->rights_of.role_count,
        .rights = s->rights,
        .default_member_permissions = { k->default_member_permissions == BUNDLE_ANYBODY ? GIVEN_NULL
                                                                                        : GIVEN,
                                        k->default_member_permissions },
    };

    *ret = true;
    if (s->rights & PERMISSION(ADMINISTRATOR))
        return OK;
    if (r->rows.count) {
        q.of_command = rows_of(r, k->id);
        q.of_application = rows_of(r, b->application_id);
    }
    enum command_verdict verdict = command_judge_person(&q);
    *ret = verdict == COMMAND_ALLOWED;
    if (verdict != COMMAND_DEFAULT_DENIED)
        return OK;
    return usable_somewhere(r, k->default_member_permissions, ret);
}

/* --- what rows say about the reader --------------------------------------------------- */

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

const struct command_index_permissions *index_permissions(struct index_reader *r,
                                                          snowflake target_id)
{
    struct arena *arena = tx_arena(r->tx);
    struct list rows = r->rows.count ? rows_of(r, target_id) : (struct list){ 0 };
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
