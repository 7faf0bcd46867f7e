/* purge.c - deleting what a banned member wrote.
 *
 * In steps of a few hundred messages: the first is the ban's own, the others are a job's,
 * whose data says how far they are. */
#include "platform/messages/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/jobs.h"
#include "base/clock.h"
#include "model/ids.h"
#include "platform/channels/channels.h"

enum { MOST_IN_ONE_EVENT = 100 };

struct purge {
    snowflake guild_id, author_id;
    snowflake from, until; /* messages from the one to before the other */
};

struct written_message {
    snowflake id, channel_id;
};

/* Messages elsewhere are looked at, too, and count: they take as long to read. */
static const char WRITTEN[] =
    "select m.id, m.channel_id, c.guild_id from messages m join channels c on c.id = m.channel_id "
    "where m.author_id = $1 and m.id >= $2 and m.id < $3 order by m.id limit $4";

/* Those in the guild into ret. *room: how many may be looked at, then how many more could be. */
static enum err read_written(struct call *call, struct purge *p, int64_t *room, struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(call->tx, WRITTEN,
                 BIND(v_id(p->author_id), v_id(p->from), v_id(p->until), v_int(*room)), &rows);

    if (e)
        return e;
    for (; rows_next(&rows); --*room) {
        p->from = row_id(&rows, 0) + 1;
        if (row_id(&rows, 2) != p->guild_id)
            continue;
        struct written_message *w = list_add(call->arena, ret, sizeof *w);
        *w = (struct written_message){ row_id(&rows, 0), row_id(&rows, 1) };
    }
    return rows_end(&rows);
}

static int by_channel(const void *a, const void *b)
{
    const struct written_message *x = a, *y = b;

    if (x->channel_id != y->channel_id)
        return x->channel_id < y->channel_id ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum err delete_written(struct call *call, const struct list *all)
{
    const struct written_message *w = all->items, *end = w + all->count;
    enum err e = OK;

    while (!e && w < end) {
        struct channel channel;
        struct list ids = { 0 };
        snowflake where = w->channel_id;

        for (; w < end && w->channel_id == where && ids.count < MOST_IN_ONE_EVENT; w++)
            ids_add(call->arena, &ids, w->id);
        e = channel_find(call->tx, where, &channel);
        if (!e)
            e = messages_delete(call, &channel, &ids);
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK; /* it is being removed with all that is in it */
    }
    return e;
}

static enum err go_on_later(struct call *call, const struct purge *p)
{
    struct str data = str_printf(call->arena, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                                 p->guild_id, p->author_id, p->from, p->until);

    return job_schedule(call, &message_purge, snowflake_new(), clock_us(), data);
}

static enum err step_purge(struct call *call, struct purge *p, int64_t *room)
{
    struct list all = { 0 };
    enum err e = *room > 0 ? read_written(call, p, room, &all) : OK;

    if (!e && all.count)
        qsort(all.items, all.count, sizeof(struct written_message), by_channel);
    if (!e)
        e = delete_written(call, &all);
    return e || *room > 0 ? e : go_on_later(call, p);
}

enum err purge_messages(struct call *call, const struct member_ban *ban)
{
    struct purge p = { ban->guild_id, ban->user_id, snowflake_at(ban->since_us / 1000),
                       snowflake_at(clock_us() / 1000 + 1) };

    return step_purge(call, &p, ban->room);
}

static enum err run_purge(struct call *call, const struct job *job)
{
    int64_t room = PURGED_AT_ONCE;
    struct purge p;
    struct str data = job->data;
    struct str guild = str_cut(&data, ' '), author = str_cut(&data, ' '),
               from = str_cut(&data, ' ');

    if (!snowflake_parse(guild, &p.guild_id) || !snowflake_parse(author, &p.author_id) ||
        !snowflake_parse(from, &p.from) || !snowflake_parse(data, &p.until))
        return OK;
    return step_purge(call, &p, &room);
}

const struct job_kind message_purge = {
    .name = "message-purge",
    .doc = "Deletes what a banned member wrote.",
    .run = run_purge,
};
