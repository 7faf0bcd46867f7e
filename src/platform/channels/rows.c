/* rows.c - channels in the store. */
#include "platform/channels/internal.h"

#include <stdlib.h>

#include "model/rows.h"

#define COLUMNS_WITH(last_message_id, thread_message_count)                                      \
    "id, guild_id, type, name, topic, position, parent_id, nsfw, rate_limit_per_user, bitrate, " \
    "user_limit, rtc_region, video_quality_mode, " last_message_id ", flags, owner_id, "         \
    "application_id, icon, default_auto_archive_duration, thread_archived, thread_archived_at, " \
    "thread_archive_minutes, thread_locked, " thread_message_count

#define STORED_COLUMNS COLUMNS_WITH("last_message_id", "thread_message_count")

/* Messages that came in lanes are noted there, and later than what the channel's own row
 * has (see note_last in messages/create.c). */
#define CHANNEL_COLUMNS                                                          \
    COLUMNS_WITH("coalesce((select max(t.last_message_id) from channel_tails t " \
                 "where t.channel_id = channels.id), last_message_id)",          \
                 "case when type between 10 and 12 then thread_message_count + " \
                 "coalesce((select sum(t.messages) from channel_tails t "        \
                 "where t.channel_id = channels.id), 0) else 0 end")

enum { TYPE_COLUMN = 2 };
/* Of a category or a channel, the archived threads last: more need not be told one by one. */
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
    return t;
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
        .message_count = channel_number(r, 23),
        .member_count = { GIVEN, 1 },
        .thread_metadata = read_thread(r, tx_arena(r->tx)),
    };
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
    "where r.user_id = $1 and r.closed = 0 order by r.channel_id";

static snowflake channel_latest(const struct channel *c)
{
    return c->last_message_id.given == GIVEN ? c->last_message_id.value : c->id;
}

static int by_latest(const void *a, const void *b)
{
    snowflake x = channel_latest(a), y = channel_latest(b);

    return (x < y) - (x > y);
}

enum err user_channels(struct tx *tx, snowflake user_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = tx_list(tx, CHANNELS_OF_USER, BIND(v_id(user_id)), sizeof(struct channel),
                         read_channel, ret);

    if (!e)
        e = user_channels_load(tx, user_id, ret);
    if (!e && ret->count)
        qsort(ret->items, ret->count, sizeof(struct channel), by_latest);
    return e;
}

/* A negative type: it is being removed. */
static const char FIND_CHANNEL[] =
    "select " CHANNEL_COLUMNS " from channels where id = $1 and type >= 0";

enum err channel_find(struct tx *tx, snowflake id, struct channel *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_CHANNEL, BIND(v_id(id)), &row, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_CHANNEL;
    read_channel(&row, ret);
    return channel_is_private(ret->type) ? OK : load_overwrites(tx, ret);
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

    /* Both are in the order of channels' ids. */
    struct channel *c = ret_channels->items, *end = c + ret_channels->count;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 4))
            c++;
        if (c < end && c->id == row_id(&rows, 4))
            add_overwrite(&rows, c);
    }
    return rows_end(&rows);
}

/* --- writing -------------------------------------------------------------------------- */

static const char ADD_OVERWRITE[] =
    "insert into overwrites (channel_id, target_id, type, allow, deny) "
    "values ($1, $2, $3, $4, $5) on conflict (channel_id, target_id) "
    "do update set type = excluded.type, allow = excluded.allow, deny = excluded.deny";

enum err overwrite_put(struct tx *tx, snowflake channel_id, const struct overwrite *o)
{
    return tx_exec(tx, ADD_OVERWRITE,
                   BIND(v_id(channel_id), v_id(o->id), v_int(o->type),
                        v_int((int64_t)(o->allow & PERMISSIONS_ALL)),
                        v_int((int64_t)(o->deny & PERMISSIONS_ALL))),
                   NULL);
}

static const char CLEAR_OVERWRITES[] = "delete from overwrites where channel_id = $1";

enum err overwrites_replace(struct tx *tx, snowflake channel_id, const struct list *overwrites)
{
    const struct overwrite *o = overwrites->items;
    enum err e = tx_exec(tx, CLEAR_OVERWRITES, BIND(v_id(channel_id)), NULL);

    for (size_t i = 0; !e && i < overwrites->count; i++)
        e = overwrite_put(tx, channel_id, &o[i]);
    return e;
}

static const char DROP_OTHERS[] =
    "delete from overwrites where channel_id = $2 and target_id not in "
    "(select target_id from overwrites where channel_id = $1)";
static const char COPY_OVERWRITES[] =
    "insert into overwrites (channel_id, target_id, type, allow, deny) "
    "select $2, o.target_id, o.type, o.allow, o.deny from overwrites o where o.channel_id = $1 "
    "and not exists (select 1 from overwrites x where x.channel_id = $2 and "
    "x.target_id = o.target_id and x.type = o.type and x.allow = o.allow and x.deny = o.deny) "
    "on conflict (channel_id, target_id) "
    "do update set type = excluded.type, allow = excluded.allow, deny = excluded.deny";

enum err overwrites_copy(struct tx *tx, snowflake from_id, snowflake to_id)
{
    enum err e = tx_exec(tx, DROP_OTHERS, BIND(v_id(from_id), v_id(to_id)), NULL);

