/* owner.c - the other servers of a cluster know who has a session.
 *
 * A row is written when a session begins and deleted when it ends, and nobody waits for either: a
 * client that comes to another server before the row is there begins anew, and a row that is left
 * leads to a server which says that the session is gone. */
#include "gateway/resume/journal/owner.h"

#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

struct home_change {
    struct load load;
    uint64_t number;
    snowflake user_id;
};

static enum err home_write(struct load *l, struct tx *tx)
{
    struct home_change *c = container_of(l, struct home_change, load);
    const struct gateway *g = l->hub->gateway;

    return owner_row_add(tx, c->number, c->user_id, cluster_identity(g->cluster));
}

static enum err home_delete(struct load *l, struct tx *tx)
{
    struct home_change *c = container_of(l, struct home_change, load);
    const struct gateway *g = l->hub->gateway;

    return owner_row_remove(tx, c->number, cluster_identity(g->cluster));
}

static void home_written(struct load *l, enum err e)
{
    (void)e; /* the client begins anew, or the row leads to nothing */
    mem_free(container_of(l, struct home_change, load));
}

static void home_change(struct hub *h, uint64_t number, snowflake user_id,
                        enum err (*run)(struct load *l, struct tx *tx))
{
    struct home_change *c = mem_new(sizeof *c);

    c->load = (struct load){ .writes = true, .own_rows = true, .run = run, .done = home_written };
    c->number = number;
    c->user_id = user_id;
    hub_load_now(h, &c->load);
}

void home_note(struct session *s)
{
    home_change(s->hub, s->number, s->caller.id, home_write);
}

void home_forget_number(struct hub *h, uint64_t number)
{
    /* When the gateway stops all its rows go at once. */
    if (!h->gateway->draining)
        home_change(h, number, 0, home_delete);
}

void home_forget(struct session *s)
{
    home_forget_number(s->hub, s->number);
}
