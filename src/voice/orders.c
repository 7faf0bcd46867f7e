/* orders.c - queues the voice opcodes of gateway sessions and runs them in order.
 *
 * Each session has a queue (struct line); its first opcode runs in its own transaction. Two rate
 * limits apply: joins per account (paces.h), and VOICE_SERVER_UPDATE per guild (bots) or session
 * (users), at most once per second after a burst of three, because some clients send op 4 again at
 * once when the endpoint does not answer. */
#include "voice/internal.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "voice/held.h"
#include "voice/homes.h"
#include "voice/lease.h"
#include "voice/paces.h"

/* Limit of VOICE_SERVER_UPDATE: one per PAUSE_MS, with bursts of BURST. */
enum { PAUSE_MS = 1000, BURST = 3 };

/* Rate-limit state of VOICE_SERVER_UPDATE, per guild of a bot or per user session. */
struct spot {
    snowflake channel_id;
    int64_t paid_ms; /* token bucket: time used up by past updates, PAUSE_MS each */
    bool owed;       /* a delayed update is scheduled */
};

/* Queue of the opcodes of a session; freed after the session has ended. */
struct line {
    uint64_t session;
    bool busy;           /* the first opcode runs or is about to run */
    bool ended;          /* the session has ended */
    bool needed;         /* an opcode was queued, or the session has voice states */
    unsigned returns;    /* pending reads of voice states after a restart */
    struct link waiting; /* struct session_order */
    struct link repeats; /* struct session_order: delayed updates */
    struct map spots;    /* struct spot by guild of a bot, or 0 */
};

struct voice {
    struct api *api;
    struct loops *loops;
    struct deadlines **later; /* one per loop */
    struct lease *lease;
    struct home_watch *homes; /* NULL: there are no other nodes */
    pthread_mutex_t lock;     /* protects the members below */
    struct map lines;         /* struct line by session */
    struct map refusals;      /* see held.h */
    struct paces *paces;
};

static int64_t now_ms(void)
{
    return clock_mono() / 1000000;
}

static struct session_order *order_first(const struct link *list)
{
    return container_of(list->next, struct session_order, link);
}

static void drop_orders(struct link *list)
{
    while (!links_empty(list)) {
        struct session_order *o = order_first(list);

        link_remove(&o->link);
        arena_free(o->arena);
    }
}

/* --- queues; call these functions with the lock held ------------------------------------ */

static struct line *line_make(struct voice *v, uint64_t session)
{
    struct line *l = map_get(&v->lines, session);

    if (l)
        return l;
    l = mem_new(sizeof *l);
    l->session = session;
    links_init(&l->waiting);
    links_init(&l->repeats);
    map_init(&l->spots);
    map_put(&v->lines, session, l);
    return l;
}

static void line_free(struct line *l)
{
    size_t at = 0;

    for (struct spot *p; (p = map_next(&l->spots, &at));)
        mem_free(p);
    map_clear(&l->spots);
    drop_orders(&l->waiting);
    drop_orders(&l->repeats);
    mem_free(l);
}

static struct spot spot_before(void)
{
    return (struct spot){ .paid_ms = now_ms() };
}

static struct spot *spot_make(struct line *l, snowflake place)
{
    struct spot *p = map_get(&l->spots, place);

    if (p)
        return p;
    p = mem_new(sizeof *p);
    *p = spot_before();
    map_put(&l->spots, place, p);
    return p;
}

static void order_advance(struct voice *v, uint64_t session);

static void advance_posted(struct post *post)
{
    struct session_order *o = container_of(post, struct session_order, post);

    order_advance(o->voice, o->session);
}

static enum err order_run(struct call *call)
{
    struct session_order *o = call_passed(call, "session_order");

    o->told = o->owed = false;
    return o->row->run(call, o);
}

static enum err leave_everywhere(struct call *call, struct session_order *o)
{
    struct list states;
    enum err e = voice_of_session(call->tx, o->session_id, &states);

