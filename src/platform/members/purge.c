/* purge.c - deleting what a banned member wrote. */
#include "platform/members/internal.h"

enum { MOST_IN_ONE_EVENT = 100 };

struct purged {
    snowflake channel_id, guild_id;
    struct list ids;
};

static const struct field purged_fields[] = {
    { FIELD(struct purged, ids), .type = &type_ids },
    { FIELD(struct purged, channel_id), .type = &type_id },
    { FIELD(struct purged, guild_id), .type = &type_id },
    { 0 },
};
static const struct schema purged_schema = {
    .name = "MessagesPurged",
    .size = sizeof(struct purged),
    .fields = purged_fields,
    .doc = "Messages that were deleted together.",
};

static void announce(struct call *call, struct purged *p)
{
    if (p->ids.count)
        call_emit(call, EVENT_MESSAGE_DELETE_BULK, to_viewers(p->guild_id, p->channel_id),
                  &purged_schema, p);
    p->ids = (struct list){ 0 };
}

static const char WRITTEN_SINCE[] =
    "select m.id, m.channel_id from messages m join channels c on c.id = m.channel_id "
    "where m.author_id = $1 and m.id >= $2 and c.guild_id = $3 order by m.channel_id, m.id";
static const char DELETE_SINCE[] =
    "delete from messages where author_id = $1 and id >= $2 and channel_id in "
    "(select id from channels where guild_id = $3)";

enum err purge_messages(struct call *call, snowflake guild_id, snowflake author, int64_t since_us)
{
    struct purged p = { .guild_id = guild_id };
    snowflake since = snowflake_at(since_us / 1000);
    struct rows rows;

    enum err e =
        tx_query(call->tx, WRITTEN_SINCE, BIND(v_id(author), v_id(since), v_id(guild_id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        if (row_id(&rows, 1) != p.channel_id || p.ids.count == MOST_IN_ONE_EVENT)
            announce(call, &p);
        p.channel_id = row_id(&rows, 1);
        *(snowflake *)list_add(call->arena, &p.ids, sizeof(snowflake)) = row_id(&rows, 0);
    }
    announce(call, &p);
    e = rows_end(&rows);
    return e ? e
             : tx_exec(call->tx, DELETE_SINCE, BIND(v_id(author), v_id(since), v_id(guild_id)),
                       NULL);
}
