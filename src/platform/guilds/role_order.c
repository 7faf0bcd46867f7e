/* role_order.c - PATCH /guilds/{guild.id}/roles: changes the positions of roles. The roles in the
 * body get the requested positions. The other roles keep their order and fill the positions between
 * them. The resulting positions are 1, 2, 3 … without gaps or ties. */
#include "platform/guilds/internal.h"

#include <stdlib.h>

struct role_order {
    struct role *roles; /* all roles except @everyone, lowest first */
    size_t count;
    const struct role **ranked; /* roles in the new order */
};

static const struct role_position *find_requested_position(const struct list *positions,
                                                           snowflake id)
{
    const struct role_position *all = positions->items;

    /* Iterate backwards: if the body contains a role twice, its last position is used. */
    for (size_t i = positions->count; i-- > 0;)
        if (all[i].id == id && all[i].position.given == GIVEN)
            return &all[i];
    return NULL;
}

static const struct role *find_role_in_order(const struct role_order *o, snowflake id)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->roles[i].id == id)
            return &o->roles[i];
    return NULL;
}

/* Adds a form error for each id in the body that is not a role of the guild, or is @everyone, which
 * cannot be moved. */
static enum err check_ids_of_role_positions(const struct role_order *o,
                                            const struct list *positions, snowflake guild_id)
{
    const struct role_position *p = positions->items;

    for (size_t i = 0; i < positions->count; i++) {
        if (p[i].id == guild_id && p[i].position.value != 0)
            return ERR_INVALID_ROLE;
        if (p[i].id != guild_id && !find_role_in_order(o, p[i].id))
            return ERR_UNKNOWN_ROLE;
    }
    return OK;
}

struct requested_role_move {
    const struct role *role;
    int64_t position;
    size_t rank; /* index in the previous order; orders roles with equal positions */
};

static int compare_role_moves(const void *a, const void *b)
{
    const struct requested_role_move *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Returns the requested moves, ordered by position, lowest first. */
static struct requested_role_move *collect_role_moves(struct arena *arena,
                                                      const struct role_order *o,
                                                      const struct list *positions,
                                                      size_t *ret_count)
{
    struct requested_role_move *moves = arena_array(arena, struct requested_role_move, o->count);
    size_t n = 0;

    for (size_t i = 0; i < o->count; i++) {
        const struct role_position *p = find_requested_position(positions, o->roles[i].id);

        if (p)
            moves[n++] = (struct requested_role_move){ &o->roles[i], p->position.value, i };
    }
    qsort(moves, n, sizeof *moves, compare_role_moves);
    *ret_count = n;
    return moves;
}

static void compute_role_order(struct arena *arena, struct role_order *o,
                               const struct list *positions)
{
    size_t moved, at = 0, next = 0;
    struct requested_role_move *moves = collect_role_moves(arena, o, positions, &moved);

    o->ranked = arena_array(arena, const struct role *, o->count);
    for (size_t i = 0; i < o->count; i++) {
        bool others_left;

        while (at < o->count && find_requested_position(positions, o->roles[at].id))
            at++;
        others_left = at < o->count;
        if (next < moved && (moves[next].position <= (int64_t)i + 1 || !others_left))
            o->ranked[i] = moves[next++].role;
        else
            o->ranked[i] = &o->roles[at++];
    }
}

/* Returns an error if the caller's highest role or a role above it would move. */
static enum err check_roles_below_caller(const struct call *call, const struct role_order *o)
{
    const struct member_access *s = call->target.member_access;

    if (s->input.owner)
        return OK;
    for (size_t i = 0; i < o->count; i++)
        if (!member_outranks_role(s, &o->roles[i]) && o->ranked[i] != &o->roles[i])
            return call_get_rank_too_low_error(call);
    return OK;
}

static enum err write_role_order(struct call *call, const struct role_order *o)
{
    for (size_t i = 0; i < o->count; i++) {
        struct role moved = *o->ranked[i];
        struct guild_role_event event = { moved.guild_id, &moved };
        int64_t position = (int64_t)i + 1;

        if (moved.position == position)
            continue;
        moved.position = position;
        enum err e = role_update_position(call->tx, moved.id, position);
        if (e)
            return e;
        call_emit_event(call, EVENT_GUILD_ROLE_UPDATE, audience_of_guild(moved.guild_id),
                        &guild_role_event_schema, &event);
    }
    return OK;
}

/* Removes @everyone from the list of roles to order, because it is always the lowest. */
static void exclude_everyone_role(struct list *roles, snowflake guild_id, struct role_order *ret)
{
    struct role *all = roles->items;

    *ret = (struct role_order){ .roles = all };
    for (size_t i = 0; i < roles->count; i++)
        if (all[i].id != guild_id)
            all[ret->count++] = all[i];
}

enum err move_roles(struct call *call)
{
    snowflake guild_id = call->target.guild->id;
    const struct list *positions = call->body;
    struct list roles;
    struct role_order order;

    enum err e = guild_roles_list(call->tx, guild_id, &roles);
    if (e)
        return e;
    exclude_everyone_role(&roles, guild_id, &order);
    e = check_ids_of_role_positions(&order, positions, guild_id);
    if (e)
        return e;
    compute_role_order(call->arena, &order, positions);
    e = check_roles_below_caller(call, &order);
    if (!e)
        e = write_role_order(call, &order);
    if (!e)
        e = guild_roles_list(call->tx, guild_id, &roles);
    return e ? e : call_reply_with_object(call, &roles);
}
