/* prune.c - removes rows of sessions whose node is dead and that no client has resumed. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/suspend.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"

enum { PRUNE_BEATS = 60 }; /* heartbeats, one per second */

/* Nodes on other machines may have journals that this node cannot read; they get a grace period. */
static enum err prune_rows(const struct gateway *g, struct tx *tx, uint32_t identity,
                           int64_t grace_ms)
{
    int64_t now = clock_ms();
    struct list with_journal = { 0 };

    if (g->options.journal)
        journals_prune(g->options.journal, now, tx_arena(tx), &with_journal);
    return owner_rows_prune(tx, identity, &with_journal, grace_ms, now);
}

enum err prune_own_rows(const struct gateway *g, struct tx *tx)
{
    return prune_rows(g, tx, cluster_identity(g->cluster),
                      cluster_is_alone(g->cluster) ? 0 : AWAY_MS);
}

struct pruning {
    struct load load;
    struct post post;
    struct hub *hub;
};

static enum err pruning_run(struct load *l, struct tx *tx)
{
    return prune_rows(l->hub->gateway, tx, 0, AWAY_MS);
}

static void pruning_done(struct load *l, enum err e)
{
    (void)e; /* the next call tries again */
    mem_free(container_of(l, struct pruning, load));
}

static void pruning_begin(struct post *post)
{
    struct pruning *p = container_of(post, struct pruning, post);

    p->load =
        (struct load){ .writes = true, .own_rows = true, .run = pruning_run, .done = pruning_done };
    hub_load_now(p->hub, &p->load);
}

void gateway_tidy_homes(struct gateway *g)
{
    int64_t rank, living;

    cluster_share(g->cluster, &rank, &living);
    if (rank || ++g->beats % PRUNE_BEATS)
        return;
    pthread_mutex_lock(&g->publishing);
    if (g->hub_count && !g->draining) {
        struct pruning *p = mem_new(sizeof *p);

        p->post.run = pruning_begin;
        p->hub = g->hubs[0];
        loop_post(p->hub->loop, &p->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
