/* kept_lists.c - query cache of a user's relationships as JSON, for the list route and READY. An
 * entry depends on the relationship rows and on all accounts in them, including disabled accounts,
 * which are hidden and may become visible again. */
#include "platform/relationships/kept_lists.h"

#include "gateway/capabilities.h"
#include "platform/relationships/bonds.h"
#include "store/kept.h"

static struct kept_key list_key(snowflake user_id, bool refers)
{
    static const char what[] = "relationships";

    return (struct kept_key){ what, { user_id, refers } };
}

/* Caches a copy. The result itself is in the call's arena, as it may be too large for the cache. */
static void keep_bonds(struct tx *tx, const struct kept_key *key, const struct list *all,
                       const struct written_people *people)
{
    struct kept_read *kept = kept_begin(tx, key, 1 + all->count);
    const snowflake *ids = all->items;

    if (!kept)
        return;
    kept_row(kept, NOTED_RELATIONSHIPS, key->of[0]);
    for (size_t i = 0; i < all->count; i++)
        kept_row(kept, NOTED_USERS, ids[i]);
    kept_end(kept, people_copy(kept_arena(kept), people));
}

enum err relationships_written(struct tx *tx, snowflake user_id, bool refers,
                               const struct written_people **ret)
{
    struct kept_key key = list_key(user_id, refers);
    struct list list, all;

    if ((*ret = kept_find(tx, &key)))
        return OK;
    enum err e = relationships_of(tx, user_id, &list, &all);
    if (e)
        return e;
    struct written_people *people = arena_alloc(tx_arena(tx), sizeof *people);
    *people = relationships_write(tx_arena(tx), &list, refers);
    keep_bonds(tx, &key, &all, people);
    *ret = people;
    return OK;
}
