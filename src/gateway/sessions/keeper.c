/* keeper.c - what sessions of other servers were told, kept here in case their machine goes. */
#include "gateway/sessions/keeper.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/serial.h"
#include "gateway/sessions/ledger_file.h"
#include "gateway/sessions/session.h"

enum {
    MOST_KEPT = 4 * LEDGER_SLOTS, /* sessions; about 4 KiB each */
    DROPPED_AT_ONCE = 1024,
    HEAD_BYTES = offsetof(struct ledger_slot, presence),
    SLOW_MS = 60 * 1000, /* in which a server tells of each session several times */
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
    uint64_t number;
    uint32_t identity; /* of its server */
    int64_t heard_ms;  /* when all of it was told last */
    uint64_t gaps;     /* of its hub, then */
    bool lent;         /* by another keeper, who said: */
    uint64_t position; /* of its hub */
    struct ledger_slot slot;
};

struct keeper {
    pthread_mutex_t lock; /* of what follows */
    struct map servers;   /* identity -> struct kept_server */
    struct map sessions;  /* number -> struct kept_session */
    bool full;            /* and that was said */
};

struct keeper *keeper_new(void)
{
    struct keeper *k = mem_new(sizeof *k);

    pthread_mutex_init(&k->lock, NULL);
    map_init(&k->servers);
    map_init(&k->sessions);
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
    pthread_mutex_destroy(&k->lock);
    mem_free(k);
}

/* --- sessions ------------------------------------------------------------------------- */

static void kept_drop(struct keeper *k, uint64_t number)
{
    mem_free(map_remove(&k->sessions, number));
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
    if (!s)
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
    s->heard_ms = from->heard_ms;
    s->lent = false;
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
    struct kept_server *from = server_of(k, identity);
    uint64_t hub = serial_get(in), message = serial_get(in), position = serial_get(in);

    if (in->bad || hub >= LEDGER_HUBS)
        return;
    struct kept_hub *h = &from->hubs[hub];
    from->heard_ms = clock_ms();
    if (message != h->messages + 1) {
        h->gaps++;
        ret->to = identity;
        serial_put(&ret->bytes, KEEPER_MISSED);
        serial_put(&ret->bytes, identity);
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

void keeper_write_question(struct buf *out, uint32_t identity, uint64_t number, uint32_t asker)
{
    serial_put(out, KEEPER_ASK);
    serial_put(out, identity);
    serial_put(out, asker);
    serial_put(out, number);
}

static void hear_question(struct keeper *k, uint32_t identity, struct serial_reader *in,
                          struct keeper_reply *ret)
{
    uint32_t asker = (uint32_t)serial_get(in);
    uint64_t number = serial_get(in);
    const struct kept_session *s = kept_find(k, number, identity);

    if (in->bad || !s || s->lent)
        return;
    ret->to = asker;
    serial_put(&ret->bytes, KEEPER_ANSWER);
    serial_put(&ret->bytes, identity);
    serial_put(&ret->bytes, number);
    serial_put(&ret->bytes, hub_position(k, s));
    serial_put(&ret->bytes, LEDGER_MAGIC);
    buf_add(&ret->bytes, (const void *)&s->slot, sizeof s->slot);
}

/* Of two keepers, an old one and a new one, the one counts that knows more; the same again is no
 * reason to look again. */
static void hear_answer(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret)
{
    uint64_t number = serial_get(in), position = serial_get(in), magic = serial_get(in);
    struct str bytes = serial_get_raw(in, sizeof(struct ledger_slot));
    struct ledger_slot slot;

    if (in->bad || magic != LEDGER_MAGIC)
        return;
    memcpy((void *)&slot, bytes.p, sizeof slot);
    struct kept_session *s = map_get(&k->sessions, number);
    if (s && s->identity != identity && !s->lent)
        return; /* it is elsewhere by now, and kept here for that server */
    s = kept_find(k, number, identity);
    if (slot.presence_n > sizeof slot.presence || (s && s->slot.seq >= slot.seq) ||
        !(s = kept_make(k, number, identity)))
        return;
    s->slot = slot;
    s->slot.id[sizeof slot.id - 1] = '\0';
    s->slot.client[sizeof slot.client - 1] = '\0';
    s->lent = true;
    s->position = position;
    s->heard_ms = clock_ms();
    ret->number = number;
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
        ret->anew = true;
    else if (kind == KEEPER_ASK)
        hear_question(k, identity, &in, ret);
    else if (kind == KEEPER_ANSWER)
        hear_answer(k, identity, &in, ret);
    pthread_mutex_unlock(&k->lock);
}

bool keeper_find(struct keeper *k, uint32_t identity, uint64_t number, uint64_t seq,
                 struct arena *arena, struct ledger_entry *ret)
{
    pthread_mutex_lock(&k->lock);
    const struct kept_session *s = kept_find(k, number, identity);
    bool found = s && ledger_slot_seen(&s->slot, hub_position(k, s), seq, &ret->seen);
    if (found) {
        ret->slot = arena_alloc(arena, sizeof *ret->slot);
        *ret->slot = s->slot;
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

/* --- what nobody needs any more ------------------------------------------------------- */

static bool is_forgotten(int64_t heard_ms, int64_t now_ms)
{
    return now_ms - heard_ms > AWAY_MS + SLOW_MS;
}

void keeper_tidy(struct keeper *k, int64_t now_ms)
{
    uint64_t old[DROPPED_AT_ONCE];
    size_t count = 0, at = 0;
    struct kept_server *silent = NULL;

    pthread_mutex_lock(&k->lock);
    for (struct kept_session *s; count < DROPPED_AT_ONCE && (s = map_next(&k->sessions, &at));)
        if (is_forgotten(s->heard_ms, now_ms))
            old[count++] = s->number;
    for (size_t i = 0; i < count; i++)
        kept_drop(k, old[i]);
    at = 0;
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
