/* identify.c - handles IDENTIFY: checks in a fixed order, creates the session, then READY. */
#include "base/mem.h"
#include "gateway/identify/identification.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"

enum { THRESHOLD_MIN = 25, THRESHOLD_MAX = 250, THRESHOLD_BOT = 50 };

static unsigned char large_threshold(int64_t asked, bool bot)
{
    int64_t n = asked ? asked : bot ? THRESHOLD_BOT : THRESHOLD_MAX;

    return (unsigned char)(n < THRESHOLD_MIN   ? THRESHOLD_MIN
                           : n > THRESHOLD_MAX ? THRESHOLD_MAX
                                               : n);
}

static struct session *make_session(struct identification *i, struct hub *h)
{
    struct session *s = session_new(h, &i->greeting.caller);

    session_bind(s, &i->greeting);
    s->options.intents = identification_intents(i);
    s->options.shard_id = (uint32_t)i->shard[0];
    s->options.shard_count = (uint32_t)i->shard[1];
    s->options.capabilities = (uint32_t)i->capabilities;
    s->large_threshold = large_threshold(i->large_threshold, s->bot);
    s->presence.status = i->status;
    session_set_activities(s, buf_str(&i->activities), h->arena);
    session_set_client(s, i->client);
    s->presence.kind = (unsigned char)client_kind(session_client(s));
    return s;
}

static void identify_refuse(struct identification *i, enum close_code code)
{
    struct peer *p = greeting_end(&i->greeting);

    if (code)
        peer_close(p, code, identification_reason(code));
    else
        session_invalid(p);
    identification_free(i);
}

/* --- session starts of the day, stored so that they count after a restart -------------- */

struct start_note {
    struct load load;
    snowflake bot_id;
    int64_t day;
};

static enum err write_start(struct load *l, struct tx *tx)
{
    struct start_note *n = container_of(l, struct start_note, load);

    return l->hub->gateway->options.source->add_start(tx, n->bot_id, n->day);
}

static void start_written(struct load *l, enum err e)
{
    (void)e; /* a start that was not stored counts until the process ends */
    mem_free(container_of(l, struct start_note, load));
}

/* Stores the session start in the background; the session does not wait. */
static void note_start(struct hub *h, snowflake bot_id)
{
    struct start_note *n = mem_new(sizeof *n);

    n->load = (struct load){ .writes = true, .run = write_start, .done = start_written };
    n->bot_id = bot_id;
    n->day = registry_today();
    hub_load_now(h, &n->load);
}

static void copy_address(const struct peer *p, struct gateway_viewer *v)
{
    struct str from = websocket_remote(p->ws);
    size_t n = from.n < sizeof v->address ? from.n : sizeof v->address - 1;

    memcpy(v->address, from.p, n);
    v->address[n] = '\0';
}

static void identify_known(struct greeting *g)
{
    struct identification *i = container_of(g, struct identification, greeting);
    struct hub *h = g->peer->hub;
    enum close_code code = identification_check(i);

    if (code) {
        identify_refuse(i, code);
        return;
    }
    i->session = make_session(i, h);
    if (!registry_add(h->gateway, i->session)) {
        session_end(i->session);
        identify_refuse(i, CLOSE_TOO_MANY_SESSIONS);
        return;
    }
    int64_t starts;
    if (!registry_may_start(h->gateway, g->caller.id, i->session->options.shard_id, g->starts,
                            &starts)) {
        session_end(i->session);
        identify_refuse(i, 0);
        return;
    }
    if (starts && i->session->bot) {
        note_start(h, g->caller.id);
        directory_tell_starts(h->gateway, g->caller.id, i->session->options.shard_id);
    }
    i->viewer = session_viewer(i->session);
    copy_address(g->peer, &i->viewer);
    ready_begin(i, h);
}

static void identify_drop(struct greeting *g)
{
    identification_free(container_of(g, struct identification, greeting));
}

void handle_identify(struct peer *p, int op, struct str raw, const void *d)
{
    const struct identify *in = d;
    struct identification *i = mem_new(sizeof *i);

    (void)op, (void)raw;
    identification_read(i, p->hub->arena, in);
    if (!greeting_init(&i->greeting, p, in->token)) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        identification_free(i);
        return;
    }
    i->greeting.known = identify_known;
    i->greeting.drop = identify_drop;
    i->greeting.wants_guilds = true;
    greeting_begin(&i->greeting);
}
