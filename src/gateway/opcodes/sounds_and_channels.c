/* sounds_and_channels.c - handles op 31 (soundboard), op 36 and 43 (status of voice channels). */
#include "base/mem.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/wire/messages.h"
#include "model/sound.h"
#include "model/voice_state.h"

struct sounds_task {
    struct session_task task;
    snowflake guild_id;
    struct str payload; /* JSON of the event to send, in the arena of the store read */
    bool sent;
};

static enum err read_guild_sounds(struct session_store_read *load, struct tx *tx)
{
    struct sounds_task *l = container_of(load, struct sounds_task, task.store_read);
    struct list sounds;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = load->gateway_loop->gateway->options.source->sounds(tx, l->guild_id, &sounds);

    if (e)
        return e;
    buf_init(&out, 1024 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "guild_id");
    json_write_id(&j, l->guild_id);
    json_write_name(&j, "soundboard_sounds");
    schema_encode(&j, &type_sounds, &sounds);
    json_end_object(&j);
    l->payload = buf_move_to_arena(&out, tx_arena(tx));
    return OK;
}

static bool sounds_task_begin_read(struct session_task *e)
{
    struct sounds_task *l = container_of(e, struct sounds_task, task);

    if (l->sent ||
        !session_subscription_find(&e->session->subscriptions, AUDIENCE_GUILD, l->guild_id))
        return false;
    e->store_read.run = read_guild_sounds;
    return true;
}

static void sounds_task_deliver_payload(struct session_task *e, enum err error)
{
    struct sounds_task *l = container_of(e, struct sounds_task, task);

    if (!error)
        session_deliver_payload(e->session, EVENT_SOUNDBOARD_SOUNDS, l->payload);
    l->sent = true;
}

static void sounds_task_free(struct session_task *e)
{
    mem_free(container_of(e, struct sounds_task, task));
}

void handle_request_sounds_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct request_sounds_message *in = d;
    const snowflake *ids = in->guild_ids.items;

    (void)op, (void)raw;
    for (size_t i = 0; i < in->guild_ids.count; i++) {
        struct sounds_task *l = mem_new(sizeof *l);

        l->task.step = sounds_task_begin_read;
        l->task.stepped = sounds_task_deliver_payload;
        l->task.free = sounds_task_free;
        l->task.needs_socket = true;
        l->guild_id = ids[i];
        session_task_begin(p->session, &l->task);
    }
}

struct voice_channels_task {
    struct session_task task;
    snowflake guild_id, user_id;
    enum event event;
    bool status, time;  /* fields that the client requested */
    struct str payload; /* JSON of the event to send, in the arena of the store read */
    bool sent;
};

static void write_voice_channel_json(struct json_writer *j, const struct voice_channels_task *l,
                                     const struct voice_channel_status *r)
{
    bool status = l->status && r->status.given == GIVEN;
    bool time = l->time && r->voice_start_time.given == GIVEN;

    if (!status && !time)
        return;
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, r->id);
    if (status) {
        json_write_name(j, "status");
        json_write_text(j, r->status.value);
    }
    if (time) {
        json_write_name(j, "voice_start_time");
        json_write_int(j, r->voice_start_time.value);
    }
    json_end_object(j);
}

static enum err read_voice_channels(struct session_store_read *load, struct tx *tx)
{
    struct voice_channels_task *l = container_of(load, struct voice_channels_task, task.store_read);
    const struct gateway_source *source = load->gateway_loop->gateway->options.source;
    struct list rooms;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = source->voice_channels(tx, l->guild_id, l->user_id, &rooms);

    if (e)
        return e;
    buf_init(&out, 4 * 1024 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "guild_id");
    json_write_id(&j, l->guild_id);
    json_write_name(&j, "channels");
    json_begin_array(&j);
    for (size_t i = 0; i < rooms.count; i++)
        write_voice_channel_json(&j, l, (const struct voice_channel_status *)rooms.items + i);
    json_end_array(&j);
    json_end_object(&j);
    l->payload = buf_move_to_arena(&out, tx_arena(tx));
    return OK;
}

static bool voice_channels_task_begin_read(struct session_task *e)
{
    struct voice_channels_task *l = container_of(e, struct voice_channels_task, task);

    if (l->sent ||
        !session_subscription_find(&e->session->subscriptions, AUDIENCE_GUILD, l->guild_id))
        return false;
    e->store_read.run = read_voice_channels;
    return true;
}

static void voice_channels_task_deliver_payload(struct session_task *e, enum err error)
{
    struct voice_channels_task *l = container_of(e, struct voice_channels_task, task);

    if (!error)
        session_deliver_payload(e->session, l->event, l->payload);
    l->sent = true;
}

static void voice_channels_task_free(struct session_task *e)
{
    mem_free(container_of(e, struct voice_channels_task, task));
}

static bool channel_info_request_has_field(const struct request_channel_info_message *in,
                                           const char *field)
{
    const struct str *names = in->fields.items;

    for (size_t i = 0; i < in->fields.count; i++)
        if (str_is(names[i], field))
            return true;
    return !in->fields.count;
}

void handle_channel_info_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct request_channel_info_message *in = d;
    struct voice_channels_task *l = mem_new(sizeof *l);
    bool info = op == OP_CHANNEL_INFO;

    (void)raw;
    l->task.step = voice_channels_task_begin_read;
    l->task.stepped = voice_channels_task_deliver_payload;
    l->task.free = voice_channels_task_free;
    l->task.needs_socket = true;
    l->guild_id = in->guild_id;
    l->user_id = p->session->caller.id;
    l->event = info ? EVENT_CHANNEL_INFO : EVENT_CHANNEL_STATUSES;
    l->status = !info || channel_info_request_has_field(in, "status");
    l->time = info && channel_info_request_has_field(in, "voice_start_time");
    session_task_begin(p->session, &l->task);
}
