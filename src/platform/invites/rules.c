/* rules.c - access rules of invites that grant roles. The code of such an invite is a credential,
 * so only members who could assign all of its roles may see it. When the invite is accepted, it
 * grants the roles that its creator could assign at that time. */
#include "platform/invites/internal.h"

#include <stdlib.h>

#include "model/fields/ids.h"

bool member_can_grant_invite_role(const struct member_access *s, const struct role *role)
{
    return s->permissions & PERMISSION(MANAGE_ROLES) && !role->managed &&
           role->id != role->guild_id && member_outranks_role(s, role);
}

bool member_can_view_invite(const struct invite *i, const struct member_access *viewer)
{
    const struct role *role = i->named_roles.items;

    if (viewer->user_id == i->inviter_id)
        return true;
    for (size_t n = 0; n < i->named_roles.count; n++)
        if (!member_can_grant_invite_role(viewer, &role[n]))
            return false;
    return true;
}

static const struct role *find_highest_role(const struct list *roles)
{
    const struct role *role = roles->items, *top = role;

    for (size_t n = 1; n < roles->count; n++)
        if (role_is_above(role[n].position, role[n].id, top->position, top->id))
            top = &role[n];
    return top;
}

static int compare_ids(const void *a, const void *b)
{
    snowflake one = *(const snowflake *)a, other = *(const snowflake *)b;

    return (one > other) - (one < other);
}

struct list invite_list_users_and_roles_that_see_code(struct arena *arena, const struct invite *i,
                                                      const struct list *roles)
{
    const struct role *role = roles->items, *top = find_highest_role(&i->named_roles);
    struct list out = { 0 };

    id_list_add(arena, &out, i->inviter_id);
    /* If the guild requires a second factor for moderation, only the invite's creator receives the
     * event: the gateway cannot check which members have a second factor. */
    if (i->guild->mfa_level)
        return out;
    id_list_add(arena, &out, i->guild->owner_id);
    for (size_t n = 0; n < roles->count; n++)
        if (role_is_above(role[n].position, role[n].id, top->position, top->id))
            id_list_add(arena, &out, role[n].id);
    qsort(out.items, out.count, sizeof(snowflake), compare_ids);
    return out;
}
