/* cluster.c - joins and leaves the cluster, publishes frames and delivers them on this node. */
#include "cluster/cluster.h"

#include <sodium.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/planted.h"
#include "cluster/internal.h"

enum { READY_MS = 5000, START_MS = 10000 };

/* Delivers voice changes before the events of the frame, so that a muted user is silent before
 * clients are notified. A claim is a socket on the origin node; other nodes ignore it. */
static void tell_voices(struct cluster *c, const struct frame *f)
{
    for (const struct noted_voice *v = f->voices; v; v = v->next) {
        struct voice_fact fact = v->fact;

        if (f->origin != c->identity)
            fact.claim = 0;
        c->options.voice(c->options.arg, &fact);
    }
}

static void tell_frame(void *arg, int64_t position, const struct frame *f)
{
    struct cluster *c = arg;

    /* Revocations of this node took effect at the commit. */
    if (f->origin != c->identity && f->forgotten) {
        for (const struct forgotten *o = f->forgotten; o; o = o->next)
            c->options.forget(c->options.arg, o);
        atomic_store(&c->to_ack, position);
        tail_hurry(c); /* the revoking node waits for this node's acknowledgement */
    }
    tell_voices(c, f);
    if (f->announced && !(f->origin == c->identity && fault_planted(PLANTED_EARLY_EVENTS)))
        c->options.announce(c->options.arg, position, f->announced);
    /* A session move is delivered after all events before it, so that the session has received
     * them. */
    if (f->move && (f->move->from == c->identity || f->move->to == c->identity))
        c->options.move(c->options.arg, f->move);
}

void cluster_log(struct cluster *c, struct tx *tx, struct frame f)
{
    f.origin = c->identity;
    if (fault_planted(PLANTED_EARLY_EVENTS) && f.announced)
        c->options.announce(c->options.arg, 0, f.announced);
    if (frame_is_needed(&f))
        tx_log(tx, frame_encode(&f, tx_arena(tx)));
}

static void offer_own(struct cluster *c, const struct work *w, const struct frame *f)
{
    atomic_fetch_add(&c->count.frames_own, 1);
    if (c->options.alone) {
        /* There is no other writer, so missing positions were aborted. */
        line_void(c->line, w->position - 1);
        line_offer(c->line, w->position, w->log, f);
        return;
    }
    cluster_wire_send(c, w->position, w->log);
    line_offer(c->line, w->position, w->log, f);
    /* An earlier position is missing: another node's frame, which is in the log or soon will be. */
    if (line_next(c->line) <= w->position)
        tail_look_soon(c);
}

/* Called for an aborted position, so that later frames need not wait until the log is read. */
static void hear_void(void *arg, int64_t position)
{
    struct cluster *c = arg;

    line_offer(c->line, position, STR(""), NULL);
}

/* Publishes transient events, which are not in the log: a node that misses the message never
 * gets them. */
static void tell_fleeting(struct cluster *c, struct frame *f)
{
    if (atomic_load(&c->wire.connected)) {
        struct arena *arena = arena_new();

        cluster_wire_send(c, 0, frame_encode(f, arena));
        arena_free(arena);
    }
    c->options.announce(c->options.arg, 0, f->announced);
}

void cluster_committed(struct cluster *c, const struct work *w, struct frame f)
{
    f.origin = c->identity;
    if (!w->position) {
        if (f.announced)
            tell_fleeting(c, &f);
        return;
    }
    offer_own(c, w, &f);
}

void cluster_log_move(struct cluster *c, struct tx *tx, const struct session_move *m)
{
    struct frame f = { .origin = c->identity, .move = m };

    tx_log(tx, frame_encode(&f, tx_arena(tx)));
}

void cluster_moved(struct cluster *c, const struct work *w, const struct session_move *m)
{
    struct frame f = { .origin = c->identity, .move = m };

    if (w->position)
        offer_own(c, w, &f);
}

uint32_t cluster_identity(const struct cluster *c)
{
    return c->identity;
}

bool cluster_is_alone(const struct cluster *c)
{
    return c->options.alone;
}

int64_t cluster_position(const struct cluster *c)
{
    return line_next(c->line) - 1;
}

static enum err find_position(struct tx *tx, void *arg)
{
    int64_t *next = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select last_value, is_called from log_position", NO_BIND, &r, &found);

    if (!e)
        *next = row_int(&r, 0) + row_bool(&r, 1);
    return e;
}

/* Finds the next position of the log, and waits until all transactions with earlier positions
 * have ended, so that every later read of the database sees their writes. */
static enum err find_beginning(struct cluster *c, int64_t *ret)
{
    struct str bound;
    bool ended = false;
    int64_t since = clock_mono();
    enum err e = cluster_run(c, STORE_READ, find_position, ret);

