/* message_copies.c - creates and updates the copies of published messages, in batches. */
#include "platform/announcement_channels/internal.h"

#include <inttypes.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"

enum { COPIES_AT_ONCE = 20 };

static const int64_t COPIED_FLAGS = MESSAGE_SUPPRESS_EMBEDS | MESSAGE_IS_COMPONENTS_V2;

/* --- reading the source message ------------------------------------------------------ */

/* Schedules a job that creates or updates copies of a message. The job's data are the message's
 * channel id and the last follower or copy id that is done. */
static enum err schedule_message_copies_job(struct call *call, const struct job_kind *kind,
                                            snowflake message, snowflake channel, snowflake after)
{
    return job_schedule(call, kind, message, clock_us(),
                        str_printf(call->arena, "%" PRIu64 " %" PRIu64, channel, after));
}

/* Reads the message that a job copies. *ret_found is false if the message was deleted. */
static enum err read_source_message(struct call *call, const struct job *job, struct message *ret,
                                    struct channel *ret_channel, snowflake *ret_after,
                                    bool *ret_found)
{
    struct str data = job->data, channel = str_cut(&data, ' ');
    snowflake channel_id;

    *ret_found = false;
    if (!snowflake_parse(channel, &channel_id) || !snowflake_parse(data, ret_after))
        return OK;
    enum err e = channel_find(call->tx, channel_id, ret_channel);
    if (!e)
        e = message_find(call, channel_id, job->key, ret);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_MESSAGE)
        return OK;
    *ret_found = !e;
    return e;
}

/* --- publishing a message ------------------------------------------------------------ */

static const char FOLLOWERS[] = "select id from webhooks where source_channel_id = $1 and id > $2 "
                                "order by id limit $3";
static const char ADD_COPY[] =
    "insert into crossposts (source_id, message_id, channel_id) values ($1, $2, $3)";

/* Copies the rows of attachments, with new ids. The copies refer to the same stored files. */
static struct list copy_attachments(struct call *call, const struct list *files)
{
    struct list out = { 0 };

    for (size_t i = 0; i < files->count; i++) {
        struct attachment *copy = list_append(call->arena, &out, sizeof *copy);

        *copy = ((const struct attachment *)files->items)[i];
        copy->id = snowflake_new();
    }
    return out;
}

static enum err create_message_copy(struct call *call, const struct message *m,
                                    const struct channel *from, snowflake webhook_id)
{
    struct message_reference ref = { .message_id = opt_id_or_null(m->id),
                                     .channel_id = from->id,
                                     .guild_id = opt_id_or_null(from->guild_id.value) };
    struct user author = { .id = webhook_id };
    struct webhook h;
    struct channel to;
    struct message copy;
    enum err e = webhook_find(call->tx, webhook_id, &h);

    if (!e)
        e = channel_find(call->tx, h.channel_id, &to);
    if (e)
        return e == ERR_UNKNOWN_WEBHOOK || e == ERR_UNKNOWN_CHANNEL ? OK : e; /* being deleted */
    struct new_message draft = {
        .channel = &to,
        .flags = MESSAGE_IS_CROSSPOST | (m->flags & COPIED_FLAGS),
        .author = &author,
        .webhook_id = h.id,
        .webhook_name = h.name.given == GIVEN ? h.name : opt_str_or_null(STR("Webhook")),
        .webhook_avatar = h.avatar,
        .content = m->content,
        .embeds = m->embeds,
        .components = m->flags & MESSAGE_IS_COMPONENTS_V2 ? m->components : STR("[]"),
        .sticker_items = m->sticker_items,
        .attachments = copy_attachments(call, &m->attachments),
        .message_reference = &ref,
    };
    e = message_create(call, &draft, &copy);
    return e ? e : tx_exec(call->tx, ADD_COPY, BIND(v_id(m->id), v_id(copy.id), v_id(to.id)), NULL);
}

static enum err run_announcement_publish_job(struct call *call, const struct job *job)
{
    snowflake after;
    struct message m;
    struct channel c;
    struct list ids;
    bool found;
    enum err e = read_source_message(call, job, &m, &c, &after, &found);

    if (e || !found)
        return e;
    e = tx_read_ids(call->tx, FOLLOWERS, BIND(v_id(c.id), v_id(after), v_int(COPIES_AT_ONCE)),
                    &ids);
    for (size_t i = 0; !e && i < ids.count; i++) {
        after = ((const snowflake *)ids.items)[i];
        e = create_message_copy(call, &m, &c, after);
    }
    return e || ids.count < COPIES_AT_ONCE
               ? e
               : schedule_message_copies_job(call, &announcement_publish_job, m.id, c.id, after);
}

const struct job_kind announcement_publish_job = {
    .name = "news-publish",
    .doc = "Copies a published message to the followers of its channel.",
    .run = run_announcement_publish_job,
};

