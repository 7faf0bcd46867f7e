/* rows.c - SQL that reads channels and their children. */
#include "platform/channels/internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "model/thread.h"

#define COLUMNS_WITH(last_message_id, thread_message_count, counted)                             \
    "id, guild_id, type, name, topic, position, parent_id, nsfw, rate_limit_per_user, bitrate, " \
    "user_limit, rtc_region, video_quality_mode, " last_message_id ", flags, owner_id, "         \
    "application_id, icon, default_auto_archive_duration, thread_archived, thread_archived_at, " \
    "thread_archive_minutes, thread_locked, " thread_message_count ", thread_begun, "            \
    "thread_deleted, thread_invitable, default_thread_slowmode, available_tags, "                \
    "default_reaction, default_sort_order, default_forum_layout, default_tag_setting, "          \
    "applied_tags" counted

/* If the store has concurrent writers, the newest last_message_id of a channel is in the table
 * channel_tails, not in channels (messages/create.c). */
#define LAST_MESSAGE                                                \
    "coalesce((select max(t.last_message_id) from channel_tails t " \
    "where t.channel_id = channels.id), last_message_id)"
#define MESSAGE_COUNT                                                                                \
    "case when type between 10 and 12 then thread_message_count + coalesce((select sum(t.messages) " \
    "from channel_tails t where t.channel_id = channels.id), 0) else 0 end"
#define COUNTED                                                    \
    ", case when type between 10 and 12 then (select count(*) "    \
    "from (select 1 from thread_members m where m.thread_id = "    \
    "channels.id limit 50) x) else 0 end, case when applied_tags " \
    "is null then null else (select p.available_tags from "        \
    "channels p where p.id = channels.parent_id) end"
#define CHANNEL_COLUMNS COLUMNS_WITH(LAST_MESSAGE, MESSAGE_COUNT, COUNTED)
/* Columns of user $2's membership in the thread, which queries select after the channel's
 * columns. */
#define OWN_COLUMNS                                                                    \
    ", (select o.joined_at from thread_members o where o.thread_id = channels.id and " \
    "o.user_id = $2), (select o.flags from thread_members o where o.thread_id = "      \
    "channels.id and o.user_id = $2)"

enum { TYPE_COLUMN = 2, LAST_COLUMN = 13, COUNT_COLUMN = 23, OWN_COLUMN = 36 };
/* Maximum number of children that are listed; archived threads are last. If a channel has more
 * threads, its deletion emits no events for the others. */
enum { MOST_CHILDREN = 500 };

static struct opt_int optional_int_from_row(const struct rows *r, int column)
{
    return (struct opt_int){ GIVEN, row_int(r, column) };
}

static const struct thread_metadata *thread_metadata_from_row(const struct rows *r,
                                                              struct arena *arena)
{
    struct thread_metadata *t = arena_alloc(arena, sizeof *t);

    *t = (struct thread_metadata){
        .archived = row_bool(r, 19),
        .archive_timestamp =
            row_column_is_null(r, 20) ? snowflake_to_ms(row_id(r, 0)) * 1000 : row_int(r, 20),
        .auto_archive_duration = row_int(r, 21),
        .locked = row_bool(r, 22),
        .create_timestamp = { GIVEN, snowflake_to_ms(row_id(r, 0)) * 1000 },
    };
    if (row_int(r, TYPE_COLUMN) == CHANNEL_PRIVATE_THREAD)
        t->invitable = opt_bool_present(row_bool(r, 26));
    return t;
}

/* Reads the two message counters of a thread: total_message_sent excludes the first message of a
 * forum post; message_count also excludes deleted messages. */
static void thread_counts_from_row(const struct rows *r, struct channel *c)
{
    c->messages_written = row_int(r, 23);
    c->has_starter_message = row_bool(r, 24);
    int64_t sent = c->messages_written - c->has_starter_message, left = sent - row_int(r, 25);
    c->total_message_sent = opt_int_present(sent > 0 ? sent : 0);
    c->message_count = opt_int_present(left > 0 ? left : 0);
    c->member_count = opt_int_present(row_int(r, 34));
}

static bool forum_tags_contain_id(const struct list *tags, snowflake id)
{
    const struct forum_tag *t = tags->items;

    for (size_t i = 0; i < tags->count; i++)
        if (t[i].id == id)
            return true;
    return false;
}

/* Skips tags that the forum no longer has. Deleting a tag does not update the threads with this
 * tag, because they may be many. */
