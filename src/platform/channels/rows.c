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

/* channel_tails has newer values while many writers are active (note_last, messages/create.c). */
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
/* Membership of user $2 in the thread; appended after the other columns. */
#define OWN_COLUMNS                                                                    \
    ", (select o.joined_at from thread_members o where o.thread_id = channels.id and " \
    "o.user_id = $2), (select o.flags from thread_members o where o.thread_id = "      \
    "channels.id and o.user_id = $2)"

enum { TYPE_COLUMN = 2, LAST_COLUMN = 13, COUNT_COLUMN = 23, OWN_COLUMN = 36 };
/* Maximum number of children returned, archived threads last; further threads get no events. */
enum { MOST_CHILDREN = 500 };

static struct opt_int channel_number(const struct rows *r, int column)
{
    return (struct opt_int){ GIVEN, row_int(r, column) };
}

static const struct thread_metadata *read_thread(const struct rows *r, struct arena *arena)
{
    struct thread_metadata *t = arena_alloc(arena, sizeof *t);

    *t = (struct thread_metadata){
        .archived = row_bool(r, 19),
        .archive_timestamp = row_null(r, 20) ? snowflake_ms(row_id(r, 0)) * 1000 : row_int(r, 20),
        .auto_archive_duration = row_int(r, 21),
        .locked = row_bool(r, 22),
        .create_timestamp = { GIVEN, snowflake_ms(row_id(r, 0)) * 1000 },
    };
    if (row_int(r, TYPE_COLUMN) == CHANNEL_PRIVATE_THREAD)
        t->invitable = given_bool(row_bool(r, 26));
    return t;
}

/* total_message_sent excludes the first message of a post, message_count also deleted messages. */
static void read_counts(const struct rows *r, struct channel *c)
{
    c->messages_written = row_int(r, 23);
    c->begun = row_bool(r, 24);
    int64_t sent = c->messages_written - c->begun, left = sent - row_int(r, 25);
    c->total_message_sent = given_int(sent > 0 ? sent : 0);
    c->message_count = given_int(left > 0 ? left : 0);
    c->member_count = given_int(row_int(r, 34));
}

static bool tags_hold(const struct list *tags, snowflake id)
{
    const struct forum_tag *t = tags->items;

    for (size_t i = 0; i < tags->count; i++)
        if (t[i].id == id)
            return true;
    return false;
}

/* Ignores tags that the forum has deleted, because the threads with such tags, possibly many, are
 * not updated. */
static void read_tags(const struct rows *r, struct channel *c)
{
    struct arena *arena = tx_arena(r->tx);

    if (!row_null(r, 33)) {
        struct list all = column_list(arena, &type_forum_tags, row_text(r, 35));
        struct list own = column_list(arena, &type_ids, row_text(r, 33));
        const snowflake *ids = own.items;

        c->applied_tags.given = GIVEN;
        for (size_t i = 0; i < own.count; i++)
            if (tags_hold(&all, ids[i]))
                ids_add(arena, &c->applied_tags.value, ids[i]);
    }
    if (!channel_holds_posts(c->type))
        return;
    c->available_tags.given = GIVEN;
    if (!row_null(r, 28))
        c->available_tags.value = column_list(arena, &type_forum_tags, row_text(r, 28));
    c->default_reaction_emoji.given = GIVEN_NULL;
    if (!row_null(r, 29))
        c->default_reaction_emoji =
            (struct opt_object){ GIVEN, (void *)column_decode(arena, &type_default_reaction,
                                                              row_text(r, 29)) };
    if (!c->default_reaction_emoji.value)
        c->default_reaction_emoji.given = GIVEN_NULL;
    c->default_sort_order = row_opt_int(r, 30);
    c->default_forum_layout = channel_number(r, 31);
    c->default_tag_setting = given_str(row_null(r, 32) ? STR("match_some") : row_text(r, 32));
}

