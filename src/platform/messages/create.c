/* create.c - creates, finds, changes and deletes messages, with their events. */
#include "platform/messages/internal.h"

#include "base/clock.h"
#include "base/test_faults.h"
#include "model/fields/ids.h"
#include "platform/channels/channels.h"

/* --- emitting events ----------------------------------------------------------------- */

static void emit_message_event(struct call *call, enum event event, const struct channel *c,
                               const struct message *m, const struct schema *schema,
                               const void *object)
{
    if (!m->ephemeral_for) {
        call_emit_event(call, event, audience_of_channel(c), schema, object);
        return;
    }
    call_emit_event(call, event, audience_of_user(m->ephemeral_for), schema, object);
    if (m->author_id != m->ephemeral_for)
        call_emit_event(call, event, audience_of_user(m->author_id), schema, object);
}

/* --- updating the channel of a new message ------------------------------------------- */

/* Updates the channel of a new message. last_message_id never decreases, although the clocks of
 * nodes may differ. The row is updated even if no column changes, because each update of the row
 * invalidates the cached message pages of the channel (page_cache.c). */
static const char LAST_MESSAGE[] =
    "update channels set last_message_id = case when coalesce(last_message_id, 0) < $2 then $2 "
    "else last_message_id end where id = $1";
static const char COUNT_IN_THREAD[] =
    "update channels set thread_message_count = thread_message_count + 1 where id = $1";
static const char UPDATE_COUNTER_SHARD[] =
    "insert into channel_tails (channel_id, lane, last_message_id, messages) "
    "values ($1, $2, $3, 1) on conflict (channel_id, lane) do update set "
    "messages = channel_tails.messages + 1, last_message_id = case when "
    "channel_tails.last_message_id < $3 then $3 else channel_tails.last_message_id end";

/* Updates the channel's last_message_id. With concurrent writers (PostgreSQL), each writer thread
 * updates a row of its own (counter shard) in channel_tails instead, because concurrent updates of
 * the channel's row would block each other or conflict. */
static enum err update_last_message_id(struct call *call, const struct channel *c, snowflake id)
{
    unsigned counter_shard = tx_get_counter_shard(call->tx);

    if (counter_shard)
        return tx_exec_deferred(call->tx, UPDATE_COUNTER_SHARD,
                                BIND(v_id(c->id), v_int(counter_shard), v_id(id)));
    enum err e = tx_exec(call->tx, LAST_MESSAGE, BIND(v_id(c->id), v_id(id)), NULL);
    if (!e && channel_is_thread(c->type))
        e = tx_exec(call->tx, COUNT_IN_THREAD, BIND(v_id(c->id)), NULL);
    return e;
}

static const char LOCK_THREAD_ROW[] = "update channels set thread_archived = 0 where id = $1";
static const char UNARCHIVE_THREAD[] =
    "update channels set thread_archived = 0, thread_archived_at = $2 where id = $1";

/* Unarchives the thread. If it is open but will soon be archived, writes its row without a
 * change: the transaction then conflicts with that of the archiving job, and the one that is
 * retried sees the other's commit. */
static enum err unarchive_thread(struct call *call, const struct channel *c)
{
    bool archived = c->thread_metadata && c->thread_metadata->archived;
    struct channel woken = *c;
    enum err e = archived ? check_active_thread_limit(call->tx, c->guild_id.value) : OK;

    if (!e && !archived)
        return tx_exec(call->tx, LOCK_THREAD_ROW, BIND(v_id(c->id)), NULL);
    if (!e)
        e = tx_exec(call->tx, UNARCHIVE_THREAD, BIND(v_id(c->id), v_int(clock_us())), NULL);
    if (e)
        return e;
    struct thread_metadata metadata = *c->thread_metadata;
    metadata.archived = false;
    metadata.archive_timestamp = clock_us();
    woken.thread_metadata = &metadata;
    woken.member = NULL;
    call_emit_event(call, EVENT_THREAD_UPDATE, audience_of_channel(c), &channel_schema, &woken);
    e = hook_thread_unarchived(call, &woken);
    return e ? e : thread_schedule_archiving(call, &woken);
}

static enum err update_channel_for_new_message(struct call *call, struct channel *c, snowflake id)
{
    enum err e = update_last_message_id(call, c, id);

    c->last_message_id = opt_id_or_null(id);
    return e || !channel_is_private(c->type) ? e : private_channel_show_to_recipients(call, c);
}

