/* answers.c - questions about guilds whose answer is short. */
#include <stdio.h>

#include "base/mem.h"
#include "gateway/commands/opcodes.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/wire/messages.h"
#include "model/sound.h"

static void answer_tell(struct session *s, enum event event, snowflake guild_id, const char *list)
{
    char payload[96];

    if (!seat_find(&s->seats, SUBJECT_GUILD, guild_id))
        return;
    int n = snprintf(payload, sizeof payload, "{\"guild_id\":\"%llu\",\"%s\":[]}",
                     (unsigned long long)guild_id, list);
    session_tell(s, event, str_slice(payload, (size_t)n));
}

/* --- op 31 ---------------------------------------------------------------------------- */

struct sound_listing {
    struct session_errand errand;
    snowflake guild_id;
    struct str payload; /* in the look's arena */
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

/* op 36 and 43: channels that have something to tell; none has, yet. */
void handle_channel_info(struct peer *p, int op, struct str raw, const void *d)
{
    const struct channel_info *in = d;

    (void)raw;
    answer_tell(p->session, op == OP_CHANNEL_INFO ? EVENT_CHANNEL_INFO : EVENT_CHANNEL_STATUSES,
                in->guild_id, "channels");
}
