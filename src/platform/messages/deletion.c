/* deletion.c - deletes the messages of a deleted channel, in steps. */
#include "api/deletion.h"

#include "platform/messages/internal.h"

static const struct deletion_rule next_messages = {
    .remove = { &"delete from messages where id in (" NEXT_DELETED_MESSAGES ")" },
};

/* Each iteration first deletes rows of other tables that refer to the next messages, then these
 * messages, so no row ever refers to a deleted message. */
static enum err delete_messages_of_channel(struct call *call, snowflake channel_id,
                                           struct deletion_step_limits *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    while (!e && step->rows_left > 0 && gone == portion) {
        e = deletion_apply_all_rules(call, WITH_MESSAGES, channel_id, step);
        if (e || step->rows_left <= 0)
            return e;
        portion = deletion_step_batch_size(step);
        e = deletion_rule_apply(call, &next_messages, channel_id, portion, &gone);
        deletion_step_subtract_deleted_rows(step, gone);
    }
    return e;
}

#define ATTACHMENTS "select id from attachments where channel_id = $1 order by id limit $2"

const struct deletion_rule message_deletions[] = {
    { WITH_CHANNEL, "attachments", .phase = DELETE_FIRST,
      .mark = { &"update files set gone = 1 where id in (select a.file_id from attachments a where "
                 "a.id in (" ATTACHMENTS ") and not exists (select 1 from attachments b where "
                 "b.file_id = a.file_id and b.id not in (" ATTACHMENTS ")))" },
      .remove = { &"delete from attachments where id in (" ATTACHMENTS ")" } },
    { WITH_CHANNEL, "messages", .run = delete_messages_of_channel, .phase = DELETE_PARTS },
    { 0 },
};
