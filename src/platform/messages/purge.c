/* purge.c - deletes the messages of a banned member in a guild, or of an account everywhere. Each
 * step deletes a few hundred messages: the first runs in the ban's call, the others in a job whose
 * data stores the progress. */
#include "platform/messages/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/fields/ids.h"
#include "platform/channels/channels.h"

enum { MOST_IN_ONE_EVENT = 100 };

struct purge {
    snowflake guild_id, author_id; /* guild_id 0: all guilds and private channels */
    snowflake from, until;         /* range of message ids: [from, until) */
    int64_t handled;               /* number of messages so far; counted only if guild_id is 0 */
};

struct written_message {
    snowflake id, channel_id;
};

/* Messages of other guilds count towards the limit of a step, because reading them costs, too. */
static const char WRITTEN[] =
    "select m.id, m.channel_id, c.guild_id from messages m join channels c on c.id = m.channel_id "
    "where m.author_id = $1 and m.id >= $2 and m.id < $3 order by m.id limit $4";

/* Reads messages of the guild. *room: maximum number to read; reduced by the number read. */
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
        if (p->guild_id && row_id(&rows, 2) != p->guild_id)
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
            e = OK; /* the channel's deletion job deletes the messages */
    }
    return e;
}

static enum err go_on_later(struct call *call, const struct purge *p)
{
    struct str data =
        str_printf(call->arena, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64,
                   p->guild_id, p->author_id, p->from, p->until, p->handled);

    return p->guild_id ? job_schedule(call, &message_purge, snowflake_new(), clock_us(), data)
                       : job_schedule(call, &account_purge, p->author_id, clock_us(), data);
}

static enum err step_purge(struct call *call, struct purge *p, int64_t *room)
{
    struct list all = { 0 };
    enum err e = *room > 0 ? read_written(call, p, room, &all) : OK;

    if (!e && all.count)
        qsort(all.items, all.count, sizeof(struct written_message), by_channel);
    if (!e)
        e = delete_written(call, &all);
    p->handled += (int64_t)all.count;
    return e || *room > 0 ? e : go_on_later(call, p);
}

enum err purge_messages(struct call *call, const struct member_ban *ban)
{
    struct purge p = { ban->guild_id, ban->user_id, snowflake_at(ban->since_us / 1000),
                       snowflake_at(clock_us() / 1000 + 1), 0 };

    return step_purge(call, &p, ban->room);
}

/* Parses the data of a job. Jobs of older versions have no counter. */
static bool purge_read(struct str data, struct purge *ret)
{
    struct str guild = str_cut(&data, ' '), author = str_cut(&data, ' '),
               from = str_cut(&data, ' '), until = str_cut(&data, ' ');

    *ret = (struct purge){ 0 };
    return str_to_u64(guild, &ret->guild_id) && snowflake_parse(author, &ret->author_id) &&
           str_to_u64(from, &ret->from) && snowflake_parse(until, &ret->until) &&
           (!data.n || str_to_i64(data, &ret->handled));
}

static enum err run_purge(struct call *call, const struct job *job)
{
    int64_t room = PURGED_AT_ONCE;
    struct purge p;

    return purge_read(job->data, &p) ? step_purge(call, &p, &room) : OK;
}

const struct job_kind message_purge = {
    .name = "message-purge",
    .doc = "Deletes the messages of a banned member.",
    .run = run_purge,
};

/* --- all messages of an account --------------------------------------------------------- */

static enum err run_account_purge(struct call *call, const struct job *job)
{
    int64_t room = PURGED_AT_ONCE;
    struct purge p;

    if (!purge_read(job->data, &p))
        return OK;
    enum err e = step_purge(call, &p, &room);
    if (!e && room > 0)
        log_info("messages: deleted all messages of account %" PRIu64 ", %" PRId64 " in total",
                 p.author_id, p.handled);
    return e;
}

const struct job_kind account_purge = {
    .name = "account-purge",
    .doc = "Deletes all messages of an account, after an operator command.",
    .run = run_account_purge,
};

enum err messages_purge_author(struct call *call, snowflake author_id)
{
    struct purge p = { 0, author_id, 0, snowflake_at(clock_us() / 1000 + 1), 0 };

    return go_on_later(call, &p);
}

static const char FIND_PURGE[] = "select data from jobs where kind = 'account-purge' and key = $1";

enum err messages_purge_find(struct tx *tx, snowflake author_id, struct author_purge *ret)
{
    struct rows row;
    struct purge p;
    enum err e = tx_one(tx, FIND_PURGE, BIND(v_id(author_id)), &row, &ret->is_running);

    ret->is_running = !e && ret->is_running && purge_read(row_text(&row, 0), &p);
    if (ret->is_running)
        *ret = (struct author_purge){ true, p.handled, p.from };
    return e;
}
