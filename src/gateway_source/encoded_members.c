/* encoded_members.c - the members of a guild as cached JSON, shared by all sessions that get them.
 *
 * In a guild with up to GUILD_LISTED_MEMBERS members each session gets all members. Their JSON is
 * cached until a member is added, removed or changed, or the account of a member changes. */
#include "gateway_source/encoded_members.h"

#include "gateway/capabilities.h"
#include "platform/members/members.h"
#include "store/result_cache.h"

static struct result_cache_key encoded_members_key(snowflake guild_id, int64_t limit, bool refers)
{
    static const char what[] = "members of a guild";

    return (struct result_cache_key){ what, { guild_id, (uint64_t)limit, refers } };
}

/* Copies the encoded members into the cache. The caller continues to use the original in its arena,
 * because the copy may be too large for the cache. */
static void cache_encoded_members(struct tx *tx, const struct result_cache_key *key,
                                  snowflake guild_id, const struct encoded_members *people)
{
    struct result_cache_entry *retained = result_cache_begin_entry(tx, key, 1 + people->count);

    if (!retained)
        return;
    result_cache_add_dependency(retained, VERSIONED_MEMBERS, guild_id);
    for (size_t i = 0; i < people->count; i++)
        result_cache_add_dependency(retained, VERSIONED_USERS, people->each[i].id);
    result_cache_end_entry(
        retained, copy_encoded_guild_members(result_cache_get_entry_arena(retained), people));
}

enum err read_encoded_members(struct tx *tx, snowflake guild_id, int64_t limit, bool refers,
                              const struct encoded_members **ret)
{
    struct result_cache_key key = encoded_members_key(guild_id, limit, refers);
    struct list members;

    if ((*ret = result_cache_find(tx, &key)))
        return OK;
    enum err e = members_list_after(tx, guild_id, 0, limit, &members);
    if (e)
        return e;
    struct encoded_members *people = arena_alloc(tx_arena(tx), sizeof *people);
    *people = encode_guild_members_json(tx_arena(tx), &members, refers);
    cache_encoded_members(tx, &key, guild_id, people);
    *ret = people;
    return OK;
}
