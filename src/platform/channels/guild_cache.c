/* guild_cache.c - lock-free cache that maps a channel id to its guild and parent channel.
 *
 * On PostgreSQL a query is a network round trip. If the guild of a channel is cached, the queries
 * about the channel and its guild can be sent together. All results still come from the database,
 * so a wrong entry only causes a needless query. */
#include "platform/channels/internal.h"

#include <stdatomic.h>

#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

enum { CACHE_SLOTS = 1 << 13 };

/* An array of atomics, because all threads access it without a lock. Channels with the same slot
 * evict each other. The ids of an entry may be of different writes, which only causes a needless
 * query. */
static struct cached_channel {
    _Atomic snowflake id, guild_id, parent_id;
} cached_channels[CACHE_SLOTS];

static struct cached_channel *cache_slot_of(snowflake id)
{
    return &cached_channels[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 51];
}

bool channel_guild_is_cached(snowflake id)
{
    return atomic_load_explicit(&cache_slot_of(id)->id, memory_order_relaxed) == id;
}

static void cache_channel_guild(const struct channel *c)
{
    struct cached_channel *h = cache_slot_of(c->id);
    snowflake parent = channel_is_thread(c->type) ? c->parent_id.value : 0;

    atomic_store_explicit(&h->id, c->id, memory_order_relaxed);
    atomic_store_explicit(&h->guild_id, c->guild_id.value, memory_order_relaxed);
    atomic_store_explicit(&h->parent_id, parent, memory_order_relaxed);
}

static void prefetch_member_access(struct call *call, snowflake guild_id)
{
    member_access_prefetch(call->tx, guild_id, call->caller->id);
    /* Replies of routes that append rows contain the caller's account, for example as a message's
     * author. */
    if (route_store_mode(call->route) == ROUTE_STORE_APPEND)
        user_prefetch_partial(call->tx, call->caller->id);
}

bool channel_access_prefetch(struct call *call, snowflake id)
{
    struct cached_channel *h = cache_slot_of(id);
    snowflake parent = atomic_load_explicit(&h->parent_id, memory_order_relaxed);

    if (!channel_guild_is_cached(id))
        return false;
    channel_prefetch(call->tx, id, !parent);
    if (parent)
        channel_prefetch(call->tx, parent, true);
    prefetch_member_access(call, atomic_load_explicit(&h->guild_id, memory_order_relaxed));
    return true;
}

bool channel_prefetch_used_right_guild(const struct channel *c)
{
    struct cached_channel *h = cache_slot_of(c->id);
    snowflake parent = channel_is_thread(c->type) ? c->parent_id.value : 0;

    return atomic_load_explicit(&h->guild_id, memory_order_relaxed) == c->guild_id.value &&
           atomic_load_explicit(&h->parent_id, memory_order_relaxed) == parent;
}

void channel_prefetch_guild_queries(struct call *call, const struct channel *c)
{
    if (!tx_needs_round_trips(call->tx))
        return;
    prefetch_member_access(call, c->guild_id.value);
    if (channel_is_thread(c->type))
        channel_prefetch(call->tx, c->parent_id.value, true);
    cache_channel_guild(c);
}