/* Runs before a message is inserted in a thread: unarchives the thread and adds members to it. */
static enum err update_thread_for_new_message(struct call *call, struct channel *c,
                                              struct message *m)
{
    bool was_quiet = thread_is_nearly_archived(c);
    enum err e = OK;

    m->position = opt_int_present(c->messages_written);
    c->last_message_id = opt_id_or_null(m->id);
    if (was_quiet)
        e = unarchive_thread(call, c);
    return e ? e : hook_message_inserting(call, &(struct thread_message_insertion){ c, m });
}

static struct opt_id optional_id_if_nonzero(snowflake id)
{
    return (struct opt_id){ id ? GIVEN : ABSENT, id };
}

static void append_mentioned_users(struct call *call, const struct list *ids, struct list *ret)
{
    for (size_t i = 0; i < ids->count; i++) {
        struct mentioned_user *m = list_append(call->arena, ret, sizeof *m);

        m->user.id = ((snowflake *)ids->items)[i];
    }
}

static void message_from_draft(struct call *call, const struct new_message *d, struct message *m)
{
    *m = (struct message){
        .id = d->id ? d->id : snowflake_new(),
        .channel_id = d->channel->id,
        .author = d->author,
        .author_id = d->author->id,
        .type = d->type,
        .flags = d->flags,
        .content = d->content.p ? d->content : STR(""),
        .edited_timestamp = { .given = GIVEN_NULL },
        .tts = d->tts,
        .mention_everyone = d->mention_everyone,
        .mention_roles = d->mention_roles,
        .attachments = d->attachments,
        .embeds = d->embeds.p ? d->embeds : STR("[]"),
        .components = d->components.p ? d->components : STR("[]"),
        .nonce = d->nonce,
        .interaction = d->interaction,
        .interaction_metadata = d->interaction_metadata,
        .call = d->call,
        .webhook_id = optional_id_if_nonzero(d->webhook_id),
        .webhook_name = d->webhook_name,
        .webhook_avatar = d->webhook_avatar,
        .application_id = optional_id_if_nonzero(d->application_id),
        .message_reference = d->message_reference,
        .poll = d->poll,
        .sticker_items = d->sticker_items,
        .snapshot = d->snapshot,
        .snapshot_files = d->snapshot_files,
        .polled = d->poll != NULL,
        .member = d->member,
        .ephemeral_for = d->ephemeral_for,
    };
    m->timestamp = snowflake_to_ms(m->id) * 1000;
    append_mentioned_users(call, &d->mentions, &m->mentions);
}

enum err message_insert_poll(struct call *call, const struct message *m)
{
    enum err e = poll_insert(call->tx, m->id, m->poll);

    return e || m->ephemeral_for ? e : hook_poll_message_created(call, m);
}

/* Emits MESSAGE_CREATE. If the message's JSON was already encoded, copies it to the event. */
static void emit_message_create(struct call *call, const struct channel *c, struct message *m,
                                const struct message *event)
{
    if (m->cached_json.p)
        call_emit_encoded_event(call, EVENT_MESSAGE_CREATE, audience_of_channel(c),
                                &gateway_message_schema, event,
                                message_encode_create_event(call->arena, event, &m->shared_json));
    else
        emit_message_event(call, EVENT_MESSAGE_CREATE, c, m, &gateway_message_schema, event);
}

enum err message_create(struct call *call, const struct new_message *draft, struct message *ret)
{
    struct channel c = *draft->channel;

    message_from_draft(call, draft, ret);
    tx_make_ids_visible_in_order(call->tx, ret->channel_id, ret->id);
    test_fault_sleep_after_new_id();
    enum err e = OK;
    if (channel_is_thread(c.type) && !ret->ephemeral_for)
        e = update_thread_for_new_message(call, &c, ret);
    ret->cached_json = message_precompute_json(call->arena, ret);
    if (!e)
        e = message_insert(call->tx, ret);
    if (!e && ret->poll)
        e = message_insert_poll(call, ret);
    if (!e)
        e = message_read_referenced_objects(call, ret);
    if (!e && !ret->ephemeral_for)
        e = update_channel_for_new_message(call, &c, ret->id);
    if (!e)
        e = hook_message_created(call, &(struct message_creation){ &c, ret });
    struct message event = *ret;
    if (!e)
        e = message_add_event_fields(call, &c, &event);
    if (e)
        return e;

