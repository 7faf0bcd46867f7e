/* resume.c - handles RESUME: finds the session and sends the client the result. */
#include "gateway/resume/resume.h"

#include "base/mem.h"
#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/messages.h"
#include "json/read.h"

static void peer_supersede(struct peer *p)
{
    peer_close(p, CLOSE_UNKNOWN, "taken over by another connection");
}

/* A client may drop a connection and open the next one before both RESUMEs are read, and two
 * loops may read them in the other order. Connections are numbered when they open: the newest
 * connection keeps the session, whichever RESUME is read last. */
bool resume_is_superseded(const struct session *s, const struct resumption *r)
{
    return s->peer && s->resume.turn > r->turn;
}

void session_take_from_peer(struct session *s)
{
    struct peer *old = s->peer;

    if (!old)
        return;
    old->session = NULL;
    s->peer = NULL;
    session_set_state(s, SESSION_DISCONNECTED);
    peer_supersede(old);
}

static void answer_peer(struct peer *p, const struct resumption *r, struct session *s)
{
    if (r->greeting.revoked) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        return;
    }
    if (r->verdict == RESUME_SUPERSEDED || (s && resume_is_superseded(s, r))) {
        peer_supersede(p);
        return;
    }
    const struct gateway_hooks *hooks = &p->hub->gateway->options.hooks;

    if (!s) {
        if (hooks->refused)
            hooks->refused(hooks->arg, r->greeting.caller.id);
        session_invalid(p);
        return;
    }
    if (r->bad_seq || r->seq > s->seq) {
        peer_close(p, CLOSE_BAD_SEQUENCE, "invalid sequence");
        return;
    }
    session_take_from_peer(s);
    if (s->seq - r->seq > s->replay.count) {
        session_end(s);
        session_invalid(p);
        return;
    }
    s->resume.turn = r->turn;
    session_bind(s, &r->greeting);
    session_regain(s);
    peer_become(p, s);
    session_replay(s, r->seq);
    atomic_fetch_add(&s->hub->gateway->count.resumed, 1);
    if (hooks->resumed) {
        struct gateway_caller who = session_caller(s);

        hooks->resumed(hooks->arg, &who);
    }
}

void resume_answer(struct resumption *r, struct session *s)
{
    struct peer *p = greeting_end(&r->greeting);

    if (p && !p->closing)
        answer_peer(p, r, s);
    mem_free(r);
}

bool resume_is_theirs(const struct session *s, const struct resumption *r)
{
    return s && !s->revoked && s->caller.id == r->greeting.caller.id &&
           s->caller.kind == r->greeting.caller.kind && session_is_called(s, str_of(r->id));
}

static void resume_known(struct greeting *g)
{
    struct resumption *r = container_of(g, struct resumption, greeting);
    struct hub *here = g->peer->hub;
    struct hub *hub = registry_hub(here->gateway, r->number);
    struct session *s = registry_local(here, r->number);
    bool is_moving = s && s->state == SESSION_MOVING;

    /* This node was paused while another node took over the session. The log has that change,
     * and this node will read it soon. */
    if (r->verdict == RESUME_NOT_OWNER && !is_moving && registry_has(here->gateway, r->number)) {
        struct peer *p = greeting_end(g);

        peer_close(p, CLOSE_UNKNOWN, "this server has to catch up");
        mem_free(r);
        return;
    }
    /* If the session moves to this loop, or is about to leave it, handover_begin waits for it. */
    if (hub && (!s || is_moving))
        handover_begin(r, hub);
    else if (!s && r->id[0] && here->gateway->cluster)
        request_begin(r);
    else if (!s && here->resume.recording)
        restore_begin(r);
    else
        resume_answer(r, resume_is_theirs(s, r) ? s : NULL);
}

/* Runs in the transaction that reads the credential. */
static enum err resume_read_owner(struct greeting *g, struct tx *tx)
{
    struct resumption *r = container_of(g, struct resumption, greeting);
    uint32_t me = cluster_identity(g->load.hub->gateway->cluster);
    struct session_owner owner;
    enum err e = owner_row_find(tx, r->number, g->caller.id, &owner);

    bool other = !e && owner.found && owner.identity != me && !fault_planted(PLANTED_TWO_OWNERS);
    r->verdict = other ? RESUME_NOT_OWNER : RESUME_OPEN;
    return e;
}

/* Returns whether this node has the session and another node may own it. */
static bool may_have_other_owner(struct gateway *g, uint64_t number)
{
    return g->cluster && !cluster_is_alone(g->cluster) && registry_has(g, number);
}

static void resume_drop(struct greeting *g)
{
    mem_free(container_of(g, struct resumption, greeting));
}

void handle_resume(struct peer *p, int op, struct str raw, const void *d)
{
    const struct resume *in = d;
    struct resumption *r = mem_new(sizeof *r);
    int64_t seq;

    (void)op, (void)raw;
    r->turn = p->turn;
    r->bad_seq = !json_raw_int(in->seq, &seq) || seq < 0;
    r->seq = r->bad_seq ? 0 : (uint64_t)seq;
    /* A malformed id gets the same response as the id of a session that has ended. */
    if (session_id_read(in->session_id, &r->number))
        memcpy(r->id, in->session_id.p, SESSION_ID);
    if (!greeting_init(&r->greeting, p, in->token)) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        mem_free(r);
        return;
    }
    r->greeting.known = resume_known;
    r->greeting.drop = resume_drop;
    if (may_have_other_owner(p->hub->gateway, r->number))
        r->greeting.read_more = resume_read_owner;
    greeting_begin(&r->greeting);
}
