/* delays.c - delays all events by a configured time, to test clients. */
#include "gateway/sessions/delays.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"

enum { DELAY_TICK_MS = 5 };

/* Delayed parcels of a loop; created with the first delay and freed with the loop's state. */
struct delay_line {
    uv_timer_t timer;
    struct hub *hub;
    struct parcel *first, **end;
};

static int64_t delay_of(const struct hub *h)
{
    return atomic_load_explicit(&h->gateway->delay_ms, memory_order_relaxed) * 1000000;
}

/* Queues the parcels that are due. If the delay was switched off, all delayed parcels are due. */
static void delays_tick(uv_timer_t *timer)
{
    struct delay_line *d = timer->data;
    int64_t delay = delay_of(d->hub), now = clock_mono();
    bool taken = false;

    while (d->first && (!delay || d->first->due_ns <= now)) {
        struct parcel *p = d->first;

        d->first = p->next;
        p->next = NULL;
        hub_take(d->hub, p);
        taken = true;
    }
    if (!d->first) {
        d->end = &d->first;
        uv_timer_stop(&d->timer);
    }
    if (taken)
        hub_pump(d->hub);
}

static struct delay_line *delay_line_new(struct hub *h)
{
    struct delay_line *d = mem_new(sizeof *d);

    d->hub = h;
    d->end = &d->first;
    d->timer.data = d;
    uv_timer_init(loop_uv(h->loop), &d->timer);
    return d;
}

bool delays_keep(struct hub *h, struct parcel *p)
{
    int64_t delay = delay_of(h);

    if (!delay && !delays_wait(h))
        return false;
    if (!h->queue.delays)
        h->queue.delays = delay_line_new(h);
    p->due_ns = clock_mono() + delay;
    *h->queue.delays->end = p;
    h->queue.delays->end = &p->next;
    /* Do not restart a running timer: restarting it for every event would keep it from firing. */
    if (!uv_is_active((const uv_handle_t *)&h->queue.delays->timer))
        uv_timer_start(&h->queue.delays->timer, delays_tick, DELAY_TICK_MS, DELAY_TICK_MS);
    return true;
}

bool delays_wait(const struct hub *h)
{
    return h->queue.delays && h->queue.delays->first;
}

static void delay_line_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void delays_free(struct hub *h)
{
    struct delay_line *d = h->queue.delays;

    if (!d)
        return;
    for (struct parcel *p = d->first, *next; p; p = next) {
        next = p->next;
        parcel_release(p);
    }
    h->queue.delays = NULL;
    uv_close((uv_handle_t *)&d->timer, delay_line_closed);
}