    emit_message_create(call, &c, ret, &event);
    ret->cached_json = (struct str){
        0
    }; /* cleared, because cached_json would be stale if the caller changes the message */
    return OK;
}

enum err message_create_system_message(struct call *call, const struct channel *c,
                                       enum message_type type, snowflake author,
                                       snowflake mentioned, struct str content)
{
    struct new_message draft = { .channel = c, .type = type, .content = content };
    struct message m;
    struct user user;
    enum err e = user_find(call->tx, author, &user);

    if (e)
        return e;
    draft.author = &user;
    if (mentioned)
        draft.mentions = (struct list){ &mentioned, 1 };
    return message_create(call, &draft, &m);
}

static enum err read_message_with_details(struct call *call, snowflake channel_id, snowflake id,
                                          bool ephemeral, struct message *ret)
{
    bool found;
    enum err e = message_row_read(call->tx, channel_id, id, ret, &found);

    if (e)
        return e;
    if (!found || (ret->ephemeral_for && !ephemeral))
        return ERR_UNKNOWN_MESSAGE;
    e = message_read_referenced_objects(call, ret);
    return e ? e : messages_add_caller_specific_fields(call, &(struct list){ ret, 1 });
}

enum err message_find(struct call *call, snowflake channel_id, snowflake id, struct message *ret)
{
    return read_message_with_details(call, channel_id, id, false, ret);
}

enum err message_find_even_ephemeral(struct call *call, snowflake channel_id, snowflake id,
                                     struct message *ret)
{
    return read_message_with_details(call, channel_id, id, true, ret);
}

enum err message_find_unless_ephemeral(struct call *call, snowflake id, struct message *ret)
{
    bool found;
    enum err e = message_read_row_unless_ephemeral(call->tx, id, ret, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_MESSAGE;
    return message_read_referenced_objects(call, ret);
}

/* --- changing and deleting messages -------------------------------------------------- */

/* Deletes attachments that m no longer has, and their files. Writes the rows of m's attachments. */
static enum err update_stored_attachments(struct call *call, const struct message *m)
{
    struct list before;
    enum err e = attachments_read(call->tx, m->id, &before);
    const struct attachment *current = m->attachments.items, *old = before.items;

    for (size_t i = 0; !e && i < before.count; i++) {
        bool stays = false;

        for (size_t j = 0; j < m->attachments.count; j++)
            stays = stays || current[j].id == old[i].id;
        if (stays || old[i].snapshot)
            continue;
        e = attachment_delete_file_if_unshared(call, &old[i]);
        if (!e)
            e = attachment_row_delete(call->tx, old[i].id);
    }
    for (size_t j = 0; !e && j < m->attachments.count; j++)
        e = attachment_insert(call->tx, m, &current[j]);
    return e;
}

enum err message_update_row_and_emit(struct call *call, const struct channel *c, struct message *m)
{
    enum err e = update_stored_attachments(call, m);

    if (!e)
        e = message_update(call->tx, m);
    if (!e)
        e = message_read_referenced_objects(call, m);
    struct message event = *m;
    /* Clients read messages with tts aloud. Clear tts in the event, so that clients do not read the
     * edited message aloud again. */
    event.tts = false;
    if (!e)
        e = message_add_event_fields(call, c, &event);
    if (e)
        return e;
    emit_message_event(call, EVENT_MESSAGE_UPDATE, c, m, &gateway_message_schema, &event);
    return m->flags & MESSAGE_CROSSPOSTED ? hook_message_changed(call, m) : OK;
}

enum err message_emit_imported(struct call *call, const struct channel *c, snowflake id,
                               bool created)
{
    struct message m;
    enum err e = message_find_unless_ephemeral(call, id, &m);

    if (!e)
        e = message_add_event_fields(call, c, &m);
    if (!e)
        emit_message_event(call, created ? EVENT_MESSAGE_CREATE : EVENT_MESSAGE_UPDATE, c, &m,
                           &gateway_message_schema, &m);
    return e;
}

enum err message_set_thread_flag(struct call *call, const struct channel *c, struct message *m,
                                 bool shown)
{
    m->flags = shown ? m->flags | MESSAGE_HAS_THREAD : m->flags & ~(int64_t)MESSAGE_HAS_THREAD;
    m->thread = NULL;
    return message_update_row_and_emit(call, c, m);
}

static const char COUNT_DELETED[] =
    "update channels set thread_deleted = thread_deleted + $2 where id = $1";

/* Adds the number of deleted messages to the thread's column thread_deleted. The starter message of
 * a thread is not counted. */
static enum err count_deleted_thread_messages(struct call *call, const struct channel *c,
                                              const snowflake *ids, size_t count, bool starter)
{
    int64_t counted = (int64_t)count;

    if (!channel_is_thread(c->type))
        return OK;
    for (size_t i = 0; i < count; i++)
        counted -= starter || ids[i] == c->id;
    return counted ? tx_exec(call->tx, COUNT_DELETED, BIND(v_id(c->id), v_int(counted)), NULL) : OK;
}

enum err message_delete_without_event(struct call *call, const struct message *m)
{
    const struct attachment *a = m->attachments.items, *taken = m->snapshot_files.items;
    enum err e = OK;

