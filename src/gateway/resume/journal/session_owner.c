/* session_owner.c - records which node of a cluster owns a session.
 *
 * A row of session_homes is inserted when a session begins and deleted when it ends, in the
 * background. If a client resumes on another node before the row is committed, it must identify
 * again. If a row was not deleted, the node that it names replies that the session has ended. */
#include "gateway/resume/journal/session_owner.h"

#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

struct owner_row_write {
    struct session_store_read store_write;
    uint64_t number;
    snowflake user_id;
};

static enum err insert_session_owner_row(struct session_store_read *l, struct tx *tx)
{
    struct owner_row_write *c = container_of(l, struct owner_row_write, store_write);
    const struct gateway *g = l->gateway_loop->gateway;

    return session_owner_row_insert(tx, c->number, c->user_id, cluster_node_identity(g->cluster));
}

static enum err delete_session_owner_row(struct session_store_read *l, struct tx *tx)
{
    struct owner_row_write *c = container_of(l, struct owner_row_write, store_write);
    const struct gateway *g = l->gateway_loop->gateway;

    return session_owner_row_delete(tx, c->number, cluster_node_identity(g->cluster));
}

static void on_session_owner_row_written(struct session_store_read *l, enum err e)
{
    (void)e; /* a failed write has no other effects than those described at the top of this file */
    mem_free(container_of(l, struct owner_row_write, store_write));
}

static void begin_session_owner_row_write(struct gateway_loop *h, uint64_t number,
                                          snowflake user_id,
                                          enum err (*run)(struct session_store_read *l,
                                                          struct tx *tx))
{
    struct owner_row_write *c = mem_new(sizeof *c);

    c->store_write = (struct session_store_read){
        .writes = true, .own_rows = true, .run = run, .done = on_session_owner_row_written
    };
    c->number = number;
    c->user_id = user_id;
    begin_unordered_session_store_read(h, &c->store_write);
}

void session_owner_insert(struct session *s)
{
    begin_session_owner_row_write(s->gateway_loop, s->number, s->caller.id,
                                  insert_session_owner_row);
}

void session_owner_delete_by_number(struct gateway_loop *h, uint64_t number)
{
    /* While the gateway stops, do not delete single rows: it deletes all owner rows of this node in
     * one statement. */
    if (!h->gateway->draining)
        begin_session_owner_row_write(h, number, 0, delete_session_owner_row);
}

void session_owner_delete(struct session *s)
{
    session_owner_delete_by_number(s->gateway_loop, s->number);
}
