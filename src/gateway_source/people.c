/* people.c - the members of a guild as cached JSON, shared by all sessions that get them.
 *
 * In a guild up to GUILD_LISTED members each session gets all members. Their JSON is cached
 * until a member is added, removed or changed, or one of the accounts changes. */
#include "gateway_source/people.h"

#include "gateway/capabilities.h"
#include "platform/members/members.h"
#include "store/kept.h"

static struct kept_key people_key(snowflake guild_id, int64_t limit, bool refers)
{
    static const char what[] = "people of a guild";

    return (struct kept_key){ what, { guild_id, (uint64_t)limit, refers } };
}

/* Copies the result into the cache. The result itself is in the call's arena, because it may be
 * too large for the cache. */
static void keep_people(struct tx *tx, const struct kept_key *key, snowflake guild_id,
                        const struct written_people *people)
{
    struct kept_read *kept = kept_begin(tx, key, 1 + people->count);

    if (!kept)
        return;
    kept_row(kept, NOTED_MEMBERS, guild_id);
    for (size_t i = 0; i < people->count; i++)
        kept_row(kept, NOTED_USERS, people->each[i].id);
    kept_end(kept, people_copy(kept_arena(kept), people));
}

enum err guild_people(struct tx *tx, snowflake guild_id, int64_t limit, bool refers,
                      const struct written_people **ret)
{
    struct kept_key key = people_key(guild_id, limit, refers);
    struct list members;

    if ((*ret = kept_find(tx, &key)))
        return OK;
    enum err e = members_after(tx, guild_id, 0, limit, &members);
    if (e)
        return e;
    struct written_people *people = arena_alloc(tx_arena(tx), sizeof *people);
    *people = members_write(tx_arena(tx), &members, refers);
    keep_people(tx, &key, guild_id, people);
    *ret = people;
    return OK;
}