    for (size_t i = 0; !e && a && i < m->attachments.count; i++)
        e = attachment_delete_file_if_unshared(call, &a[i]);
    for (size_t i = 0; !e && i < m->snapshot_files.count; i++)
        e = attachment_delete_file_if_unshared(call, &taken[i]);
    if (!e && (m->reacted || m->polled || m->flags & MESSAGE_CROSSPOSTED))
        e = hook_message_deleted(call, &m->id);
    return e ? e : message_row_delete(call->tx, m->id);
}

static struct opt_id guild_id_of_channel(const struct channel *c)
{
    return optional_id_if_nonzero(channel_is_private(c->type) ? 0 : c->guild_id.value);
}

enum err message_delete(struct call *call, const struct channel *c, const struct message *m)
{
    struct message_delete_event gone = { m->id, c->id, guild_id_of_channel(c) };
    enum err e = message_delete_without_event(call, m);

    if (m->ephemeral_for)
        gone.guild_id.given = ABSENT;
    else if (!e)
        e = count_deleted_thread_messages(call, c, &m->id, 1, m->type == MESSAGE_THREAD_STARTER);
    if (!e)
        emit_message_event(call, EVENT_MESSAGE_DELETE, c, m, &message_delete_event_schema, &gone);
    return e;
}

/* Statements of a bulk deletion; each handles one message. The conditions exclude ephemeral
 * messages and the message types for which message_cannot_be_deleted is true. */
static const char MARK_FILES[] =
    "update files set gone = 1 where id in (select a.file_id from messages m join attachments a on "
    "a.message_id = m.id where m.id = $1 and m.channel_id = $2 and m.ephemeral_for is null and "
    "not exists (select 1 from attachments b where b.file_id = a.file_id and "
    "b.message_id <> a.message_id))";
static const char DELETE_PUBLIC[] =
    "delete from messages where id = $1 and channel_id = $2 and ephemeral_for is null "
    "and (type < 1 or type > 5) and type <> 21 returning reacted + polled + (flags & 1)";

static enum err delete_message_by_id(struct call *call, snowflake channel_id, snowflake id,
                                     bool *ret_gone)
{
    const struct value values[] = { v_id(id), v_id(channel_id) };
    int64_t files = 0;
    struct rows row;
    enum err e = tx_exec(call->tx, MARK_FILES, values, 2, &files);

    if (files)
        call_schedule_blob_deletion_after_commit(call);
    if (!e)
        e = tx_one(call->tx, DELETE_PUBLIC, values, 2, &row, ret_gone);
    return !e && *ret_gone && row_bool(&row, 0) ? hook_message_deleted(call, &id) : e;
}

enum err messages_delete_bulk(struct call *call, const struct channel *c, const struct list *ids)
{
    struct messages_delete_event gone = { .channel_id = c->id, .guild_id = guild_id_of_channel(c) };
    enum err e = OK;

    for (size_t i = 0; !e && i < ids->count; i++) {
        snowflake id = ((snowflake *)ids->items)[i];
        bool found = false;

        e = delete_message_by_id(call, c->id, id, &found);
        if (!e && found)
            id_list_add(call->arena, &gone.ids, id);
    }
    if (!e)
        e = count_deleted_thread_messages(call, c, gone.ids.items, gone.ids.count, false);
    if (!e && gone.ids.count)
        call_emit_event(call, EVENT_MESSAGE_DELETE_BULK, audience_of_channel(c),
                        &messages_delete_event_schema, &gone);
    return e;
}
