/* restore.c - a session that was put away when the server was stopped, and comes back.
 *
 * Since the server was started again every loop has kept what it told others (hub.recording), so
 * that the session can be told what it missed. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/registry.h"

struct waking {
    struct load load;
    struct handover *handover;
    struct str bytes; /* in the look's arena; empty: there is none */
};

static enum err wake_read(struct load *l, struct tx *tx)
{
    struct waking *w = container_of(l, struct waking, load);
    const struct resumption *r = w->handover->resumption;

    w->bytes = STR("");
    return suspended_row_take(tx, r->number, r->greeting.caller.id, clock_ms(), &w->bytes);
}

static void unpack_places(struct handover *h, const struct session_places *p)
{
    h->facts = mem_new((p->count + 1) * sizeof *h->facts);
    for (size_t i = 0; i < p->count; i++)
        h->facts[h->guild_count++].guild_id = p->guilds[i];
    h->seen = p->seen;
    mem_free(p->guilds);
}

bool handover_unpack(struct handover *h, struct str bytes)
{
    const struct resumption *r = h->resumption;
    struct session_places places;
    struct session *s =
        bytes.n ? session_read(h->to, &r->greeting.caller, r->id, bytes, &places) : NULL;

    if (!s)
        return false;
    unpack_places(h, &places);
    s->ready = true;
    presence_recount(s);
    h->session = s;
    registry_put(h->to->gateway, s);
    if (s->bot && s->intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&h->to->gateway->watchers, 1);
    return true;
}

static void wake_done(struct load *l, enum err e)
{
    struct waking *w = container_of(l, struct waking, load);
    struct handover *h = w->handover;

    /* Numbers of events begin anew with the process: whatever this one has told is later. */
    if (!e && h->to->recording && handover_unpack(h, w->bytes))
        h->session->seen = h->session->presences = 0;
    mem_free(w);
    handover_arrive(h);
}

void wake_begin(struct resumption *r)
{
    struct hub *here = r->greeting.peer->hub;
    struct waking *w = mem_new(sizeof *w);

    w->handover = handover_new(r, NULL);
    w->handover->since = 0;
    w->load = (struct load){ .writes = true, .run = wake_read, .done = wake_done };
    hub_load_now(here, &w->load);
}
