/* restore.c - creates a session from bytes; restores one that was suspended before a restart.
 *
 * Since the restart every loop retains the events that it begins (hub.resume.recording), from
 * which the session gets its missed events. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/registry.h"

static void unpack_places(struct handover *h, const struct session_places *p)
{
    h->facts = mem_new((p->count + 1) * sizeof *h->facts);
    for (size_t i = 0; i < p->count; i++)
        h->facts[h->guild_count++].guild_id = p->guilds[i];
    h->seen = p->seen;
    mem_free(p->guilds);
}

bool handover_unpack(struct handover *h, struct str bytes, enum session_state state)
{
    const struct resumption *r = h->resumption;
    struct session_places places;
    struct session *s =
        bytes.n ? session_read(h->to, &r->greeting.caller, r->id, bytes, &places) : NULL;

    if (!s)
        return false;
    unpack_places(h, &places);
    session_set_state(s, state);
    presence_recount(s);
    h->session = s;
    registry_put(h->to->gateway, s);
    if (s->bot && s->options.intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&h->to->gateway->watchers, 1);
    return true;
}

struct restoration {
    struct load load;
    struct handover *handover;
    struct str bytes; /* in the arena of the read; empty: no such session */
};

static enum err restore_run(struct load *l, struct tx *tx)
{
    struct restoration *x = container_of(l, struct restoration, load);
    const struct resumption *r = x->handover->resumption;

    x->bytes = STR("");
    return suspended_row_take(tx, r->number, r->greeting.caller.id, clock_ms(), &x->bytes);
}

static void restore_done(struct load *l, enum err e)
{
    struct restoration *x = container_of(l, struct restoration, load);
    struct handover *h = x->handover;

    /* Event numbers start again with the process, so all events of this process are later. */
    if (!e && h->to->resume.recording && handover_unpack(h, x->bytes, SESSION_ARRIVING))
        h->session->resume.seen = h->session->presences = 0;
    mem_free(x);
    handover_arrive(h);
}

void restore_begin(struct resumption *r)
{
    struct hub *here = r->greeting.peer->hub;
    struct restoration *x = mem_new(sizeof *x);

    x->handover = handover_new(r, NULL);
    x->handover->since = 0;
    x->load = (struct load){ .writes = true, .run = restore_run, .done = restore_done };
    hub_load_now(here, &x->load);
}
