/* replication.c - what sessions here were told, on its way to the server that keeps it. */
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
    PIECE_BYTES = 256 * 1024, /* then it is sent, in the middle of a turn */
    ROUND_TICKS = 10,         /* seconds */
    REST_TICKS = 3,           /* between two rounds because something was missed */
    STEP_MS = 250,
    ROUND_STEPS = ROUND_TICKS * 1000 / STEP_MS,
    STEP_LEAST = 256,        /* sessions, if there are so many … */
    STEP_BYTES = 512 * 1024, /* … of no more than that */
    MOST_UNSENT = 1 << 20,   /* then a round waits */
};

/* --- messages ------------------------------------------------------------------------- */

void ledger_copies_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                              uint64_t position)
{
    serial_put(out, KEEPER_COPIES);
    serial_put(out, identity);
    serial_put(out, LEDGER_MAGIC);
    serial_put(out, hub);
    serial_put(out, message);
    serial_put(out, position);
}

void ledger_copies_write_whole(struct buf *out, uint64_t number, const struct ledger_slot *slot,
                               uint64_t hub_position)
{
    serial_put(out, COPY_WHOLE);
    serial_put(out, number);
    serial_put(out, ledger_slot_read(slot, hub_position));
    buf_add(out, (const void *)slot, offsetof(struct ledger_slot, presence));
    serial_put_bytes(out, str_slice(slot->presence, slot->presence_n));
}

bool ledger_copies_write_told(struct buf *out, uint64_t number, const struct ledger_slot *slot,
                              uint64_t after)
{
    uint64_t count = slot->seq - after;

    if (count >= LEDGER_TOLD)
        return false;
    if (fault_planted(PLANTED_BLIND_KEEPER))
        return true;
    serial_put(out, COPY_TOLD);
    serial_put(out, number);
    serial_put(out, slot->seq);
    serial_put(out, count);
    for (uint64_t seq = after + 1; seq <= slot->seq; seq++)
        serial_put(out, slot->told[seq % LEDGER_TOLD]);
    return true;
}

void ledger_copies_write_gone(struct buf *out, uint64_t number)
{
    serial_put(out, COPY_GONE);
    serial_put(out, number);
}

/* --- sending -------------------------------------------------------------------------- */

/* Position 0: sessions that are still to be told of may not have come so far. */
static void ledger_copies_send(struct ledger_copies *c, uint64_t position)
{
    const struct gateway *g = c->hub->gateway;
    struct buf message;

    buf_init(&message, MESSAGE_BYTES);
    ledger_copies_write_head(&message, cluster_identity(g->cluster), loop_index(c->hub->loop),
                             ++c->messages, position);
    buf_add_str(&message, buf_str(&c->out));
    buf_reset(&c->out);
    if (!buf_full(&message)) /* else the keeper misses it, and says so; as if NATS refuses it */
        cluster_tell_one(g->cluster, c->keeper, CLUSTER_LEDGERS, buf_str(&message));
    buf_clear(&message);
}

static void copy_session(struct ledger_copies *c, struct session *s)
{
    struct session_abroad *abroad = session_abroad(s);

    link_remove(&abroad->uncopied);
    if (!s->ledger)
        return;
    if (abroad->whole || !ledger_copies_write_told(&c->out, s->number, s->ledger, abroad->copied))
        ledger_copies_write_whole(&c->out, s->number, s->ledger, c->hub->position);
    abroad->whole = false;
    abroad->copied = s->seq;
    if (c->out.n >= PIECE_BYTES)
        ledger_copies_send(c, 0);
}

static void ledger_copies_forget(struct ledger_copies *c)
{
    while (!links_empty(&c->unsent))
        link_remove(c->unsent.next);
    buf_reset(&c->out);
}

void ledger_copies_flush(struct hub *h)
{
    struct ledger_copies *c = h->copies;

    if (!c || (links_empty(&c->unsent) && !c->out.n))
        return;
    if (!c->keeper) {
        ledger_copies_forget(c);
        return;
    }
    while (!links_empty(&c->unsent))
        copy_session(c, container_of(c->unsent.next, struct session_abroad, uncopied)->session);
    ledger_copies_send(c, h->position);
}

/* --- sessions ------------------------------------------------------------------------- */

void ledger_copies_mark_whole(struct session *s)
{
    if (s->abroad)
        s->abroad->whole = true;
    if (s->ledger)
        ledger_copies_mark(s);
}

void ledger_copies_write_now(struct session *s)
{
    struct ledger_copies *c = s->hub->copies;

    if (!c || !c->keeper || !s->ledger)
        return;
    session_abroad(s)->whole = true;
    copy_session(c, s);
    ledger_copies_send(c, 0); /* the loop to which it goes may tell of it next */
}

void ledger_copies_end(struct session *s)
{
    struct ledger_copies *c = s->hub->copies;

    if (s->abroad)
        link_remove(&s->abroad->uncopied);
    if (!c || !c->keeper || !s->ledger)
        return;
    ledger_copies_write_gone(&c->out, s->number);
    if (c->out.n >= PIECE_BYTES)
        ledger_copies_send(c, 0);
}

/* --- all of them, from time to time --------------------------------------------------- */

/* What a session adds to a message, about. */
static size_t copy_size(const struct session *s)
{
    return offsetof(struct ledger_slot, presence) + (s->ledger ? s->ledger->presence_n : 0);
}

