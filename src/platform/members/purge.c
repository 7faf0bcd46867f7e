/* purge.c - deleting what a banned member wrote. */
#include "platform/channels/channels.h"
#include "platform/members/internal.h"
#include "platform/messages/messages.h"

enum { MOST_IN_ONE_EVENT = 100 };

struct written {
    snowflake id, channel_id;
};

static const char WRITTEN_SINCE[] =
    "select m.id, m.channel_id from messages m join channels c on c.id = m.channel_id "
    "where m.author_id = $1 and m.id >= $2 and c.guild_id = $3 order by m.channel_id, m.id";

static enum err written_since(struct tx *tx, snowflake guild_id, snowflake author, snowflake since,
                              struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(tx, WRITTEN_SINCE, BIND(v_id(author), v_id(since), v_id(guild_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct written *w = list_add(tx_arena(tx), ret, sizeof *w);

        *w = (struct written){ row_id(&rows, 0), row_id(&rows, 1) };
    }
    return rows_end(&rows);
}

enum err purge_messages(struct call *call, snowflake guild_id, snowflake author, int64_t since_us)
{
    struct list all = { 0 };
    enum err e = written_since(call->tx, guild_id, author, snowflake_at(since_us / 1000), &all);
    const struct written *w = all.items, *end = w + all.count;

    while (!e && w < end) {
        struct channel channel;
        struct list ids = { 0 };
        snowflake where = w->channel_id;

        for (; w < end && w->channel_id == where && ids.count < MOST_IN_ONE_EVENT; w++)
            *(snowflake *)list_add(call->arena, &ids, sizeof(snowflake)) = w->id;
        e = channel_find(call->tx, where, &channel);
        if (!e)
            e = messages_delete(call, &channel, &ids);
    }
    return e;
}
