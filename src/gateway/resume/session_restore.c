/* session_restore.c - creates a session from its serialised form; restores sessions that were
 * suspended before a restart.
 *
 * Since the restart every loop retains the events that it delivers (resume.retains_all). A restored
 * session gets its missed events from these. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/session_transfer.h"
#include "gateway/resume/session_serialization.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/registry.h"

static void set_guilds_and_channels_of_transfer(struct session_transfer *h,
                                                const struct session_guilds_and_channels *p)
{
    h->guild_setups = mem_new((p->count + 1) * sizeof *h->guild_setups);
    for (size_t i = 0; i < p->count; i++)
        h->guild_setups[h->guild_count++].guild_id = p->guilds[i];
    h->visible_before = p->visible_channels;
    mem_free(p->guilds);
}

bool session_transfer_deserialize(struct session_transfer *h, struct str bytes,
                                  enum session_state state)
{
    const struct resume_request *r = h->resumption;
    struct session_guilds_and_channels positions;
    struct session *s =
        bytes.n ? deserialize_session(h->to, &r->authentication.caller, r->id, bytes, &positions)
                : NULL;

    if (!s)
        return false;
    set_guilds_and_channels_of_transfer(h, &positions);
    session_set_state(s, state);
    presence_update_online_members(s);
    h->session = s;
    registry_add_restored_session(h->to->gateway, s);
    if (s->bot && s->options.intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&h->to->gateway->presence_bots, 1);
    return true;
}

struct session_restore {
    struct session_store_read store_read;
    struct session_transfer *transfer;
    /* The serialised session, in the arena of the store read; empty if the store has none. */
    struct str bytes;
};

static enum err run_session_restore(struct session_store_read *l, struct tx *tx)
{
    struct session_restore *x = container_of(l, struct session_restore, store_read);
    const struct resume_request *r = x->transfer->resumption;

    x->bytes = STR("");
    return suspended_session_row_read_and_delete(tx, r->number, r->authentication.caller.id,
                                                 clock_ms(), &x->bytes);
}

static void on_session_restore_done(struct session_store_read *l, enum err e)
{
    struct session_restore *x = container_of(l, struct session_restore, store_read);
    struct session_transfer *h = x->transfer;

    /* The session missed all events of this process, whose event numbers start again. */
    if (!e && h->to->resume.retains_all &&
        session_transfer_deserialize(h, x->bytes, SESSION_ARRIVING))
        h->session->resume.delivered_elsewhere = h->session->presences = 0;
    mem_free(x);
    session_transfer_finish_on_target_loop(h);
}

void begin_restoring_suspended_session(struct resume_request *r)
{
    struct gateway_loop *here = r->authentication.socket->gateway_loop;
    struct session_restore *x = mem_new(sizeof *x);

    x->transfer = session_transfer_new(r, NULL);
    x->transfer->since = 0;
    x->store_read = (struct session_store_read){ .writes = true,
                                                 .run = run_session_restore,
                                                 .done = on_session_restore_done };
    begin_unordered_session_store_read(here, &x->store_read);
}
