/* keeper.c - what sessions of other servers were told, kept here in case their machine goes. */
#include "gateway/sessions/keeper.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/links.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/serial.h"
#include "gateway/sessions/ledger_file.h"
#include "gateway/sessions/session.h"

enum {
    MOST_KEPT = 4 * LEDGER_SLOTS, /* sessions; about 4 KiB each */
    MOST_SERVERS = 4096,          /* that said that they keep */
    DROPPED_AT_ONCE = 1024,
    HEAD_BYTES = offsetof(struct ledger_slot, presence),
    UNFIT_MS = 10 * 1000, /* so long it counts that another keeper could not help */
    SLOW_MS = 60 * 1000,  /* in which a server tells of each session several times */
};

/* What was heard of a hub of a server. */
struct kept_hub {
    uint64_t messages, position;
    uint64_t gaps; /* how often a message was missed */
};

struct kept_server {
    uint32_t identity;
    int64_t heard_ms;
    struct kept_hub hubs[LEDGER_HUBS];
};

struct kept_session {
    struct link link; /* in the list of all */
    uint64_t number;
    uint32_t identity; /* of its server */
    int64_t heard_ms;  /* when all of it was told last, … */
    unsigned told_by;  /* … by this hub; … */
    uint64_t began;    /* … the seq at which its server began to note it; … */
    uint64_t gaps;     /* … and of its hub, then */
    bool lent;         /* by another keeper, who said: */
    uint64_t position; /* of its hub */
    struct ledger_slot slot;
};

struct keeper {
    pthread_mutex_t lock; /* of what follows */
    struct map servers;   /* identity -> struct kept_server */
    struct map sessions;  /* number -> struct kept_session */
    struct link by_age;   /* the same: who was told of last stands at the end */
    struct map keepers;   /* identity -> itself: of servers that said that they keep */
    bool full;            /* and that was said */
};

struct keeper *keeper_new(void)
{
    struct keeper *k = mem_new(sizeof *k);

    pthread_mutex_init(&k->lock, NULL);
    map_init(&k->servers);
    map_init(&k->sessions);
    map_init(&k->keepers);
    links_init(&k->by_age);
    return k;
}

void keeper_free(struct keeper *k)
{
    size_t at = 0;

    if (!k)
        return;
    for (struct kept_session *s; (s = map_next(&k->sessions, &at));)
        mem_free(s);
    at = 0;
    for (struct kept_server *s; (s = map_next(&k->servers, &at));)
        mem_free(s);
    map_clear(&k->sessions);
    map_clear(&k->servers);
    map_clear(&k->keepers);
    pthread_mutex_destroy(&k->lock);
    mem_free(k);
}

/* --- sessions ------------------------------------------------------------------------- */

static void kept_drop(struct keeper *k, uint64_t number)
{
    struct kept_session *s = map_remove(&k->sessions, number);

    if (s)
        link_remove(&s->link);
    mem_free(s);
}

static void kept_touch(struct keeper *k, struct kept_session *s, int64_t now_ms)
{
    s->heard_ms = now_ms;
    link_remove(&s->link);
    links_append(&k->by_age, &s->link);
}

/* NULL: there is no room. */
static struct kept_session *kept_make(struct keeper *k, uint64_t number, uint32_t identity)
{
    struct kept_session *s = map_get(&k->sessions, number);

    if (s && s->identity == identity)
        return s;
    if (!s && k->sessions.count >= MOST_KEPT) {
        if (!k->full)
            log_warn("gateway: what is kept of other servers' sessions is at its bound; some will "
                     "not outlive their machine");
        k->full = true;
        return NULL;
    }
    kept_drop(k, number);
    s = mem_new(sizeof *s);
    s->number = number;
    s->identity = identity;
    map_put(&k->sessions, number, s);
    links_append(&k->by_age, &s->link);
    return s;
}

/* A server tells of a session of its own, and of nobody else's. */
static struct kept_session *kept_find(const struct keeper *k, uint64_t number, uint32_t identity)
{
    struct kept_session *s = map_get(&k->sessions, number);

    return s && s->identity == identity ? s : NULL;
}

/* --- what a server tells -------------------------------------------------------------- */

static struct kept_server *server_of(struct keeper *k, uint32_t identity)
{
    struct kept_server *s = map_get(&k->servers, identity);

    if (s)
        return s;
    s = mem_new(sizeof *s);
    s->identity = identity;
    map_put(&k->servers, identity, s);
    return s;
}

