/* suspend.c - sessions are put away when a server stops, for the next one.
 *
 * They lie in the store, where nothing happens while no server runs, or all that happens is in the
 * log of a cluster. They are written in
 * pieces, so that neither a loop nor the store is held for long; when it takes too long the rest
 * of them ends, and their clients begin anew. */
#include "gateway/resume/suspend.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

enum {
    PIECE_SESSIONS = 128,
    PIECE_BYTES = 1024 * 1024,
    SESSION_BYTES = 8 * 1024 * 1024,
    KEPT_COUNT = 128, /* what its client may not have read yet, beside what was not sent */
    KEPT_BYTES = 128 * 1024,
    LONGEST_MS = 10 * 1000,
    TIDY_BEATS = 60, /* seconds */
};

/* Some sessions of one loop, as bytes. */
struct parking_piece {
    struct gateway *gateway;
    struct arena *arena;
    struct parked_session sessions[PIECE_SESSIONS];
    size_t count, bytes;
    struct link *at; /* the session that comes next; NULL: the loop's first */
    bool last;
};

/* False: it ends here. */
static bool pack_session(struct parking_piece *p, struct session *s)
{
    const struct session_limits limits = { KEPT_COUNT, KEPT_BYTES };
    struct session_places places;
    struct buf out;

    buf_init(&out, SESSION_BYTES);
    session_places_read(s, &places);
    bool ok = session_write(s, &places, &limits, &out);
    if (ok)
        p->sessions[p->count++] = (struct parked_session){
            .number = s->number,
            .user_id = s->caller.id,
            .until_ms = clock_ms() + AWAY_MS,
            .body = str_dup(p->arena, buf_str(&out)),
        };
    p->bytes += ok ? out.n : 0;
    session_places_clear(&places);
    buf_clear(&out);
    return ok;
}

static void pack_piece(struct loop *loop, void *arg)
{
    struct parking_piece *p = arg;
    struct hub *h = p->gateway->hubs[loop_index(loop)];

    p->count = p->bytes = 0;
    if (!p->at)
        p->at = h->sessions.next;
    while (p->at != &h->sessions && p->count < PIECE_SESSIONS && p->bytes < PIECE_BYTES) {
        struct session *s = container_of(p->at, struct session, link);

        p->at = p->at->next;
        s->seen = h->position;
        s->parked = pack_session(p, s);
    }
    p->last = p->at == &h->sessions;
}

/* In a cluster whoever of the others is asked for it takes it up. */
static enum err park_one(const struct gateway *g, struct tx *tx, const struct parked_session *p)
{
    const struct gateway_source *source = g->options.source;
    bool moved = true;
    enum err e =
        g->cluster ? source->home_move(tx, p->number, cluster_identity(g->cluster), 0, &moved) : OK;

    return !e && moved ? source->park(tx, p) : e;
}

static enum err write_piece(struct tx *tx, void *arg)
{
    struct parking_piece *p = arg;
    enum err e = OK;

    for (size_t i = 0; i < p->count && !e; i++)
        e = park_one(p->gateway, tx, &p->sessions[i]);
    return e;
}

struct parking_drop {
    const struct gateway_source *source;
    bool more;
};

static enum err drop_some(struct tx *tx, void *arg)
{
    struct parking_drop *d = arg;

    return d->source->drop_parked(tx, &d->more);
}

/* Those whom nobody took up, in pieces. */
static enum err drop_old(struct gateway *g, struct arena *arena)
{
    struct parking_drop d = { g->options.source, true };
    enum err e = OK;

    while (d.more && !e) {
        arena_reset(arena);
        e = store_run(g->options.store, STORE_WRITE, arena, drop_some, &d);
    }
    return e;
}

static enum err park_loop(struct gateway *g, unsigned loop, struct arena *arena, int64_t until)
{
    struct parking_piece p = { .gateway = g, .arena = arena };
    enum err e = OK;

    while (!p.last && !e && clock_mono() < until) {
        arena_reset(arena);
        loop_call(loops_at(g->loops, loop), pack_piece, &p);
        if (p.count)
            e = store_run(g->options.store, STORE_WRITE, arena, write_piece, &p);
    }
    return e;
}

