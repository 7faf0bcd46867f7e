/* session.c - who is told, what was told already, and for how long it is kept. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/internal.h"

#include <sodium.h>

struct session *session_new(struct hub *h, const struct caller *caller)
{
    struct session *s = mem_new(sizeof *s);
    unsigned char id[SESSION_ID / 2];

    randombytes_buf(id, sizeof id);
    sodium_bin2hex(s->id, sizeof s->id, id, sizeof id);
    memcpy(&s->number, id, sizeof s->number);
    s->caller = *caller;
    s->bot = caller->kind == CALLER_BOT;
    s->hub = h;
    s->shard_count = 1;
    list_init(&s->errands);
    list_append(&h->sessions, &s->link);
    return s;
}

static void leave_all(struct session *s)
{
    while (s->seat_count)
        seat_leave(s->seats[s->seat_count - 1]);
    mem_free(s->seats);
    s->seats = NULL;
    s->seat_cap = 0;
}

void session_end(struct session *s)
{
    struct gateway *g = s->hub->gateway;

    if (s->peer)
        peer_become_stranger(s->peer);
    if (g->options.hooks.ended && s->of_user.next) {
        struct gateway_caller who = session_caller(s);

        g->options.hooks.ended(g->options.hooks.arg, &who);
    }
    registry_remove(g, s);
    deadline_drop(&s->away);
    errands_drop(s);
    leave_all(s);
    list_remove(&s->link);
    replay_clear(&s->replay);
    mem_free((void *)(uintptr_t)s->presence.p);
    mem_free(s);
}

struct gateway_caller session_caller(const struct session *s)
{
    return (struct gateway_caller){ &s->caller, s->number, s->id };
}

struct gateway_viewer session_viewer(const struct session *s)
{
    return (struct gateway_viewer){
        .user_id = s->caller.id,
        .application_id = s->caller.application_id,
        .bot = s->bot,
        .intents = s->intents,
        .capabilities = s->capabilities,
        .large_threshold = s->large_threshold,
    };
}

bool session_covers(const struct session *s, snowflake guild_id)
{
    return (guild_id >> 22) % s->shard_count == s->shard_id;
}

/* --- telling --------------------------------------------------------------------------- */

/* A client that does not read is not waited for: it comes back and gets the rest. */
static bool keeps_up(struct session *s)
{
    struct peer *p = s->peer;

    if (p->closing)
        return false;
    if (websocket_waiting(p->ws) <= MAX_WAITING)
        return true;
    atomic_fetch_add_explicit(&s->hub->gateway->cut, 1, memory_order_relaxed);
    peer_close(p, CLOSE_UNKNOWN, "too slow");
    return false;
}

void session_dispatch(struct session *s, struct news *n, unsigned form)
{
    s->seq++;
    if (n->event != EVENT_READY)
        replay_add(&s->replay, n, form, clock_s());
    if (s->peer && keeps_up(s))
        send_dispatch(s->peer, s->seq, n, form);
    atomic_fetch_add_explicit(&s->hub->gateway->delivered, 1, memory_order_relaxed);
}

void session_tell(struct session *s, enum event event, struct str payload)
{
    struct news *n = news_new(event, to_session(s->number), payload);

    session_dispatch(s, n, 0);
    news_unref(n);
}

bool session_replay(struct session *s, uint64_t seq)
{
    uint32_t missed = (uint32_t)(s->seq - seq);

    if (s->seq - seq > s->replay.count)
        return false;
    for (uint32_t i = s->replay.count - missed; i < s->replay.count; i++) {
        const struct kept *k = replay_at(&s->replay, i);

        send_dispatch(s->peer, s->seq - (s->replay.count - 1 - i), k->news, k->form);
    }
    session_tell(s, EVENT_RESUMED, STR("{\"_trace\":[\"guildhall\"]}"));
    return true;
}

/* --- without a socket --------------------------------------------------------------------- */

void session_lose_peer(struct session *s)
{
    deadline_touch(s->hub->away, &s->away);
}

void session_expired(struct deadline *d)
{
    session_end(container_of(d, struct session, away));
}

/* --- from loop to loop -------------------------------------------------------------------- */

void session_detach(struct session *s)
{
    deadline_drop(&s->away);
    errands_drop(s);
    list_remove(&s->link);
}

void session_attach(struct session *s, struct hub *h)
{
    pthread_mutex_lock(&h->gateway->lock);
    s->hub = h;
    pthread_mutex_unlock(&h->gateway->lock);
    list_append(&h->sessions, &s->link);
}
