/* view.c - a loop's cached roles, channels and overwrites of a guild, to compute permissions.
 *
 * The data is read from the store when the first session on the loop needs it, then updated by
 * events. */
#include "gateway/views/view.h"

#include <limits.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/views/known.h"
#include "gateway/views/topics.h"

struct guild_view *view_new(const struct guild *g, const struct list *channels)
{
    struct guild_view *v = mem_new(sizeof *v);
    const struct role *roles = g->roles.items;
    const struct channel *c = channels->items;

    v->guild_id = g->id;
    v->owner_id = g->owner_id;
    v->member_count = g->member_count;
    v->version = 1;
    map_init(&v->channels);
    for (size_t i = 0; i < g->roles.count; i++)
        view_set_role(v, roles[i].id, roles[i].permissions);
    for (size_t i = 0; i < channels->count; i++, c++)
        view_set_channel(v, c->id, c->type, c->permission_overwrites.value.items,
                         c->permission_overwrites.value.count);
    return v;
}

bool view_free_some(struct guild_view *v, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        struct place_rule *p = map_next(&v->channels, &v->freed);

        if (!p) {
            map_clear(&v->channels);
            mem_free(v->roles);
            known_unref(v->known);
            mem_free(v);
            return true;
        }
        mem_free(p);
    }
    return false;
}

void view_free(struct guild_view *v)
{
    while (v && !view_free_some(v, UINT_MAX))
        ;
}

static struct role_rule *find_role(const struct guild_view *v, snowflake id)
{
    for (uint32_t i = 0; i < v->role_count; i++)
        if (v->roles[i].id == id)
            return &v->roles[i];
    return NULL;
}

uint64_t view_role(const struct guild_view *v, snowflake id)
{
    const struct role_rule *r = find_role(v, id);

    return r ? r->permissions : 0;
}

void view_set_role(struct guild_view *v, snowflake id, uint64_t permissions)
{
    struct role_rule *r = find_role(v, id);

    if (!r && v->role_count == v->role_cap) {
        v->role_cap = v->role_cap ? v->role_cap * 2 : 4;
        v->roles = mem_resize(v->roles, v->role_cap * sizeof *v->roles);
    }
    if (!r)
        r = &v->roles[v->role_count++];
    *r = (struct role_rule){ id, permissions };
    v->version++;
}

static void place_drop_overwrite(struct place_rule *p, snowflake id)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->overwrites[i].id == id) {
            p->count--;
            memmove(&p->overwrites[i], &p->overwrites[i + 1],
                    (p->count - i) * sizeof *p->overwrites);
            p->list_id[0] = '\0';
            return;
        }
}

void view_drop_overwrites(struct guild_view *v, snowflake id)
{
    size_t at = 0;

    for (struct place_rule *p; (p = map_next(&v->channels, &at));)
        place_drop_overwrite(p, id);
}

void view_drop_role(struct guild_view *v, snowflake id)
{
    struct role_rule *r = find_role(v, id);

    if (!r)
        return;
    *r = v->roles[--v->role_count];
    v->version++;
}

void view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                      const struct overwrite *list, size_t count)
{
    struct place_rule *p = mem_new(sizeof *p + count * sizeof *p->overwrites);

    p->id = id;
    p->type = type;
    p->count = (uint32_t)count;
    if (count)
        memcpy(p->overwrites, list, count * sizeof *p->overwrites);
    mem_free(map_put(&v->channels, id, p));
}

void view_drop_channel(struct guild_view *v, snowflake id)
{
    mem_free(map_remove(&v->channels, id));
}

static uint64_t base_of(const struct guild_view *v, const struct seat *seat)
{
    const struct role_rule *everyone = find_role(v, v->guild_id);
    uint64_t base = everyone ? everyone->permissions : 0;

    for (uint32_t i = 0; i < seat->role_count; i++) {
        const struct role_rule *r = find_role(v, seat->roles[i]);

        if (r)
            base |= r->permissions;
    }
    return base;
}

static struct rights_of standing_of(struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;

    if (seat->version != v->version) {
        seat->base = base_of(v, seat);
        seat->version = v->version;
    }
    return (struct rights_of){
        .guild_id = v->guild_id,
        .user_id = seat->user_id,
        .owner = v->owner_id == seat->user_id,
        .timed_out = seat->restrained_until && seat->restrained_until > clock_us(),
        .base = seat->base,
        .roles = seat->roles,
        .role_count = seat->role_count,
    };
}

static uint64_t rights_at(const struct rights_of *who, const struct guild_view *v,
                          snowflake channel_id, bool thread)
{
    const struct place_rule *p = map_get(&v->channels, channel_id);

    return p ? rights_in_channel(who, p->type, p->overwrites, p->count, thread) : 0;
}

uint64_t seat_rights(struct seat *seat, snowflake channel_id)
{
    if (!seat->topic->view)
        return 0;
    struct rights_of who = standing_of(seat);
    return channel_id ? rights_at(&who, seat->topic->view, channel_id, false)
                      : rights_in_guild(&who);
}

static bool is_among_people(const struct subject *to, snowflake id)
{
    size_t from = 0, end = to->people_count;

    while (from < end) {
        size_t middle = from + (end - from) / 2;

        if (to->people[middle] == id)
            return true;
        if (to->people[middle] < id)
            from = middle + 1;
        else
            end = middle;
    }
    return false;
}

bool seat_may_grant(struct seat *seat, const struct subject *to)
{
    if (is_among_people(to, seat->user_id))
        return true;
    if (!(seat_rights(seat, 0) & PERMISSION(MANAGE_ROLES)))
        return false;
    for (uint32_t i = 0; i < seat->role_count; i++)
        if (is_among_people(to, seat->roles[i]))
            return true;
    return false;
}

uint64_t seat_rights_for(struct seat *seat, const struct subject *to)
{
    if (!to->thread_type)
        return seat_rights(seat, to->channel_id);
    if (!seat->topic->view)
        return 0;
    struct rights_of who = standing_of(seat);
    uint64_t rights = rights_at(&who, seat->topic->view, to->parent_id, true);
    bool member = to->closed && (to->starter_id == who.user_id || is_among_people(to, who.user_id));
    return rights_past_door(to->thread_type, member, rights);
}
