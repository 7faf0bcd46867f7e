/* suspend.c - suspends all sessions when the server stops, and finds them at the next start.
 *
 * Suspended sessions are rows of the store (suspended_rows.h). Without a cluster they stay valid
 * until an event is published. In a cluster they stay valid while the event log has all later
 * events. Their rows are written in batches, so that no event loop and no store transaction runs
 * long. Sessions that are not written in time end; their clients must identify again. */
#include "gateway/resume/suspend.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/session_serialization.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"

enum {
    BATCH_SESSIONS = 128,
    BATCH_BYTES = 1024 * 1024,
    SESSION_BYTES = 8 * 1024 * 1024,
    /* Maximum number of sent, but possibly unread dispatches that are stored per session. */
    SUSPENDED_SENT_COUNT = 128,
    SUSPENDED_SENT_BYTES = 128 * 1024,
    SUSPEND_MAX_MS = 10 * 1000,
};

/* Some serialised sessions of one loop. */
struct suspend_batch {
    struct gateway *gateway;
    struct arena *arena;
    struct suspended_session sessions[BATCH_SESSIONS];
    size_t count, bytes;
    struct list_link *at; /* next session to suspend; NULL means the loop's first session */
    bool last;
};

/* Serialises a session into the batch. Returns false if the session must end. */
static bool suspension_batch_add_session(struct suspend_batch *b, struct session *s)
{
    const struct serialized_dispatch_limits limits = { SUSPENDED_SENT_COUNT, SUSPENDED_SENT_BYTES };
    struct session_guilds_and_channels positions;
    struct buf out;

    buf_init(&out, SESSION_BYTES);
    collect_session_guilds_and_channels(s, &positions);
    bool ok = serialize_session(s, &positions, &limits, &out);
    if (ok)
        b->sessions[b->count++] = (struct suspended_session){
            .number = s->number,
            .user_id = s->caller.id,
            .until_ms = clock_ms() + SESSION_EXPIRY_MS,
            .body = str_dup(b->arena, buf_as_str(&out)),
        };
    b->bytes += ok ? out.n : 0;
    session_guilds_and_channels_clear(&positions);
    buf_clear(&out);
    return ok;
}

static void suspension_batch_collect_sessions(struct loop *loop, void *arg)
{
    struct suspend_batch *b = arg;
    struct gateway_loop *h = b->gateway->gateway_loops[loop_get_index(loop)];

    b->count = b->bytes = 0;
    if (!b->at)
        b->at = h->sessions.next;
    while (b->at != &h->sessions && b->count < BATCH_SESSIONS && b->bytes < BATCH_BYTES) {
        struct session *s = container_of(b->at, struct session, link);

        b->at = b->at->next;
        s->resume.delivered_elsewhere = h->position;
        if (suspension_batch_add_session(b, s))
            session_set_state(s, SESSION_SUSPENDED);
    }
    b->last = b->at == &h->sessions;
}

/* Writes a suspended session. In a cluster, also removes the session's owner, so that any node may
 * take the session over. */
static enum err write_suspended_session(const struct gateway *g, struct tx *tx,
                                        const struct suspended_session *s)
{
    bool owned = true;
    enum err e = g->cluster ? session_owner_row_compare_and_set(
                                  tx, s->number, cluster_node_identity(g->cluster), 0, &owned)
                            : OK;

    return !e && owned ? suspended_session_row_insert(tx, s) : e;
}

static enum err write_suspended_sessions_of_batch(struct tx *tx, void *arg)
{
    struct suspend_batch *b = arg;
    enum err e = OK;

    for (size_t i = 0; i < b->count && !e; i++)
        e = write_suspended_session(b->gateway, tx, &b->sessions[i]);
    return e;
}

static enum err delete_some_suspended_sessions(struct tx *tx, void *arg)
{
    return suspended_session_rows_delete_batch(tx, arg);
}

/* Deletes, in batches, sessions that an earlier stop suspended and no client has resumed. */
static enum err delete_earlier_suspended_sessions(struct gateway *g, struct arena *arena)
{
    bool more = true;
    enum err e = OK;

    while (more && !e) {
        arena_reset(arena);
        e = store_run_transaction_and_wait(g->options.store, STORE_WRITE, arena,
                                           delete_some_suspended_sessions, &more);
    }
    return e;
}

static enum err suspend_sessions_of_loop(struct gateway *g, unsigned loop, struct arena *arena,
                                         int64_t until)
{
    struct suspend_batch b = { .gateway = g, .arena = arena };
    enum err e = OK;

    while (!b.last && !e && clock_monotonic_ns() < until) {
        arena_reset(arena);
        loop_run_function_and_wait(loops_get_loop_at(g->loops, loop),
                                   suspension_batch_collect_sessions, &b);
        if (b.count)
            e = store_run_transaction_and_wait(g->options.store, STORE_WRITE, arena,
                                               write_suspended_sessions_of_batch, &b);
    }
    return e;
}

static enum err mark_suspended_sessions_complete(struct tx *tx, void *arg)
{
    struct gateway *g = arg;

    return g->cluster ? delete_session_rows_of_dead_and_own_node(g, tx)
                      : suspended_session_rows_mark_complete(tx);
}

void suspend_all_sessions(struct gateway *g, unsigned loops)
{
    struct arena *arena = arena_new();
    int64_t until = clock_monotonic_ns() + (int64_t)SUSPEND_MAX_MS * 1000000;
    enum err e = OK;

    if (g->options.suspends && g->count.session_count) {
        e = g->cluster ? OK : delete_earlier_suspended_sessions(g, arena);
        for (unsigned i = 0; i < loops && !e; i++)
            e = suspend_sessions_of_loop(g, i, arena, until);
        if (!e)
            e = store_run_transaction_and_wait(g->options.store, STORE_WRITE, arena,
                                               mark_suspended_sessions_complete, g);
        if (e)
            log_warn(
                "gateway: could not store sessions for the restart; their clients must identify again");
    }
    arena_free(arena);
}

static void retain_events_on_loop(struct loop *loop, void *arg)
{
    struct gateway *g = arg;

    retain_events_after_restart(g->gateway_loops[loop_get_index(loop)]);
}

static enum err consume_suspension_complete_mark(struct tx *tx, void *arg)
{
    return suspended_session_rows_delete_complete_mark(tx, arg);
}

static enum err prune_sessions_at_start(struct tx *tx, void *arg)
{
    return delete_session_rows_of_dead_and_own_node(arg, tx);
}

void gateway_allow_resume_of_suspended_sessions(struct gateway *g)
{
    struct arena *arena = arena_new();
    bool any = false;

    if (g->cluster) {
        if (store_run_transaction_and_wait(g->options.store, STORE_WRITE, arena,
                                           prune_sessions_at_start, g))
            log_warn("gateway: could not clean up sessions of stopped nodes; will retry");
    } else if (g->options.suspends &&
               !store_run_transaction_and_wait(g->options.store, STORE_WRITE, arena,
                                               consume_suspension_complete_mark, &any) &&
               any)
        for (unsigned i = 0; i < g->gateway_loop_count; i++)
            loop_run_function_and_wait(g->gateway_loops[i]->loop, retain_events_on_loop, g);
    arena_free(arena);
}
