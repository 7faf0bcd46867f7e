/* replication.c - sends the records of this node's journal to its replica. */
#include "gateway/resume/journal/replication.h"

#include <limits.h>

#include "base/mem.h"
#include "base/planted.h"
#include "base/serial.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/registry.h"

enum {
    MESSAGE_BYTES = 1 << 20,
    HERE_BYTES = 64,
    PIECE_BYTES = 256 * 1024, /* at this size a message is sent immediately */
    ROUND_TICKS = 10,         /* seconds */
    REST_TICKS = 3,           /* pause between two rounds after lost messages */
    STEP_MS = 250,
    ROUND_STEPS = ROUND_TICKS * 1000 / STEP_MS,
    STEP_LEAST = 256,        /* minimum of sessions per step */
    STEP_BYTES = 512 * 1024, /* maximum of bytes per step */
    MOST_UNSENT = 1 << 20,   /* bytes; above this limit a round waits */
};

void replication_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                            uint64_t position)
{
    serial_put(out, REPLICA_RECORDS);
    serial_put(out, identity);
    serial_put(out, JOURNAL_MAGIC);
    serial_put(out, hub);
    serial_put(out, message);
    serial_put(out, position);
}

void replication_write_all(struct buf *out, uint64_t number, const struct journal_slot *slot,
                           uint64_t hub_position)
{
    serial_put(out, RECORD_ALL);
    serial_put(out, number);
    serial_put(out, journal_slot_position(slot, hub_position));
    buf_add(out, (const void *)slot, offsetof(struct journal_slot, presence));
    serial_put_bytes(out, str_slice(slot->presence, slot->presence_n));
}

bool replication_write_sent(struct buf *out, uint64_t number, const struct journal_slot *slot,
                            uint64_t after)
{
    uint64_t count = slot->seq - after;

    if (count >= JOURNAL_SENT)
        return false;
    if (fault_planted(PLANTED_BLIND_KEEPER))
        return true;
    serial_put(out, RECORD_SENT);
    serial_put(out, number);
    serial_put(out, slot->seq);
    serial_put(out, count);
    for (uint64_t seq = after + 1; seq <= slot->seq; seq++)
        serial_put(out, slot->sent[seq % JOURNAL_SENT]);
    return true;
}

void replication_write_end(struct buf *out, uint64_t number)
{
    serial_put(out, RECORD_END);
    serial_put(out, number);
}

/* position 0: unsent sessions may be behind the position of the loop. */
static void replication_send(struct replication *c, uint64_t position)
{
    const struct gateway *g = c->hub->gateway;
    struct buf message;

    buf_init(&message, MESSAGE_BYTES);
    replication_write_head(&message, cluster_identity(g->cluster), loop_index(c->hub->loop),
                           ++c->messages, position);
    buf_add_str(&message, buf_str(&c->out));
    buf_reset(&c->out);
    /* Else the replica notices the gap, as if NATS had refused the message. */
    if (!buf_full(&message))
        cluster_tell_one(g->cluster, c->node, CLUSTER_LEDGERS, buf_str(&message));
    buf_clear(&message);
}

static void session_replicate(struct replication *c, struct session *s)
{
    struct session_sync *sync = session_sync(s);

    link_remove(&sync->unreplicated);
    if (!s->resume.slot)
        return;
    if (sync->whole || !replication_write_sent(&c->out, s->number, s->resume.slot, sync->copied))
        replication_write_all(&c->out, s->number, s->resume.slot, c->hub->position);
    sync->whole = false;
    sync->copied = s->seq;
    if (c->out.n >= PIECE_BYTES)
        replication_send(c, 0);
}

static void replication_discard(struct replication *c)
{
    while (!links_empty(&c->unsent))
        link_remove(c->unsent.next);
    buf_reset(&c->out);
}

void replication_flush(struct hub *h)
{
    struct replication *c = h->resume.replication;

    if (!c || (links_empty(&c->unsent) && !c->out.n))
        return;
    if (!c->node) {
        replication_discard(c);
        return;
    }
    while (!links_empty(&c->unsent))
        session_replicate(c,
                          container_of(c->unsent.next, struct session_sync, unreplicated)->session);
    replication_send(c, h->position);
}

void replication_mark_all(struct session *s)
{
    if (s->sync)
        s->sync->whole = true;
    if (s->resume.slot)
        replication_mark(s);
}

void replication_send_now(struct session *s)
{
    struct replication *c = s->hub->resume.replication;

    if (!c || !c->node || !s->resume.slot)
        return;
    session_sync(s)->whole = true;
    session_replicate(c, s);
    replication_send(c, 0); /* the session's next loop may send its next record */
}

void replication_end_session(struct session *s)
{
    struct replication *c = s->hub->resume.replication;

    if (s->sync)
        link_remove(&s->sync->unreplicated);
    if (!c || !c->node || !s->resume.slot)
        return;
    replication_write_end(&c->out, s->number);
    if (c->out.n >= PIECE_BYTES)
        replication_send(c, 0);
}

/* Returns the approximate size of a session in a message. */
static size_t record_size(const struct session *s)
{
    return offsetof(struct journal_slot, presence) +
           (s->resume.slot ? s->resume.slot->presence_n : 0);
}

