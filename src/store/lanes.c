/* lanes.c - round-robin queues of long reads: one queue per owner. An owner with a thousand long
 * reads delays others by one read at most. A read that exceeds LANE_SHARE_MS is aborted and
 * restarts with LANE_LONG, which has a thread of its own, so that other reads do not wait until it
 * is finished. */
#include "base/clock.h"
#include "base/mem.h"
#include "store/internal.h"

/* Waiting reads of one owner. Freed when the queue becomes empty. */
struct lane {
    struct link turn;
    uint64_t owner;
    struct work *first, **last;
};

void lanes_init(struct lanes *l)
{
    *l = (struct lanes){ 0 };
    pthread_mutex_init(&l->lock, NULL);
    wait_init(&l->filled);
    for (int i = 0; i < LANE_KINDS; i++) {
        links_init(&l->kinds[i].turns);
        map_init(&l->kinds[i].by_owner);
    }
}

void lanes_clear(struct lanes *l)
{
    for (int i = 0; i < LANE_KINDS; i++)
        map_clear(&l->kinds[i].by_owner);
    pthread_cond_destroy(&l->filled);
    pthread_mutex_destroy(&l->lock);
}

/* Owner 0 (the server itself) gets a new queue for each read. */
static struct lane *lane_of(struct lane_kind *k, uint64_t owner)
{
    struct lane *lane = owner ? map_get(&k->by_owner, owner) : NULL;

    if (lane)
        return lane;
    lane = mem_new(sizeof *lane);
    lane->owner = owner;
    lane->last = &lane->first;
    links_append(&k->turns, &lane->turn);
    if (owner)
        map_put(&k->by_owner, owner, lane);
    return lane;
}

static void lane_add(struct lane_kind *k, struct work *w)
{
    struct lane *lane = lane_of(k, w->owner);

    w->next = NULL;
    *lane->last = w;
    lane->last = &w->next;
}

/* Takes the oldest read of the first owner and moves that owner to the end; NULL: no read. */
static struct work *lane_take(struct lane_kind *k)
{
    if (links_empty(&k->turns))
        return NULL;

    struct lane *lane = container_of(k->turns.next, struct lane, turn);
    struct work *w = lane->first;

    lane->first = w->next;
    link_remove(&lane->turn);
    if (lane->first) {
        links_append(&k->turns, &lane->turn);
        return w;
    }
    if (lane->owner)
        map_remove(&k->by_owner, lane->owner);
    mem_free(lane);
    return w;
}

static enum lane_name kind_of(const struct work *w)
{
    return w->urgent ? LANE_URGENT : w->is_long ? LANE_LONG : LANE_FRESH;
}

bool lanes_push(struct lanes *l, struct work *w)
{
    enum lane_name kind = kind_of(w);

    pthread_mutex_lock(&l->lock);
    bool open = !l->closed, wake = l->sleepers > 0;

    if (open)
        lane_add(&l->kinds[kind], w);
    pthread_mutex_unlock(&l->lock);
    if (wake && kind == LANE_LONG)
        /* wake all, because some threads do not run long reads */
        pthread_cond_broadcast(&l->filled);
    else if (wake)
        pthread_cond_signal(&l->filled);
    return open;
}

static struct work *take_any(struct lanes *l, bool takes_long)
{
    struct work *w = lane_take(&l->kinds[LANE_URGENT]);

    if (!w && takes_long)
        w = lane_take(&l->kinds[LANE_LONG]);
    return w ? w : lane_take(&l->kinds[LANE_FRESH]);
}

struct work *lanes_take(struct lanes *l, bool takes_long, int64_t patience_ms)
{
    struct timespec until = wait_deadline(patience_ms < 0 ? 0 : patience_ms);
    struct work *w;
    int timed_out = 0;

    pthread_mutex_lock(&l->lock);
    l->sleepers++;
    while (!(w = take_any(l, takes_long)) && !l->closed && !timed_out)
        timed_out = patience_ms < 0 ? pthread_cond_wait(&l->filled, &l->lock)
                                    : pthread_cond_timedwait(&l->filled, &l->lock, &until);
    l->sleepers--;
    pthread_mutex_unlock(&l->lock);
    return w;
}

void lanes_close(struct lanes *l)
{
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_cond_broadcast(&l->filled);
    pthread_mutex_unlock(&l->lock);
}

bool lanes_closed(struct lanes *l)
{
    pthread_mutex_lock(&l->lock);
    bool closed = l->closed;
    pthread_mutex_unlock(&l->lock);
    return closed;
}
