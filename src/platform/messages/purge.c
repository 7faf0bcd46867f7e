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

struct purge_progress {
    snowflake guild_id, author_id; /* guild_id: 0 to purge all guilds and private channels */
    snowflake from, until;         /* range of message ids: [from, until) */
    int64_t handled;               /* number of deleted messages; counted only if guild_id is 0 */
};

struct authored_message {
    snowflake id, channel_id;
};

/* Selects the author's next messages in all guilds. Messages of other guilds count towards the
 * limit, because reading them takes time, too. */
static const char READ_AUTHORED[] =
    "select m.id, m.channel_id, c.guild_id from (select id from authored_messages where "
    "author_id = $1 and id >= $2 and id < $3 order by id limit $4) a join messages m on "
    "m.id = a.id join channels c on c.id = m.channel_id order by m.id";

/* Reads the author's messages in the guild (in all channels if p->guild_id is 0). *room is the
 * maximum number of rows to read; the function subtracts the rows that it read. */
static enum err read_messages_of_author(struct call *call, struct purge_progress *p, int64_t *room,
                                        struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(call->tx, READ_AUTHORED,
                 BIND(v_id(p->author_id), v_id(p->from), v_id(p->until), v_int(*room)), &rows);

    if (e)
        return e;
    for (; rows_next(&rows); --*room) {
        p->from = row_id(&rows, 0) + 1;
        if (p->guild_id && row_id(&rows, 2) != p->guild_id)
            continue;
        struct authored_message *w = list_append(call->arena, ret, sizeof *w);
        *w = (struct authored_message){ row_id(&rows, 0), row_id(&rows, 1) };
    }
    return rows_end(&rows);
}

static int compare_by_channel_and_message_id(const void *a, const void *b)
{
    const struct authored_message *x = a, *y = b;

    if (x->channel_id != y->channel_id)
        return x->channel_id < y->channel_id ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum err delete_authored_messages(struct call *call, const struct list *all)
{
    const struct authored_message *w = all->items, *end = w + all->count;
    enum err e = OK;

    while (!e && w < end) {
        struct channel channel;
        struct list ids = { 0 };
        snowflake where = w->channel_id;

        for (; w < end && w->channel_id == where && ids.count < MOST_IN_ONE_EVENT; w++)
            id_list_add(call->arena, &ids, w->id);
        e = channel_find(call->tx, where, &channel);
        if (!e)
            e = messages_delete_bulk(call, &channel, &ids);
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK; /* not an error: the channel's deletion job deletes the messages */
    }
    return e;
}

static const char NEWEST_AUTHORED[] =
    "select id from authored_messages where author_id = $1 order by id desc limit 1";

/* Computes an id above those of all messages that the author has written. The newest may be ahead
 * of the clock: if the clock was set back, or another node's clock is ahead, or they were imported.
 */
static enum err read_end_of_purge(struct tx *tx, snowflake author_id, snowflake *ret)
{
    int64_t now = clock_ms(), newest = snowflake_newest_ms();
    snowflake id;
    enum err e = tx_read_id(tx, NEWEST_AUTHORED, BIND(v_id(author_id)), &id);

    if (e)
        return e;
    *ret = snowflake_from_ms((now > newest ? now : newest) + 1);
    if (id >= *ret)
        *ret = id + (id < INT64_MAX);
    return OK;
}

static enum err schedule_next_purge_step(struct call *call, const struct purge_progress *p)
{
    struct str data =
        str_printf(call->arena, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64,
                   p->guild_id, p->author_id, p->from, p->until, p->handled);

    return p->guild_id ? job_schedule(call, &message_purge_job, snowflake_new(), clock_us(), data)
                       : job_schedule(call, &account_purge_job, p->author_id, clock_us(), data);
}

static enum err purge_message_batch(struct call *call, struct purge_progress *p, int64_t *room)
{
    struct list all = { 0 };
    enum err e = *room > 0 ? read_messages_of_author(call, p, room, &all) : OK;

    if (!e && all.count)
        qsort(all.items, all.count, sizeof(struct authored_message),
              compare_by_channel_and_message_id);
    if (!e)
        e = delete_authored_messages(call, &all);
    p->handled += (int64_t)all.count;
    return e || *room > 0 ? e : schedule_next_purge_step(call, p);
}

enum err purge_messages_of_user(struct call *call, const struct member_ban *ban)
{
    struct purge_progress p = { .guild_id = ban->guild_id,
                                .author_id = ban->user_id,
                                .from = snowflake_from_ms(ban->since_us / 1000) };
    enum err e = read_end_of_purge(call->tx, ban->user_id, &p.until);

    return e ? e : purge_message_batch(call, &p, ban->room);
}

/* Parses the data of a purge job. Jobs that older program versions stored lack the number of
 * deleted messages. */
static bool parse_purge_job_data(struct str data, struct purge_progress *ret)
{
    struct str guild = str_cut(&data, ' '), author = str_cut(&data, ' '),
               from = str_cut(&data, ' '), until = str_cut(&data, ' ');

    *ret = (struct purge_progress){ 0 };
    return str_to_u64(guild, &ret->guild_id) && snowflake_parse(author, &ret->author_id) &&
           str_to_u64(from, &ret->from) && snowflake_parse(until, &ret->until) &&
           (!data.n || str_to_i64(data, &ret->handled));
}

static enum err run_message_purge_job(struct call *call, const struct job *job)
{
    int64_t room = BAN_DELETED_MESSAGES_AT_ONCE;
    struct purge_progress p;

    return parse_purge_job_data(job->data, &p) ? purge_message_batch(call, &p, &room) : OK;
}

const struct job_kind message_purge_job = {
    .name = "message-purge",
    .doc = "Deletes the messages of a banned member.",
    .run = run_message_purge_job,
};

/* --- deleting all messages of an account --------------------------------------------- */

static enum err run_account_purge_job(struct call *call, const struct job *job)
{
    int64_t room = BAN_DELETED_MESSAGES_AT_ONCE;
    struct purge_progress p;

    if (!parse_purge_job_data(job->data, &p))
        return OK;
    enum err e = purge_message_batch(call, &p, &room);
    if (!e && room > 0)
        log_info("messages: deleted all %lld messages of account %llu", (long long)p.handled,
                 (unsigned long long)p.author_id);
    return e;
}

const struct job_kind account_purge_job = {
    .name = "account-purge",
    .doc = "Deletes all messages of an account, after an operator command.",
    .run = run_account_purge_job,
};

enum err messages_schedule_purge_of_account(struct call *call, snowflake author_id)
{
    struct purge_progress p = { .author_id = author_id };
    enum err e = read_end_of_purge(call->tx, author_id, &p.until);

    return e ? e : schedule_next_purge_step(call, &p);
}

static const char FIND_PURGE[] = "select data from jobs where kind = 'account-purge' and key = $1";

enum err read_message_purge_progress(struct tx *tx, snowflake author_id,
                                     struct message_purge_progress *ret)
{
    struct rows row;
    struct purge_progress p;
    enum err e = tx_one(tx, FIND_PURGE, BIND(v_id(author_id)), &row, &ret->is_running);

    ret->is_running = !e && ret->is_running && parse_purge_job_data(row_text(&row, 0), &p);
    if (ret->is_running)
        *ret = (struct message_purge_progress){ true, p.handled, p.from };
    return e;
}