static void read_channel(const struct rows *r, void *ret)
{
    struct channel *c = ret;

    *c = (struct channel){
        .id = row_id(r, 0),
        .guild_id = row_opt_id(r, 1),
        .type = row_int(r, 2),
        .name = row_opt_text(r, 3),
        .topic = row_opt_text(r, 4),
        .position = channel_number(r, 5),
        .parent_id = row_opt_id(r, 6),
        .nsfw = { GIVEN, row_bool(r, 7) },
        .rate_limit_per_user = channel_number(r, 8),
        .bitrate = channel_number(r, 9),
        .user_limit = channel_number(r, 10),
        .rtc_region = row_opt_text(r, 11),
        .video_quality_mode = channel_number(r, 12),
        .last_message_id = row_opt_id(r, 13),
        .flags = row_int(r, 14),
        .owner_id = row_opt_id(r, 15),
        .application_id = row_opt_id(r, 16),
        .icon = row_opt_text(r, 17),
        .default_auto_archive_duration = row_opt_int(r, 18),
        .permission_overwrites = { .given = GIVEN },
        .default_thread_rate_limit_per_user = channel_number(r, 27),
        .thread_metadata = read_thread(r, tx_arena(r->tx)),
    };
    read_counts(r, c);
    read_tags(r, c);
    channel_shape(c);
}

static void add_overwrite(const struct rows *r, struct channel *c)
{
    struct overwrite *o = list_add(tx_arena(r->tx), &c->permission_overwrites.value, sizeof *o);

    *o = (struct overwrite){ row_id(r, 0), row_int(r, 1), (uint64_t)row_int(r, 2),
                             (uint64_t)row_int(r, 3) };
}

static const char OVERWRITES_OF_CHANNEL[] =
    "select target_id, type, allow, deny from overwrites where channel_id = $1 order by target_id";

static enum err load_overwrites(struct tx *tx, struct channel *c)
{
    struct rows rows;
    enum err e = tx_query(tx, OVERWRITES_OF_CHANNEL, BIND(v_id(c->id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        add_overwrite(&rows, c);
    return rows_end(&rows);
}

static const char CHANNELS_OF_USER[] =
    "select " CHANNEL_COLUMNS " from recipients r join channels on id = r.channel_id "
    "where r.user_id = $1 and r.closed = 0 and r.channel_id > $2 order by r.channel_id limit $3";

enum err user_channels_page(struct tx *tx, snowflake user_id, snowflake after, int64_t limit,
                            struct list *ret)
{
    enum err e = tx_list(tx, CHANNELS_OF_USER, BIND(v_id(user_id), v_id(after), v_int(limit)),
                         sizeof(struct channel), read_channel, ret);

    return e ? e : user_channels_load(tx, user_id, ret);
}

/* A negative type marks a channel that is being deleted. */
static const char FIND_CHANNEL[] =
    "select " CHANNEL_COLUMNS " from channels where id = $1 and type >= 0";

/* FIND_CHANNEL in two parts: columns that rarely change, which the query cache may hold, and
 * columns that every message changes. */
static const char FIND_STILL[] =
    "select " COLUMNS_WITH("0", "0", COUNTED) " from channels where id = $1 and type >= 0";
static const char FIND_MOVING[] =
    "select " LAST_MESSAGE ", " MESSAGE_COUNT " from channels where id = $1";

static enum err find_in_two(struct tx *tx, snowflake id, struct rows *ret, bool *ret_found)
{
    struct rows moving;
    bool found;
    enum err e = tx_one(tx, FIND_STILL, BIND(v_id(id)), ret, ret_found);

    if (e || !*ret_found)
        return e;
    e = tx_one(tx, FIND_MOVING, BIND(v_id(id)), &moving, &found);
    if (e || !found)
        return e ? e : ERR_UNKNOWN_CHANNEL;
    struct value *row = arena_raw(tx_arena(tx), (size_t)ret->columns * sizeof *row);
    memcpy(row, ret->row, (size_t)ret->columns * sizeof *row);
    row[LAST_COLUMN] = moving.row[0];
    row[COUNT_COLUMN] = moving.row[1];
    ret->row = row;
    return OK;
}

enum err channel_find_bare(struct tx *tx, snowflake id, struct channel *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_is_remote(tx) ? tx_one(tx, FIND_CHANNEL, BIND(v_id(id)), &row, &found)
                                  : find_in_two(tx, id, &row, &found);

    if (!e && !found)
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        read_channel(&row, ret);
    return e;
}

void channel_prefetch(struct tx *tx, snowflake id, bool overwrites)
{
    tx_prefetch(tx, FIND_CHANNEL, BIND(v_id(id)));
    if (overwrites)
        tx_prefetch(tx, OVERWRITES_OF_CHANNEL, BIND(v_id(id)));
}

enum err channel_load_overwrites(struct tx *tx, struct channel *c)
{
    /* Threads and private channels have no overwrites. */
    if (channel_is_private(c->type) || channel_is_thread(c->type))
        return OK;
    return load_overwrites(tx, c);
}

enum err channel_find(struct tx *tx, snowflake id, struct channel *ret)
{
    enum err e = channel_find_bare(tx, id, ret);

    return e ? e : channel_load_overwrites(tx, ret);
}

static const char CHANNELS_OF_GUILD[] =
    "select " CHANNEL_COLUMNS " from channels where guild_id = $1 and thread_archived = 0 "
    "order by id";

static enum err load_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                              struct list *ret_threads)
{
    struct rows rows;
    enum err e = tx_query(tx, CHANNELS_OF_GUILD, BIND(v_id(guild_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        bool thread = channel_is_thread(row_int(&rows, TYPE_COLUMN));

        read_channel(&rows, list_add(tx_arena(tx), thread ? ret_threads : ret_channels,
                                     sizeof(struct channel)));
    }
    return rows_end(&rows);
}

static const char OVERWRITES_OF_GUILD[] =
    "select o.target_id, o.type, o.allow, o.deny, o.channel_id from channels c "
    "join overwrites o on o.channel_id = c.id where c.guild_id = $1 and c.thread_archived = 0 "
    "order by c.id, o.target_id";

enum err guild_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                        struct list *ret_threads)
{
    struct rows rows;

    *ret_channels = *ret_threads = (struct list){ 0 };
    enum err e = load_channels(tx, guild_id, ret_channels, ret_threads);
    if (!e)
        e = tx_query(tx, OVERWRITES_OF_GUILD, BIND(v_id(guild_id)), &rows);
    if (e)
        return e;

    /* The channels and the rows are both ordered by channel id. */
    struct channel *c = ret_channels->items, *end = c + ret_channels->count;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 4))
            c++;
        if (c < end && c->id == row_id(&rows, 4))
            add_overwrite(&rows, c);
    }
    return rows_end(&rows);
}

