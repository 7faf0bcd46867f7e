/* forwards.c - forwarded messages: a snapshot of another message at the time of forwarding. */
#include "platform/messages/internal.h"

#include "json/read.h"
#include "model/fields/ids.h"
#include "model/permissions/permissions.h"
#include "platform/channels/channels.h"
#include "platform/message_parts/column_json.h"

/* JSON fields of the snapshot of a forwarded message, without author and channel. The attachments
 * must be the last field. */
static const struct field snapshot_fields[] = {
    { FIELD(struct message, type), .type = &type_count },
    { FIELD(struct message, content), .type = &type_text },
    { FIELD(struct message, timestamp), .type = &type_time },
    { FIELD(struct message, edited_timestamp), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct message, flags), .type = &type_count },
    { FIELD(struct message, mentions), .type = &type_message_mentions },
    { FIELD(struct message, mention_roles), .type = &type_ids },
    { FIELD(struct message, embeds), .type = &type_raw },
    { FIELD(struct message, components), .type = &type_raw },
    { FIELD(struct message, sticker_items), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct message, attachments), .type = &type_message_files },
    { 0 },
};
static const struct schema snapshot_schema = { .size = sizeof(struct message),
                                               .fields = snapshot_fields };
static const struct type type_snapshot = { .kind = KIND_OBJECT, .schema = &snapshot_schema };

/* End of a snapshot's JSON whose list of attachments is empty. */
#define NO_FILES "[]}"

static struct opt_str encode_message_snapshot(struct call *call, const struct message *m)
{
    struct message shown = *m;

    if (m->snapshot.given == GIVEN)
        return m->snapshot;
    shown.attachments = (struct list){ 0 };
    struct str text = encode_json_for_database_column(call->arena, &type_snapshot, &shown);
    return opt_str_or_null(str_slice(text.p, text.n - (sizeof NO_FILES - 1)));
}

void message_set_snapshots(struct call *call, struct message *m)
{
    struct str files =
        encode_json_for_database_column(call->arena, &type_message_files, &m->snapshot_files);

    m->message_snapshots = opt_str_or_null(
        STR_CONCAT(call->arena, STR("[{\"message\":"), m->snapshot.value, files, STR("}}]")));
}

/* --- permission to forward a message ------------------------------------------------- */

/* Resolves the channel of the message that is forwarded, with the caller's permissions there.
 * Restores call->target. */
static enum err resolve_forward_source_channel(struct call *call, snowflake channel_id,
                                               struct call_path_objects *ret)
{
    struct call_path_objects here = call->target;

