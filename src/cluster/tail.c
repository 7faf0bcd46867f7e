/* tail.c - the thread that follows the log.
 *
 * The thread reads the log from the next undelivered position on. Frames of this node, and those
 * that NATS delivered, have usually been delivered already.
 *
 * Concurrent commits of one node cause gaps all the time, and each closes within a moment. So a
 * gap triggers a read only after 2 ms. */
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/planted.h"
#include "cluster/internal.h"

enum {
    ALONE_MS = 50, /* read interval without other nodes */
    WIRED_MS = 50, /* read interval with other nodes, if NATS is connected */
    IDLE_MS = 10,  /* read interval with other nodes, without NATS */
    BUSY_MS = 2,   /* read interval while other nodes commit, or a reply waits */
    STAY_MS = 200, /* how long after a frame other nodes count as busy */
    PAGE = 512,
    WAIT_AFTER_FAILURE_MS = 100,
};

void tail_hurry(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    c->hurry = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
}

void tail_look_soon(struct cluster *c)
{
    int64_t at = clock_mono() + ms_to_ns(BUSY_MS), missing = line_next(c->line);

    pthread_mutex_lock(&c->lock);
    if (!c->look_at) {
        c->look_at = at;
        c->look_for = missing;
        pthread_cond_signal(&c->woken);
    }
    pthread_mutex_unlock(&c->lock);
}

struct page_read {
    struct cluster *cluster;
    int64_t last;
    uint64_t count;
};

static const char READ_LOG[] =
    "select position, body from log where position >= $1 order by position limit $2";

static enum err read_page(struct tx *tx, void *arg)
{
    struct page_read *p = arg;
    struct rows r;

    p->last = 0;
    p->count = 0;
    enum err e = tx_query(tx, READ_LOG, BIND(v_int(line_next(p->cluster->line)), v_int(PAGE)), &r);
    if (e)
        return e;
    for (; rows_next(&r); p->count++) {
        p->last = row_int(&r, 0);
        line_offer(p->cluster->line, p->last, row_bytes(&r, 1), NULL);
    }
    return rows_end(&r);
}

enum err tail_read(struct cluster *c, int64_t *ret_last, bool *ret_more)
{
    struct page_read p = { .cluster = c };
    bool reads = !fault_planted(PLANTED_NO_TAIL) || !atomic_load(&c->wire.connected);

    arena_reset(c->arena);
    enum err e = reads ? cluster_run(c, STORE_READ, read_page, &p) : OK;
    *ret_last = p.last;
    *ret_more = p.count == PAGE;
    atomic_fetch_add(&c->count.frames_read, p.count);
    return e;
}

/* Revocations that committed before the query was sent are in its result. Once they are applied,
 * all cached credentials were valid at the time of the query. */
static void note_fresh(struct cluster *c, int64_t asked, int64_t last)
{
    if (last && line_next(c->line) <= last)
        return;
    atomic_store(&c->fresh_at, asked);
    c->options.fresh(c->options.arg, asked + ms_to_ns(FRESH_MS));
}

static enum err tail_follow(struct cluster *c)
{
    int64_t last;
    bool more = true;

    while (more) {
        int64_t asked = clock_mono();
        enum err e = tail_read(c, &last, &more);

        if (e)
            return e;
        if (last)
            c->follow.busy_until = asked + ms_to_ns(STAY_MS);
        if (!more)
            note_fresh(c, asked, last);
        /* If the page begins after a gap, the next position does not advance. */
        more = more && line_next(c->line) > last;
    }
    return OK;
}

static enum err tail_beat(struct cluster *c)
{
    int64_t now = clock_mono();

    if (now - c->follow.beat_at < ms_to_ns(BEAT_MS))
        return OK;
    c->follow.beat_at = now;
    enum err e = nodes_beat(c);
    if (!e)
        parts_tend(c);
    if (!e && store_unfinished(c->options.store))
        store_side_finish(c->side); /* on failure the next heartbeat retries */
    return e;
}

/* Newer servers may have applied a migration that this program cannot use while it was paused.
 * Then this node cannot connect, and its sessions continue on other nodes. */
static void tail_give_up(struct cluster *c)
{
    if (c->follow.lost || !store_outgrown(c->options.store))
        return;
    c->follow.lost = true;
    c->options.lost(c->options.arg);
}

/* Publishes the position of this node, for which a node that revoked a credential waits. */
static enum err tail_acknowledge(struct cluster *c)
{
    int64_t to_ack = atomic_load(&c->to_ack);

    if (to_ack <= c->follow.acked)
        return OK;
    enum err e = nodes_tell_position(c);
    if (!e)
        c->follow.acked = to_ack;
    return e;
}

static struct timespec time_at(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = (long)(ns % 1000000000) };
}

/* Sleeps until that time, or until tail_hurry. Returns whether tail_hurry was called. */
static bool tail_sleep(struct cluster *c, int64_t until)
{
    pthread_mutex_lock(&c->lock);
    while (!c->hurry && !c->ending) {
        int64_t first = c->look_at && c->look_at < until ? c->look_at : until;
        struct timespec at = time_at(first);

        if (clock_mono() >= first)
            break;
        pthread_cond_timedwait(&c->woken, &c->lock, &at);
    }
    bool hurried = c->hurry;
    c->follow.missed = c->look_at && clock_mono() >= c->look_at ? c->look_for : 0;
    c->hurry = false;
    c->look_at = 0;
    pthread_mutex_unlock(&c->lock);
    return hurried;
}

static bool is_ending(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    bool ending = c->ending;
    pthread_mutex_unlock(&c->lock);
    return ending;
}

/* Returns the interval of periodic reads of the log, in ms. */
static int64_t tail_interval(struct cluster *c)
{
    if (atomic_load(&c->count.nodes) == 1)
        return ALONE_MS;
    if (atomic_load(&c->wire.connected))
        return WIRED_MS;
    return clock_mono() < c->follow.busy_until ? BUSY_MS : IDLE_MS;
}

static bool is_time_to_read(struct cluster *c)
{
    return clock_mono() >= c->follow.follow_at || settle_age(c) >= ms_to_ns(BUSY_MS) ||
           c->follow.missed == line_next(c->line);
}

/* Does all work that is due. Returns when to run next. */
static int64_t tail_turn(struct cluster *c, bool hurried)
{
    enum err e = OK;

    if (hurried || is_time_to_read(c)) {
        e = tail_follow(c);
        c->follow.follow_at = clock_mono() + ms_to_ns(tail_interval(c));
    }
    if (!e)
        e = history_look(c);
    if (!e)
        e = tail_acknowledge(c);
    if (!e)
        e = tail_beat(c);
    if (e)
        tail_give_up(c);
    if (c->options.bus.n) /* also without a connection, so that counts do not accumulate */
        c->options.tell_counts(c->options.arg);
    bool missing = !e && settle_step(c);
    bool waited = waits_look(c);
    if (e && !waited)
        c->follow.follow_at = clock_mono() + ms_to_ns(WAIT_AFTER_FAILURE_MS);
    int64_t soon = clock_mono() + ms_to_ns(BUSY_MS);
    return (missing || waited) && soon < c->follow.follow_at ? soon : c->follow.follow_at;
}

void *tail_live(void *arg)
{
    struct cluster *c = arg;
    bool hurried = true;

    while (!is_ending(c))
        hurried = tail_sleep(c, tail_turn(c, hurried));
    return NULL;
}