static void forum_tags_from_row(const struct rows *r, struct channel *c)
{
    struct arena *arena = tx_arena(r->tx);

    if (!row_column_is_null(r, 33)) {
        struct list all = json_column_decode_list(arena, &type_forum_tags, row_text(r, 35));
        struct list own = json_column_decode_list(arena, &type_ids, row_text(r, 33));
        const snowflake *ids = own.items;

        c->applied_tags.given = GIVEN;
        for (size_t i = 0; i < own.count; i++)
            if (forum_tags_contain_id(&all, ids[i]))
                id_list_add(arena, &c->applied_tags.value, ids[i]);
    }
    if (!channel_is_forum_or_media(c->type))
        return;
    c->available_tags.given = GIVEN;
    if (!row_column_is_null(r, 28))
        c->available_tags.value = json_column_decode_list(arena, &type_forum_tags, row_text(r, 28));
    c->default_reaction_emoji.given = GIVEN_NULL;
    if (!row_column_is_null(r, 29))
        c->default_reaction_emoji =
            (struct opt_object){ GIVEN, (void *)json_column_decode(arena, &type_default_reaction,
                                                                   row_text(r, 29)) };
    if (!c->default_reaction_emoji.value)
        c->default_reaction_emoji.given = GIVEN_NULL;
    c->default_sort_order = row_optional_int(r, 30);
    c->default_forum_layout = optional_int_from_row(r, 31);
    c->default_tag_setting =
        opt_str_or_null(row_column_is_null(r, 32) ? STR("match_some") : row_text(r, 32));
}

static void channel_from_row(const struct rows *r, void *ret)
{
    struct channel *c = ret;

    *c = (struct channel){
        .id = row_id(r, 0),
        .guild_id = row_optional_id(r, 1),
        .type = row_int(r, 2),
        .name = row_optional_text(r, 3),
        .topic = row_optional_text(r, 4),
        .position = optional_int_from_row(r, 5),
        .parent_id = row_optional_id(r, 6),
        .nsfw = { GIVEN, row_bool(r, 7) },
        .rate_limit_per_user = optional_int_from_row(r, 8),
        .bitrate = optional_int_from_row(r, 9),
        .user_limit = optional_int_from_row(r, 10),
        .rtc_region = row_optional_text(r, 11),
        .video_quality_mode = optional_int_from_row(r, 12),
        .last_message_id = row_optional_id(r, 13),
        .flags = row_int(r, 14),
        .owner_id = row_optional_id(r, 15),
        .application_id = row_optional_id(r, 16),
        .icon = row_optional_text(r, 17),
        .default_auto_archive_duration = row_optional_int(r, 18),
        .permission_overwrites = { .given = GIVEN },
        .default_thread_rate_limit_per_user = optional_int_from_row(r, 27),
        .thread_metadata = thread_metadata_from_row(r, tx_arena(r->tx)),
    };
    thread_counts_from_row(r, c);
    forum_tags_from_row(r, c);
    channel_omit_inapplicable_fields(c);
}

static void append_overwrite_from_row(const struct rows *r, struct channel *c)
{
    struct overwrite *o = list_append(tx_arena(r->tx), &c->permission_overwrites.value, sizeof *o);

    *o = (struct overwrite){ row_id(r, 0), row_int(r, 1), (uint64_t)row_int(r, 2),
                             (uint64_t)row_int(r, 3) };
}

static const char OVERWRITES_OF_CHANNEL[] =
    "select target_id, type, allow, deny from overwrites where channel_id = $1 order by target_id";