/* Marks the next session and moves it to the end of the list. Returns false if all are marked. */
static bool round_mark_next(struct replication *c, size_t *bytes)
{
    struct link *list = &c->hub->sessions;

    if (links_empty(list))
        return false;
    struct session *s = container_of(list->next, struct session, link);
    if (session_sync(s)->round == c->round)
        return false;
    s->sync->round = c->round;
    link_remove(&s->link);
    links_append(list, &s->link);
    replication_mark_all(s);
    *bytes += record_size(s);
    c->marked++;
    return true;
}

/* A round with as many sessions as the previous one takes about ROUND_TICKS. */
bool replication_step(struct replication *c, size_t unsent)
{
    size_t size = c->marked > c->round_size ? c->marked : c->round_size;
    size_t share = size / ROUND_STEPS + 1, bytes = 0;

    if (share < STEP_LEAST)
        share = STEP_LEAST;
    if (unsent > MOST_UNSENT)
        return true;
    for (; share && bytes < STEP_BYTES; share--)
        if (!round_mark_next(c, &bytes)) {
            c->round_size = c->marked;
            return false;
        }
    return true;
}

static void round_continue(struct replication *c)
{
    const struct gateway *g = c->hub->gateway;

    c->round_runs = !g->draining && c->node && replication_step(c, cluster_unsent(g->cluster));
    if (c->round_runs)
        deadline_touch(c->steps, &c->step);
}

static void step_due(struct deadline *d)
{
    round_continue(container_of(d, struct replication, step));
}

/* Begins a round. A running round continues with the sessions that it has not marked. */
static void round_begin(struct replication *c)
{
    c->round++;
    c->ticks = 0;
    c->marked = 0;
    if (c->restart_due)
        c->rest = REST_TICKS;
    c->restart_due = false;
    if (!c->round_runs)
        round_continue(c);
}

struct replication *replication_new(struct hub *h)
{
    struct replication *c;

    if (!h->gateway->replica)
        return NULL;
    c = mem_new(sizeof *c);
    c->hub = h;
    c->round = 1;
    c->steps = deadlines_new(h->loop, STEP_MS, false, step_due);
    links_init(&c->unsent);
    buf_init(&c->out, MESSAGE_BYTES);
    return c;
}

void replication_free(struct replication *c)
{
    if (!c)
        return;
    deadlines_free(c->steps);
    buf_clear(&c->out);
    mem_free(c);
}

struct replication_tick {
    struct post post;
    struct hub *hub;
    uint32_t node;
    bool restart;
};

/* There is a pause between rounds after lost messages: more traffic would not help an overloaded
 * node. */
bool replication_is_due(struct replication *c, bool restart)
{
    c->restart_due |= restart;
    if (!restart) {
        c->ticks++;
        c->rest -= c->rest > 0;
    }
    if (c->restart_due)
        return !c->rest;
    return c->ticks >= ROUND_TICKS && !c->round_runs;
}

static void replica_changed(struct replication *c, uint32_t node)
{
    c->node = node;
    c->messages = 0;
    c->restart_due = true;
    round_begin(c);
}

/* Sends the loop's position with the records; without records, once a second. */
static void tick_arrived(struct post *post)
{
    struct replication_tick *t = container_of(post, struct replication_tick, post);
    struct replication *c = t->hub->resume.replication;

    if (!t->restart && c->node != t->node)
        replica_changed(c, t->node);
    else if (replication_is_due(c, t->restart))
        round_begin(c);
    replication_flush(t->hub);
    if (c->node)
        replication_send(c, t->hub->position);
    atomic_store(&t->hub->gateway->replicated_by, c->node);
    mem_free(t);
}

/* Needs the lock g->publishing. */
static void tick_hub(struct gateway *g, unsigned hub, uint32_t node, bool restart)
{
    struct replication_tick *t = mem_new(sizeof *t);

    *t = (struct replication_tick){
        .post.run = tick_arrived, .hub = g->hubs[hub], .node = node, .restart = restart
    };
    loop_post(t->hub->loop, &t->post);
}

/* Posts ticks to the loops with index from `from` to before `to`. */
static void tick_hubs(struct gateway *g, unsigned from, unsigned to, uint32_t node, bool restart)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = from; g->replica && !g->draining && i < to && i < g->hub_count; i++)
        tick_hub(g, i, node, restart);
    pthread_mutex_unlock(&g->publishing);
}

static void announce_replica(struct gateway *g)
{
    struct buf message;

    buf_init(&message, HERE_BYTES);
    replica_write_hello(&message, cluster_identity(g->cluster));
    cluster_tell(g->cluster, CLUSTER_LEDGERS, buf_str(&message));
    buf_clear(&message);
}

void replication_nodes_live(struct gateway *g, const uint32_t *identities, size_t count)
{
    if (!g->replica)
        return;
    announce_replica(g);
    tick_hubs(g, 0, UINT_MAX,
              replica_choose(g->replica, cluster_identity(g->cluster), identities, count), false);
}

void replication_restart(struct gateway *g)
{
    if (!g->replica)
        return;
    announce_replica(g);
    tick_hubs(g, 0, UINT_MAX, 0, true);
}

void replication_restart_hub(struct gateway *g, unsigned hub)
{
    if (g->replica)
        tick_hubs(g, hub, hub + 1, 0, true);
}
