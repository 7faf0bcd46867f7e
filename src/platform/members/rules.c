/* rules.c - permission checks for actions of one member on another. */
#include "platform/members/internal.h"
#include "model/fields/ids.h"

enum err require_rank_above_member(struct call *call, const struct member *m)
{
    struct member_access other;
    enum err e = member_access_find_of_other_user(call->tx, m->guild_id, m->user_id, &other);

    if (e)
        return e;
    return member_outranks_member(call->target.member_access, &other)
               ? OK
               : call_get_rank_too_low_error(call);
}

enum err check_caller_may_assign_role(struct call *call, const struct role *role)
{
    if (role->managed || role->id == role->guild_id)
        return ERR_INVALID_ROLE;
    return member_outranks_role(call->target.member_access, role)
               ? OK
               : call_get_rank_too_low_error(call);
}

struct list copy_ids_without_duplicates(struct arena *arena, const struct list *ids)
{
    const snowflake *items = ids->items;
    struct list distinct = { 0 };

    for (size_t i = 0; i < ids->count; i++)
        if (!id_list_contains(&distinct, items[i]))
            id_list_add(arena, &distinct, items[i]);
    return distinct;
}

static enum err check_added_roles_assignable(struct call *call, const struct list *of,
                                             const struct list *without)
{
    const snowflake *ids = of->items;
    struct role role;
    enum err e = OK;

    for (size_t i = 0; i < of->count && !e; i++) {
        if (id_list_contains(without, ids[i]))
            continue;
        e = role_find(call->tx, call->target.guild->id, ids[i], &role);
        if (!e)
            e = check_caller_may_assign_role(call, &role);
    }
    return e;
}

enum err check_caller_may_assign_changed_roles(struct call *call, const struct list *from,
                                               const struct list *to)
{
    enum err e = check_added_roles_assignable(call, to, from);

    return e ? e : check_added_roles_assignable(call, from, to);
}
