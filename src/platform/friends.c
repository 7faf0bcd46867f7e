/* friends.c - what two accounts are to each other. */
#include "platform/friends.h"

#include "base/clock.h"
#include "platform/users.h"

enum { MOST_FRIENDS = 1000 };

static const char FIND_TYPE[] =
    "select type from relationships where user_id = $1 and target_id = $2";

enum err relationship_type(struct tx *tx, snowflake user_id, snowflake target_id, int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_TYPE, BIND(v_id(user_id), v_id(target_id)), &row, &found);

    *ret = !e && found ? row_int(&row, 0) : RELATIONSHIP_NONE;
    return e;
}

static const char COUNT_FRIENDS[] =
    "select count(*) from relationships where user_id = $1 and type = 1";

static enum err check_room(struct tx *tx, snowflake user_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT_FRIENDS, BIND(v_id(user_id)), &row, &found);

    if (e)
        return e;
    return row_int(&row, 0) >= MOST_FRIENDS ? ERR_MAX_FRIENDS : OK;
}

static const char MAKE_FRIEND[] =
    "insert into relationships (user_id, target_id, type, since) values ($1, $2, 1, $3) "
    "on conflict (user_id, target_id) do update set type = 1, since = $3, nickname = null, "
    "note = null, is_spam = 0, is_stranger = 0";
static const char IS_IGNORED[] =
    "select ignored from relationships where user_id = $1 and target_id = $2";

static enum err make_friend(struct call *call, snowflake user_id, snowflake target_id, bool notify)
{
    struct user user;
    struct relationship r = {
        .id = target_id,
        .type = RELATIONSHIP_FRIEND,
        .user = &user,
        .is_spam_request = given_bool(false),
        .stranger_request = given_bool(false),
        .is_stranger_request = given_bool(false),
        .origin_application_id = { .given = GIVEN_NULL },
        .since = given_int(clock_us()),
        .should_notify = given_mark(notify),
    };
    struct rows row;
    bool found;

    enum err e = user_find(call->tx, target_id, &user);
    if (!e)
        e = tx_exec(call->tx, MAKE_FRIEND,
                    BIND(v_id(user_id), v_id(target_id), v_int(r.since.value)), NULL);
    if (!e)
        e = tx_one(call->tx, IS_IGNORED, BIND(v_id(user_id), v_id(target_id)), &row, &found);
    if (e)
        return e;
    r.user_ignored = row_bool(&row, 0);
    call_emit(call, EVENT_RELATIONSHIP_ADD, to_user(user_id), &relationship_schema, &r);
    return OK;
}

enum err friendship_begin(struct call *call, snowflake by, snowflake other, bool *ret_new)
{
    int64_t type;
    enum err e = relationship_type(call->tx, by, other, &type);

    *ret_new = type != RELATIONSHIP_FRIEND;
    if (e || !*ret_new)
        return e;
    e = check_room(call->tx, by);
    if (!e)
        e = check_room(call->tx, other);
    if (!e)
        e = make_friend(call, by, other, false);
    return e ? e : make_friend(call, other, by, true);
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
        user_read(&rows, 0, list_add(tx_arena(tx), ret, sizeof(struct user)));
    return rows_end(&rows);
}

static const char FRIENDS_OF[] =
    "select target_id from relationships where user_id = $1 and type = 1 order by target_id";

enum err friends_of(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, FRIENDS_OF, BIND(v_id(user_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), ret, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}
