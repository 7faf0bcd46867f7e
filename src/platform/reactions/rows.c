/* rows.c - reactions in the store. */
#include "platform/reactions/internal.h"

#include "model/ids.h"
#include "model/rows.h"
#include "platform/accounts/accounts.h"

/* --- under messages ------------------------------------------------------------------- */

/* A page is a stretch of one channel: one query for all of it. An emoji that was taken off and
 * comes back has a new id, so that it stands last. */
static const char REACTIONS_OF[] =
    "select r.message_id, r.id, r.emoji_key, r.emoji_id, r.name, r.animated, c.normal, c.burst "
    "from messages m join reactions r on r.message_id = m.id "
    "join reaction_counts c on c.reaction_id = r.id where m.channel_id = $1 and "
    "m.id between $2 and $3 and m.reacted = 1 order by r.message_id, r.id";

/* And one for what the reader put there: a look for each message, not for each emoji. */
static const char OWN_REACTIONS_OF[] =
    "select u.message_id, u.reaction_id, u.burst from messages m join reaction_users u on "
    "u.message_id = m.id and u.user_id = $4 where m.channel_id = $1 and m.id between $2 and $3 "
    "and m.reacted = 1 order by u.message_id";

static void read_reaction(const struct rows *r, struct reaction *ret)
{
    struct reaction_emoji *emoji = arena_alloc(tx_arena(r->tx), sizeof *emoji);

    *emoji = (struct reaction_emoji){ .id = row_opt_id(r, 3),
                                      .name = row_text(r, 4),
                                      .animated = given_mark(row_bool(r, 5)) };
    *ret = (struct reaction){
        .id = row_id(r, 1),
        .key = row_text(r, 2),
        .emoji = emoji,
        .count_details = arena_alloc(tx_arena(r->tx), sizeof(struct reaction_details)),
    };
}

/* Rows of the lanes of one emoji follow each other. */
static void count_lane(const struct rows *r, struct list *reactions)
{
    struct reaction *last = reactions->items;

    last = reactions->count ? last + reactions->count - 1 : NULL;
    if (!last || last->id != row_id(r, 1)) {
        last = list_add(tx_arena(r->tx), reactions, sizeof *last);
        read_reaction(r, last);
    }
    struct reaction_details *details = (struct reaction_details *)last->count_details;
    details->normal += row_int(r, 6);
    details->burst += row_int(r, 7);
    last->count = details->normal + details->burst;
}

static struct message *message_of(const struct list *messages, snowflake id)
{
    struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].id == id)
            return &m[i];
    return NULL;
}

/* Several may have taken the last ones off at the same time: an emoji that nobody uses stays
 * until somebody brings another one, and is not shown. */
static void drop_unused(struct list *reactions)
{
    struct reaction *r = reactions->items;
    size_t kept = 0;

    for (size_t i = 0; i < reactions->count; i++)
        if (r[i].count > 0)
            r[kept++] = r[i];
    reactions->count = kept;
}

/* What was taken off with its emoji is no reaction any more: nothing has its id. */
static void mark_own(struct message *m, snowflake id, bool burst)
{
    struct reaction *r = m->reactions.value.items;

    for (size_t i = 0; i < m->reactions.value.count; i++)
        if (r[i].id == id) {
            r[i].me |= !burst;
            r[i].me_burst |= burst;
        }
}

static enum err load_own(struct tx *tx, const struct value values[4], struct list *messages)
{
    struct message *m = NULL;
    struct rows rows;
    enum err e = tx_query(tx, OWN_REACTIONS_OF, values, 4, &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        if (!m || m->id != row_id(&rows, 0))
            m = message_of(messages, row_id(&rows, 0));
        if (m)
            mark_own(m, row_id(&rows, 1), row_bool(&rows, 2));
    }
    return rows_end(&rows);
}

enum err reactions_load(struct tx *tx, snowflake user_id, struct list *messages)
{
    const struct message *all = messages->items;
    snowflake first = INT64_MAX, last = 0;
    struct message *m = NULL;
    struct rows rows;

    for (size_t i = 0; i < messages->count; i++) {
        first = all[i].reacted && all[i].id < first ? all[i].id : first;
        last = all[i].reacted && all[i].id > last ? all[i].id : last;
    }
    if (!last)
        return OK;
    const struct value values[] = { v_id(all->channel_id), v_id(first), v_id(last), v_id(user_id) };
    enum err e = tx_query(tx, REACTIONS_OF, values, 3, &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        if (!m || m->id != row_id(&rows, 0))
            m = message_of(messages, row_id(&rows, 0));
        if (m)
            count_lane(&rows, &m->reactions.value);
    }
    e = rows_end(&rows);
    if (!e)
        e = load_own(tx, values, messages);
    for (size_t i = 0; i < messages->count; i++) {
        struct opt_list *reactions = &((struct message *)messages->items)[i].reactions;

        drop_unused(&reactions->value);
        reactions->given = reactions->value.count ? GIVEN : ABSENT;
    }
    return e;
}

/* --- writing -------------------------------------------------------------------------- */

static const char ADD_USER[] =
    "insert into reaction_users (reaction_id, burst, user_id, message_id) "
    "values ($1, $2, $3, $4) on conflict do nothing";
