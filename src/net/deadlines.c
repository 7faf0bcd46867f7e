/* deadlines.c - timeouts of equal duration in ordered lists, driven by one timer per loop.
 *
 * The timer is set to the earliest deadline, but at least one tick ahead (250 ms, or a quarter of a
 * shorter duration). Restarting a deadline costs two list operations and does not change the timer,
 * so the timer sometimes fires early. If thousands of deadlines expire at once, each loop iteration
 * handles them for at most 5 ms. */
#include <stdint.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop.h"
#include "net/loop_internal.h"

enum { TICK_MS = 250, SHARE_NS = 5 * 1000 * 1000 };

struct deadlines {
    struct link link; /* in loop->deadline_lists */
    struct link list; /* list of struct deadline, earliest first */
    struct loop *loop;
    int64_t patience;
    bool movable;
    void (*expired)(struct deadline *d);
};

static int64_t now_of(const struct deadlines *ds)
{
    return ds->movable ? clock_steady_ms() : (int64_t)uv_now(&ds->loop->uv);
}

static void deadline_fire(uv_timer_t *timer);

/* Returns the minimum delay of the timer for a list: 250 ms, or a quarter of a shorter duration. */
static uint64_t tick_of(const struct deadlines *ds)
{
    return ds->movable || ds->patience >= TICK_MS ? TICK_MS : (uint64_t)ds->patience / 4 + 1;
}

static void set_timer(struct loop *l, uint64_t at, uint64_t tick)
{
    uint64_t now = uv_now(&l->uv);

    if (at < now + tick)
        at = now + tick;
    if (l->timer_at && l->timer_at <= at)
        return;
    l->timer_at = at;
    uv_timer_start(&l->timer, deadline_fire, at - now, 0);
}

/* Sets the timer for the earliest deadline. A clock that tests can move is checked every tick. */
static void wait_for(struct deadlines *ds)
{
    if (links_empty(&ds->list))
        return;

    struct deadline *first = container_of(ds->list.next, struct deadline, link);
    set_timer(ds->loop, ds->movable ? 0 : (uint64_t)first->at, tick_of(ds));
}

/* Expires deadlines; returns false if the time limit was reached before all were handled. */
static bool deadline_expire(struct deadlines *ds, int64_t until)
{
    int64_t now = now_of(ds);

    while (!links_empty(&ds->list)) {
        struct deadline *d = container_of(ds->list.next, struct deadline, link);

        if (d->at > now)
            return true;
        if (clock_mono() > until)
            return false;
        link_remove(&d->link);
        ds->expired(d);
    }
    return true;
}

/* Uses a timer of 1 ms, because one of 0 ms might fire in the same loop iteration. */
static void go_on_next_turn(struct loop *l)
{
    l->timer_at = uv_now(&l->uv) + 1;
    uv_timer_start(&l->timer, deadline_fire, 1, 0);
}

static void check_until(struct loop *l, int64_t until)
{
    bool all = true;

    loop_part("deadlines");
    l->timer_at = 0;
    for (struct link *at = l->deadline_lists.next; at != &l->deadline_lists && all; at = at->next)
        all = deadline_expire(container_of(at, struct deadlines, link), until);
    if (!all) {
        go_on_next_turn(l);
        return;
    }
    for (struct link *at = l->deadline_lists.next; at != &l->deadline_lists; at = at->next)
        wait_for(container_of(at, struct deadlines, link));
}

void loop_check_deadlines(struct loop *l)
{
    check_until(l, INT64_MAX);
}

static void deadline_fire(uv_timer_t *timer)
{
    check_until(container_of(timer, struct loop, timer), clock_mono() + SHARE_NS);
}

struct deadlines *deadlines_new(struct loop *l, int64_t patience_ms, bool movable_clock,
                                void (*expired)(struct deadline *d))
{
    struct deadlines *ds = mem_new(sizeof *ds);

    ds->loop = l;
    ds->patience = patience_ms;
    ds->movable = movable_clock;
    ds->expired = expired;
    links_init(&ds->list);
    links_append(&l->deadline_lists, &ds->link);
    return ds;
}

void deadlines_free(struct deadlines *ds)
{
    if (!ds)
        return;
    while (!links_empty(&ds->list))
        link_remove(ds->list.next);
    link_remove(&ds->link);
    mem_free(ds);
}

void deadline_touch(struct deadlines *ds, struct deadline *d)
{
    d->at = now_of(ds) + ds->patience;
    link_remove(&d->link);
    links_append(&ds->list, &d->link);
    if (!ds->loop->timer_at || (int64_t)ds->loop->timer_at > d->at || ds->movable)
        wait_for(ds);
}

void deadline_drop(struct deadline *d)
{
    link_remove(&d->link);
}

/* --- per-loop setup ------------------------------------------------------------------- */

void deadlines_init_loop(struct loop *l)
{
    links_init(&l->deadline_lists);
    uv_timer_init(&l->uv, &l->timer);
    /* A pending deadline must not prevent a stopping loop from ending. */
    uv_unref((uv_handle_t *)&l->timer);
}

void deadlines_close_loop(struct loop *l)
{
    uv_close((uv_handle_t *)&l->timer, NULL);
}
