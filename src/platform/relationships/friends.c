/* friends.c - friendship queries and changes for other folders. */
#include "platform/relationships/friends.h"

#include "model/fields/ids.h"
#include "platform/accounts/users.h"
#include "platform/relationships/relationship_pairs.h"
#include "platform/relationships/presence.h"
#include "store/result_cache.h"

enum { MOST_FRIENDS = 1000 };

static const char FIND_TYPE[] =
    "select type from relationships where user_id = $1 and target_id = $2";

enum err relationship_type_read(struct tx *tx, snowflake user_id, snowflake target_id, int64_t *ret)
{
    return tx_read_int(tx, FIND_TYPE, BIND(v_id(user_id), v_id(target_id)), ret);
}

static const char COUNT_FRIENDS[] =
    "select count(*) from relationships where user_id = $1 and type = 1";

enum err check_friend_limit(struct tx *tx, snowflake user_id)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, COUNT_FRIENDS, BIND(v_id(user_id)), &n);

    if (e)
        return e;
    return n >= MOST_FRIENDS ? ERR_MAX_FRIENDS : OK;
}

enum err friendship_create(struct call *call, snowflake by, snowflake other, bool *ret_new)
{
    struct relationship_pair bond;
    enum err e = relationship_pair_read(call->tx, by, other, &bond);

    *ret_new = bond.mine.type != RELATIONSHIP_FRIEND;
    if (e || !*ret_new)
        return e;
    e = check_friend_limit(call->tx, by);
    if (!e)
        e = check_friend_limit(call->tx, other);
    return e ? e : relationship_pair_make_friends(call, &bond);
}

static const char MUTUAL_FRIENDS[] =
    "select " USER_COLUMNS " from relationships a "
    "join relationships b on b.target_id = a.target_id and b.user_id = $2 and b.type = 1 "
    "join users u on u.id = a.target_id where a.user_id = $1 and a.type = 1 order by u.id";

enum err mutual_friends(struct tx *tx, snowflake a, snowflake b, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, MUTUAL_FRIENDS, BIND(v_id(a), v_id(b)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        user_from_row(&rows, 0, list_append(tx_arena(tx), ret, sizeof(struct user)));
    return rows_end(&rows);
}

static const char FRIENDS_OF[] =
    "select target_id from relationships where user_id = $1 and type = 1 order by target_id";

static struct list copy_id_list(struct arena *arena, const struct list *ids)
{
    struct list own;

    list_reserve(arena, &own, sizeof(snowflake), ids->count);
    if (ids->count)
        memcpy(own.items, ids->items, ids->count * sizeof(snowflake));
    own.count = ids->count;
    return own;
}

static void cache_friend_ids(struct tx *tx, const struct result_cache_key *key,
                             const struct list *ids)
{
    struct result_cache_entry *cached = result_cache_begin_entry(tx, key, 1);

    if (!cached)
        return;
    result_cache_add_dependency(cached, VERSIONED_RELATIONSHIPS, key->ids[0]);
    struct list *own = arena_alloc(result_cache_get_entry_arena(cached), sizeof *own);
    *own = copy_id_list(result_cache_get_entry_arena(cached), ids);
    result_cache_end_entry(cached, own);
}

enum err friend_ids_read(struct tx *tx, snowflake user_id, struct list *ret)
{
    static const char what[] = "friends";
    struct result_cache_key key = { what, { user_id } };
    const struct list *cached = result_cache_find(tx, &key);

    if (cached) {
        *ret = copy_id_list(tx_arena(tx), cached);
        return OK;
    }
    enum err e = tx_read_ids(tx, FRIENDS_OF, BIND(v_id(user_id)), ret);
    if (!e)
        cache_friend_ids(tx, &key, ret);
    return e;
}

enum err friends_emit_presence_update(struct call *call, const struct user *user)
{
    struct list friends;
    enum err e = friend_ids_read(call->tx, user->id, &friends);

    for (size_t i = 0; !e && i < friends.count; i++)
        emit_presence_update(call, ((snowflake *)friends.items)[i], user);
    return e;
}
