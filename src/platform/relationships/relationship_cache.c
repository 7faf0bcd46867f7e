/* relationship_cache.c - query cache of a user's relationships as JSON, for the list route and
 * READY. An entry depends on the relationship rows and on all accounts in them, including disabled
 * accounts, which are hidden and may become visible again. */
#include "platform/relationships/relationship_cache.h"

#include "gateway/capabilities.h"
#include "platform/relationships/relationship_pairs.h"
#include "store/result_cache.h"

static struct result_cache_key relationships_cache_key(snowflake user_id, bool refers)
{
    static const char what[] = "relationships";

    return (struct result_cache_key){ what, { user_id, refers } };
}

/* Caches a copy of the JSON. The original is in the call's arena, because it may be too large for
 * the cache. */
static void cache_relationships(struct tx *tx, const struct result_cache_key *key,
                                const struct list *all, const struct encoded_members *people)
{
    struct result_cache_entry *cache_entry = result_cache_begin_entry(tx, key, 1 + all->count);
    const snowflake *ids = all->items;

    if (!cache_entry)
        return;
    result_cache_add_dependency(cache_entry, VERSIONED_RELATIONSHIPS, key->ids[0]);
    for (size_t i = 0; i < all->count; i++)
        result_cache_add_dependency(cache_entry, VERSIONED_USERS, ids[i]);
    result_cache_end_entry(
        cache_entry, copy_encoded_guild_members(result_cache_get_entry_arena(cache_entry), people));
}

enum err relationships_read_json(struct tx *tx, snowflake user_id, bool refers,
                                 const struct encoded_members **ret)
{
    struct result_cache_key key = relationships_cache_key(user_id, refers);
    struct list list, all;

    if ((*ret = result_cache_find(tx, &key)))
        return OK;
    enum err e = relationships_read(tx, user_id, &list, &all);
    if (e)
        return e;
    struct encoded_members *people = arena_alloc(tx_arena(tx), sizeof *people);
    *people = encode_relationships_json(tx_arena(tx), &list, refers);
    cache_relationships(tx, &key, &all, people);
    *ret = people;
    return OK;
}
