/* recipients.c - SQL of the recipients of private channels. */
#include "platform/channels/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"

static const char IS_RECIPIENT[] =
    "select 1 from recipients where channel_id = $1 and user_id = $2";

bool user_is_channel_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                               enum err *ret_error)
{
    bool found = false;

    *ret_error = tx_exists(tx, IS_RECIPIENT, BIND(v_id(channel_id), v_id(user_id)), &found);
    return found;
}

static const char OTHERS[] = "select user_id from recipients where channel_id = $1 and "
                             "user_id <> $2 order by since, user_id";

enum err channel_list_other_recipients(struct tx *tx, snowflake channel_id, snowflake viewer,
                                       struct list *ret)
{
    return tx_read_ids(tx, OTHERS, BIND(v_id(channel_id), v_id(viewer)), ret);
}

/* Adds a recipient to a channel. The row has the columns channel id, nick, and those of the
 * user. */
static void add_recipient_from_row(const struct rows *r, struct channel *c)
{
    struct arena *arena = tx_arena(r->tx);

    if (c->type == CHANNEL_DM && !c->recipients.value.items)
        list_reserve(arena, &c->recipients.value, sizeof(struct user), 1);
    struct user *user = list_append(arena, &c->recipients.value, sizeof *user);
    user_from_row(r, 2, user);
    if (row_column_is_null(r, 1))
        return;
    struct channel_nickname *nick = list_append(arena, &c->nicks.value, sizeof *nick);
    *nick = (struct channel_nickname){ user->id, row_text(r, 1) };
    c->nicks.given = GIVEN;
}

static void init_recipient_fields_of_channel(struct channel *c)
{
    c->recipients = (struct opt_list){ .given = GIVEN };
    c->nicks = (struct opt_list){ .given = ABSENT };
    c->last_pin_timestamp.given = GIVEN_NULL;
}

static const char PINS_TIME[] =
    "select max(pinned_at) from messages where channel_id = $1 and pinned = 1";

enum err channel_read_last_pin_time(struct tx *tx, struct channel *c)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, PINS_TIME, BIND(v_id(c->id)), &row, &found);

    if (!e)
        c->last_pin_timestamp = row_optional_int(&row, 0);
    return e;
}

static const char RECIPIENTS[] =
    "select r.channel_id, r.nick, " USER_COLUMNS " from recipients r "
    "join users u on u.id = r.user_id where r.channel_id = $1 and r.user_id <> $2 "
    "order by r.since, r.user_id";

enum err channel_read_recipients_and_last_pin_time(struct tx *tx, struct channel *c,
                                                   snowflake viewer)
{
    struct rows rows;
    enum err e = tx_query(tx, RECIPIENTS, BIND(v_id(c->id), v_id(viewer)), &rows);

    if (e)
        return e;
    init_recipient_fields_of_channel(c);
    while (rows_next(&rows))
        add_recipient_from_row(&rows, c);
    e = rows_end(&rows);
    return e ? e : channel_read_last_pin_time(tx, c);
}

static const char RECIPIENTS_OF_ALL[] =
    "select r.channel_id, r.nick, " USER_COLUMNS " from recipients m "
    "join recipients r on r.channel_id = m.channel_id and r.user_id <> m.user_id "
    "join users u on u.id = r.user_id where m.user_id = $1 and m.closed = 0 and "
    "m.channel_id >= $2 and m.channel_id <= $3 order by r.channel_id, r.since, r.user_id";

static const char PINS_TIME_OF_ALL[] =
    "select m.channel_id, max(m.pinned_at) from recipients r cross join messages m where "
    "r.user_id = $1 and r.closed = 0 and r.channel_id >= $2 and r.channel_id <= $3 and "
    "m.channel_id = r.channel_id and m.pinned = 1 group by m.channel_id order by m.channel_id";

static void last_pin_time_from_row(const struct rows *row, struct channel *c)
{
    c->last_pin_timestamp = row_optional_int(row, 1);
}

/* Runs a query and calls `read` for each row with the row's channel. The first column is the
 * channel id; rows and channels are both sorted by it. */
static enum err merge_recipient_rows_into_channels(struct tx *tx, struct sql sql, snowflake user_id,
                                                   struct list *channels,
                                                   void (*read)(const struct rows *row,
                                                                struct channel *c))
{
    struct channel *c = channels->items, *end = c + channels->count;
    struct rows rows;
    enum err e = tx_query(tx, sql, BIND(v_id(user_id), v_id(c->id), v_id(end[-1].id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 0))
            c++;
        if (c < end && c->id == row_id(&rows, 0))
            read(&rows, c);
    }
    return rows_end(&rows);
}

enum err user_private_channels_read_recipients(struct tx *tx, snowflake user_id,
                                               struct list *channels)
{
    struct channel *all = channels->items;

    if (!channels->count)
        return OK;
    for (size_t i = 0; i < channels->count; i++)
        init_recipient_fields_of_channel(&all[i]);
    enum err e = merge_recipient_rows_into_channels(tx, SQL(RECIPIENTS_OF_ALL), user_id, channels,
                                                    add_recipient_from_row);
    return e ? e
             : merge_recipient_rows_into_channels(tx, SQL(PINS_TIME_OF_ALL), user_id, channels,
                                                  last_pin_time_from_row);
}

