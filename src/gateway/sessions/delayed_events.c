/* delayed_events.c - delays all events by a configured time, to test clients. */
#include "gateway/sessions/delayed_events.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"

enum { DELAY_TICK_MS = 5 };

/* Delayed event batches of a loop. Created with the first delay and freed with the loop's state. */
struct delayed_events {
    uv_timer_t timer;
    struct gateway_loop *gateway_loop;
    struct loop_event_batch *first, **end;
};

static int64_t configured_delay_ns(const struct gateway_loop *h)
{
    return atomic_load_explicit(&h->gateway->delay_ms, memory_order_relaxed) * 1000000;
}

/* Queues the batches that are due. If the delay was switched off, all delayed batches are due. */
static void on_delay_timer(uv_timer_t *timer)
{
    struct delayed_events *d = timer->data;
    int64_t delay = configured_delay_ns(d->gateway_loop), now = clock_monotonic_ns();
    bool taken = false;

    while (d->first && (!delay || d->first->due_ns <= now)) {
        struct loop_event_batch *p = d->first;

        d->first = p->next;
        p->next = NULL;
        event_queue_append(d->gateway_loop, p);
        taken = true;
    }
    if (!d->first) {
        d->end = &d->first;
        uv_timer_stop(&d->timer);
    }
    if (taken)
        event_queue_deliver_events(d->gateway_loop);
}

static struct delayed_events *delayed_events_new(struct gateway_loop *h)
{
    struct delayed_events *d = mem_new(sizeof *d);

    d->gateway_loop = h;
    d->end = &d->first;
    d->timer.data = d;
    uv_timer_init(loop_get_uv_loop(h->loop), &d->timer);
    return d;
}

bool event_batch_delay_if_needed(struct gateway_loop *h, struct loop_event_batch *p)
{
    int64_t delay = configured_delay_ns(h);

    if (!delay && !has_delayed_events(h))
        return false;
    if (!h->queue.delays)
        h->queue.delays = delayed_events_new(h);
    p->due_ns = clock_monotonic_ns() + delay;
    *h->queue.delays->end = p;
    h->queue.delays->end = &p->next;
    /* Do not restart a running timer: if every event restarted it, it would never fire. */
    if (!uv_is_active((const uv_handle_t *)&h->queue.delays->timer))
        uv_timer_start(&h->queue.delays->timer, on_delay_timer, DELAY_TICK_MS, DELAY_TICK_MS);
    return true;
}

bool has_delayed_events(const struct gateway_loop *h)
{
    return h->queue.delays && h->queue.delays->first;
}

static void on_delay_timer_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void delayed_events_discard(struct gateway_loop *h)
{
    struct delayed_events *d = h->queue.delays;

    if (!d)
        return;
    for (struct loop_event_batch *p = d->first, *next; p; p = next) {
        next = p->next;
        loop_event_batch_release(p);
    }
    h->queue.delays = NULL;
    uv_close((uv_handle_t *)&d->timer, on_delay_timer_closed);
}