/* Texts of another server end where they have to. */
static void slot_take_head(struct ledger_slot *slot, struct str head, struct str presence)
{
    memcpy((void *)slot, head.p, HEAD_BYTES);
    slot->id[sizeof slot->id - 1] = '\0';
    slot->client[sizeof slot->client - 1] = '\0';
    memcpy(slot->presence, presence.p, presence.n);
    slot->presence_n = (uint32_t)presence.n;
}

/* A session that went from one loop of its server to another may be told of by both at once: what
 * the first says is not the last word. One that was away and has begun anew may have a lower seq.
 */
static bool is_overtaken(const struct kept_session *s, unsigned hub, const struct ledger_slot *told)
{
    return s->heard_ms && !s->lent && s->told_by != hub && s->began == told->first &&
           told->seq < s->slot.seq;
}

/* What is known of the events before goes on when it ends at the same one. */
static void hear_whole(struct keeper *k, const struct kept_server *from, unsigned hub,
                       struct serial_reader *in)
{
    uint64_t number = serial_get(in), seen = serial_get(in);
    struct str head = serial_get_raw(in, HEAD_BYTES), presence = serial_get_bytes(in);

    if (in->bad || presence.n > LEDGER_PRESENCE) {
        in->bad = true;
        return;
    }
    struct kept_session *s = kept_make(k, number, from->identity);
    struct ledger_slot told;
    memcpy((void *)&told, head.p, HEAD_BYTES);
    if (!s || is_overtaken(s, hub, &told))
        return;
    uint64_t seq = s->slot.seq, first = s->slot.first;
    bool is_known = s->heard_ms && !s->lent;
    slot_take_head(&s->slot, head, presence);
    if (is_known && s->slot.seq == seq) {
        s->slot.first = first;
    } else {
        s->slot.first = s->slot.seq;
        memset(s->slot.told, 0, sizeof s->slot.told);
    }
    s->slot.base = seen;
    if (s->slot.hub != hub)
        s->slot.hub = LEDGER_AWAY;
    s->gaps = from->hubs[hub].gaps;
    s->told_by = hub;
    s->began = told.first;
    s->lent = false;
    kept_touch(k, s, from->heard_ms);
}

static void hear_told(struct keeper *k, const struct kept_server *from, struct serial_reader *in)
{
    uint64_t number = serial_get(in), last = serial_get(in);
    size_t count = serial_get_count(in, 8);
    struct kept_session *s = kept_find(k, number, from->identity);

    if (s && (s->lent || in->bad || s->slot.seq + count != last)) {
        kept_drop(k, number);
        s = NULL;
    }
    for (; count; count--) {
        uint64_t told = serial_get(in);

        if (s)
            ledger_note(&s->slot, s->slot.seq + 1, told);
    }
}

static void hear_gone(struct keeper *k, const struct kept_server *from, struct serial_reader *in)
{
    uint64_t number = serial_get(in);

    if (kept_find(k, number, from->identity))
        kept_drop(k, number);
}

/* False: it cannot be read to its end. */
static bool hear_records(struct keeper *k, struct kept_server *from, unsigned hub,
                         struct serial_reader *in)
{
    while (in->rest.n && !in->bad)
        switch (serial_get(in)) {
        case COPY_WHOLE:
            hear_whole(k, from, hub, in);
            break;
        case COPY_TOLD:
            hear_told(k, from, in);
            break;
        case COPY_GONE:
            hear_gone(k, from, in);
            break;
        default: /* of a newer server */
            in->bad = true;
            break;
        }
    return !in->bad;
}

static void hear_copies(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret)
{
    uint64_t magic = serial_get(in), hub = serial_get(in), message = serial_get(in);
    uint64_t position = serial_get(in);

    if (in->bad || magic != LEDGER_MAGIC || hub >= LEDGER_HUBS)
        return;
    struct kept_server *from = server_of(k, identity);
    struct kept_hub *h = &from->hubs[hub];
    from->heard_ms = clock_ms();
    if (message != h->messages + 1) {
        h->gaps++;
        ret->to = identity;
        serial_put(&ret->bytes, KEEPER_MISSED);
        serial_put(&ret->bytes, identity);
        serial_put(&ret->bytes, hub);
    }
    h->messages = message;
    if (!hear_records(k, from, (unsigned)hub, in))
        h->gaps++;
    else if (position)
        h->position = position;
}

/* --- sessions that are asked for ------------------------------------------------------ */

