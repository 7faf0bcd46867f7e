/* file_removal.c - removes a file from every message that shows it, for the operator. */
#include "platform/messages/internal.h"

#include "model/fields/rows.h"
#include "platform/channels/channels.h"

struct file_use {
    snowflake message_id, channel_id;
    bool is_forwarded;
};

static const char FILE_USES[] =
    "select distinct a.message_id, a.channel_id, a.snapshot from attachments a where a.file_id = "
    "(select b.file_id from attachments b where b.id = $1) order by a.message_id limit $2";

static void message_with_file_from_row(const struct rows *r, void *ret)
{
    *(struct file_use *)ret = (struct file_use){ row_id(r, 0), row_id(r, 1), row_bool(r, 2) };
}

static bool message_is_empty(const struct message *m)
{
    return !m->content.n && !m->attachments.count && !m->polled &&
           m->sticker_items.given != GIVEN && m->snapshot.given != GIVEN &&
           (!m->embeds.n || str_is(m->embeds, "[]")) &&
           (!m->components.n || str_is(m->components, "[]"));
}

static void remove_attachment_from_list(struct call *call, struct message *m, snowflake file_id)
{
    const struct attachment *a = m->attachments.items;
    struct list retained = { 0 };

    for (size_t i = 0; i < m->attachments.count; i++)
        if ((a[i].file_id ? a[i].file_id : a[i].id) != file_id)
            *(struct attachment *)list_append(call->arena, &retained, sizeof *a) = a[i];
    m->attachments = retained;
}

static enum err remove_file_from_message(struct call *call, const struct file_use *use,
                                         snowflake file_id)
{
    struct channel channel;
    struct message m;
    enum err e = channel_find(call->tx, use->channel_id, &channel);

    if (!e)
        e = message_find_even_ephemeral(call, use->channel_id, use->message_id, &m);
    if (e)
        return e;
    struct message less = m;
    remove_attachment_from_list(call, &less, file_id);
    if (use->is_forwarded || message_is_empty(&less))
        return message_delete(call, &channel, &m);
    return message_update_row_and_emit(call, &channel, &less);
}

static const char FIND_FILE[] = "select file_id from attachments where id = $1";

enum err attachment_remove_from_all_messages(struct call *call, snowflake attachment_id,
                                             int64_t *ret_messages, bool *ret_more)
{
    struct rows row;
    struct list uses = { 0 };
    enum err e = tx_one_or(call->tx, FIND_FILE, BIND(v_id(attachment_id)), ERR_NOT_FOUND, &row);

    if (e)
        return e;
    snowflake file_id = row_id(&row, 0);
    e = tx_read_list(call->tx, FILE_USES, BIND(v_id(attachment_id), v_int(MAX_FILE_REMOVALS + 1)),
                     sizeof(struct file_use), message_with_file_from_row, &uses);
    *ret_more = uses.count > MAX_FILE_REMOVALS;
    *ret_messages = *ret_more ? MAX_FILE_REMOVALS : (int64_t)uses.count;
    for (int64_t i = 0; !e && i < *ret_messages; i++)
        e = remove_file_from_message(call, &((struct file_use *)uses.items)[i], file_id);
    return e;
}
