/* hub.c - the gateway's state on one event loop: creation, end, and end-of-iteration work. */
#include "gateway/sessions/hub.h"

#include "base/mem.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/pack.h"

static void timers_init(struct hub_timers *t, const struct gateway *g, struct loop *loop)
{
    unsigned hello_ms = g->options.hello_ms ? g->options.hello_ms : HELLO_MS;

    t->hellos = deadlines_new(loop, hello_ms, false, peer_hello_due);
    t->strangers = deadlines_new(loop, STRANGER_MS, true, peer_expired_stranger);
    t->overdue = deadlines_new(loop, OVERDUE_MS, true, peer_expired_overdue);
    t->dead = deadlines_new(loop, DEAD_MS, true, peer_expired_dead);
    t->invalidated = deadlines_new(loop, INVALIDATED_MS, true, peer_expired_invalidated);
    t->away = deadlines_new(loop, AWAY_MS, true, session_expired);
    t->fading = deadlines_new(loop, FADE_MS, true, session_faded);
    t->windows = deadlines_new(loop, PRESENCE_MS, true, gateway_upcalls.presence_window_ended);
}

static void timers_clear(struct hub_timers *t)
{
    deadlines_free(t->hellos);
    deadlines_free(t->strangers);
    deadlines_free(t->overdue);
    deadlines_free(t->dead);
    deadlines_free(t->invalidated);
    deadlines_free(t->away);
    deadlines_free(t->fading);
    deadlines_free(t->windows);
}

struct hub *hub_new(struct gateway *g, struct loop *loop)
{
    struct hub *h = mem_new(sizeof *h);

    h->gateway = g;
    h->loop = loop;
    h->delivered = &g->delivered[loop_index(loop)];
    h->begun = h->position = g->published;
    links_init(&h->peers);
    links_init(&h->sessions);
    links_init(&h->greetings);
    links_init(&h->reads.waiting);
    links_init(&h->errands.runnable);
    links_init(&h->unpublished);
    topics_init(&h->topics, loop);
    h->topics.crowds = &g->crowds;
    if (g->directory)
        h->topics.moved = gateway_upcalls.directory_mark;
    h->queue.end = &h->queue.first;
    h->arena = arena_new();
    h->packer = packer_new();
    buf_init(&h->out, MAX_SENT);
    buf_init(&h->in, MAX_MESSAGE * 8);
    timers_init(&h->timers, g, loop);
    hub_resume_init(h);
    h->turn_end.run = hub_turn_end;
    h->queue.post.run = hub_pump_posted;
    h->errands.post.run = errands_run;
    loop_add_turn_end(loop, &h->turn_end);
    return h;
}

void hub_free(struct hub *h)
{
    if (!h)
        return;
    topics_close(&h->topics);
    while (!links_empty(&h->sessions))
        session_end(container_of(h->sessions.next, struct session, link));
    gateway_upcalls.lists_free(h);
    event_queue_clear(h);
    hub_resume_clear(h);
    topics_clear(&h->topics);
    loop_drop_turn_end(&h->turn_end);
    timers_clear(&h->timers);
    packer_free(h->packer);
    frames_clear(h->frames);
    buf_clear(&h->out);
    buf_clear(&h->in);
    arena_free(h->arena);
    mem_free(h);
}

void hub_turn_end(struct turn_end *t)
{
    struct hub *h = container_of(t, struct hub, turn_end);

    budget_renew(&h->budget);
    if (h->framed)
        frames_forget(h->frames);
    h->framed = false;
    if (!links_empty(&h->unpublished))
        gateway_upcalls.directory_flush(h);
    /* Journal records are replicated before the server sends the bytes of this iteration. */
    replication_flush(h);
}