    return e ? e : voice_leave_all(call, &states);
}

static const struct voice_opcode repeat_row = { .run = repeat_voice_server };
static const struct voice_opcode leave_row = { .run = leave_everywhere };

/* Schedules the delayed VOICE_SERVER_UPDATE. */
static void repeat_later(struct line *l, const struct session_order *o)
{
    struct arena *arena = arena_new();
    struct session_order *again = arena_alloc(arena, sizeof *again);

    *again = (struct session_order){
        .caller = o->caller,
        .session = o->session,
        .session_id = str_dup(arena, o->session_id),
        .place = o->place,
        .row = &repeat_row,
        .voice = o->voice,
        .loop = o->loop,
        .arena = arena,
    };
    links_append(&l->repeats, &again->link);
    deadline_touch(o->voice->later[loop_index(o->loop)], &again->later);
}

/* Records that VOICE_SERVER_UPDATE was sent or delayed. Stores nothing for a guild without updates,
 * because a client could name any number of guilds. */
static void order_note(struct line *l, const struct session_order *o)
{
    if (!o->told && !o->owed && !map_get(&l->spots, o->place))
        return;
    struct spot *p = spot_make(l, o->place);

    if (o->row == &repeat_row)
        p->owed = false;
    else
        p->channel_id = o->target;
    if (o->told)
        p->paid_ms = (p->paid_ms > now_ms() ? p->paid_ms : now_ms()) + PAUSE_MS;
    if (o->owed && !p->owed) {
        p->owed = true;
        repeat_later(l, o);
    }
}

static void order_done(struct call *call, enum err e, void *arg)
{
    struct session_order *o = arg;
    struct voice *v = o->voice;
    uint64_t session = o->session;

    (void)call;
    if (e)
        log_warn("voice: gateway opcode %d of account %llu failed: %s", o->row->op,
                 (unsigned long long)o->caller.id, error_info(e)->message);
    pthread_mutex_lock(&v->lock);
    struct line *l = map_get(&v->lines, session);
    bool again = e && o->row == &leave_row;
    if (!e && (o->row->aim || o->row == &repeat_row))
        order_note(l, o);
    if (again) {
        /* The session has ended, so its leave is retried until it succeeds. */
        links_append(&l->waiting, &o->link);
        deadline_touch(v->later[loop_index(o->loop)], &o->later);
    }
    pthread_mutex_unlock(&v->lock);
    if (again)
        return;
    arena_free(o->arena);
    order_advance(v, session);
}

static void order_start(struct session_order *o)
{
    errand_start(o->voice->api, o->loop,
                 &(struct errand){ .name = "voice_order",
                                   .caller = &o->caller,
                                   .store = ROUTE_STORE_WRITE,
                                   .run = order_run,
                                   .done = order_done,
                                   .type = "session_order",
                                   .data = o,
                                   .arg = o });
}

/* Whether the first opcode may run now. Otherwise it continues on its own loop or later. */
static bool is_its_turn(struct line *l, struct session_order *o)
{
    const struct spot before = spot_before(), *known = map_get(&l->spots, o->place);
    const struct spot *p = known ? known : &before;
    bool joins = o->row->aim && o->target && o->target != p->channel_id;

    if (loop_current() != o->loop) {
        o->post.run = advance_posted;
        loop_post(o->loop, &o->post);
        return false;
    }
    if (joins && !l->ended && !paces_admit(o->voice->paces, o->caller.id)) {
        deadline_touch(o->voice->later[loop_index(o->loop)], &o->later);
        return false;
    }
    o->quiet = p->owed || p->paid_ms - now_ms() > (BURST - 1) * PAUSE_MS;
    return true;
}

