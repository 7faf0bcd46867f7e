/* session_release.c - releases a session that another node of the cluster has requested. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_transfer.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/resume.h"
#include "gateway/resume/session_serialization.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/registry.h"

enum { RELEASED_SESSION_MAX_BYTES = 64 * 1024 * 1024 };

struct session_release {
    struct loop_message post;
    struct list_link link; /* link in the loop's list resume.releases */
    struct gateway_loop *gateway_loop;
    struct session_move_message move; /* the request, then the reply */
    /* The session can move to the other node after its loop has delivered the event of this
     * number. */
    uint64_t least;
    struct session_store_read store_write;
    snowflake user_id;
    struct buf body; /* the serialised session; empty if this node has no such session */
};

static void on_session_release_posted(struct loop_message *post)
{
    struct session_release *v = container_of(post, struct session_release, post);

    linked_list_append(&v->gateway_loop->resume.releases, &v->link);
    continue_pending_session_releases(v->gateway_loop);
}

/* Handles another node's request for a session. The events before the request in the event log were
 * posted to the loops before this call. */
void handle_session_release_request(struct gateway *g, const struct session_move_message *m)
{
    struct gateway_loop *hub = registry_find_loop_of_session(g, m->number);

    pthread_mutex_lock(&g->publishing);
    if (g->gateway_loop_count) {
        struct session_release *v = mem_new(sizeof *v);

        v->post.run = on_session_release_posted;
        v->gateway_loop = hub ? hub : g->gateway_loops[0];
        v->move = *m;
        v->least = g->published;
        loop_post_message(v->gateway_loop->loop, &v->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* Inserts the suspended row and changes the owner in one transaction: a session has one owner. */
static enum err write_released_session(struct session_store_read *l, struct tx *tx)
{
    struct session_release *v = container_of(l, struct session_release, store_write);
    struct suspended_session suspended = { v->move.number, v->user_id,
                                           clock_ms() + SESSION_EXPIRY_MS, buf_as_str(&v->body) };
    bool changed = false;
    enum err e = OK;

    if (v->body.n)
        e = session_owner_row_compare_and_set(tx, v->move.number, v->move.from, v->move.to,
                                              &changed);
    if (!e && changed)
        e = suspended_session_row_insert(tx, &suspended);
    v->move.kind = changed ? MOVE_RELEASED : MOVE_REFUSED;
    if (!e)
        cluster_append_session_move_to_log(l->gateway_loop->gateway->cluster, tx, &v->move);
    return e;
}

static void on_session_release_committed(struct session_store_read *l)
{
    struct session_release *v = container_of(l, struct session_release, store_write);

    cluster_publish_session_move(l->gateway_loop->gateway->cluster, &l->work, &v->move);
}

/* Called after the release was written. The session ends on this node even if the transaction
 * returned an error: it may have committed, and then another node owns the session. */
static void on_session_release_done(struct session_store_read *l, enum err e)
{
    struct session_release *v = container_of(l, struct session_release, store_write);
    struct session *s =
        v->body.n ? registry_find_session_on_loop(l->gateway_loop, v->move.number) : NULL;

    (void)e;
    if (s)
        session_end(s);
    buf_clear(&v->body);
    mem_free(v);
}

static void reply_to_release_request(struct session_release *v)
{
    linked_list_remove(&v->link);
    v->store_write = (struct session_store_read){ .writes = true,
                                                  .own_rows = true,
                                                  .run = write_released_session,
                                                  .committed = on_session_release_committed,
                                                  .done = on_session_release_done };
    begin_unordered_session_store_read(v->gateway_loop, &v->store_write);
}

static void serialize_and_release_session(struct session_release *v, struct session *s)
{
    const struct serialized_dispatch_limits limits = { REPLAY_COUNT, REPLAY_BYTES };
    struct session_guilds_and_channels positions;

    s->resume.delivered_elsewhere = v->gateway_loop->position;
    v->user_id = s->caller.id;
    buf_init(&v->body, RELEASED_SESSION_MAX_BYTES);
    collect_session_guilds_and_channels(s, &positions);
    if (serialize_session(s, &positions, &limits, &v->body)) {
        session_close_connection(s);
        session_set_state(s, SESSION_MOVING);
    } else {
        buf_clear(&v->body);
    }
    session_guilds_and_channels_clear(&positions);
    reply_to_release_request(v);
}

/* Returns whether the session can leave this node: its loop must not be delivering an event, and
 * all requests of the client must be answered. */
static bool session_can_leave_node(const struct session_release *v, const struct session *s)
{
    const struct gateway_loop *h = v->gateway_loop;

    return h->position >= v->least && h->position == h->begun && !h->reads.blocking &&
           session_is_ready(s) && !session_count_tasks(s) && !session_task_is_running(s);
}

/* Forwards the request to the loop to which the session moves. Returns true if it must wait. */
static bool forward_release_request(struct session_release *v)
{
    struct gateway_loop *hub =
        registry_find_loop_of_session(v->gateway_loop->gateway, v->move.number);

    if (!hub)
        return false;
    if (hub != v->gateway_loop) {
        linked_list_remove(&v->link);
        v->gateway_loop = hub;
        loop_post_message(hub->loop, &v->post);
    }
    return true;
}

static void release_session_if_possible(struct session_release *v)
{
    struct session *s = registry_find_session_on_loop(v->gateway_loop, v->move.number);

    if (s ? s->state == SESSION_MOVING : forward_release_request(v))
        return;
    if (!s || s->revoked || !session_has_id(s, str_of(v->move.id)))
        reply_to_release_request(v);
    else if (session_can_leave_node(v, s))
        serialize_and_release_session(v, s);
}

void continue_pending_session_releases(struct gateway_loop *h)
{
    for (struct list_link *at = h->resume.releases.next, *next; at != &h->resume.releases;
         at = next) {
        next = at->next;
        release_session_if_possible(container_of(at, struct session_release, link));
    }
}

void pending_session_releases_free(struct gateway_loop *h)
{
    while (!linked_list_is_empty(&h->resume.releases)) {
        struct session_release *v =
            container_of(h->resume.releases.next, struct session_release, link);

        linked_list_remove(&v->link);
        mem_free(v);
    }
}
