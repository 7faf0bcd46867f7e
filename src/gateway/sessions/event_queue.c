/* event_queue.c - queues events on a loop and processes them in publishing order. */
#include "gateway/sessions/event_queue.h"

#include "base/mem.h"
#include "base/planted.h"
#include "gateway/sessions/delays.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/news.h"

enum { EVENT_TICKS = 4 }; /* budget ticks for an event without recipients */

void hub_take(struct hub *h, struct parcel *p)
{
    *h->queue.end = p;
    h->queue.end = &p->next;
}

void hub_receive(struct post *post)
{
    struct parcel *p = container_of(post, struct parcel, post);
    struct hub *h = p->hub;

    if (delays_keep(h, p))
        return;
    hub_take(h, p);
    hub_pump(h);
}

uint64_t hub_last_number(const struct hub *h)
{
    if (!h->queue.first)
        return h->begun;
    return parcel_number(container_of(h->queue.end, struct parcel, next));
}

/* Releases the parcel of the finished event, unless the parcel has more events. */
static void release_current(struct hub *h)
{
    if (h->queue.current && parcel_is_begun(h->queue.current))
        parcel_release(h->queue.current);
    h->queue.current = NULL;
}

static void begin_event(struct hub *h)
{
    struct parcel *p = h->queue.first;
    struct news *n = parcel_begin(p);

    if (parcel_is_begun(p)) {
        h->queue.first = p->next;
        if (!h->queue.first)
            h->queue.end = &h->queue.first;
    }
    hub_resume_event_begun(h, n);
    h->begun = n->number;
    h->queue.current = p;
    h->queue.sending = true;
    gateway_upcalls.dispatch_begin(h, n);
    if (h->rosters)
        gateway_upcalls.lists_hear(h, n);
}

static void continue_event(struct hub *h)
{
    const struct hub_resume *r = &h->resume;

    if (!gateway_upcalls.dispatch_continue(h))
        return;
    release_current(h);
    h->queue.sending = false;
    h->position = h->begun;
    if (r->journal_position && !fault_planted(PLANTED_BLIND_LEDGER))
        atomic_store_explicit(r->journal_position, h->position, memory_order_release);
    hub_is_spent(h, EVENT_TICKS);
    if (!links_empty(&r->leaving) || !links_empty(&r->releases))
        gateway_upcalls.handovers_continue(h);
}

static void pump_later(struct hub *h)
{
    if (!h->queue.sending && !h->queue.first && links_empty(&h->reads.waiting))
        return;
    h->queue.held_up = true;
    h->queue.posted = true;
    loop_post(h->loop, &h->queue.post);
}

/* Does one step. Returns false if there is nothing to do now. */
static bool pump_once(struct hub *h)
{
    if (h->queue.sending) {
        continue_event(h);
    } else if ((!h->queue.first || h->queue.held_up) && reads_are_due(h)) {
        h->queue.held_up = false;
        reads_begin_due(h);
    } else if (h->queue.first) {
        begin_event(h);
    } else {
        return false;
    }
    return true;
}

void hub_pump(struct hub *h)
{
    if (h->queue.pumping || h->queue.posted)
        return;
    h->queue.pumping = true;
    loop_part("events");
    while (!h->reads.blocking && !h->budget.spent && pump_once(h))
        ;
    h->queue.pumping = false;
    gateway_upcalls.handovers_continue(h);
    if (h->budget.spent && !h->reads.blocking)
        pump_later(h);
}

void hub_pump_posted(struct post *post)
{
    struct hub *h = container_of(post, struct hub, queue.post);

    h->queue.posted = false;
    hub_pump(h);
}

void event_queue_clear(struct hub *h)
{
    gateway_upcalls.dispatch_drop(h);
    release_current(h);
    for (struct parcel *p = h->queue.first, *next; p; p = next) {
        next = p->next;
        parcel_release(p);
    }
    h->queue.first = NULL;
    h->queue.end = &h->queue.first;
    delays_free(h);
    mem_free(h->queue.delivery);
}