    return e ? e : tx_exec(tx, COPY_OVERWRITES, BIND(v_id(from_id), v_id(to_id)), NULL);
}

static int64_t or_else(struct opt_int i, int64_t otherwise)
{
    return i.given == GIVEN ? i.value : otherwise;
}

static const char ADD_CHANNEL[] =
    "insert into channels (" STORED_COLUMNS ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
    "$11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)";

enum err channel_insert(struct tx *tx, const struct channel *c)
{
    static const struct thread_metadata none = { .auto_archive_duration = 1440 };
    const struct thread_metadata *t = c->thread_metadata ? c->thread_metadata : &none;
    enum err e = tx_exec(
        tx, ADD_CHANNEL,
        BIND(v_id(c->id), v_opt_id(c->guild_id), v_int(c->type), v_opt_text(c->name),
             v_opt_text(c->topic), v_int(or_else(c->position, 0)), v_opt_id(c->parent_id),
             v_int(c->nsfw.given == GIVEN && c->nsfw.value),
             v_int(or_else(c->rate_limit_per_user, 0)), v_int(or_else(c->bitrate, CHANNEL_BITRATE)),
             v_int(or_else(c->user_limit, 0)), v_opt_text(c->rtc_region),
             v_int(or_else(c->video_quality_mode, 1)), v_opt_id(c->last_message_id),
             v_int(c->flags), v_opt_id(c->owner_id), v_opt_id(c->application_id),
             v_opt_text(c->icon), v_opt_int(c->default_auto_archive_duration), v_int(t->archived),
             t->archive_timestamp ? v_int(t->archive_timestamp) : v_null(),
             v_int(t->auto_archive_duration), v_int(t->locked),
             v_int(or_else(c->message_count, 0))),
        NULL);

    return e ? e : overwrites_replace(tx, c->id, &c->permission_overwrites.value);
}

static const char SAVE_CHANNEL[] =
    "update channels set type = $2, name = $3, topic = $4, position = $5, parent_id = $6, "
    "nsfw = $7, rate_limit_per_user = $8, bitrate = $9, user_limit = $10, rtc_region = $11, "
    "video_quality_mode = $12, owner_id = $13, icon = $14, default_auto_archive_duration = $15, "
    "thread_archived = $16, thread_archived_at = $17, thread_archive_minutes = $18, "
    "thread_locked = $19 where id = $1";

enum err channel_save(struct tx *tx, const struct channel *c)
{
    static const struct thread_metadata none = { .auto_archive_duration = 1440 };
    const struct thread_metadata *t = c->thread_metadata ? c->thread_metadata : &none;

    return tx_exec(
        tx, SAVE_CHANNEL,
        BIND(v_id(c->id), v_int(c->type), v_opt_text(c->name), v_opt_text(c->topic),
             v_int(or_else(c->position, 0)), v_opt_id(c->parent_id),
             v_int(c->nsfw.given == GIVEN && c->nsfw.value),
             v_int(or_else(c->rate_limit_per_user, 0)), v_int(or_else(c->bitrate, CHANNEL_BITRATE)),
             v_int(or_else(c->user_limit, 0)), v_opt_text(c->rtc_region),
             v_int(or_else(c->video_quality_mode, 1)), v_opt_id(c->owner_id), v_opt_text(c->icon),
             v_opt_int(c->default_auto_archive_duration), v_int(t->archived),
             t->archive_timestamp ? v_int(t->archive_timestamp) : v_null(),
             v_int(t->auto_archive_duration), v_int(t->locked)),
        NULL);
}

/* A channel may have a hundred thousand archived threads: those that are open are found in
 * the index of the guild's, and of the others no more are looked at than are told. */
static const char OPEN_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where guild_id = "
    "(select guild_id from channels where id = $1) and thread_archived = 0 and "
    "+parent_id = $1 order by id limit $2";
static const char ARCHIVED_OF_PARENT[] =
    "select " CHANNEL_COLUMNS " from channels where parent_id = $1 and thread_archived <> 0 "
    "order by id limit $2";

static enum err add_children(struct tx *tx, const char *sql, snowflake parent_id, struct list *ret)
{
    return tx_list(tx, sql, BIND(v_id(parent_id), v_int(MOST_CHILDREN - (int)ret->count)),
                   sizeof(struct channel), read_channel, ret);
}

enum err channel_children(struct tx *tx, snowflake parent_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = add_children(tx, OPEN_OF_PARENT, parent_id, ret);
    if (!e)
        e = add_children(tx, ARCHIVED_OF_PARENT, parent_id, ret);
    for (size_t i = 0; !e && i < ret->count; i++) {
        struct channel *c = (struct channel *)ret->items + i;

        if (!channel_is_thread(c->type))
            e = load_overwrites(tx, c);
    }
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

struct subject to_channel_viewers(const struct channel *c)
{
    if (channel_is_private(c->type))
        return to_channel(c->id);
    struct subject to = to_viewers(c->guild_id.value, c->id);
    if (channel_is_thread(c->type)) {
        to.parent_id = c->parent_id.value;
        to.starter_id = c->owner_id.value;
        to.thread_type = c->type;
    }
    return to;
}
