/* replica_records.c - sessions that are kept for their servers, and what these tell of them. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "gateway/resume/journal/replica_internal.h"

enum {
    MOST_KEPT = 4 * LEDGER_SLOTS, /* sessions; about 4 KiB each */
    HEAD_BYTES = offsetof(struct ledger_slot, presence),
};

/* --- sessions ------------------------------------------------------------------------- */

void kept_session_drop(struct keeper *k, uint64_t number)
{
    struct kept_session *s = map_remove(&k->sessions, number);

    if (s)
        link_remove(&s->link);
    mem_free(s);
}

void kept_session_touch(struct keeper *k, struct kept_session *s, int64_t now_ms)
{
    s->heard_ms = now_ms;
    link_remove(&s->link);
    links_append(&k->by_age, &s->link);
}

struct kept_session *kept_session_make(struct keeper *k, uint64_t number, uint32_t identity)
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
    kept_session_drop(k, number);
    s = mem_new(sizeof *s);
    s->number = number;
    s->identity = identity;
    map_put(&k->sessions, number, s);
    links_append(&k->by_age, &s->link);
    return s;
}

struct kept_session *kept_session_find(const struct keeper *k, uint64_t number, uint32_t identity)
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
    struct kept_session *s = kept_session_make(k, number, from->identity);
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
    kept_session_touch(k, s, from->heard_ms);
}

static void hear_told(struct keeper *k, const struct kept_server *from, struct serial_reader *in)
{
    uint64_t number = serial_get(in), last = serial_get(in);
    size_t count = serial_get_count(in, 8);
    struct kept_session *s = kept_session_find(k, number, from->identity);

    if (s && (s->lent || in->bad || s->slot.seq + count != last)) {
        kept_session_drop(k, number);
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

    if (kept_session_find(k, number, from->identity))
        kept_session_drop(k, number);
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

void keeper_hear_copies(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret)
{
    uint64_t magic = serial_get(in), hub = serial_get(in), message = serial_get(in);
    uint64_t position = serial_get(in);

    if (in->bad || magic != LEDGER_MAGIC || hub >= LEDGER_HUBS)
        return;
    struct kept_server *from = server_of(k, identity);
    struct kept_hub *h = &from->hubs[hub];
    from->heard_ms = clock_steady_ms();
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
