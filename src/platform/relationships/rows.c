/* rows.c - SQL queries that relationship changes need for their checks. */
#include "platform/relationships/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/accounts/users.h"

static const int64_t DAY_US = INT64_C(24) * 3600 * 1000000;

/* --- accounts by name ----------------------------------------------------------------- */

static const char FIND_BY_NAME[] = "select " USER_COLUMNS " from users u where u.username = $1";
static const char FIND_BY_TAG[] =
    "select " USER_COLUMNS " from legacy_tags t join users u on u.id = t.user_id "
    "where t.name = $1 and t.discriminator = $2";
static const char FIND_BY_OLD_NAME[] =
    "select " USER_COLUMNS " from legacy_tags t join users u on u.id = t.user_id "
    "where t.name = $1 order by t.discriminator limit 2";

/* Finds an account by a former name without discriminator. Finds none if several accounts had that
 * name. */
static enum err find_user_by_legacy_name(struct tx *tx, struct str name, struct user *ret)
{
    struct rows rows;
    int found = 0;
    enum err e = tx_query(tx, FIND_BY_OLD_NAME, BIND(v_text(name)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        if (found++ == 0)
            user_from_row(&rows, 0, ret);
    e = rows_end(&rows);
    if (e)
        return e;
    return found == 0 ? ERR_NO_SUCH_TAG : found == 1 ? OK : ERR_DISCRIMINATOR_REQUIRED;
}

enum err user_find_by_tag(struct tx *tx, const struct user_tag *tag, struct user *ret)
{
    struct rows row;
    bool found;
    enum err e;

    if (tag->discriminator)
        e = tx_one(tx, FIND_BY_TAG, BIND(v_text(tag->name), v_int(tag->discriminator)), &row,
                   &found);
    else
        e = tx_one(tx, FIND_BY_NAME, BIND(v_text(tag->name)), &row, &found);
    if (e)
        return e;
    if (found)
        user_from_row(&row, 0, ret);
    else
        return tag->discriminator ? ERR_NO_SUCH_TAG : find_user_by_legacy_name(tx, tag->name, ret);
    return OK;
}

/* --- friends and guilds that two accounts have in common ------------------------------ */

static const char MUTUAL_FRIEND[] =
    "select 1 from relationships a join relationships b on b.user_id = $2 and "
    "b.target_id = a.target_id and b.type = 1 where a.user_id = $1 and a.type = 1 limit 1";
static const char SMALLEST_GUILD[] =
    "select min(g.member_count) from members a join members b on b.guild_id = a.guild_id "
    "join guilds g on g.id = a.guild_id and g.removed = 0 "
    "where a.user_id = $1 and b.user_id = $2";

enum err read_acquaintance_of_users(struct tx *tx, snowflake a, snowflake b,
                                    struct user_acquaintance *ret)
{
    struct rows row;
    bool found, back = false;
    enum err e = tx_one(tx, MUTUAL_FRIEND, BIND(v_id(a), v_id(b)), &row, &ret->mutual_friend);

    if (!e)
        e = tx_one(tx, SMALLEST_GUILD, BIND(v_id(a), v_id(b)), &row, &found);
    if (e)
        return e;
    ret->mutual_guild = !row_column_is_null(&row, 0);
    ret->small_guild = ret->mutual_guild && row_int(&row, 0) <= SMALL_GUILD_MEMBERS;
    e = friend_suggestion_exists(tx, a, b, &ret->suggested);
    if (!e && !ret->suggested)
        e = friend_suggestion_exists(tx, b, a, &back);
    ret->suggested |= back;
    return e;
}

/* --- counts --------------------------------------------------------------------------- */

static const char COUNT_TYPE[] =
    "select count(*) from relationships where user_id = $1 and type = $2";

enum err count_relationships_of_type(struct tx *tx, snowflake user_id, int64_t type, int64_t *ret)
{
    return tx_read_int(tx, COUNT_TYPE, BIND(v_id(user_id), v_int(type)), ret);
}

static const char LIST_INCOMING[] =
    "select target_id from relationships where user_id = $1 and type = 3 and "
    "is_spam >= $2 and ignored >= $3 order by target_id";

enum err list_incoming_friend_requests(struct tx *tx, snowflake user_id, bool spam, bool ignored,
                                       struct list *ret)
{
    return tx_read_ids(tx, LIST_INCOMING, BIND(v_id(user_id), v_int(spam), v_int(ignored)), ret);
}

static const char OLDEST_SPAM[] =
    "select target_id from relationships where user_id = $1 and type = 3 and is_spam = 1 "
    "order by since, target_id limit 1";

enum err find_oldest_spam_friend_request(struct tx *tx, snowflake user_id, snowflake *ret)
{
    return tx_read_id(tx, OLDEST_SPAM, BIND(v_id(user_id)), ret);
}

/* --- recent friend requests ----------------------------------------------------------- */

static const char RECORD[] =
    "select count(*), count(case when accepted = 1 then 1 end) from friend_requests "
    "where user_id = $1 and sent_at > $2";
static const char DELETE_OLD[] = "delete from friend_requests where user_id = $1 and sent_at <= $2";
static const char ADD_RECORD[] =
    "insert into friend_requests (user_id, target_id, sent_at) values ($1, $2, $3) "
    "on conflict (user_id, target_id) do update set sent_at = excluded.sent_at, accepted = 0";
static const char ACCEPT_RECORD[] =
    "update friend_requests set accepted = 1 where user_id = $1 and target_id = $2";

enum err friend_request_statistics_read(struct tx *tx, const struct user *user,
                                        struct friend_request_statistics *ret)
{
    int64_t now = clock_us();
    struct rows row;
    bool found;
    enum err e = tx_one(tx, RECORD, BIND(v_id(user->id), v_int(now - DAY_US)), &row, &found);

    if (e)
        return e;
    *ret = (struct friend_request_statistics){
        .flags = user->flags,
        .age_us = now - snowflake_to_ms(user->id) * 1000,
        .sent = row_int(&row, 0),
        .accepted = row_int(&row, 1),
    };
    return OK;
}

enum err friend_request_record_sent(struct tx *tx, snowflake user_id, snowflake target_id)
{
    int64_t now = clock_us();
    enum err e = tx_exec(tx, DELETE_OLD, BIND(v_id(user_id), v_int(now - DAY_US)), NULL);

    return e ? e : tx_exec(tx, ADD_RECORD, BIND(v_id(user_id), v_id(target_id), v_int(now)), NULL);
}

enum err friend_request_record_accepted(struct tx *tx, snowflake user_id, snowflake target_id)
{
    return tx_exec(tx, ACCEPT_RECORD, BIND(v_id(user_id), v_id(target_id)), NULL);
}

/* --- applications --------------------------------------------------------------------- */

static const char GRANT[] =
    "select 1 from authorizations where user_id = $1 and application_id = $2";
static const char COUNT_GAME[] =
    "select count(*) from game_relationships where application_id = $2 and user_id = $1";

enum err account_has_authorized_application(struct tx *tx, snowflake user_id,
                                            snowflake application_id, bool *ret)
{
    return tx_exists(tx, GRANT, BIND(v_id(user_id), v_id(application_id)), ret);
}

enum err count_game_relationships(struct tx *tx, snowflake user_id, snowflake application_id,
                                  int64_t *ret)
{
    return tx_read_int(tx, COUNT_GAME, BIND(v_id(user_id), v_id(application_id)), ret);
}