/* --- updates of copies --------------------------------------------------------------- */

struct message_copy {
    snowflake message_id, channel_id;
};

static const char COPIES[] = "select message_id, channel_id from crossposts where source_id = $1 "
                             "and message_id > $2 order by message_id limit $3";

static void message_copy_from_row(const struct rows *r, void *ret)
{
    *(struct message_copy *)ret = (struct message_copy){ row_id(r, 0), row_id(r, 1) };
}

/* Updates a copy of a message. If source is NULL (the message was deleted), removes the content of
 * the copy. Does nothing if the copy was deleted. */
static enum err update_message_copy(struct call *call, const struct message_copy *at,
                                    const struct message *source)
{
    struct message copy;
    struct channel c;
    enum err e = channel_find(call->tx, at->channel_id, &c);

    if (!e)
        e = message_find(call, at->channel_id, at->message_id, &copy);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_MESSAGE ? OK : e;
    copy.content = source ? source->content : STR("");
    copy.embeds = source ? source->embeds : STR("[]");
    copy.attachments = source ? copy_attachments(call, &source->attachments) : (struct list){ 0 };
    if (source) {
        copy.flags = MESSAGE_IS_CROSSPOST | (source->flags & COPIED_FLAGS);
        copy.edited_timestamp = source->edited_timestamp;
        if (source->flags & MESSAGE_IS_COMPONENTS_V2)
            copy.components = source->components;
    } else {
        copy.flags |= MESSAGE_SOURCE_DELETED;
        copy.components = STR("[]");
    }
    return message_update_row_and_emit(call, &c, &copy);
}

static enum err update_message_copy_batch(struct call *call, snowflake source_id, snowflake *after,
                                          const struct message *source, bool *ret_more)
{
    struct list copies = { 0 };
    enum err e =
        tx_read_list(call->tx, COPIES, BIND(v_id(source_id), v_id(*after), v_int(COPIES_AT_ONCE)),
                     sizeof(struct message_copy), message_copy_from_row, &copies);
    const struct message_copy *c = copies.items;

    for (size_t i = 0; !e && i < copies.count; i++) {
        *after = c[i].message_id;
        e = update_message_copy(call, &c[i], source);
    }
    *ret_more = copies.count == COPIES_AT_ONCE;
    return e;
}

static enum err run_announcement_copy_update_job(struct call *call, const struct job *job)
{
    struct message m;
    struct channel c;
    snowflake after;
    bool found, more = false;
    enum err e = read_source_message(call, job, &m, &c, &after, &found);

    if (!e && found)
        e = update_message_copy_batch(call, m.id, &after, &m, &more);
    return e || !more
               ? e
               : schedule_message_copies_job(call, &announcement_update_job, m.id, c.id, after);
}

const struct job_kind announcement_update_job = {
    .name = "news-change",
    .doc = "Updates the copies of a published message that was changed.",
    .run = run_announcement_copy_update_job,
};

enum err crosspost_schedule_updating_copies(struct call *call, const struct message *m)
{
    return schedule_message_copies_job(call, &announcement_update_job, m->id, m->channel_id, 0);
}

/* Schedules the job that copies the message. Cancels the update job, which was scheduled when the
 * flag CROSSPOSTED was set: it would emit updates of unchanged copies while they are created. */
enum err crosspost_schedule_publishing_copies(struct call *call, const struct message *m)
{
    enum err e = job_cancel(call, &announcement_update_job, m->id);

    return e ? e
             : schedule_message_copies_job(call, &announcement_publish_job, m->id, m->channel_id,
                                           0);
}

static const char DELETE_COPIES[] =
    "delete from crossposts where source_id = $1 and message_id <= $2";

static enum err run_announcement_copy_clear_job(struct call *call, const struct job *job)
{
    snowflake after = 0;
    bool more;
    enum err e = update_message_copy_batch(call, job->key, &after, NULL, &more);

    if (!e && after)
        e = tx_exec(call->tx, DELETE_COPIES, BIND(v_id(job->key), v_id(after)), NULL);
    return e || !more ? e
                      : job_schedule(call, &announcement_clear_job, job->key, clock_us(), STR(""));
}

const struct job_kind announcement_clear_job = {
    .name = "news-end",
    .doc = "Clears the copies of a published message that was deleted.",
    .run = run_announcement_copy_clear_job,
};

static const char HAS_COPIES[] = "select 1 from crossposts where source_id = $1 limit 1";

/* Most messages were never published. So the job is scheduled only if the message has copies. */
enum err crosspost_schedule_emptying_of_copies(struct call *call, const snowflake *message_id)
{
    bool found = false;
    enum err e = tx_exists(call->tx, HAS_COPIES, BIND(v_id(*message_id)), &found);

    return e || !found
               ? e
               : job_schedule(call, &announcement_clear_job, *message_id, clock_us(), STR(""));
}
