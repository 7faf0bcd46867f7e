/* homes.c - lock-free cache that maps a channel id to its guild and parent channel.
 *
 * On PostgreSQL a query is a network round trip. If the guild is known, the queries about a channel
 * and its guild can be prefetched together. Cache entries are only hints: every result still comes
 * from the database, so a stale entry is harmless. */
#include "platform/channels/internal.h"

#include <stdatomic.h>

#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

enum { HOMES = 1 << 13 };

/* The cache is not a struct cache, because all threads access it without a lock. Channels of the
 * same slot evict each other; a torn entry only causes a needless query. */
static struct channel_home {
    _Atomic snowflake id, guild_id, parent_id;
} homes[HOMES];

static struct channel_home *home_of(snowflake id)
{
    return &homes[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 51];
}

bool channel_home_known(snowflake id)
{
    return atomic_load_explicit(&home_of(id)->id, memory_order_relaxed) == id;
}

static void home_note(const struct channel *c)
{
    struct channel_home *h = home_of(c->id);
    snowflake parent = channel_is_thread(c->type) ? c->parent_id.value : 0;

    atomic_store_explicit(&h->id, c->id, memory_order_relaxed);
    atomic_store_explicit(&h->guild_id, c->guild_id.value, memory_order_relaxed);
    atomic_store_explicit(&h->parent_id, parent, memory_order_relaxed);
}

static void prefetch_standing(struct call *call, snowflake guild_id)
{
    standing_prefetch(call->tx, guild_id, call->caller->id);
    /* Replies of append routes also show the caller's account, for example as the author. */
    if (route_store(call->route) == ROUTE_STORE_APPEND)
        user_prefetch_partial(call->tx, call->caller->id);
}

bool channel_home_prefetch(struct call *call, snowflake id)
{
    struct channel_home *h = home_of(id);
    snowflake parent = atomic_load_explicit(&h->parent_id, memory_order_relaxed);

    if (!channel_home_known(id))
        return false;
    channel_prefetch(call->tx, id, !parent);
    if (parent)
        channel_prefetch(call->tx, parent, true);
    prefetch_standing(call, atomic_load_explicit(&h->guild_id, memory_order_relaxed));
    return true;
}

bool channel_home_agrees(const struct channel *c)
{
    struct channel_home *h = home_of(c->id);
    snowflake parent = channel_is_thread(c->type) ? c->parent_id.value : 0;

    return atomic_load_explicit(&h->guild_id, memory_order_relaxed) == c->guild_id.value &&
           atomic_load_explicit(&h->parent_id, memory_order_relaxed) == parent;
}

void channel_guild_prefetch(struct call *call, const struct channel *c)
{
    if (!tx_is_remote(call->tx))
        return;
    prefetch_standing(call, c->guild_id.value);
    if (channel_is_thread(c->type))
        channel_prefetch(call->tx, c->parent_id.value, true);
    home_note(c);
}