/* Starts the first opcode of a busy queue. */
static void order_advance(struct voice *v, uint64_t session)
{
    struct session_order *next = NULL;

    pthread_mutex_lock(&v->lock);
    struct line *l = map_get(&v->lines, session);
    if (!l || api_draining(v->api)) {
        pthread_mutex_unlock(&v->lock);
        return;
    }
    if (links_empty(&l->waiting)) {
        l->busy = false;
        if (l->ended && links_empty(&l->repeats) && !l->returns) {
            map_remove(&v->lines, session);
            line_free(l);
        }
    } else if (is_its_turn(l, order_first(&l->waiting))) {
        next = order_first(&l->waiting);
        link_remove(&next->link);
    }
    pthread_mutex_unlock(&v->lock);
    if (next)
        order_start(next);
}

static void line_up(struct voice *v, struct session_order *o, bool last)
{
    pthread_mutex_lock(&v->lock);
    struct line *l = line_make(v, o->session);
    bool go = !l->busy;

    l->ended = l->ended || last;
    l->busy = l->needed = true;
    links_append(&l->waiting, &o->link);
    pthread_mutex_unlock(&v->lock);
    if (go)
        order_advance(v, o->session);
}

/* The delay is over: retries the first opcode, or queues the delayed update. */
static void order_expired(struct deadline *d)
{
    struct session_order *o = container_of(d, struct session_order, later);
    struct voice *v = o->voice;

    if (o->row != &repeat_row) {
        order_advance(v, o->session);
        return;
    }
    pthread_mutex_lock(&v->lock);
    link_remove(&o->link);
    pthread_mutex_unlock(&v->lock);
    line_up(v, o, false);
}

/* --- calls from the gateway ----------------------------------------------------------- */

static struct session_order *order_new(struct voice *v, const struct gateway_caller *who,
                                       const struct voice_opcode *row)
{
    struct arena *arena = arena_new();
    struct session_order *o = arena_alloc(arena, sizeof *o);

    o->caller = *who->caller;
    o->session = who->session;
    o->session_id = str_dup(arena, str_of(who->session_id));
    o->address = str_dup(arena, who->address);
    o->client = who->client;
    o->row = row;
    o->voice = v;
    o->loop = loop_current();
    o->arena = arena;
    return o;
}

static const struct voice_opcode *row_of(int op)
{
    for (const struct voice_opcode *r = voice_command_rows; r->type; r++)
        if (r->op == op)
            return r;
    return NULL;
}

bool voice_command(struct voice *v, const struct gateway_caller *who, int op, struct str d)
{
    const struct voice_opcode *row = row_of(op);

    if (!v || !row || api_draining(v->api))
        return true;
    struct session_order *o = order_new(v, who, row);
    struct form form = { .arena = o->arena };
    void *decoded;

    if (schema_decode(row->type, str_dup(o->arena, d), &form, &decoded)) {
        arena_free(o->arena);
        return false;
    }
    o->d = decoded;
    if (row->aim)
        row->aim(o);
    line_up(v, o, false);
    return true;
}

void voice_ended(struct voice *v, const struct gateway_caller *who)
{
    if (!v || api_draining(v->api))
        return;
    pthread_mutex_lock(&v->lock);
    bool known = map_get(&v->lines, who->session);
    pthread_mutex_unlock(&v->lock);
    if (known)
        line_up(v, order_new(v, who, &leave_row), true);
}

/* --- after a restart ------------------------------------------------------------------ */

/* Creates a queue, so that the end of the session is handled. */
static void line_open(struct voice *v, uint64_t session)
{
    pthread_mutex_lock(&v->lock);
    line_make(v, session)->returns++;
    pthread_mutex_unlock(&v->lock);
}

void voice_line_settle(struct voice *v, uint64_t session, bool found)
{
    pthread_mutex_lock(&v->lock);
    struct line *l = map_get(&v->lines, session);
    if (l) {
        l->needed = l->needed || found;
        if (!--l->returns && !l->needed) {
            map_remove(&v->lines, session);
            line_free(l);
        }
    }
    pthread_mutex_unlock(&v->lock);
}

/* Whether the session has a queue: then it was on this process before, because a restart clears all
 * queues. */