static enum err read_overwrites(struct tx *tx, struct channel *c)
{
    struct rows rows;
    enum err e = tx_query(tx, OVERWRITES_OF_CHANNEL, BIND(v_id(c->id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        append_overwrite_from_row(&rows, c);
    return rows_end(&rows);
}

static const char CHANNELS_OF_USER[] =
    "select " CHANNEL_COLUMNS " from recipients r join channels on id = r.channel_id "
    "where r.user_id = $1 and r.closed = 0 and r.channel_id > $2 order by r.channel_id limit $3";

enum err user_private_channels_list_page(struct tx *tx, snowflake user_id, snowflake after,
                                         int64_t limit, struct list *ret)
{
    enum err e = tx_read_list(tx, CHANNELS_OF_USER, BIND(v_id(user_id), v_id(after), v_int(limit)),
                              sizeof(struct channel), channel_from_row, ret);

    return e ? e : user_private_channels_read_recipients(tx, user_id, ret);
}

/* The type of a channel that is being deleted is negative; such channels are not found. */
static const char FIND_CHANNEL[] =
    "select " CHANNEL_COLUMNS " from channels where id = $1 and type >= 0";

/* FIND_CHANNEL as two queries, for a store without concurrent writers: channel_tails is empty. The
 * first selects columns that rarely change, so the query cache can hold its result; the second
 * selects columns that every message changes. */
static const char FIND_STABLE_COLUMNS[] =
    "select " COLUMNS_WITH("0", "0", COUNTED) " from channels where id = $1 and type >= 0";
static const char FIND_CHANGING_COLUMNS[] =
    "select last_message_id, case when type between 10 and 12 then thread_message_count else 0 end "
    "from channels where id = $1";

static enum err find_channel_in_two_queries(struct tx *tx, snowflake id, struct rows *ret,
                                            bool *ret_found)
{
    struct rows moving;
    enum err e = tx_one(tx, FIND_STABLE_COLUMNS, BIND(v_id(id)), ret, ret_found);

    if (e || !*ret_found)
        return e;
    e = tx_one_or(tx, FIND_CHANGING_COLUMNS, BIND(v_id(id)), ERR_UNKNOWN_CHANNEL, &moving);
    if (e)
        return e;
    struct value *row = arena_alloc_unzeroed(tx_arena(tx), (size_t)ret->columns * sizeof *row);
    memcpy(row, ret->row, (size_t)ret->columns * sizeof *row);
    row[LAST_COLUMN] = moving.row[0];
    row[COUNT_COLUMN] = moving.row[1];
    ret->row = row;
    return OK;
}

enum err channel_find_without_overwrites(struct tx *tx, snowflake id, struct channel *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_queries_need_round_trips(tx)
                     ? tx_one(tx, FIND_CHANNEL, BIND(v_id(id)), &row, &found)
                     : find_channel_in_two_queries(tx, id, &row, &found);

    if (!e && !found)
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        channel_from_row(&row, ret);
    return e;
}

enum err channel_read_overwrites(struct tx *tx, struct channel *c)
{
    /* Threads and private channels have no overwrites. */
    if (channel_is_private(c->type) || channel_is_thread(c->type))
        return OK;
    return read_overwrites(tx, c);
}

enum err channel_find(struct tx *tx, snowflake id, struct channel *ret)
{
    enum err e = channel_find_without_overwrites(tx, id, ret);

    return e ? e : channel_read_overwrites(tx, ret);
}

static const char CHANNELS_OF_GUILD[] =
    "select " CHANNEL_COLUMNS " from channels where guild_id = $1 and thread_archived = 0 "
    "order by id";

static enum err read_guild_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                                    struct list *ret_threads)
{
    struct rows rows;
    enum err e = tx_query(tx, CHANNELS_OF_GUILD, BIND(v_id(guild_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        bool thread = channel_is_thread(row_int(&rows, TYPE_COLUMN));

        channel_from_row(&rows, list_append(tx_arena(tx), thread ? ret_threads : ret_channels,
                                            sizeof(struct channel)));
    }
    return rows_end(&rows);
}

static const char OVERWRITES_OF_GUILD[] =
    "select o.target_id, o.type, o.allow, o.deny, o.channel_id from channels c "
    "join overwrites o on o.channel_id = c.id where c.guild_id = $1 and c.thread_archived = 0 "
    "order by c.id, o.target_id";

enum err guild_channels_list(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                             struct list *ret_threads)
{
    struct rows rows;

    *ret_channels = *ret_threads = (struct list){ 0 };
    enum err e = read_guild_channels(tx, guild_id, ret_channels, ret_threads);
    if (!e)
        e = tx_query(tx, OVERWRITES_OF_GUILD, BIND(v_id(guild_id)), &rows);
    if (e)
        return e;

    /* Channels and rows of overwrites are both ordered by channel id, so one pass merges them. */
    struct channel *c = ret_channels->items, *end = c + ret_channels->count;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 4))
            c++;
        if (c < end && c->id == row_id(&rows, 4))
            append_overwrite_from_row(&rows, c);
    }
    return rows_end(&rows);
}

/* --- channels of a category, threads of a channel ------------------------------------ */

/* A channel may have 100,000 archived threads. So open threads are found through an index on
 * guild_id, and only as many archived threads are read as are returned. */
static const char OPEN_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where guild_id = "
    "(select guild_id from channels where id = $1) and thread_archived = 0 and "
    "+parent_id = $1 order by id limit $2";
static const char ARCHIVED_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where parent_id = $1 and thread_archived <> 0 "
    "order by id limit $2";

static enum err append_child_channels(struct tx *tx, struct sql sql, snowflake parent_id,
                                      struct list *ret)
{
    return tx_read_list(tx, sql, BIND(v_id(parent_id), v_int(MOST_CHILDREN - (int)ret->count)),
                        sizeof(struct channel), channel_from_row, ret);
}

enum err channel_list_children(struct tx *tx, snowflake parent_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = append_child_channels(tx, SQL(OPEN_OF_PARENT), parent_id, ret);
    if (!e)
        e = append_child_channels(tx, SQL(ARCHIVED_OF_PARENT), parent_id, ret);
    return e;
}

static const char COUNT_CHANNELS[] =
    "select count(*), coalesce(max(position), -1) from channels where guild_id = $1 and "
    "thread_archived = 0 and (type < 10 or type > 12)";

enum err guild_count_channels(struct tx *tx, snowflake guild_id, int64_t *ret_count,
                              int64_t *ret_top)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT_CHANNELS, BIND(v_id(guild_id)), &row, &found);

    if (e)
        return e;
    *ret_count = row_int(&row, 0);
    *ret_top = row_int(&row, 1);
    return OK;
}

