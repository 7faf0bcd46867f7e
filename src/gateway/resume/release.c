/* release.c - a session that another server of the cluster has asked for. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/moves.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/registry.h"

enum { GIVEN_BYTES = 64 * 1024 * 1024 };

struct session_give {
    struct post post;
    struct link link; /* in the hub's list */
    struct hub *hub;
    struct session_move move; /* the question, then the answer */
    uint64_t least;           /* events that the session must have been told */
    struct load load;
    snowflake user_id;
    struct buf body; /* of the session; empty: it is not there */
};

static void give_arrived(struct post *post)
{
    struct session_give *v = container_of(post, struct session_give, post);

    links_append(&v->hub->wanted, &v->link);
    gives_continue(v->hub);
}

/* What was before the question in the log is on its way to the hubs by now. */
void give_asked(struct gateway *g, const struct session_move *m)
{
    struct hub *home = registry_home(g, m->number);

    pthread_mutex_lock(&g->publishing);
    if (g->hub_count) {
        struct session_give *v = mem_new(sizeof *v);

        v->post.run = give_arrived;
        v->hub = home ? home : g->hubs[0];
        v->move = *m;
        v->least = g->published;
        loop_post(v->hub->loop, &v->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* --- the answer ----------------------------------------------------------------------- */

static enum err give_write(struct load *l, struct tx *tx)
{
    struct session_give *v = container_of(l, struct session_give, load);
    const struct gateway *g = l->hub->gateway;
    struct suspended_session suspended = { v->move.number, v->user_id, clock_ms() + AWAY_MS,
                                           buf_str(&v->body) };
    bool moved = false;
    enum err e = OK;

    if (v->body.n)
        e = owner_row_change(tx, v->move.number, v->move.from, v->move.to, &moved);
    if (!e && moved)
        e = suspended_row_add(tx, &suspended);
    v->move.kind = moved ? MOVE_GIVEN : MOVE_GONE;
    if (!e)
        cluster_log_move(g->cluster, tx, &v->move);
    return e;
}

static void give_committed(struct load *l)
{
    struct session_give *v = container_of(l, struct session_give, load);

    cluster_moved(l->hub->gateway->cluster, &l->work, &v->move);
}

/* Given or not, it ends here: who could not find out whether the row was written must not go on
 * with a session that another server may have. */
static void give_done(struct load *l, enum err e)
{
    struct session_give *v = container_of(l, struct session_give, load);
    struct session *s = v->body.n ? registry_local(l->hub, v->move.number) : NULL;

    (void)e;
    if (s)
        session_end(s);
    buf_clear(&v->body);
    mem_free(v);
}

static void give_answer(struct session_give *v)
{
    link_remove(&v->link);
    v->load = (struct load){ .writes = true,
                             .own_rows = true,
                             .run = give_write,
                             .committed = give_committed,
                             .done = give_done };
    hub_load_now(v->hub, &v->load);
}

/* --- when it can go ------------------------------------------------------------------- */

static void give_session(struct session_give *v, struct session *s)
{
    const struct session_limits limits = { REPLAY_COUNT, REPLAY_BYTES };
    struct session_places places;

    s->seen = v->hub->position;
    v->user_id = s->caller.id;
    buf_init(&v->body, GIVEN_BYTES);
    session_places_read(s, &places);
    if (session_write(s, &places, &limits, &v->body)) {
        s->moving = true;
        session_take_from_peer(s);
    } else {
        buf_clear(&v->body);
    }
    session_places_clear(&places);
    give_answer(v);
}

/* The same as between loops (resume.c); and what it has asked for is told before it goes. */
static bool may_go(const struct session_give *v, const struct session *s)
{
    const struct hub *h = v->hub;

    return h->position >= v->least && h->position == h->begun && !h->running && s->ready &&
           !session_errand_count(s) && !errands_stepping(s);
}

/* It is on its way to another loop of ours, or to this one: the question follows it. */
static bool give_follow(struct session_give *v)
{
    struct hub *home = registry_home(v->hub->gateway, v->move.number);

    if (!home)
        return false;
    if (home != v->hub) {
        link_remove(&v->link);
        v->hub = home;
        loop_post(home->loop, &v->post);
    }
    return true;
}

static void give_step(struct session_give *v)
{
    struct session *s = registry_local(v->hub, v->move.number);

    if (s ? s->moving : give_follow(v))
        return;
    if (!s || s->revoked || !session_is_called(s, str_of(v->move.id)))
        give_answer(v);
    else if (may_go(v, s))
        give_session(v, s);
}

void gives_continue(struct hub *h)
{
    for (struct link *at = h->wanted.next, *next; at != &h->wanted; at = next) {
        next = at->next;
        give_step(container_of(at, struct session_give, link));
    }
}

void gives_drop(struct hub *h)
{
    while (!links_empty(&h->wanted)) {
        struct session_give *v = container_of(h->wanted.next, struct session_give, link);

        link_remove(&v->link);
        mem_free(v);
    }
}
