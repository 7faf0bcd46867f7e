/* store_reads.c - store transactions of a loop, ordered with its events. */
#include "gateway/sessions/store_reads.h"

#include <time.h>

#include "base/mem.h"
#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/views/known.h"

enum {
    LOADS_AT_ONCE = 8,
    MOST_SEEN = 4096, /* limit of log positions; above it some events are delivered twice */
};

static void load_committed(struct work *w)
{
    struct load *l = container_of(w, struct load, work);

    l->committed(l);
}

static enum err run_load(struct work *w, struct tx *tx)
{
    struct load *l = container_of(w, struct load, work);
    const struct gateway *g = l->hub->gateway;
    unsigned turn = l->after ? planted_wait_before() : 0;

    enum err e = l->run(l, tx);
    if (l->after)
        planted_wait_after(turn);

    if (!e && l->quiet && g->cluster)
        e = event_log_positions(tx, l->told, MOST_SEEN, &l->seen);
    return e;
}

/* Returns whether the read saw a commit whose event is still queued. All events published before
 * the read began have arrived by now. */
static bool load_is_ahead(const struct load *l)
{
    const int64_t *seen = l->seen.items;

    return l->hub->queue.first || l->hub->queue.sending ||
           (l->seen.count && seen[l->seen.count - 1] > l->passed);
}

static void load_done(struct work *w, enum err e)
{
    struct load *l = container_of(w, struct load, work);
    struct hub *h = l->hub;
    struct arena *arena = l->arena;

    loop_part("sessions");
    if (l->quiet)
        h->reads.blocking--;
    h->reads.seen = known_new(&l->seen);
    h->reads.ahead = load_is_ahead(l);
    l->done(l, e);
    known_unref(h->reads.seen);
    h->reads.seen = NULL;
    arena_free(arena);
    h->reads.count--;
    hub_pump(h);
}

static void load_begin(struct hub *h, struct load *l)
{
    l->hub = h;
    l->since = atomic_load(&h->gateway->published);
    l->told = (int64_t)(h->position >> NUMBERS_OF_POSITION);
    l->seen = (struct list){ 0 };
    if (fault_planted(PLANTED_WATCH_VIEWS) && h->gateway->cluster)
        l->passed = cluster_position(h->gateway->cluster);
    l->arena = arena_new();
    l->work = (struct work){
        .mode = l->own_rows ? STORE_APPEND
                : l->writes ? STORE_WRITE
                            : STORE_READ,
        .aside = l->aside,
        .owner = l->owner,
        .urgent = l->quiet, /* the events of all sessions wait for a quiet read */
        .name = "session",
        .loop = h->loop,
        .run = run_load,
        .committed = l->committed ? load_committed : NULL,
        .done = load_done,
        .arena = l->arena,
    };
    if (l->quiet)
        h->reads.blocking++;
    h->reads.count++;
    store_submit(h->gateway->options.store, &l->work);
}

void hub_load_now(struct hub *h, struct load *l)
{
    load_begin(h, l);
}

void hub_load_after(struct hub *h, struct load *l, uint64_t number)
{
    uint64_t last = hub_last_number(h);

    l->quiet = true;
    l->after = number > last ? number : last;
    links_append(&h->reads.waiting, &l->link);
    hub_pump(h);
}

void hub_load(struct hub *h, struct load *l)
{
    hub_load_after(h, l, 0);
}

static struct load *first_waiting(const struct hub *h)
{
    return container_of(h->reads.waiting.next, struct load, link);
}

bool reads_are_due(const struct hub *h)
{
    return !links_empty(&h->reads.waiting) && first_waiting(h)->after <= h->position;
}

void reads_begin_due(struct hub *h)
{
    for (int i = 0; i < LOADS_AT_ONCE && reads_are_due(h); i++) {
        struct load *l = first_waiting(h);

        link_remove(&l->link);
        load_begin(h, l);
        if (hub_is_spent(h, BUDGET_TICKS))
            return;
    }
}