    call->target = (struct call_path_objects){ 0 };
    enum err e = resolve_channel_by_id(call, channel_id);
    *ret = call->target;
    call->target = here;
    if (e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_CHANNEL)
        return ERR_UNKNOWN_MESSAGE;
    if (!e && !(ret->permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        return ERR_FORWARD_WITHOUT_HISTORY;
    return e;
}

static bool message_can_be_forwarded(const struct message *m)
{
    return !message_is_system(m->type) && !m->polled && m->call.given != GIVEN;
}

static enum err check_forward_source_is_not_nsfw(const struct channel *from,
                                                 const struct channel *to)
{
    bool safe = channel_is_private(to->type) || !to->nsfw.value;

    return from->nsfw.value && safe ? ERR_FORWARD_NSFW : OK;
}

/* --- forwarding only some embeds and attachments ------------------------------------- */

static bool embed_index_is_selected(const struct list *chosen, size_t i)
{
    const int64_t *all = chosen->items;

    for (size_t k = 0; k < chosen->count; k++)
        if (all[k] == (int64_t)i)
            return true;
    return false;
}

/* Removes the embeds that are not selected. Returns false if an index is out of range. */
static bool select_forwarded_embeds(struct call *call, const struct list *chosen, struct message *m)
{
    const int64_t *wanted = chosen->items;
    struct json_reader r;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    struct str raw;
    int64_t count = 0;

    buf_init(&out, CALL_MAX_REPLY);
    json_reader_init(&r, m->embeds, call->arena);
    json_enter_container(&r);
    json_begin_array(&j);
    for (; json_next_item(&r) && json_skip_value(&r, &raw); count++)
        if (embed_index_is_selected(chosen, (size_t)count))
            json_write_raw(&j, raw);
    json_end_array(&j);
    m->embeds = buf_move_to_arena(&out, call->arena);
    for (size_t i = 0; i < chosen->count; i++)
        if (wanted[i] >= count)
            return false;
    return true;
}

static bool select_forwarded_attachments(const struct list *chosen, struct message *m)
{
    struct attachment *a = m->attachments.items;
    size_t retained = 0;

    for (size_t i = 0; i < m->attachments.count; i++)
        if (id_list_contains(chosen, a[i].id))
            a[retained++] = a[i];
    m->attachments.count = retained;
    return retained == chosen->count;
}

static enum err select_forwarded_embeds_and_files(struct call *call,
                                                  const struct forward_selection *only,
                                                  struct message *m)
{
    bool fine = true;

    if (!only)
        return OK;
    if (m->snapshot.given == GIVEN)
        return message_refuse_with_field_error(
            call, "message_reference", "FORWARD_PARTS_UNKNOWN",
            "A forwarded message can only be forwarded as a whole.");
    if (only->embed_indices.given == GIVEN)
        fine = select_forwarded_embeds(call, &only->embed_indices.value, m);
    if (only->attachment_ids.given == GIVEN)
        fine = select_forwarded_attachments(&only->attachment_ids.value, m) && fine;
    return fine
               ? OK
               : message_refuse_with_field_error(call, "message_reference", "FORWARD_PARTS_UNKNOWN",
                                                 "The message has no such embed or attachment.");
}

/* Copies the attachments to the new message with new ids. A copy shares the stored file. */
static void copy_snapshot_files(struct call *call, const struct list *files,
                                struct new_message *draft)
{
    const struct attachment *a = files->items;

    for (size_t i = 0; i < files->count; i++) {
        struct attachment *copy = list_append(call->arena, &draft->snapshot_files, sizeof *copy);

        *copy = a[i];
        copy->id = snowflake_new();
        copy->snapshot = true;
    }
}

enum err new_message_add_forwarded_snapshot(struct call *call, const struct message_sender *to,
                                            const struct message_reference_in_body *in,
                                            struct new_message *draft)
{
    struct message_reference *ref = arena_alloc(call->arena, sizeof *ref);
    struct call_path_objects source;
    struct message m;

    if (in->channel_id.given != GIVEN)
        return message_refuse_with_field_error(
            call, "message_reference", "FORWARD_CHANNEL_REQUIRED",
            "channel_id is required: the channel of the forwarded message.");
    enum err e = resolve_forward_source_channel(call, in->channel_id.value, &source);
    if (!e)
        e = message_find(call, source.channel->id, in->message_id, &m);
    if (!e)
        e = check_caller_may_read_forwarded_content(call, source.member_access, &m);
    if (!e)
        e = check_forward_source_is_not_nsfw(source.channel, to->channel);
    if (e)
        return e;
    if (!message_can_be_forwarded(&m))
        return message_refuse_with_field_error(call, "message_reference", "FORWARD_NOT_POSSIBLE",
                                               "This message cannot be forwarded.");
    e = select_forwarded_embeds_and_files(call, in->forward_only.value, &m);
    if (e)
        return e;
    *ref = (struct message_reference){ .type = REFERENCE_FORWARD,
                                       .message_id = opt_id_or_null(m.id),
                                       .channel_id = source.channel->id };
    if (!channel_is_private(source.channel->type))
        ref->guild_id = opt_id_or_null(source.channel->guild_id.value);
    draft->message_reference = ref;
    draft->flags |= MESSAGE_HAS_SNAPSHOT;
    draft->snapshot = encode_message_snapshot(call, &m);
    copy_snapshot_files(call, m.snapshot.given == GIVEN ? &m.snapshot_files : &m.attachments,
                        draft);
    return OK;
}