static uint64_t hub_position(const struct keeper *k, const struct kept_session *s)
{
    const struct kept_server *from = map_get(&k->servers, s->identity);

    if (s->lent)
        return s->position;
    if (!from || s->slot.hub >= LEDGER_HUBS || from->hubs[s->slot.hub].gaps != s->gaps)
        return 0;
    return from->hubs[s->slot.hub].position;
}

static enum kept_answer kept_judge(const struct keeper *k, const struct kept_session *s,
                                   uint64_t seq, uint64_t *ret_seen)
{
    if (!s || (s->lent && s->slot.torn && clock_ms() - s->heard_ms > UNFIT_MS))
        return KEPT_NONE;
    if (seq > s->slot.seq || seq < s->slot.first)
        return KEPT_SHORT;
    return ledger_slot_seen(&s->slot, hub_position(k, s), seq, ret_seen) ? KEPT_FOUND : KEPT_UNFIT;
}

void keeper_write_question(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                           uint32_t asker)
{
    serial_put(out, KEEPER_ASK);
    serial_put(out, identity);
    serial_put(out, asker);
    serial_put(out, number);
    serial_put(out, seq);
}

static void hear_question(struct keeper *k, uint32_t identity, struct serial_reader *in,
                          struct keeper_reply *ret)
{
    uint32_t asker = (uint32_t)serial_get(in);
    uint64_t number = serial_get(in), seq = serial_get(in), seen;
    const struct kept_session *s = kept_find(k, number, identity);

    if (in->bad || !s || s->lent)
        return;
    bool is_found = kept_judge(k, s, seq, &seen) == KEPT_FOUND;
    ret->to = asker;
    serial_put(&ret->bytes, is_found ? KEEPER_ANSWER : KEEPER_UNFIT);
    serial_put(&ret->bytes, identity);
    serial_put(&ret->bytes, number);
    if (!is_found) {
        serial_put(&ret->bytes, s->slot.first);
        serial_put(&ret->bytes, s->slot.seq);
        return;
    }
    serial_put(&ret->bytes, hub_position(k, s));
    serial_put(&ret->bytes, LEDGER_MAGIC);
    buf_add(&ret->bytes, (const void *)&s->slot, sizeof s->slot);
}

/* Of two keepers, an old one and a new one, the one counts that knows more, or from further back;
 * the same again is no reason to look again. */
static bool knows_more(const struct keeper *k, const struct kept_session *s,
                       const struct ledger_slot *slot, uint64_t position)
{
    if (s->slot.torn || slot->torn)
        return s->slot.torn && (s->lent || !slot->torn);
    if (slot->seq != s->slot.seq || slot->first != s->slot.first)
        return slot->seq > s->slot.seq || slot->first < s->slot.first;
    return position > hub_position(k, s);
}

static void kept_lend(struct keeper *k, uint32_t identity, uint64_t number,
                      const struct ledger_slot *slot, uint64_t position, struct keeper_reply *ret)
{
    struct kept_session *s = map_get(&k->sessions, number);

    if (s && s->identity != identity && !s->lent)
        return; /* it is elsewhere by now, and kept here for that server */
    s = kept_find(k, number, identity);
    if ((s && !knows_more(k, s, slot, position)) || !(s = kept_make(k, number, identity)))
        return;
    s->slot = *slot;
    s->slot.id[sizeof slot->id - 1] = '\0';
    s->slot.client[sizeof slot->client - 1] = '\0';
    s->lent = true;
    s->position = position;
    kept_touch(k, s, clock_ms());
    ret->number = number;
}

static void hear_answer(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret)
{
    uint64_t number = serial_get(in), position = serial_get(in), magic = serial_get(in);
    struct str bytes = serial_get_raw(in, sizeof(struct ledger_slot));
    struct ledger_slot slot;

    if (in->bad || magic != LEDGER_MAGIC)
        return;
    memcpy((void *)&slot, bytes.p, sizeof slot);
    if (slot.presence_n <= sizeof slot.presence)
        kept_lend(k, identity, number, &slot, position, ret);
}

/* As one of which nothing is known but what it might be known for. */
static void hear_unfit(struct keeper *k, uint32_t identity, struct serial_reader *in,
                       struct keeper_reply *ret)
{
    uint64_t number = serial_get(in), first = serial_get(in), seq = serial_get(in);
    struct ledger_slot slot = { .torn = 1, .hub = LEDGER_AWAY, .first = first, .seq = seq };

    if (!in->bad)
        kept_lend(k, identity, number, &slot, 0, ret);
}

/* --- who keeps ------------------------------------------------------------------------ */

