/* thread_sync.c - sends THREAD_LIST_SYNC and THREAD_MEMBER_LIST_UPDATE to a session.
 *
 * The threads are read by a task of the session (sessions/errands.h) while the events of its loop
 * wait, so the snapshot and the events after it are consistent. */
#include "gateway/fanout/thread_sync.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/protocol.h"
#include "model/thread.h"

struct thread_errand {
    struct session_errand errand;
    snowflake guild_id, user_id, thread_id;
    enum event event;
    struct str payload; /* in the arena of the store read */
    bool told;
    size_t count;
    snowflake channels[];
};

static enum err sync_look(struct load *load, struct tx *tx)
{
    struct thread_errand *t = container_of(load, struct thread_errand, errand.load);
    const struct gateway_source *source = load->hub->gateway->options.source;
    struct thread_list_sync sync = { .guild_id = t->guild_id };
    struct buf out;
    struct json j = json_to(&out);

    if (t->count)
        sync.channel_ids = (struct opt_list){ GIVEN, { t->channels, t->count } };
    enum err e = source->threads(tx, t->user_id, &sync);
    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    schema_encode_object(&j, &thread_list_sync_schema, &sync);
    t->payload = buf_take(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static enum err people_look(struct load *load, struct tx *tx)
{
    struct thread_errand *t = container_of(load, struct thread_errand, errand.load);
    struct gateway *g = load->hub->gateway;
    struct list people;
    struct buf out;
    struct json j = json_to(&out);
    enum err e =
        g->options.source->thread_people(tx, g, t->guild_id, t->thread_id, t->user_id, &people);

    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    json_object(&j);
    json_name(&j, "guild_id");
    json_id(&j, t->guild_id);
    json_name(&j, "thread_id");
    json_id(&j, t->thread_id);
    json_name(&j, "members");
    schema_encode(&j, &type_thread_members, &people);
    json_object_end(&j);
    t->payload = buf_take(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static bool thread_errand_step(struct session_errand *e)
{
    struct thread_errand *t = container_of(e, struct thread_errand, errand);

    if (t->told || !seat_find(&e->session->seats, SUBJECT_GUILD, t->guild_id))
        return false;
    e->load.run = t->thread_id ? people_look : sync_look;
    e->load.aside = true;
    return true;
}

static void thread_errand_stepped(struct session_errand *e, enum err error)
{
    struct thread_errand *t = container_of(e, struct thread_errand, errand);

    if (!error)
        session_tell(e->session, t->event, t->payload);
    t->told = true;
}

static void thread_errand_free(struct session_errand *e)
{
    mem_free(container_of(e, struct thread_errand, errand));
}

static struct thread_errand *thread_errand_new(const struct session *s, snowflake guild_id,
                                               size_t count)
{
    struct thread_errand *t = mem_new(sizeof *t + count * sizeof *t->channels);

    t->errand.step = thread_errand_step;
    t->errand.stepped = thread_errand_stepped;
    t->errand.free = thread_errand_free;
    t->guild_id = guild_id;
    t->user_id = s->caller.id;
    t->count = count;
    return t;
}

void thread_sync_begin(struct session *s, snowflake guild_id, const snowflake *channels,
                       size_t count)
{
    struct thread_errand *t = thread_errand_new(s, guild_id, count);

    if (count)
        memcpy(t->channels, channels, count * sizeof *channels);
    t->event = EVENT_THREAD_LIST_SYNC;
    errand_begin(s, &t->errand);
}

void thread_people_begin(struct session *s, snowflake guild_id, snowflake thread_id)
{
    struct thread_errand *t = thread_errand_new(s, guild_id, 0);

    t->thread_id = thread_id;
    t->errand.needs_socket = true;
    t->event = EVENT_THREAD_MEMBER_LIST_UPDATE;
    errand_begin(s, &t->errand);
}
