/* deadlines.c - timeouts of equal duration in ordered lists, driven by one timer per loop.
 *
 * The timer is set to the earliest deadline, but at least one tick ahead (250 ms, or a quarter of a
 * shorter duration). Restarting a deadline costs two list operations and does not change the timer,
 * so the timer sometimes fires before any deadline is over. If thousands of deadlines expire at
 * once, each loop iteration handles them for at most 5 ms. */
#include <stdint.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop.h"
#include "net/loop_internal.h"

enum { TICK_MS = 250, MAX_EXPIRE_NS = 5 * 1000 * 1000 };

struct deadline_list {
    struct list_link link; /* in loop->deadline_lists */
    struct list_link list; /* list of struct deadline, earliest first */
    struct loop *loop;
    int64_t duration;
    bool movable;
    void (*expired)(struct deadline *d);
};

static int64_t deadline_list_now_ms(const struct deadline_list *ds)
{
    return ds->movable ? clock_steady_ms() : (int64_t)uv_now(&ds->loop->uv);
}

static void on_deadline_timer(uv_timer_t *timer);

/* Returns the minimum delay of the timer for a list: 250 ms, or a quarter of a shorter duration. */
static uint64_t minimum_timer_delay(const struct deadline_list *ds)
{
    return ds->movable || ds->duration >= TICK_MS ? TICK_MS : (uint64_t)ds->duration / 4 + 1;
}

static void set_timer_to_earliest_deadline(struct loop *l, uint64_t at, uint64_t tick)
{
    uint64_t now = uv_now(&l->uv);

    if (at < now + tick)
        at = now + tick;
    if (l->timer_at && l->timer_at <= at)
        return;
    l->timer_at = at;
    uv_timer_start(&l->timer, on_deadline_timer, at - now, 0);
}

/* Sets the timer for the earliest deadline, or for the next tick if tests can move the clock of
 * this list. */
static void schedule_earliest_deadline(struct deadline_list *ds)
{
    if (linked_list_is_empty(&ds->list))
        return;

    struct deadline *first = container_of(ds->list.next, struct deadline, link);
    set_timer_to_earliest_deadline(ds->loop, ds->movable ? 0 : (uint64_t)first->at,
                                   minimum_timer_delay(ds));
}

/* Calls `expired` for deadlines that are over. Returns false if the time `until` was reached while
 * deadlines were left. */
static bool expire_deadlines(struct deadline_list *ds, int64_t until)
{
    int64_t now = deadline_list_now_ms(ds);

    while (!linked_list_is_empty(&ds->list)) {
        struct deadline *d = container_of(ds->list.next, struct deadline, link);

        if (d->at > now)
            return true;
        if (clock_monotonic_ns() > until)
            return false;
        linked_list_remove(&d->link);
        ds->expired(d);
    }
    return true;
}

/* Uses a timer of 1 ms, because a timer of 0 ms might fire in the same loop iteration. */
static void check_deadlines_in_next_iteration(struct loop *l)
{
    l->timer_at = uv_now(&l->uv) + 1;
    uv_timer_start(&l->timer, on_deadline_timer, 1, 0);
}

static void check_deadlines_until_time_limit(struct loop *l, int64_t until)
{
    bool all = true;

    loop_set_measured_activity("deadlines");
    l->timer_at = 0;
    for (struct list_link *at = l->deadline_lists.next; at != &l->deadline_lists && all;
         at = at->next)
        all = expire_deadlines(container_of(at, struct deadline_list, link), until);
    if (!all) {
        check_deadlines_in_next_iteration(l);
        return;
    }
    for (struct list_link *at = l->deadline_lists.next; at != &l->deadline_lists; at = at->next)
        schedule_earliest_deadline(container_of(at, struct deadline_list, link));
}

void loop_expire_due_deadlines(struct loop *l)
{
    check_deadlines_until_time_limit(l, INT64_MAX);
}

static void on_deadline_timer(uv_timer_t *timer)
{
    check_deadlines_until_time_limit(container_of(timer, struct loop, timer),
                                     clock_monotonic_ns() + MAX_EXPIRE_NS);
}

struct deadline_list *deadline_list_new(struct loop *l, int64_t duration_ms, bool movable_clock,
                                        void (*expired)(struct deadline *d))
{
    struct deadline_list *ds = mem_new(sizeof *ds);

    ds->loop = l;
    ds->duration = duration_ms;
    ds->movable = movable_clock;
    ds->expired = expired;
    linked_list_init(&ds->list);
    linked_list_append(&l->deadline_lists, &ds->link);
    return ds;
}

void deadline_list_free(struct deadline_list *ds)
{
    if (!ds)
        return;
    while (!linked_list_is_empty(&ds->list))
        linked_list_remove(ds->list.next);
    linked_list_remove(&ds->link);
    mem_free(ds);
}

void deadline_restart(struct deadline_list *ds, struct deadline *d)
{
    d->at = deadline_list_now_ms(ds) + ds->duration;
    linked_list_remove(&d->link);
    linked_list_append(&ds->list, &d->link);
    if (!ds->loop->timer_at || (int64_t)ds->loop->timer_at > d->at || ds->movable)
        schedule_earliest_deadline(ds);
}

void deadline_cancel(struct deadline *d)
{
    linked_list_remove(&d->link);
}

void loop_init_deadlines(struct loop *l)
{
    linked_list_init(&l->deadline_lists);
    uv_timer_init(&l->uv, &l->timer);
    /* Unreference the timer, so that a pending deadline does not prevent a stopping loop from
     * ending. */
    uv_unref((uv_handle_t *)&l->timer);
}

void loop_close_deadlines(struct loop *l)
{
    uv_close((uv_handle_t *)&l->timer, NULL);
}