static bool line_is_known(struct voice *v, uint64_t session)
{
    pthread_mutex_lock(&v->lock);
    bool known = map_get(&v->lines, session);
    pthread_mutex_unlock(&v->lock);
    return known;
}

void voice_resumed(struct voice *v, const struct gateway_caller *who)
{
    if (!v || api_draining(v->api) || line_is_known(v, who->session))
        return;
    line_open(v, who->session);
    voice_return_resumed(v, v->api, who);
}

void voice_refused(struct voice *v, snowflake user_id)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    refusals_note(&v->refusals, user_id);
    pthread_mutex_unlock(&v->lock);
}

void voice_entered(struct voice *v, const struct gateway_caller *who, snowflake guild_id)
{
    if (!v || api_draining(v->api))
        return;
    pthread_mutex_lock(&v->lock);
    bool refused = refusals_have(&v->refusals, who->caller->id);
    pthread_mutex_unlock(&v->lock);
    if (!refused)
        return;
    line_open(v, who->session);
    voice_return_begun(v, v->api, who, guild_id);
}

static void open_desk(struct loop *loop, void *arg)
{
    struct voice *v = arg;

    v->later[loop_index(loop)] = deadlines_new(loop, PAUSE_MS, false, order_expired);
}

static void close_desk(struct loop *loop, void *arg)
{
    struct voice *v = arg;

    deadlines_free(v->later[loop_index(loop)]);
}

static void on_lease(void *arg)
{
    struct voice *v = arg;

    pthread_mutex_lock(&v->lock);
    paces_forget(v->paces);
    refusals_forget(&v->refusals, false);
    pthread_mutex_unlock(&v->lock);
    home_watch_tick(v->homes);
}

enum err voice_open_rooms(struct voice *v, const char *endpoint)
{
    voice_set_relay(endpoint);
    return v->homes ? home_watch_open(v->homes, endpoint) : OK;
}

void voice_give_up_rooms(struct voice *v)
{
    if (v && v->homes)
        home_watch_close(v->homes);
}

enum err voice_start(struct api *api, struct loops *loops, struct voice **ret)
{
    struct voice *v = mem_new(sizeof *v);

    v->api = api;
    v->loops = loops;
    v->later = mem_new(loops_count(loops) * sizeof *v->later);
    pthread_mutex_init(&v->lock, NULL);
    map_init(&v->lines);
    map_init(&v->refusals);
    v->paces = paces_new(!api_options(api)->limits.off);
    for (unsigned i = 0; i < loops_count(loops); i++)
        loop_call(loops_at(loops, i), open_desk, v);
    if (api_options(api)->cluster && !cluster_is_alone(api_options(api)->cluster))
        v->homes = home_watch_new(api, loops_at(loops, 0));
    *ret = v;
    return lease_begin(api, loops_at(loops, 0), on_lease, v, &v->lease);
}

void voice_stop(struct voice *v)
{
    if (!v)
        return;
    lease_end(v->lease);
    v->lease = NULL;
    for (unsigned i = 0; i < loops_count(v->loops); i++)
        loop_call(loops_at(v->loops, i), close_desk, v);
}

void voice_free(struct voice *v)
{
    size_t at = 0;

    if (!v)
        return;
    for (struct line *l; (l = map_next(&v->lines, &at));)
        line_free(l);
    map_clear(&v->lines);
    refusals_forget(&v->refusals, true);
    map_clear(&v->refusals);
    paces_free(v->paces);
    home_watch_free(v->homes);
    pthread_mutex_destroy(&v->lock);
    mem_free(v->later);
    mem_free(v);
}

size_t voice_places_kept(struct voice *v)
{
    size_t at = 0, count = 0;

    pthread_mutex_lock(&v->lock);
    for (struct line *l; (l = map_next(&v->lines, &at));)
        count += l->spots.count;
    pthread_mutex_unlock(&v->lock);
    return count;
}
