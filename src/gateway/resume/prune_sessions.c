/* prune_sessions.c - deletes rows of sessions whose node is dead and that no client has resumed. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/log_page_cache.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/suspend.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"

/* Number of calls, one per second, between two deletions of session rows. */
enum { PRUNE_INTERVAL_HEARTBEATS = 60 };

/* Deletes session rows that are not needed any more. The rows of a node that died on another
 * machine stay for a grace period: this node cannot read the journal there, but another node may
 * recover the sessions from it. */
static enum err prune_session_rows(const struct gateway *g, struct tx *tx, uint32_t identity,
                                   int64_t grace_ms)
{
    int64_t now = clock_ms();
    struct list with_journal = { 0 };

    if (g->options.journal)
        delete_outdated_journals(g->options.journal, now, tx_arena(tx), &with_journal);
    return session_owner_rows_prune(tx, identity, &with_journal, grace_ms, now);
}

enum err delete_session_rows_of_dead_and_own_node(const struct gateway *g, struct tx *tx)
{
    return prune_session_rows(g, tx, cluster_node_identity(g->cluster),
                              cluster_has_no_other_nodes(g->cluster) ? 0 : SESSION_EXPIRY_MS);
}

struct session_pruning {
    struct session_store_read store_write;
    struct loop_message post;
    struct gateway_loop *gateway_loop;
};

static enum err run_session_pruning(struct session_store_read *l, struct tx *tx)
{
    return prune_session_rows(l->gateway_loop->gateway, tx, 0, SESSION_EXPIRY_MS);
}

static void on_session_pruning_done(struct session_store_read *l, enum err e)
{
    (void)e; /* the next call tries again */
    mem_free(container_of(l, struct session_pruning, store_write));
}

static void begin_session_pruning(struct loop_message *post)
{
    struct session_pruning *p = container_of(post, struct session_pruning, post);

    p->store_write = (struct session_store_read){ .writes = true,
                                                  .own_rows = true,
                                                  .run = run_session_pruning,
                                                  .done = on_session_pruning_done };
    begin_unordered_session_store_read(p->gateway_loop, &p->store_write);
}

void gateway_prune_dead_node_sessions(struct gateway *g)
{
    int64_t rank, living;

    event_log_page_cache_evict_unused(g->log_pages, clock_steady_ms());
    cluster_get_node_rank(g->cluster, &rank, &living);
    if (rank || ++g->cluster_heartbeats % PRUNE_INTERVAL_HEARTBEATS)
        return;
    pthread_mutex_lock(&g->publishing);
    if (g->gateway_loop_count && !g->draining) {
        struct session_pruning *p = mem_new(sizeof *p);

        p->post.run = begin_session_pruning;
        p->gateway_loop = g->gateway_loops[0];
        loop_post_message(p->gateway_loop->loop, &p->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