static const char ADD_RECIPIENT[] =
    "insert into recipients (channel_id, user_id, nick, closed, since, in_group) "
    "select id, $2, $3, $4, $5, case when type = 3 then 1 else 0 end from channels where id = $1 "
    "on conflict do nothing";

static enum err insert_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                                 struct opt_str nick, bool closed, int64_t since)
{
    return tx_exec(tx, ADD_RECIPIENT,
                   BIND(v_id(channel_id), v_id(user_id),
                        nick.given == GIVEN && nick.value.n ? v_text(nick.value) : v_null(),
                        v_int(closed), v_int(since)),
                   NULL);
}

enum err channel_recipient_insert(struct tx *tx, snowflake channel_id, snowflake user_id,
                                  struct opt_str nick)
{
    return insert_recipient(tx, channel_id, user_id, nick, false, clock_us());
}

enum err channel_recipients_insert(struct tx *tx, snowflake channel_id, const struct list *users,
                                   bool closed)
{
    const snowflake *ids = users->items;
    enum err e = OK;

    for (size_t i = 0; i < users->count && !e; i++)
        e = insert_recipient(tx, channel_id, ids[i], (struct opt_str){ 0 }, closed,
                             snowflake_to_ms(channel_id) * 1000);
    return e;
}

static const char REMOVE_RECIPIENT[] =
    "delete from recipients where channel_id = $1 and user_id = $2";

enum err channel_recipient_delete(struct tx *tx, snowflake channel_id, snowflake user_id)
{
    return tx_exec(tx, REMOVE_RECIPIENT, BIND(v_id(channel_id), v_id(user_id)), NULL);
}

static const char CLOSE_RECIPIENT[] =
    "update recipients set closed = 1 where channel_id = $1 and user_id = $2";

enum err channel_hide_from_recipient(struct tx *tx, snowflake channel_id, snowflake user_id)
{
    return tx_exec(tx, CLOSE_RECIPIENT, BIND(v_id(channel_id), v_id(user_id)), NULL);
}

static const char COUNT_GROUPS[] =
    "select count(*) from recipients where user_id = $1 and in_group = 1";

enum err user_count_group_channels(struct tx *tx, snowflake user_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_GROUPS, BIND(v_id(user_id)), ret);
}

/* --- direct channels of two users ---------------------------------------------------- */

static const char FIND_DIRECT[] =
    "select channel_id from direct_channels where low_id = $1 and high_id = $2";
static const char ADD_DIRECT[] =
    "insert into direct_channels (low_id, high_id, channel_id) values ($1, $2, $3)";

enum err direct_channel_find(struct tx *tx, snowflake a, snowflake b, snowflake *ret)
{
    return tx_read_id(tx, FIND_DIRECT, BIND(v_id(a < b ? a : b), v_id(a < b ? b : a)), ret);
}

enum err direct_channel_insert(struct tx *tx, snowflake id, snowflake a, snowflake b, bool closed)
{
    snowflake both[] = { a < b ? a : b, a < b ? b : a };
    enum err e = channel_insert(tx, &(struct channel){ .id = id, .type = CHANNEL_DM });

    if (!e)
        e = channel_recipients_insert(tx, id, &(struct list){ both, 2 }, closed);
    return e ? e : tx_exec(tx, ADD_DIRECT, BIND(v_id(both[0]), v_id(both[1]), v_id(id)), NULL);
}

enum err direct_channel_find_or_create(struct tx *tx, snowflake a, snowflake b, struct channel *ret,
                                       bool *ret_new)
{
    snowflake id;
    enum err e = direct_channel_find(tx, a, b, &id);

    *ret_new = !e && !id;
    if (*ret_new) {
        id = snowflake_new();
        e = direct_channel_insert(tx, id, a, b, true);
    }
    return e ? e : channel_find(tx, id, ret);
}

static const char OPEN_FOR[] =
    "update recipients set closed = 0 where channel_id = $1 and user_id = $2 and closed = 1";

enum err private_channel_show_in_list(struct call *call, const struct channel *c, snowflake user_id)
{
    struct channel seen = *c;
    int64_t changed;

    enum err e = tx_exec(call->tx, OPEN_FOR, BIND(v_id(c->id), v_id(user_id)), &changed);
    if (e || !changed)
        return e;
    e = channel_read_recipients_and_last_pin_time(call->tx, &seen, user_id);
    if (!e)
        call_emit_event(call, EVENT_CHANNEL_CREATE, audience_of_user(user_id), &channel_schema,
                        &seen);
    return e;
}

static const char CLOSED_FOR[] =
    "select user_id from recipients where channel_id = $1 and closed = 1 order by user_id";

enum err private_channel_show_to_recipients(struct call *call, const struct channel *c)
{
    struct list users;
    enum err e = tx_read_ids(call->tx, CLOSED_FOR, BIND(v_id(c->id)), &users);

    for (size_t i = 0; !e && i < users.count; i++)
        e = private_channel_show_in_list(call, c, ((snowflake *)users.items)[i]);
    return e;
}
