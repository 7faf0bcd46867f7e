/* view_watch.c - compares the gateway's view of a guild with the store
 * (TEST_FAULT_CHECK_VIEWS). */
#include "base/log.h"
#include "gateway/subscriptions/guild_view.h"

static bool same_roles(const struct guild_view *a, const struct guild_view *b)
{
    for (uint32_t i = 0; i < a->role_count; i++)
        if (guild_view_role_permissions(b, a->roles[i].id) != a->roles[i].permissions)
            return false;
    return a->role_count == b->role_count;
}

static bool has_overwrite(const struct channel_overwrites *p, const struct overwrite *o)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->overwrites[i].id == o->id)
            return p->overwrites[i].allow == o->allow && p->overwrites[i].deny == o->deny;
    return false;
}

static bool same_type_and_overwrites(const struct channel_overwrites *a,
                                     const struct channel_overwrites *b)
{
    for (uint32_t i = 0; b && i < a->count; i++)
        if (!has_overwrite(b, &a->overwrites[i]))
            return false;
    return b && a->type == b->type && a->count == b->count;
}

static bool same_channels(const struct guild_view *a, const struct guild_view *b)
{
    size_t at = 0;

    for (const struct channel_overwrites *p; (p = map_next_value(&a->channels, &at));)
        if (!same_type_and_overwrites(p, map_find_value(&b->channels, p->id)))
            return false;
    return a->channels.count == b->channels.count;
}

/* Returns the name of the part in which two views differ, or NULL. */
static const char *view_difference(const struct guild_view *a, const struct guild_view *b)
{
    if (a->owner_id != b->owner_id)
        return "owners";
    if (a->member_count != b->member_count)
        return "counts of members";
    if (!same_roles(a, b))
        return "roles";
    return same_channels(a, b) ? NULL : "channels";
}

void guild_view_log_differences_from_store(const struct guild_view *v, const struct guild *g,
                                           const struct list *channels)
{
    struct guild_view *stored = guild_view_new(g, channels);
    const char *difference = view_difference(v, stored);

    if (difference)
        log_error("gateway: %s of guild %llu are others in the store", difference,
                  (unsigned long long)v->guild_id);
    else
        log_info("gateway: guild %llu is the same in the store", (unsigned long long)v->guild_id);
    guild_view_free(stored);
}
