/* answers.c - handles op 31 (soundboard sounds), op 36 and 43 (status of voice channels). */
#include "base/mem.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/wire/messages.h"
#include "model/sound.h"
#include "model/voice_state.h"

struct sound_listing {
    struct session_errand errand;
    snowflake guild_id;
    struct str payload; /* in the arena of the store read */
    bool told;
};

static enum err sound_look(struct load *load, struct tx *tx)
{
    struct sound_listing *l = container_of(load, struct sound_listing, errand.load);
    struct list sounds;
    struct buf out;
    struct json j = json_to(&out);
    enum err e = load->hub->gateway->options.source->sounds(tx, l->guild_id, &sounds);

    if (e)
        return e;
    buf_init(&out, 1024 * 1024);
    json_object(&j);
    json_name(&j, "guild_id");
    json_id(&j, l->guild_id);
    json_name(&j, "soundboard_sounds");
    schema_encode(&j, &type_sounds, &sounds);
    json_object_end(&j);
    l->payload = buf_take(&out, tx_arena(tx));
    return OK;
}

static bool sound_step(struct session_errand *e)
{
    struct sound_listing *l = container_of(e, struct sound_listing, errand);

    if (l->told || !seat_find(&e->session->seats, SUBJECT_GUILD, l->guild_id))
        return false;
    e->load.run = sound_look;
    return true;
}

static void sound_stepped(struct session_errand *e, enum err error)
{
    struct sound_listing *l = container_of(e, struct sound_listing, errand);

    if (!error)
        session_tell(e->session, EVENT_SOUNDBOARD_SOUNDS, l->payload);
    l->told = true;
}

static void sound_listing_free(struct session_errand *e)
{
    mem_free(container_of(e, struct sound_listing, errand));
}

void handle_request_sounds(struct peer *p, int op, struct str raw, const void *d)
{
    const struct request_sounds *in = d;
    const snowflake *ids = in->guild_ids.items;

    (void)op, (void)raw;
    for (size_t i = 0; i < in->guild_ids.count; i++) {
        struct sound_listing *l = mem_new(sizeof *l);

        l->errand.step = sound_step;
        l->errand.stepped = sound_stepped;
        l->errand.free = sound_listing_free;
        l->errand.needs_socket = true;
        l->guild_id = ids[i];
        errand_begin(p->session, &l->errand);
    }
}

struct room_listing {
    struct session_errand errand;
    snowflake guild_id, user_id;
    enum event event;
    bool status, time;  /* fields that the client requested */
    struct str payload; /* in the arena of the store read */
    bool told;
};

static void room_write(struct json *j, const struct room_listing *l, const struct voice_room *r)
{
    bool status = l->status && r->status.given == GIVEN;
    bool time = l->time && r->voice_start_time.given == GIVEN;

    if (!status && !time)
        return;
    json_object(j);
    json_name(j, "id");
    json_id(j, r->id);
    if (status) {
        json_name(j, "status");
        json_text(j, r->status.value);
    }
    if (time) {
        json_name(j, "voice_start_time");
        json_int(j, r->voice_start_time.value);
    }
    json_object_end(j);
}

static enum err room_look(struct load *load, struct tx *tx)
{
    struct room_listing *l = container_of(load, struct room_listing, errand.load);
    const struct gateway_source *source = load->hub->gateway->options.source;
    struct list rooms;
    struct buf out;
    struct json j = json_to(&out);
    enum err e = source->rooms(tx, l->guild_id, l->user_id, &rooms);

    if (e)
        return e;
    buf_init(&out, 4 * 1024 * 1024);
    json_object(&j);
    json_name(&j, "guild_id");
    json_id(&j, l->guild_id);
    json_name(&j, "channels");
    json_array(&j);
    for (size_t i = 0; i < rooms.count; i++)
        room_write(&j, l, (const struct voice_room *)rooms.items + i);
    json_array_end(&j);
    json_object_end(&j);
    l->payload = buf_take(&out, tx_arena(tx));
    return OK;
}

static bool room_step(struct session_errand *e)
{
    struct room_listing *l = container_of(e, struct room_listing, errand);

    if (l->told || !seat_find(&e->session->seats, SUBJECT_GUILD, l->guild_id))
        return false;
    e->load.run = room_look;
    return true;
}

static void room_stepped(struct session_errand *e, enum err error)
{
    struct room_listing *l = container_of(e, struct room_listing, errand);

    if (!error)
        session_tell(e->session, l->event, l->payload);
    l->told = true;
}

static void room_listing_free(struct session_errand *e)
{
    mem_free(container_of(e, struct room_listing, errand));
}

static bool asks_for(const struct channel_info *in, const char *field)
{
    const struct str *names = in->fields.items;

    for (size_t i = 0; i < in->fields.count; i++)
        if (str_is(names[i], field))
            return true;
    return !in->fields.count;
}

void handle_channel_info(struct peer *p, int op, struct str raw, const void *d)
{
    const struct channel_info *in = d;
    struct room_listing *l = mem_new(sizeof *l);
    bool info = op == OP_CHANNEL_INFO;

    (void)raw;
    l->errand.step = room_step;
    l->errand.stepped = room_stepped;
    l->errand.free = room_listing_free;
    l->errand.needs_socket = true;
    l->guild_id = in->guild_id;
    l->user_id = p->session->caller.id;
    l->event = info ? EVENT_CHANNEL_INFO : EVENT_CHANNEL_STATUSES;
    l->status = !info || asks_for(in, "status");
    l->time = info && asks_for(in, "voice_start_time");
    errand_begin(p->session, &l->errand);
}
