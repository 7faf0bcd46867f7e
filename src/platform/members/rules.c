/* rules.c - permission checks for actions of one member on another. */
#include "platform/members/internal.h"
#include "model/fields/ids.h"

enum err check_above(struct call *call, const struct member *m)
{
    struct standing other;
    enum err e = standing_of_member(call->tx, m->guild_id, m->user_id, &other);

    if (e)
        return e;
    return standing_above(call->target.standing, &other) ? OK : ERR_MISSING_PERMISSIONS;
}

enum err check_assignable(struct call *call, const struct role *role)
{
    if (role->managed || role->id == role->guild_id)
        return ERR_INVALID_ROLE;
    return standing_above_role(call->target.standing, role) ? OK : ERR_MISSING_PERMISSIONS;
}

struct list ids_distinct(struct arena *arena, const struct list *ids)
{
    const snowflake *items = ids->items;
    struct list distinct = { 0 };

    for (size_t i = 0; i < ids->count; i++)
        if (!ids_hold(&distinct, items[i]))
            ids_add(arena, &distinct, items[i]);
    return distinct;
}

static enum err check_roles_without(struct call *call, const struct list *of,
                                    const struct list *without)
{
    const snowflake *ids = of->items;
    struct role role;
    enum err e = OK;

    for (size_t i = 0; i < of->count && !e; i++) {
        if (ids_hold(without, ids[i]))
            continue;
        e = role_find(call->tx, call->target.guild->id, ids[i], &role);
        if (!e)
            e = check_assignable(call, &role);
    }
    return e;
}

enum err check_roles_changed(struct call *call, const struct list *from, const struct list *to)
{
    enum err e = check_roles_without(call, to, from);

    return e ? e : check_roles_without(call, from, to);
}
