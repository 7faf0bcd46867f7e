/* thread_sync.c - sends THREAD_LIST_SYNC and THREAD_MEMBER_LIST_UPDATE to a session.
 *
 * A session task (sessions/session_tasks.h) reads the Discord threads. Meanwhile the loop delivers
 * no events, so that the payload and the following events are consistent. */
#include "gateway/fanout/thread_sync.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/protocol.h"
#include "model/thread.h"

struct thread_task {
    struct session_task task;
    snowflake guild_id, user_id, thread_id;
    enum event event;
    struct str payload; /* JSON of the event to send, in the arena of the store read */
    bool sent;
    size_t count;
    snowflake channels[];
};

static enum err read_thread_list_sync(struct session_store_read *load, struct tx *tx)
{
    struct thread_task *t = container_of(load, struct thread_task, task.store_read);
    const struct gateway_source *source = load->gateway_loop->gateway->options.source;
    struct thread_list_sync sync = { .guild_id = t->guild_id };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (t->count)
        sync.channel_ids = (struct opt_list){ GIVEN, { t->channels, t->count } };
    enum err e = source->threads(tx, t->user_id, &sync);
    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    schema_encode_object(&j, &thread_list_sync_schema, &sync);
    t->payload = buf_move_to_arena(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static enum err read_thread_members(struct session_store_read *load, struct tx *tx)
{
    struct thread_task *t = container_of(load, struct thread_task, task.store_read);
    struct gateway *g = load->gateway_loop->gateway;
    struct list people;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e =
        g->options.source->thread_members(tx, g, t->guild_id, t->thread_id, t->user_id, &people);

    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    json_begin_object(&j);
    json_write_name(&j, "guild_id");
    json_write_id(&j, t->guild_id);
    json_write_name(&j, "thread_id");
    json_write_id(&j, t->thread_id);
    json_write_name(&j, "members");
    schema_encode(&j, &type_thread_members, &people);
    json_end_object(&j);
    t->payload = buf_move_to_arena(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static bool thread_sync_task_begin_read(struct session_task *e)
{
    struct thread_task *t = container_of(e, struct thread_task, task);

    if (t->sent ||
        !session_subscription_find(&e->session->subscriptions, AUDIENCE_GUILD, t->guild_id))
        return false;
    e->store_read.run = t->thread_id ? read_thread_members : read_thread_list_sync;
    e->store_read.in_background = true;
    return true;
}

static void thread_sync_task_deliver_payload(struct session_task *e, enum err error)
{
    struct thread_task *t = container_of(e, struct thread_task, task);

    if (!error)
        session_deliver_payload(e->session, t->event, t->payload);
    t->sent = true;
}

static void thread_sync_task_free(struct session_task *e)
{
    mem_free(container_of(e, struct thread_task, task));
}

static struct thread_task *thread_sync_task_new(const struct session *s, snowflake guild_id,
                                                size_t count)
{
    struct thread_task *t = mem_new(sizeof *t + count * sizeof *t->channels);

    t->task.step = thread_sync_task_begin_read;
    t->task.stepped = thread_sync_task_deliver_payload;
    t->task.free = thread_sync_task_free;
    t->guild_id = guild_id;
    t->user_id = s->caller.id;
    t->count = count;
    return t;
}

void begin_sending_thread_list_sync(struct session *s, snowflake guild_id,
                                    const snowflake *channels, size_t count)
{
    struct thread_task *t = thread_sync_task_new(s, guild_id, count);

    if (count)
        memcpy(t->channels, channels, count * sizeof *channels);
    t->event = EVENT_THREAD_LIST_SYNC;
    session_task_begin(s, &t->task);
}

void begin_sending_thread_member_list_update(struct session *s, snowflake guild_id,
                                             snowflake thread_id)
{
    struct thread_task *t = thread_sync_task_new(s, guild_id, 0);

    t->thread_id = thread_id;
    t->task.needs_socket = true;
    t->event = EVENT_THREAD_MEMBER_LIST_UPDATE;
    session_task_begin(s, &t->task);
}