static enum err close_parking(struct tx *tx, void *arg)
{
    return ((struct gateway *)arg)->options.source->close_parking(tx);
}

/* Other machines may have ledgers that are not known here: their servers are waited for. */
static enum err tidy_homes(struct tx *tx, void *arg)
{
    const struct gateway *g = arg;
    int64_t now = clock_ms();
    struct list kept = { 0 };

    if (g->options.ledger)
        ledgers_tidy(g->options.ledger, now, tx_arena(tx), &kept);
    return g->options.source->homes_tidy(tx, cluster_identity(g->cluster), &kept,
                                         cluster_is_alone(g->cluster) ? 0 : AWAY_MS, now);
}

/* --- from time to time ---------------------------------------------------------------- */

struct homes_tidying {
    struct load load;
    struct post post;
    struct hub *hub;
};

/* Other machines may have ledgers that are not known here: everybody is waited for. */
static enum err tidy_lost_homes(struct load *l, struct tx *tx)
{
    const struct gateway *g = l->hub->gateway;
    int64_t now = clock_ms();
    struct list kept = { 0 };

    if (g->options.ledger)
        ledgers_tidy(g->options.ledger, now, tx_arena(tx), &kept);
    return g->options.source->homes_tidy(tx, 0, &kept, AWAY_MS, now);
}

static void lost_homes_tidied(struct load *l, enum err e)
{
    (void)e; /* it is tried again */
    mem_free(container_of(l, struct homes_tidying, load));
}

static void tidying_begin(struct post *post)
{
    struct homes_tidying *t = container_of(post, struct homes_tidying, post);

    t->load = (struct load){
        .writes = true, .own_rows = true, .run = tidy_lost_homes, .done = lost_homes_tidied
    };
    hub_load_now(t->hub, &t->load);
}

void gateway_tidy_homes(struct gateway *g)
{
    int64_t rank, living;

    cluster_share(g->cluster, &rank, &living);
    if (rank || ++g->beats % TIDY_BEATS)
        return;
    pthread_mutex_lock(&g->publishing);
    if (g->hub_count && !g->draining) {
        struct homes_tidying *t = mem_new(sizeof *t);

        t->post.run = tidying_begin;
        t->hub = g->hubs[0];
        loop_post(t->hub->loop, &t->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* --- the end -------------------------------------------------------------------------- */

void parking_fill(struct gateway *g, unsigned loops)
{
    struct arena *arena = arena_new();
    int64_t until = clock_mono() + (int64_t)LONGEST_MS * 1000000;
    enum err e = OK;

    if (g->options.parks && g->session_count) {
        e = g->cluster ? OK : drop_old(g, arena);
        for (unsigned i = 0; i < loops && !e; i++)
            e = park_loop(g, i, arena, until);
        if (!e)
            e = store_run(g->options.store, STORE_WRITE, arena,
                          g->cluster ? tidy_homes : close_parking, g);
        if (e)
            log_warn("gateway: sessions could not be put away; their clients begin anew");
    }
    arena_free(arena);
}

/* --- the next start ------------------------------------------------------------------- */

static void record_hub(struct loop *loop, void *arg)
{
    struct gateway *g = arg;

    hub_record(g->hubs[loop_index(loop)]);
}

struct parking_open {
    const struct gateway_source *source;
    bool some;
};

static enum err open_parking(struct tx *tx, void *arg)
{
    struct parking_open *o = arg;

    return o->source->open_parking(tx, &o->some);
}

void gateway_wake(struct gateway *g)
{
    struct parking_open o = { .source = g->options.source };
    struct arena *arena = arena_new();

    if (g->cluster) {
        if (store_run(g->options.store, STORE_WRITE, arena, tidy_homes, g))
            log_warn("gateway: what other servers left of their sessions stays for now");
    } else if (g->options.parks &&
               !store_run(g->options.store, STORE_WRITE, arena, open_parking, &o) && o.some)
        for (unsigned i = 0; i < g->hub_count; i++)
            loop_call(g->hubs[i]->loop, record_hub, g);
    arena_free(arena);
}