    if (!e)
        e = settle_bound(c, c->arena, &bound);
    while (!e && !ended) {
        e = settle_ended(c, bound, false, &ended);
        if (!ended)
            nanosleep(&(struct timespec){ .tv_nsec = 2 * 1000000 }, NULL);
        if (!ended && clock_mono() - since > ms_to_ns(START_MS)) {
            log_error("cluster: cannot start: a transaction of another node does not end");
            e = ERR_UNAVAILABLE;
        }
    }
    return e;
}

static enum err find_end(struct tx *tx, void *arg)
{
    int64_t *next = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select coalesce(max(position), 0) from log", NO_BIND, &r, &found);

    if (!e)
        *next = row_int(&r, 0) + 1;
    return e;
}

static enum err enter_alone(struct cluster *c, int64_t *ret)
{
    c->identity = 1 + randombytes_uniform(UINT32_MAX - 1);
    atomic_store(&c->count.nodes, 1);
    return store_run(c->options.store, STORE_READ, c->arena, find_end, ret);
}

/* Registers this node in the cluster. */
static enum err enter_others(struct cluster *c, int64_t *ret)
{
    c->identity = store_identity(c->options.store);
    c->node = store_identity_node(c->identity);
    c->side = store_side_new(c->options.store);
    enum err e = nodes_enter(c);
    if (!e)
        e = find_beginning(c, ret);
    return e ? e : cluster_wire_open(c);
}

static void init_waking(struct cluster *c)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->woken, &attr);
    pthread_condattr_destroy(&attr);
}

enum err cluster_open(const struct cluster_options *options, struct cluster **ret)
{
    struct cluster *c = mem_new(sizeof *c);
    int64_t next = 0;

    c->options = *options;
    c->arena = arena_new();
    c->settling.arena = arena_new();
    links_init(&c->waits);
    init_waking(c);
    enum err e = options->alone ? enter_alone(c, &next) : enter_others(c, &next);
    if (e) {
        log_error("cluster: cannot register this server as node %u", c->node);
        cluster_close(c);
        return e;
    }
    struct line_sink sink = { c, tell_frame };
    c->line = line_new(&sink, next);
    if (!options->alone)
        line_remember(c->line);
    store_hear_voids(options->store, hear_void, c);
    *ret = c;
    return OK;
}

void cluster_start(struct cluster *c)
{
    if (c->options.alone)
        return;
    /* No heartbeats of other nodes were received yet: declare no node dead for two leases
     * (may_bury). */
    c->follow.bury_at = clock_mono() + ms_to_ns(2 * LEASE_MS);
    if (pthread_create(&c->thread, NULL, tail_live, c) != 0) {
        log_error("cluster: cannot start a thread");
        abort();
    }
    c->has_thread = true;
    cluster_wire_start(c);
}

void cluster_close(struct cluster *c)
{
    if (!c)
        return;
    store_hear_voids(c->options.store, NULL, NULL);
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    cluster_wire_close(c); /* after the thread, which uses NATS */
    if (c->line && c->side)
        nodes_leave(c);
    line_free(c->line);
    store_side_free(c->side);
    pthread_cond_destroy(&c->woken);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->settling.arena);
    arena_free(c->arena);
    mem_free(c);
}

void cluster_share(const struct cluster *c, int64_t *ret_rank, int64_t *ret_living)
{
    uint64_t living = atomic_load(&c->count.nodes), rank = atomic_load(&c->rank);

    *ret_living = living > 1 ? (int64_t)living : 1;
    *ret_rank = rank < living ? (int64_t)rank : 0;
}

static int64_t behind_ms(const struct cluster *c)
{
    int64_t fresh_at = atomic_load(&c->fresh_at);

    return fresh_at ? (clock_mono() - fresh_at) / 1000000 : READY_MS;
}

bool cluster_ready(const struct cluster *c)
{
    return !line_unreadable(c->line) &&
           (c->options.alone || (behind_ms(c) < READY_MS && !atomic_load(&c->clock_off)));
}

unsigned cluster_apart(const struct cluster *c)
{
    uint64_t nodes = atomic_load_explicit(&c->count.nodes, memory_order_relaxed);

    return atomic_load(&c->wire.connected) || nodes < 1 ? 1 : (unsigned)nodes;
}

void cluster_stats(const struct cluster *c, struct cluster_stats *ret)
{
    *ret = (struct cluster_stats){
        .position = line_next(c->line) - 1,
        .frames_own = c->count.frames_own,
        .frames_read = c->count.frames_read,
        .holes = c->count.holes,
        .voids = c->count.voids,
        .unreadable = line_unreadable(c->line),
        .behind_ms = c->options.alone ? 0 : (uint64_t)behind_ms(c),
        .nodes = c->count.nodes,
        .offset_ms = c->offset_ms,
        .frames_heard = c->wire.heard,
        .frames_refused = c->wire.refused,
        .has_wire = c->wire.nats,
        .connected = c->wire.connected,
    };
}
