/* waits.c - delays replies until every node has applied a revocation.
 *
 * A log-out must take effect on all nodes before the reply is sent. A node that does not
 * acknowledge in time delays the reply by FRESH_MS at most: without reading the log it stops
 * using its cached credentials after that time. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/internal.h"

void cluster_await(struct cluster *c, struct cluster_wait *w)
{
    if (c->options.alone) {
        loop_post(w->loop, &w->post);
        return;
    }
    w->since = clock_mono();
    pthread_mutex_lock(&c->lock);
    links_append(&c->waits, &w->link);
    c->hurry = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
}

static bool somebody_waits(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    bool some = !links_empty(&c->waits);
    pthread_mutex_unlock(&c->lock);
    return some;
}

static bool is_over(const struct cluster_wait *w, int64_t least, int64_t now)
{
    return w->position <= least || now - w->since > ms_to_ns(FRESH_MS);
}

bool waits_look(struct cluster *c)
{
    int64_t least = 0;

    if (!somebody_waits(c))
        return false;
    if (nodes_least(c, &least))
        least = 0;
    int64_t now = clock_mono();
    pthread_mutex_lock(&c->lock);
    for (struct link *at = c->waits.next, *next; at != &c->waits; at = next) {
        struct cluster_wait *w = container_of(at, struct cluster_wait, link);

        next = at->next;
        if (!is_over(w, least, now))
            continue;
        link_remove(at);
        loop_post(w->loop, &w->post);
    }
    bool some = !links_empty(&c->waits);
    pthread_mutex_unlock(&c->lock);
    return some;
}
