/* owner.c - records which node of a cluster owns a session.
 *
 * A row is inserted when a session begins and deleted when it ends; nothing waits for either. If
 * the row is not committed yet, a client that resumes on another node has to identify again. If
 * a row is left over, its node replies that the session has ended. */
#include "gateway/resume/journal/owner.h"

#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

struct owner_change {
    struct load load;
    uint64_t number;
    snowflake user_id;
};

static enum err owner_add_run(struct load *l, struct tx *tx)
{
    struct owner_change *c = container_of(l, struct owner_change, load);
    const struct gateway *g = l->hub->gateway;

    return owner_row_add(tx, c->number, c->user_id, cluster_identity(g->cluster));
}

static enum err owner_remove_run(struct load *l, struct tx *tx)
{
    struct owner_change *c = container_of(l, struct owner_change, load);
    const struct gateway *g = l->hub->gateway;

    return owner_row_remove(tx, c->number, cluster_identity(g->cluster));
}

static void owner_changed(struct load *l, enum err e)
{
    (void)e; /* a failure has no lasting effect: see the top of this file */
    mem_free(container_of(l, struct owner_change, load));
}

static void owner_change(struct hub *h, uint64_t number, snowflake user_id,
                         enum err (*run)(struct load *l, struct tx *tx))
{
    struct owner_change *c = mem_new(sizeof *c);

    c->load = (struct load){ .writes = true, .own_rows = true, .run = run, .done = owner_changed };
    c->number = number;
    c->user_id = user_id;
    hub_load_now(h, &c->load);
}

void session_owner_add(struct session *s)
{
    owner_change(s->hub, s->number, s->caller.id, owner_add_run);
}

void session_owner_remove_number(struct hub *h, uint64_t number)
{
    /* A gateway that stops deletes all its rows in one statement. */
    if (!h->gateway->draining)
        owner_change(h, number, 0, owner_remove_run);
}

void session_owner_remove(struct session *s)
{
    session_owner_remove_number(s->hub, s->number);
}