/* The list goes round: who was told of stands at its end. */
static bool mark_next(struct ledger_copies *c, size_t *bytes)
{
    struct link *list = &c->hub->sessions;

    if (links_empty(list))
        return false;
    struct session *s = container_of(list->next, struct session, link);
    if (session_abroad(s)->round == c->round)
        return false;
    s->abroad->round = c->round;
    link_remove(&s->link);
    links_append(list, &s->link);
    ledger_copies_mark_whole(s);
    *bytes += copy_size(s);
    c->told++;
    return true;
}

/* As many as there were in the round before take about its time. */
bool ledger_copies_step(struct ledger_copies *c, size_t unsent)
{
    size_t size = c->told > c->round_size ? c->told : c->round_size;
    size_t share = size / ROUND_STEPS + 1, bytes = 0;

    if (share < STEP_LEAST)
        share = STEP_LEAST;
    if (unsent > MOST_UNSENT)
        return true;
    for (; share && bytes < STEP_BYTES; share--)
        if (!mark_next(c, &bytes)) {
            c->round_size = c->told;
            return false;
        }
    return true;
}

static void go_round(struct ledger_copies *c)
{
    const struct gateway *g = c->hub->gateway;

    c->is_going_round =
        !g->draining && c->keeper && ledger_copies_step(c, cluster_unsent(g->cluster));
    if (c->is_going_round)
        deadline_touch(c->steps, &c->step);
}

static void step_due(struct deadline *d)
{
    go_round(container_of(d, struct ledger_copies, step));
}

/* In the middle of a round those follow first who were not told of yet. */
static void begin_round(struct ledger_copies *c)
{
    c->round++;
    c->ticks = 0;
    c->told = 0;
    if (c->is_anew_due)
        c->rest = REST_TICKS;
    c->is_anew_due = false;
    if (!c->is_going_round)
        go_round(c);
}

struct ledger_copies *ledger_copies_new(struct hub *h)
{
    struct ledger_copies *c;

    if (!h->gateway->keeper)
        return NULL;
    c = mem_new(sizeof *c);
    c->hub = h;
    c->round = 1;
    c->steps = deadlines_new(h->loop, STEP_MS, false, step_due);
    links_init(&c->unsent);
    buf_init(&c->out, MESSAGE_BYTES);
    return c;
}

void ledger_copies_free(struct ledger_copies *c)
{
    if (!c)
        return;
    deadlines_free(c->steps);
    buf_clear(&c->out);
    mem_free(c);
}

/* --- who keeps them ------------------------------------------------------------------- */

struct ledger_copies_tick {
    struct post post;
    struct hub *hub;
    uint32_t keeper;
    bool anew;
};

/* What was missed is told again after a rest: who misses much is not helped by more. */
bool ledger_copies_is_due(struct ledger_copies *c, bool anew)
{
    c->is_anew_due |= anew;
    if (!anew) {
        c->ticks++;
        c->rest -= c->rest > 0;
    }
    if (c->is_anew_due)
        return !c->rest;
    return c->ticks >= ROUND_TICKS && !c->is_going_round;
}

static void take_keeper(struct ledger_copies *c, uint32_t keeper)
{
    c->keeper = keeper;
    c->messages = 0;
    c->is_anew_due = true;
    begin_round(c);
}

/* The position goes along with what sessions are told; where that is nothing, once a second. */
static void tick_arrived(struct post *post)
{
    struct ledger_copies_tick *t = container_of(post, struct ledger_copies_tick, post);
    struct ledger_copies *c = t->hub->copies;

    if (!t->anew && c->keeper != t->keeper)
        take_keeper(c, t->keeper);
    else if (ledger_copies_is_due(c, t->anew))
        begin_round(c);
    ledger_copies_flush(t->hub);
    if (c->keeper)
        ledger_copies_send(c, t->hub->position);
    atomic_store(&t->hub->gateway->kept_by, c->keeper);
    mem_free(t);
}

/* With the lock of publishing. */
static void tick_hub(struct gateway *g, unsigned hub, uint32_t keeper, bool anew)
{
    struct ledger_copies_tick *t = mem_new(sizeof *t);

    *t = (struct ledger_copies_tick){
        .post.run = tick_arrived, .hub = g->hubs[hub], .keeper = keeper, .anew = anew
    };
    loop_post(t->hub->loop, &t->post);
}

/* Hubs from one to before another. */
static void tick_hubs(struct gateway *g, unsigned from, unsigned to, uint32_t keeper, bool anew)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = from; g->keeper && !g->draining && i < to && i < g->hub_count; i++)
        tick_hub(g, i, keeper, anew);
    pthread_mutex_unlock(&g->publishing);
}

static void say_that_we_keep(struct gateway *g)
{
    struct buf message;

    buf_init(&message, HERE_BYTES);
    keeper_write_here(&message, cluster_identity(g->cluster));
    cluster_tell(g->cluster, CLUSTER_LEDGERS, buf_str(&message));
    buf_clear(&message);
}

void ledger_copies_nodes_live(struct gateway *g, const uint32_t *identities, size_t count)
{
    if (!g->keeper)
        return;
    say_that_we_keep(g);
    tick_hubs(g, 0, UINT_MAX,
              keeper_choose(g->keeper, cluster_identity(g->cluster), identities, count), false);
}

void ledger_copies_begin_anew(struct gateway *g)
{
    if (!g->keeper)
        return;
    say_that_we_keep(g);
    tick_hubs(g, 0, UINT_MAX, 0, true);
}

void ledger_copies_begin_hub_anew(struct gateway *g, unsigned hub)
{
    if (g->keeper)
        tick_hubs(g, hub, hub + 1, 0, true);
}
