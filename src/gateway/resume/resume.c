/* resume.c - handles RESUME: finds the session and sends the client the result. */
#include "gateway/resume/resume.h"

#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_transfer.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/messages.h"
#include "json/read.h"

static void close_superseded_socket(struct gateway_socket *p)
{
    gateway_socket_close(p, CLOSE_UNKNOWN, "another connection has resumed this session");
}

/* Returns whether a newer connection of the client has resumed the session. A client may drop a
 * connection and open the next one before the RESUMEs of both are read, and two loops may read them
 * in the wrong order. Connections are numbered when they open, so the newest connection gets the
 * session, even if its RESUME is read first. */
bool resume_was_done_by_newer_connection(const struct session *s, const struct resume_request *r)
{
    return s->socket && s->resume.connection_number > r->connection_number;
}

void session_close_connection(struct session *s)
{
    struct gateway_socket *old = s->socket;

    if (!old)
        return;
    old->session = NULL;
    s->socket = NULL;
    session_set_state(s, SESSION_DISCONNECTED);
    close_superseded_socket(old);
}

static void send_resume_result(struct gateway_socket *p, const struct resume_request *r,
                               struct session *s)
{
    if (r->authentication.revoked) {
        gateway_socket_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        return;
    }
    if (r->objection == RESUME_SUPERSEDED || (s && resume_was_done_by_newer_connection(s, r))) {
        close_superseded_socket(p);
        return;
    }
    const struct gateway_hooks *hooks = &p->gateway_loop->gateway->options.hooks;

    if (!s) {
        if (hooks->refused)
            hooks->refused(hooks->arg, r->authentication.caller.id);
        session_invalidate_and_end(p);
        return;
    }
    if (r->bad_seq || r->seq > s->seq) {
        gateway_socket_close(p, CLOSE_BAD_SEQUENCE, "invalid sequence");
        return;
    }
    session_close_connection(s);
    if (s->seq - r->seq > s->replay.count) {
        session_end(s);
        session_invalidate_and_end(p);
        return;
    }
    s->resume.connection_number = r->connection_number;
    session_set_credential(s, &r->authentication);
    session_on_client_reconnected(s);
    gateway_socket_attach_session(p, s);
    session_replay_events_after(s, r->seq);
    atomic_fetch_add(&s->gateway_loop->gateway->count.resumed, 1);
    if (hooks->resumed) {
        struct gateway_hook_session who = gateway_hook_session_from_session(s);

        hooks->resumed(hooks->arg, &who);
    }
}

void resume_send_result_to_client(struct resume_request *r, struct session *s)
{
    struct gateway_socket *p = gateway_authentication_end(&r->authentication);

    if (p && !p->closing)
        send_resume_result(p, r, s);
    mem_free(r);
}

bool session_belongs_to_client(const struct session *s, const struct resume_request *r)
{
    return s && !s->revoked && s->caller.id == r->authentication.caller.id &&
           s->caller.kind == r->authentication.caller.kind && session_has_id(s, str_of(r->id));
}

static void on_resume_authenticated(struct gateway_authentication *g)
{
    struct resume_request *r = container_of(g, struct resume_request, authentication);
    struct gateway_loop *here = g->socket->gateway_loop;
    struct gateway_loop *hub = registry_find_loop_of_session(here->gateway, r->number);
    struct session *s = registry_find_session_on_loop(here, r->number);
    bool is_moving = s && s->state == SESSION_MOVING;

    /* RESUME_NOT_OWNER: another node took over the session while this node was paused. This node
     * still has the session, but will soon read the change of owner from the event log. */
    if (r->objection == RESUME_NOT_OWNER && !is_moving &&
        registry_has_session(here->gateway, r->number)) {
        struct gateway_socket *p = gateway_authentication_end(g);

        gateway_socket_close(p, CLOSE_UNKNOWN, "this node lacks recent events; resume again");
        mem_free(r);
        return;
    }
    /* If the session is moving to this loop or away from it, session_transfer_begin waits for the
     * end of the move. */
    if (hub && (!s || is_moving))
        session_transfer_begin(r, hub);
    else if (!s && r->id[0] && here->gateway->cluster)
        begin_fetching_session_from_other_node(r);
    else if (!s && here->resume.retains_all)
        begin_restoring_suspended_session(r);
    else
        resume_send_result_to_client(r, session_belongs_to_client(s, r) ? s : NULL);
}

/* Reads the session's owner, in the same transaction that reads the credential. */
static enum err read_session_owner(struct gateway_authentication *g, struct tx *tx)
{
    struct resume_request *r = container_of(g, struct resume_request, authentication);
    uint32_t me = cluster_node_identity(g->store_read.gateway_loop->gateway->cluster);
    struct session_owner owner;
    enum err e = session_owner_row_read(tx, r->number, g->caller.id, &owner);

    bool other =
        !e && owner.found && owner.identity != me && !test_fault_is_enabled(TEST_FAULT_TWO_OWNERS);
    r->objection = other ? RESUME_NOT_OWNER : RESUME_NO_OBJECTION;
    return e;
}

/* Returns whether this node has the session, but another node of the cluster may be its owner. */
static bool session_may_have_other_owner(struct gateway *g, uint64_t number)
{
    return g->cluster && !cluster_has_no_other_nodes(g->cluster) && registry_has_session(g, number);
}

static void on_resume_authentication_failed(struct gateway_authentication *g)
{
    mem_free(container_of(g, struct resume_request, authentication));
}

void handle_resume_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct resume_message *in = d;
    struct resume_request *r = mem_new(sizeof *r);
    int64_t seq;

    (void)op, (void)raw;
    r->connection_number = p->connection_number;
    r->bad_seq = !json_parse_int_text(in->seq, &seq) || seq < 0;
    r->seq = r->bad_seq ? 0 : (uint64_t)seq;
    /* A malformed id gets the same response as an id whose session has ended. */
    if (session_id_parse(in->session_id, &r->number))
        memcpy(r->id, in->session_id.p, SESSION_ID);
    if (!gateway_authentication_init(&r->authentication, p, in->token)) {
        gateway_socket_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        mem_free(r);
        return;
    }
    r->authentication.on_authenticated = on_resume_authenticated;
    r->authentication.on_failed = on_resume_authentication_failed;
    if (session_may_have_other_owner(p->gateway_loop->gateway, r->number))
        r->authentication.read_more = read_session_owner;
    gateway_authentication_begin(&r->authentication);
}
