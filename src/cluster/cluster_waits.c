/* cluster_waits.c - delays replies until every node has applied a revocation.
 *
 * For example, a log-out must take effect on all nodes before the reply is sent. A node that does
 * not acknowledge the revocation delays the reply by CREDENTIALS_FRESH_MS at most: if it cannot
 * read the event log, it stops using its cached credentials after that time. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/internal.h"

void cluster_wait_for_nodes_at_log_position(struct cluster *c, struct cluster_log_position_wait *w)
{
    if (c->options.alone) {
        loop_post_message(w->loop, &w->post);
        return;
    }
    w->since = clock_monotonic_ns();
    pthread_mutex_lock(&c->lock);
    linked_list_append(&c->waits, &w->link);
    c->wake_now = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
}

static bool has_position_waits(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    bool some = !linked_list_is_empty(&c->waits);
    pthread_mutex_unlock(&c->lock);
    return some;
}

static bool position_wait_is_over(const struct cluster_log_position_wait *w, int64_t least,
                                  int64_t now)
{
    return w->position <= least || now - w->since > ms_to_ns(CREDENTIALS_FRESH_MS);
}

bool cluster_finish_log_position_waits(struct cluster *c)
{
    int64_t least = 0;

    if (!has_position_waits(c))
        return false;
    if (read_least_log_position_of_nodes(c, &least))
        least = 0;
    int64_t now = clock_monotonic_ns();
    pthread_mutex_lock(&c->lock);
    for (struct list_link *at = c->waits.next, *next; at != &c->waits; at = next) {
        struct cluster_log_position_wait *w =
            container_of(at, struct cluster_log_position_wait, link);

        next = at->next;
        if (!position_wait_is_over(w, least, now))
            continue;
        linked_list_remove(at);
        loop_post_message(w->loop, &w->post);
    }
    bool some = !linked_list_is_empty(&c->waits);
    pthread_mutex_unlock(&c->lock);
    return some;
}
