/* role_order.c - PATCH /guilds/{guild.id}/roles: changes the positions of roles.
 *
 * Named roles get the requested positions; the other roles fill the gaps in their previous order.
 * The resulting positions are 1, 2, 3 … without gaps or ties. */
#include "platform/guilds/internal.h"

#include <stdlib.h>

struct role_order {
    struct role *roles; /* without @everyone, lowest first */
    size_t count;
    const struct role **ranked; /* roles in the new order */
};

static const struct role_place *place_of(const struct list *places, snowflake id)
{
    const struct role_place *all = places->items;

    /* If a role is named twice, the last entry counts. */
    for (size_t i = places->count; i-- > 0;)
        if (all[i].id == id && all[i].position.given == GIVEN)
            return &all[i];
    return NULL;
}

static const struct role *role_in(const struct role_order *o, snowflake id)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->roles[i].id == id)
            return &o->roles[i];
    return NULL;
}

/* Every id must name a role; @everyone cannot be moved. */
static enum err check_places(const struct role_order *o, const struct list *places,
                             snowflake guild_id)
{
    const struct role_place *p = places->items;

    for (size_t i = 0; i < places->count; i++) {
        if (p[i].id == guild_id && p[i].position.value != 0)
            return ERR_INVALID_ROLE;
        if (p[i].id != guild_id && !role_in(o, p[i].id))
            return ERR_UNKNOWN_ROLE;
    }
    return OK;
}

struct role_move {
    const struct role *role;
    int64_t position;
    size_t rank; /* previous rank of the role: breaks ties */
};

static int compare_moves(const void *a, const void *b)
{
    const struct role_move *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Returns the requested moves, ordered by position, lowest first. */
static struct role_move *gather_moves(struct arena *arena, const struct role_order *o,
                                      const struct list *places, size_t *ret_count)
{
    struct role_move *moves = arena_array(arena, struct role_move, o->count);
    size_t n = 0;

    for (size_t i = 0; i < o->count; i++) {
        const struct role_place *p = place_of(places, o->roles[i].id);

        if (p)
            moves[n++] = (struct role_move){ &o->roles[i], p->position.value, i };
    }
    qsort(moves, n, sizeof *moves, compare_moves);
    *ret_count = n;
    return moves;
}

static void role_order_rank(struct arena *arena, struct role_order *o, const struct list *places)
{
    size_t moved, at = 0, next = 0;
    struct role_move *moves = gather_moves(arena, o, places, &moved);

    o->ranked = arena_array(arena, const struct role *, o->count);
    for (size_t i = 0; i < o->count; i++) {
        bool others_left;

        while (at < o->count && place_of(places, o->roles[at].id))
            at++;
        others_left = at < o->count;
        if (next < moved && (moves[next].position <= (int64_t)i + 1 || !others_left))
            o->ranked[i] = moves[next++].role;
        else
            o->ranked[i] = &o->roles[at++];
    }
}

/* The caller's highest role and all roles above it must not move. */
static enum err check_reach(const struct role_order *o, const struct standing *s)
{
    if (s->rights_of.owner)
        return OK;
    for (size_t i = 0; i < o->count; i++)
        if (!standing_above_role(s, &o->roles[i]) && o->ranked[i] != &o->roles[i])
            return ERR_MISSING_PERMISSIONS;
    return OK;
}

static enum err role_order_save(struct call *call, const struct role_order *o)
{
    for (size_t i = 0; i < o->count; i++) {
        struct role moved = *o->ranked[i];
        struct guild_role_event event = { moved.guild_id, &moved };
        int64_t position = (int64_t)i + 1;

        if (moved.position == position)
            continue;
        moved.position = position;
        enum err e = role_move(call->tx, moved.id, position);
        if (e)
            return e;
        call_emit(call, EVENT_GUILD_ROLE_UPDATE, to_guild(moved.guild_id), &guild_role_event_schema,
                  &event);
    }
    return OK;
}

/* @everyone is always the lowest role and is excluded from the order. */
static void leave_out_everyone(struct list *roles, snowflake guild_id, struct role_order *ret)
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
    const struct list *places = call->body;
    struct list roles;
    struct role_order order;

    enum err e = guild_roles(call->tx, guild_id, &roles);
    if (e)
        return e;
    leave_out_everyone(&roles, guild_id, &order);
    e = check_places(&order, places, guild_id);
    if (e)
        return e;
    role_order_rank(call->arena, &order, places);
    e = check_reach(&order, call->target.standing);
    if (!e)
        e = role_order_save(call, &order);
    if (!e)
        e = guild_roles(call->tx, guild_id, &roles);
    return e ? e : call_reply(call, &roles);
}