/* --- children ------------------------------------------------------------------------- */

/* A channel may have 100,000 archived threads: open threads are found through the guild's index,
 * and of the archived ones only as many are read as are returned. */
static const char OPEN_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where guild_id = "
    "(select guild_id from channels where id = $1) and thread_archived = 0 and "
    "+parent_id = $1 order by id limit $2";
static const char ARCHIVED_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where parent_id = $1 and thread_archived <> 0 "
    "order by id limit $2";

static enum err add_children(struct tx *tx, struct sql sql, snowflake parent_id, struct list *ret)
{
    return tx_list(tx, sql, BIND(v_id(parent_id), v_int(MOST_CHILDREN - (int)ret->count)),
                   sizeof(struct channel), read_channel, ret);
}

enum err channel_children(struct tx *tx, snowflake parent_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = add_children(tx, SQL(OPEN_OF_PARENT), parent_id, ret);
    if (!e)
        e = add_children(tx, SQL(ARCHIVED_OF_PARENT), parent_id, ret);
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
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT_CHILDREN, BIND(v_id(parent_id)), &row, &found);

    if (!e)
        *ret = row_int(&row, 0);
    return e;
}

/* --- threads, with the viewer's membership ---------------------------------------------- */

static void read_own(const struct rows *r, snowflake user_id, struct channel *c)
{
    if (row_null(r, OWN_COLUMN))
        return;
    struct thread_member *m = arena_alloc(tx_arena(r->tx), sizeof *m);
    *m = (struct thread_member){
        .id = given_id(c->id),
        .user_id = given_id(user_id),
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

enum err threads_list(struct tx *tx, const struct thread_page *page, struct list *ret)
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
        struct channel *c = list_add(tx_arena(tx), ret, sizeof *c);

        read_channel(&rows, c);
        read_own(&rows, page->viewer, c);
    }
    return rows_end(&rows);
}
