/* guild_view.c - a loop's cached roles, channels and overwrites of a guild, for permissions.
 *
 * The data is read from the store when the first session on the loop needs it, then updated by
 * events. */
#include "gateway/subscriptions/guild_view.h"

#include <limits.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/subscriptions/snapshot_positions.h"
#include "gateway/subscriptions/topics.h"

struct guild_view *guild_view_new(const struct guild *g, const struct list *channels)
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
        guild_view_set_role(v, roles[i].id, roles[i].permissions);
    for (size_t i = 0; i < channels->count; i++, c++)
        guild_view_set_channel(v, c->id, c->type, c->permission_overwrites.value.items,
                               c->permission_overwrites.value.count);
    return v;
}

bool guild_view_free_channel_batch(struct guild_view *v, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        struct channel_overwrites *p = map_next_value(&v->channels, &v->freed);

        if (!p) {
            map_clear(&v->channels);
            mem_free(v->roles);
            snapshot_log_positions_unref(v->snapshot_positions);
            mem_free(v);
            return true;
        }
        mem_free(p);
    }
    return false;
}

void guild_view_free(struct guild_view *v)
{
    while (v && !guild_view_free_channel_batch(v, UINT_MAX))
        ;
}

static struct role_permissions *find_role_permissions(const struct guild_view *v, snowflake id)
{
    for (uint32_t i = 0; i < v->role_count; i++)
        if (v->roles[i].id == id)
            return &v->roles[i];
    return NULL;
}

uint64_t guild_view_role_permissions(const struct guild_view *v, snowflake id)
{
    const struct role_permissions *r = find_role_permissions(v, id);

    return r ? r->permissions : 0;
}

void guild_view_set_role(struct guild_view *v, snowflake id, uint64_t permissions)
{
    struct role_permissions *r = find_role_permissions(v, id);

    if (!r && v->role_count == v->role_cap) {
        v->role_cap = v->role_cap ? v->role_cap * 2 : 4;
        v->roles = mem_resize(v->roles, v->role_cap * sizeof *v->roles);
    }
    if (!r)
        r = &v->roles[v->role_count++];
    *r = (struct role_permissions){ id, permissions };
    v->version++;
}

static void remove_channel_overwrite(struct channel_overwrites *p, snowflake id)
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

void guild_view_remove_overwrites_of_role(struct guild_view *v, snowflake id)
{
    size_t at = 0;

    for (struct channel_overwrites *p; (p = map_next_value(&v->channels, &at));)
        remove_channel_overwrite(p, id);
}

void guild_view_remove_role(struct guild_view *v, snowflake id)
{
    struct role_permissions *r = find_role_permissions(v, id);

    if (!r)
        return;
    *r = v->roles[--v->role_count];
    v->version++;
}

void guild_view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                            const struct overwrite *list, size_t count)
{
    struct channel_overwrites *p = mem_new(sizeof *p + count * sizeof *p->overwrites);

    p->id = id;
    p->type = type;
    p->count = (uint32_t)count;
    if (count)
        memcpy(p->overwrites, list, count * sizeof *p->overwrites);
    mem_free(map_set_value(&v->channels, id, p));
}

void guild_view_remove_channel(struct guild_view *v, snowflake id)
{
    mem_free(map_remove_value(&v->channels, id));
}

static uint64_t compute_base_permissions(const struct guild_view *v,
                                         const struct topic_subscription *seat)
{
    const struct role_permissions *everyone = find_role_permissions(v, v->guild_id);
    uint64_t base = everyone ? everyone->permissions : 0;

    for (uint32_t i = 0; i < seat->role_count; i++) {
        const struct role_permissions *r = find_role_permissions(v, seat->roles[i]);

        if (r)
            base |= r->permissions;
    }
    return base;
}

static struct permission_computation_input member_access_from_subscription(
    struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;

    if (seat->version != v->version) {
        seat->base = compute_base_permissions(v, seat);
        seat->version = v->version;
    }
    return (struct permission_computation_input){
        .guild_id = v->guild_id,
        .user_id = seat->user_id,
        .owner = v->owner_id == seat->user_id,
        .timed_out = seat->restrained_until && seat->restrained_until > clock_us(),
        .base = seat->base,
        .roles = seat->roles,
        .role_count = seat->role_count,
    };
}

static uint64_t compute_permissions_in_channel(const struct permission_computation_input *who,
                                               const struct guild_view *v, snowflake channel_id,
                                               bool thread)
{
    const struct channel_overwrites *p = map_find_value(&v->channels, channel_id);

    return p ? permissions_in_channel(who, p->type, p->overwrites, p->count, thread) : 0;
}

uint64_t subscription_permissions(struct topic_subscription *seat, snowflake channel_id)
{
    if (!seat->topic->view)
        return 0;
    struct permission_computation_input who = member_access_from_subscription(seat);
    return channel_id ? compute_permissions_in_channel(&who, seat->topic->view, channel_id, false)
                      : permissions_in_guild(&who);
}

static bool event_audience_has_user_id(const struct audience *to, snowflake id)
{
    size_t from = 0, end = to->user_count;

    while (from < end) {
        size_t middle = from + (end - from) / 2;

        if (to->user_ids[middle] == id)
            return true;
        if (to->user_ids[middle] < id)
            from = middle + 1;
        else
            end = middle;
    }
    return false;
}

bool subscription_receives_role_granter_event(struct topic_subscription *seat,
                                              const struct audience *to)
{
    if (event_audience_has_user_id(to, seat->user_id))
        return true;
    if (!(subscription_permissions(seat, 0) & PERMISSION(MANAGE_ROLES)))
        return false;
    for (uint32_t i = 0; i < seat->role_count; i++)
        if (event_audience_has_user_id(to, seat->roles[i]))
            return true;
    return false;
}

uint64_t subscription_event_permissions(struct topic_subscription *seat, const struct audience *to)
{
    if (!to->thread_type)
        return subscription_permissions(seat, to->channel_id);
    if (!seat->topic->view)
        return 0;
    struct permission_computation_input who = member_access_from_subscription(seat);
    uint64_t perms = compute_permissions_in_channel(&who, seat->topic->view, to->parent_id, true);
    bool member = to->private_thread &&
                  (to->starter_id == who.user_id || event_audience_has_user_id(to, who.user_id));
    return limit_permissions_to_thread(to->thread_type, member, perms);
}
