/* ledger_copies.c - what sessions here were told, on its way to the server that keeps it. */
#include "gateway/sessions/ledger_copies.h"

#include "base/mem.h"
#include "base/planted.h"
#include "base/serial.h"
#include "cluster/cluster.h"
#include "gateway/sessions/keeper.h"
#include "gateway/sessions/registry.h"

enum {
    MESSAGE_BYTES = 1 << 20,
    PIECE_BYTES = 256 * 1024, /* then it is sent, in the middle of a turn */
    STEP_SESSIONS = 256,      /* of a round, in a turn */
    ROUND_TICKS = 10,         /* seconds */
};

/* --- messages ------------------------------------------------------------------------- */

void ledger_copies_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                              uint64_t position)
{
    serial_put(out, KEEPER_COPIES);
    serial_put(out, identity);
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
    if (planted(PLANTED_BLIND_KEEPER))
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
    if (!buf_full(&message)) /* else the keeper misses it, and knows */
        cluster_tell_one(g->cluster, c->keeper, CLUSTER_LEDGERS, buf_str(&message));
    buf_clear(&message);
}

static void copy_session(struct ledger_copies *c, struct session *s)
{
    link_remove(&s->uncopied);
    if (!s->ledger)
        return;
    if (s->copy_whole || !ledger_copies_write_told(&c->out, s->number, s->ledger, s->copied))
        ledger_copies_write_whole(&c->out, s->number, s->ledger, c->hub->position);
    s->copy_whole = false;
    s->copied = s->seq;
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
        copy_session(c, container_of(c->unsent.next, struct session, uncopied));
    ledger_copies_send(c, h->position);
}

/* --- sessions ------------------------------------------------------------------------- */

void ledger_copies_mark_whole(struct session *s)
{
    s->copy_whole = true;
    if (s->ledger)
        ledger_copies_mark(s);
}

void ledger_copies_write_now(struct session *s)
{
    struct ledger_copies *c = s->hub->copies;

    if (!c || !c->keeper || !s->ledger)
        return;
    s->copy_whole = true;
    copy_session(c, s);
}

void ledger_copies_end(struct session *s)
{
    struct ledger_copies *c = s->hub->copies;

    link_remove(&s->uncopied);
    if (c && c->keeper && s->ledger)
        ledger_copies_write_gone(&c->out, s->number);
}

/* --- all of them, from time to time --------------------------------------------------- */

/* The list goes round: who was told of stands at its end. */
static void go_round(struct post *post)
{
    struct ledger_copies *c = container_of(post, struct ledger_copies, post);
    struct link *list = &c->hub->sessions;

    c->is_going_round = false;
    if (c->hub->gateway->draining || !c->keeper)
        return;
    for (unsigned i = 0; i < STEP_SESSIONS && !links_empty(list); i++) {
        struct session *s = container_of(list->next, struct session, link);

        if (s->copied_round == c->round)
            return;
        s->copied_round = c->round;
        link_remove(&s->link);
        links_append(list, &s->link);
        ledger_copies_mark_whole(s);
    }
    if (links_empty(list))
        return;
    c->is_going_round = true;
    loop_post(c->hub->loop, &c->post);
}

static void begin_round(struct ledger_copies *c)
{
    c->round++;
    c->ticks = 0;
    if (!c->is_going_round)
        go_round(&c->post);
}

struct ledger_copies *ledger_copies_new(struct hub *h)
{
    struct ledger_copies *c;

    if (!h->gateway->keeper)
        return NULL;
    c = mem_new(sizeof *c);
    c->hub = h;
    c->round = 1;
    c->post.run = go_round;
    links_init(&c->unsent);
    buf_init(&c->out, MESSAGE_BYTES);
    return c;
}

void ledger_copies_free(struct ledger_copies *c)
{
    if (!c)
        return;
    buf_clear(&c->out);
    mem_free(c);
}

bool ledger_copies_wait(const struct hub *h)
{
    return h->copies && h->copies->is_going_round;
}

/* --- who keeps them ------------------------------------------------------------------- */

struct ledger_copies_tick {
    struct post post;
    struct hub *hub;
    uint32_t keeper;
    bool anew;
};

/* The position goes along with what sessions are told; where that is nothing, once a second. */
static void tick_arrived(struct post *post)
{
    struct ledger_copies_tick *t = container_of(post, struct ledger_copies_tick, post);
    struct ledger_copies *c = t->hub->copies;
    bool anew = t->anew || c->keeper != t->keeper || ++c->ticks >= ROUND_TICKS;

    if (!t->anew && c->keeper != t->keeper) {
        c->keeper = t->keeper;
        c->messages = 0;
    }
    if (anew)
        begin_round(c);
    ledger_copies_flush(t->hub);
    if (c->keeper)
        ledger_copies_send(c, t->hub->position);
    atomic_store(&t->hub->gateway->kept_by, c->keeper);
    mem_free(t);
}

static void tick_hubs(struct gateway *g, uint32_t keeper, bool anew)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; g->keeper && !g->draining && i < g->hub_count; i++) {
        struct ledger_copies_tick *t = mem_new(sizeof *t);

        *t = (struct ledger_copies_tick){
            .post.run = tick_arrived, .hub = g->hubs[i], .keeper = keeper, .anew = anew
        };
        loop_post(t->hub->loop, &t->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* The next one after us in a ring of all. */
static uint32_t choose_keeper(uint32_t me, const uint32_t *identities, size_t count)
{
    uint32_t next = 0, first = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t id = identities[i];

        if (id > me && (!next || id < next))
            next = id;
        if (id != me && (!first || id < first))
            first = id;
    }
    return next ? next : first;
}

void ledger_copies_nodes_live(struct gateway *g, const uint32_t *identities, size_t count)
{
    if (g->keeper)
        tick_hubs(g, choose_keeper(cluster_identity(g->cluster), identities, count), false);
}

void ledger_copies_begin_anew(struct gateway *g)
{
    if (g->keeper)
        tick_hubs(g, 0, true);
}
