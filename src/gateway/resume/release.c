/* release.c - releases a session that another node of the cluster has requested. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/resume.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/registry.h"

enum { RELEASED_BYTES = 64 * 1024 * 1024 };

struct session_release {
    struct post post;
    struct link link; /* in the list of its loop */
    struct hub *hub;
    struct session_move move; /* the request, then the reply */
    uint64_t least;           /* the session must have received the event with this number */
    struct load load;
    snowflake user_id;
    struct buf body; /* the session as bytes; empty: the session is not on this node */
};

static void release_arrived(struct post *post)
{
    struct session_release *v = container_of(post, struct session_release, post);

    links_append(&v->hub->resume.releases, &v->link);
    releases_continue(v->hub);
}

/* Events before the request in the log have been posted to the loops by now. */
void release_requested(struct gateway *g, const struct session_move *m)
{
    struct hub *hub = registry_hub(g, m->number);

    pthread_mutex_lock(&g->publishing);
    if (g->hub_count) {
        struct session_release *v = mem_new(sizeof *v);

        v->post.run = release_arrived;
        v->hub = hub ? hub : g->hubs[0];
        v->move = *m;
        v->least = g->published;
        loop_post(v->hub->loop, &v->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* The suspended row and the change of owner are one transaction, so that the session never has
 * two owners. */
static enum err release_write(struct load *l, struct tx *tx)
{
    struct session_release *v = container_of(l, struct session_release, load);
    struct suspended_session suspended = { v->move.number, v->user_id, clock_ms() + AWAY_MS,
                                           buf_str(&v->body) };
    bool changed = false;
    enum err e = OK;

    if (v->body.n)
        e = owner_row_change(tx, v->move.number, v->move.from, v->move.to, &changed);
    if (!e && changed)
        e = suspended_row_add(tx, &suspended);
    v->move.kind = changed ? MOVE_GIVEN : MOVE_GONE;
    if (!e)
        cluster_log_move(l->hub->gateway->cluster, tx, &v->move);
    return e;
}

static void release_committed(struct load *l)
{
    struct session_release *v = container_of(l, struct session_release, load);

    cluster_moved(l->hub->gateway->cluster, &l->work, &v->move);
}

/* The session ends on this node even after an error: the transaction may have committed, and
 * then another node owns the session. */
static void release_done(struct load *l, enum err e)
{
    struct session_release *v = container_of(l, struct session_release, load);
    struct session *s = v->body.n ? registry_local(l->hub, v->move.number) : NULL;

    (void)e;
    if (s)
        session_end(s);
    buf_clear(&v->body);
    mem_free(v);
}

static void release_answer(struct session_release *v)
{
    link_remove(&v->link);
    v->load = (struct load){ .writes = true,
                             .own_rows = true,
                             .run = release_write,
                             .committed = release_committed,
                             .done = release_done };
    hub_load_now(v->hub, &v->load);
}

static void release_session(struct session_release *v, struct session *s)
{
    const struct session_limits limits = { REPLAY_COUNT, REPLAY_BYTES };
    struct session_places places;

    s->resume.seen = v->hub->position;
    v->user_id = s->caller.id;
    buf_init(&v->body, RELEASED_BYTES);
    session_places_read(s, &places);
    if (session_write(s, &places, &limits, &v->body)) {
        session_take_from_peer(s);
        session_set_state(s, SESSION_MOVING);
    } else {
        buf_clear(&v->body);
    }
    session_places_clear(&places);
    release_answer(v);
}

/* The session can leave under the conditions of may_leave in handover.c, and when all requests
 * of the client are answered. */
static bool may_leave(const struct session_release *v, const struct session *s)
{
    const struct hub *h = v->hub;

    return h->position >= v->least && h->position == h->begun && !h->reads.blocking &&
           session_is_ready(s) && !session_errand_count(s) && !errands_stepping(s);
}

/* Forwards the request if the session moves to another loop of this node. Returns true if the
 * request has to wait. */
static bool release_follow(struct session_release *v)
{
    struct hub *hub = registry_hub(v->hub->gateway, v->move.number);

    if (!hub)
        return false;
    if (hub != v->hub) {
        link_remove(&v->link);
        v->hub = hub;
        loop_post(hub->loop, &v->post);
    }
    return true;
}

static void release_step(struct session_release *v)
{
    struct session *s = registry_local(v->hub, v->move.number);

    if (s ? s->state == SESSION_MOVING : release_follow(v))
        return;
    if (!s || s->revoked || !session_is_called(s, str_of(v->move.id)))
        release_answer(v);
    else if (may_leave(v, s))
        release_session(v, s);
}

void releases_continue(struct hub *h)
{
    for (struct link *at = h->resume.releases.next, *next; at != &h->resume.releases; at = next) {
        next = at->next;
        release_step(container_of(at, struct session_release, link));
    }
}

void releases_drop(struct hub *h)
{
    while (!links_empty(&h->resume.releases)) {
        struct session_release *v =
            container_of(h->resume.releases.next, struct session_release, link);

        link_remove(&v->link);
        mem_free(v);
    }
}