static const char REMOVE_USER[] =
    "delete from reaction_users where reaction_id = $1 and burst = $2 and user_id = $3";

enum err reaction_add_user(struct tx *tx, snowflake message_id, snowflake id, bool burst,
                           snowflake user_id, bool *ret_new)
{
    int64_t added = 0;
    enum err e = tx_exec(tx, ADD_USER,
                         BIND(v_id(id), v_int(burst), v_id(user_id), v_id(message_id)), &added);

    *ret_new = added > 0;
    return e;
}

enum err reaction_remove_user(struct tx *tx, snowflake id, bool burst, snowflake user_id,
                              bool *ret_gone)
{
    int64_t gone = 0;
    enum err e = tx_exec(tx, REMOVE_USER, BIND(v_id(id), v_int(burst), v_id(user_id)), &gone);

    *ret_gone = gone > 0;
    return e;
}

static const char TOUCH_MESSAGE[] = "update messages set reacted = 1 where id = $1";

enum err reactions_touch(struct tx *tx, snowflake message_id, bool *ret_found)
{
    int64_t found = 0;
    enum err e = tx_exec(tx, TOUCH_MESSAGE, BIND(v_id(message_id)), &found);

    *ret_found = found > 0;
    return e;
}

static enum err touch_message(struct tx *tx, snowflake message_id)
{
    bool found;
    enum err e = reactions_touch(tx, message_id, &found);

    return e || found ? e : ERR_UNKNOWN_MESSAGE;
}

static const char COUNT_MORE[] = "update reaction_counts set normal = normal + $3, "
                                 "burst = burst + $4 where reaction_id = $1 and lane = $2";
static const char COUNT_FIRST[] =
    "insert into reaction_counts (reaction_id, lane, normal, burst) values ($1, $2, $3, $4)";

enum err reaction_count(struct tx *tx, snowflake message_id, snowflake id, bool burst, int64_t by)
{
    const struct value values[] = { v_id(id), v_int(tx_lane(tx)), v_int(burst ? 0 : by),
                                    v_int(burst ? by : 0) };
    int64_t counted = 0;
    enum err e = tx_exec(tx, COUNT_MORE, values, 4, &counted);

    if (e || counted)
        return e;
    e = touch_message(tx, message_id);
    return e ? e : tx_exec(tx, COUNT_FIRST, values, 4, NULL);
}

#define UNUSED                                                                            \
    "select r.id from reactions r where r.message_id = $1 and not exists (select 1 from " \
    "reaction_users u where u.reaction_id = r.id)"
static const char DROP_UNUSED_COUNTS[] =
    "delete from reaction_counts where reaction_id in (" UNUSED ")";
static const char DROP_UNUSED[] = "delete from reactions where id in (" UNUSED ")";
static const char ADD_REACTION[] =
    "insert into reactions (id, message_id, emoji_key, emoji_id, name, animated) "
    "values ($1, $2, $3, $4, $5, $6)";

enum err reaction_insert(struct tx *tx, snowflake message_id, const struct reaction *r)
{
    enum err e = touch_message(tx, message_id);

    if (!e)
        e = tx_exec(tx, DROP_UNUSED_COUNTS, BIND(v_id(message_id)), NULL);
    if (!e)
        e = tx_exec(tx, DROP_UNUSED, BIND(v_id(message_id)), NULL);
    if (e)
        return e;
    return tx_exec(tx, ADD_REACTION,
                   BIND(v_id(r->id), v_id(message_id), v_text(r->key), v_opt_id(r->emoji->id),
                        v_text(r->emoji->name), v_int(r->emoji->animated.value)),
                   NULL);
}

enum err reaction_delete(struct tx *tx, snowflake message_id, snowflake id)
{
    enum err e = touch_message(tx, message_id);

    if (!e)
        e = tx_exec(tx, "delete from reaction_counts where reaction_id = $1", BIND(v_id(id)), NULL);
    return e ? e : tx_exec(tx, "delete from reactions where id = $1", BIND(v_id(id)), NULL);
}

/* --- reading -------------------------------------------------------------------------- */

static const char USERS_OF[] = "select user_id from reaction_users where reaction_id = $1 and "
                               "burst = $2 and user_id > $3 order by user_id limit $4";

enum err reaction_users(struct tx *tx, snowflake id, bool burst, snowflake after, int64_t limit,
                        struct list *ret)
{
    struct list ids;
    enum err e =
        tx_ids(tx, USERS_OF, BIND(v_id(id), v_int(burst), v_id(after), v_int(limit)), &ids);

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < ids.count; i++) {
        struct user user;

        e = user_find(tx, ((const snowflake *)ids.items)[i], &user);
        if (!e)
            *(struct user *)list_add(tx_arena(tx), ret, sizeof user) = user;
        else if (e == ERR_UNKNOWN_USER)
            e = OK;
    }
    return e;
}

static const char IS_BLOCKED[] =
    "select 1 from relationships where user_id = $1 and target_id = $2 and type = 2";

enum err reaction_is_blocked(struct tx *tx, snowflake by, snowflake user_id, bool *ret)
{
    struct rows row;

    return tx_one(tx, IS_BLOCKED, BIND(v_id(by), v_id(user_id)), &row, ret);
}
