/* view.c - what rights in a guild are made of: made from the store, and asked. */
#include "platform/guilds/view.h"

#include <stdlib.h>

#include "base/mem.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/guilds/views.h"

/* --- making ------------------------------------------------------------------------------- */

static int compare_ids(snowflake a, snowflake b)
{
    return a < b ? -1 : a > b;
}

static int compare_roles(const void *a, const void *b)
{
    return compare_ids(((const struct view_role *)a)->id, ((const struct view_role *)b)->id);
}

static int compare_channels(const void *a, const void *b)
{
    return compare_ids(((const struct view_channel *)a)->id, ((const struct view_channel *)b)->id);
}

static size_t count_overwrites(const struct list *channels)
{
    const struct channel *c = channels->items;
    size_t n = 0;

    for (size_t i = 0; i < channels->count; i++)
        n += c[i].permission_overwrites.value.count;
    return n;
}

static void copy_roles(const struct list *from, struct view_role *to)
{
    const struct role *r = from->items;

    for (size_t i = 0; i < from->count; i++)
        to[i] = (struct view_role){ r[i].id, r[i].position, r[i].permissions };
    qsort(to, from->count, sizeof *to, compare_roles);
}

/* Returns where the next overwrites go. */
static struct overwrite *copy_channels(const struct list *from, struct view_channel *to,
                                       struct overwrite *overwrites)
{
    const struct channel *c = from->items;

    for (size_t i = 0; i < from->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;

        to[i] = (struct view_channel){ c[i].id,   c[i].parent_id.value, c[i].owner_id.value,
                                       c[i].type, overwrites,           o->count };
        if (o->count)
            memcpy(overwrites, o->items, o->count * sizeof *overwrites);
        overwrites += o->count;
    }
    return overwrites;
}

/* One piece of memory: the view, then its lists. */
static struct kept_view *make_view(const struct guild *g, const struct list *channels,
                                   const struct list *threads)
{
    size_t channel_count = channels->count + threads->count;
    size_t overwrite_count = count_overwrites(channels) + count_overwrites(threads);
    struct kept_view *k = mem_new(sizeof *k + g->roles.count * sizeof(struct view_role) +
                                  channel_count * sizeof(struct view_channel) +
                                  overwrite_count * sizeof(struct overwrite));
    struct view_role *roles = (struct view_role *)(k + 1);
    struct view_channel *all = (struct view_channel *)(roles + g->roles.count);
    struct overwrite *overwrites = (struct overwrite *)(all + channel_count);

    copy_roles(&g->roles, roles);
    overwrites = copy_channels(channels, all, overwrites);
    copy_channels(threads, all + channels->count, overwrites);
    qsort(all, channel_count, sizeof *all, compare_channels);
    atomic_init(&k->holders, 1);
    k->view = (struct guild_view){
        .guild_id = g->id,
        .owner_id = g->owner_id,
        .roles = roles,
        .role_count = g->roles.count,
        .channels = all,
        .channel_count = channel_count,
    };
    return k;
}

enum err view_get(struct tx *tx, snowflake guild_id, uint64_t moment, const struct guild_view **ret)
{
    struct list channels, threads;
    struct guild g;

    *ret = view_peek(guild_id);
    if (*ret)
        return OK;
    enum err e = guild_find(tx, guild_id, &g);
    if (!e)
        e = guild_load_roles(tx, &g);
    if (!e)
        e = guild_channels(tx, guild_id, &channels, &threads);
    if (e)
        return e;
    struct kept_view *k = make_view(&g, &channels, &threads);
    views_keep(k, moment);
    *ret = &k->view;
    return OK;
}

/* --- asking ------------------------------------------------------------------------------- */

const struct view_channel *view_channel(const struct guild_view *v, snowflake id)
{
    struct view_channel key = { .id = id };

    return v->channel_count
               ? bsearch(&key, v->channels, v->channel_count, sizeof key, compare_channels)
               : NULL;
}

static uint64_t role_permissions(const struct guild_view *v, snowflake id)
{
    struct view_role key = { .id = id };
    const struct view_role *r =
        v->role_count ? bsearch(&key, v->roles, v->role_count, sizeof key, compare_roles) : NULL;

    return r ? r->permissions : 0;
}

static struct rights_of member_in(const struct guild_view *v, const struct member *m, int64_t now)
{
    const struct opt_int *until = &m->communication_disabled_until;
    const snowflake *roles = m->roles.items;
    struct rights_of who = {
        .guild_id = v->guild_id,
        .user_id = m->user_id,
        .owner = v->owner_id == m->user_id,
        .timed_out = until->given == GIVEN && until->value > now,
        .base = role_permissions(v, v->guild_id),
        .roles = roles,
        .role_count = m->roles.count,
    };

    for (size_t i = 0; i < m->roles.count; i++)
        who.base |= role_permissions(v, roles[i]);
    return who;
}

uint64_t view_rights(const struct guild_view *v, const struct member *m, snowflake channel_id,
                     int64_t now)
{
    struct rights_of who = member_in(v, m, now);
    const struct view_channel *c, *parent;
    uint64_t rights;

    if (!channel_id)
        return rights_in_guild(&who);
    c = view_channel(v, channel_id);
    if (!c)
        return 0;
    if (!channel_is_thread(c->type))
        return rights_in_channel(&who, c->type, c->overwrites, c->overwrite_count, false);
    parent = view_channel(v, c->parent_id);
    if (!parent)
        return 0;
    rights =
        rights_in_channel(&who, parent->type, parent->overwrites, parent->overwrite_count, true);
    return rights_past_door(&who, c->type, c->starter, rights);
}