static const char COUNT_CHILDREN[] = "select count(*) from channels where parent_id = $1";

enum err channel_count_children(struct tx *tx, snowflake parent_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_CHILDREN, BIND(v_id(parent_id)), ret);
}

/* --- lists of threads, with the viewer's membership ---------------------------------- */

static void viewer_membership_from_row(const struct rows *r, snowflake user_id, struct channel *c)
{
    if (row_column_is_null(r, OWN_COLUMN))
        return;
    struct thread_member *m = arena_alloc(tx_arena(r->tx), sizeof *m);
    *m = (struct thread_member){
        .id = opt_id_or_null(c->id),
        .user_id = opt_id_or_null(user_id),
        .join_timestamp = row_int(r, OWN_COLUMN),
        .flags = row_int(r, OWN_COLUMN + 1),
    };
    c->member = m;
}

#define THREADS "select " CHANNEL_COLUMNS OWN_COLUMNS " from channels where "
static const struct sql THREAD_LISTS[] = {
    [THREADS_OPEN_IN_GUILD] = SQL_TEXT(THREADS "guild_id = $1 and thread_archived = 0 and "
                                               "type between 10 and 12 order by id desc"),
    [THREADS_OPEN] =
        SQL_TEXT(THREADS "guild_id = (select guild_id from channels where id = $1) and "
                         "thread_archived = 0 and +parent_id = $1 and type between 10 and 12 "
                         "order by id desc"),
    [THREADS_ARCHIVED] =
        SQL_TEXT(THREADS "parent_id = $1 and type = $3 and thread_archived = 1 and "
                         "thread_archived_at < $4 order by thread_archived_at desc, "
                         "id desc limit $5"),
    [THREADS_JOINED] =
        SQL_TEXT(THREADS "id in (select j.thread_id from thread_members j join channels c on "
                         "c.id = j.thread_id where j.user_id = $2 and j.guild_id = $6 and "
                         "j.thread_id < $4 and c.parent_id = $1 and c.type = $3 and "
                         "c.thread_archived = 1 order by j.thread_id desc limit $5) "
                         "order by id desc"),
};

enum err threads_list(struct tx *tx, const struct thread_list_query *page, struct list *ret)
{
    const struct value values[] = { v_id(page->of),      v_id(page->viewer), v_int(page->type),
                                    v_int(page->before), v_int(page->limit), v_id(page->guild_id) };
    size_t count = page->list == THREADS_JOINED ? 6 : page->list == THREADS_ARCHIVED ? 5 : 2;
    struct rows rows;

    *ret = (struct list){ 0 };
    enum err e = tx_query(tx, THREAD_LISTS[page->list], values, count, &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct channel *c = list_append(tx_arena(tx), ret, sizeof *c);

        channel_from_row(&rows, c);
        viewer_membership_from_row(&rows, page->viewer, c);
    }
    return rows_end(&rows);
}