void keeper_write_here(struct buf *out, uint32_t identity)
{
    serial_put(out, KEEPER_HERE);
    serial_put(out, identity);
    serial_put(out, LEDGER_MAGIC);
}

static void hear_here(struct keeper *k, uint32_t identity, struct serial_reader *in)
{
    uint64_t magic = serial_get(in);

    if (!in->bad && magic == LEDGER_MAGIC && k->keepers.count < MOST_SERVERS)
        map_put(&k->keepers, identity, k);
}

/* Those who are gone are dropped from who said that they keep: who lives says it again. */
static void keepers_take_living(struct keeper *k, const uint32_t *identities, size_t count)
{
    struct map living;

    map_init(&living);
    for (size_t i = 0; i < count; i++)
        if (map_get(&k->keepers, identities[i]))
            map_put(&living, identities[i], k);
    map_clear(&k->keepers);
    k->keepers = living;
}

uint32_t keeper_choose(struct keeper *k, uint32_t me, const uint32_t *identities, size_t count)
{
    uint32_t next = 0, first = 0;

    pthread_mutex_lock(&k->lock);
    keepers_take_living(k, identities, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = identities[i];

        if (id == me || !map_get(&k->keepers, id))
            continue;
        if (id > me && (!next || id < next))
            next = id;
        if (!first || id < first)
            first = id;
    }
    pthread_mutex_unlock(&k->lock);
    return next ? next : first;
}

/* --- all that is heard ---------------------------------------------------------------- */

static void hear_missed(struct serial_reader *in, struct keeper_reply *ret)
{
    uint64_t hub = serial_get(in);

    ret->anew = !in->bad && hub < LEDGER_HUBS;
    ret->hub = (unsigned)hub;
}

void keeper_hear(struct keeper *k, struct str message, struct keeper_reply *ret)
{
    struct serial_reader in = { .rest = message };
    uint64_t kind = serial_get(&in);
    uint32_t identity = (uint32_t)serial_get(&in);

    ret->to = 0;
    ret->number = 0;
    ret->anew = false;
    if (in.bad)
        return;
    pthread_mutex_lock(&k->lock);
    if (kind == KEEPER_COPIES)
        hear_copies(k, identity, &in, ret);
    else if (kind == KEEPER_MISSED)
        hear_missed(&in, ret);
    else if (kind == KEEPER_ASK)
        hear_question(k, identity, &in, ret);
    else if (kind == KEEPER_ANSWER)
        hear_answer(k, identity, &in, ret);
    else if (kind == KEEPER_UNFIT)
        hear_unfit(k, identity, &in, ret);
    else if (kind == KEEPER_HERE)
        hear_here(k, identity, &in);
    pthread_mutex_unlock(&k->lock);
}

enum kept_answer keeper_find(struct keeper *k, uint32_t identity, uint64_t number, uint64_t seq,
                             struct arena *arena, struct ledger_entry *ret)
{
    pthread_mutex_lock(&k->lock);
    const struct kept_session *s = kept_find(k, number, identity);
    enum kept_answer answer = kept_judge(k, s, seq, &ret->seen);
    if (answer == KEPT_FOUND) {
        ret->slot = arena_alloc(arena, sizeof *ret->slot);
        *ret->slot = s->slot;
    }
    pthread_mutex_unlock(&k->lock);
    return answer;
}

/* --- what nobody needs any more ------------------------------------------------------- */

static bool is_forgotten(int64_t heard_ms, int64_t now_ms)
{
    return now_ms - heard_ms > AWAY_MS + SLOW_MS;
}

/* The oldest stand first, so that nobody who may stay is looked at. */
void keeper_tidy(struct keeper *k, int64_t now_ms)
{
    size_t count = 0, at = 0;
    struct kept_server *silent = NULL;

    pthread_mutex_lock(&k->lock);
    for (; count < DROPPED_AT_ONCE && !links_empty(&k->by_age); count++) {
        const struct kept_session *s = container_of(k->by_age.next, struct kept_session, link);

        if (!is_forgotten(s->heard_ms, now_ms))
            break;
        kept_drop(k, s->number);
    }
    for (struct kept_server *s; (s = map_next(&k->servers, &at));)
        if (is_forgotten(s->heard_ms, now_ms))
            silent = s;
    if (silent) {
        map_remove(&k->servers, silent->identity);
        mem_free(silent);
    }
    if (count)
        k->full = false;
    pthread_mutex_unlock(&k->lock);
}

uint64_t keeper_count(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t count = k->sessions.count;
    pthread_mutex_unlock(&k->lock);
    return count;
}
