/* rows.c - channels in the store. */
#include "platform/channels/channels.h"

#include "platform/rows.h"

#define CHANNEL_COLUMNS                                                                          \
    "id, guild_id, type, name, topic, position, parent_id, nsfw, rate_limit_per_user, bitrate, " \
    "user_limit, rtc_region, video_quality_mode, last_message_id, flags, owner_id, "             \
    "application_id, icon, default_auto_archive_duration, thread_archived, thread_archived_at, " \
    "thread_archive_minutes, thread_locked, thread_message_count"

static struct opt_int number(const struct rows *r, int column)
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

static void read_channel(const struct rows *r, struct channel *c)
{
    *c = (struct channel){
        .id = row_id(r, 0),
        .guild_id = row_opt_id(r, 1),
        .type = row_int(r, 2),
        .name = row_opt_text(r, 3),
        .topic = row_opt_text(r, 4),
        .position = number(r, 5),
        .parent_id = row_opt_id(r, 6),
        .nsfw = { GIVEN, row_bool(r, 7) },
        .rate_limit_per_user = number(r, 8),
        .bitrate = number(r, 9),
        .user_limit = number(r, 10),
        .rtc_region = row_opt_text(r, 11),
        .video_quality_mode = number(r, 12),
        .last_message_id = row_opt_id(r, 13),
        .flags = row_int(r, 14),
        .owner_id = row_opt_id(r, 15),
        .application_id = row_opt_id(r, 16),
        .icon = row_opt_text(r, 17),
        .default_auto_archive_duration = row_opt_int(r, 18),
        .permission_overwrites = { .given = GIVEN },
        .message_count = number(r, 23),
        .thread_metadata = read_thread(r, tx_arena(r->tx)),
    };
    channel_shape(c);
}

static const char OVERWRITES_OF_CHANNEL[] =
    "select target_id, type, allow, deny from overwrites where channel_id = $1 order by target_id";

static enum err load_overwrites(struct tx *tx, struct channel *c)
{
    struct rows rows;
    enum err e = tx_query(tx, OVERWRITES_OF_CHANNEL, BIND(v_id(c->id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct overwrite *o =
            list_add(tx_arena(tx), &c->permission_overwrites.value, sizeof(struct overwrite));

        *o = (struct overwrite){ row_id(&rows, 0), row_int(&rows, 1), (uint64_t)row_int(&rows, 2),
                                 (uint64_t)row_int(&rows, 3) };
    }
    return rows_end(&rows);
}

static const char FIND_CHANNEL[] = "select " CHANNEL_COLUMNS " from channels where id = $1";

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

static const char IS_RECIPIENT[] =
    "select 1 from recipients where channel_id = $1 and user_id = $2";

bool channel_is_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                          enum err *ret_error)
{
    struct rows row;
    bool found = false;

    *ret_error = tx_one(tx, IS_RECIPIENT, BIND(v_id(channel_id), v_id(user_id)), &row, &found);
    return found;
}

struct subject to_channel_viewers(const struct channel *c)
{
    if (channel_is_private(c->type))
        return to_channel(c->id);
    return to_viewers(c->guild_id.value, c->id);
}
