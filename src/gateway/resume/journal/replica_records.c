/* replica_records.c - stores the records that other nodes send of their sessions. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "gateway/resume/journal/replica_internal.h"

enum {
    MOST_SESSIONS = 4 * JOURNAL_SLOTS, /* about 4 KiB each */
    HEAD_BYTES = offsetof(struct journal_slot, presence),
};

void replica_session_drop(struct replica *k, uint64_t number)
{
    struct replica_session *s = map_remove(&k->sessions, number);

    if (s)
        link_remove(&s->link);
    mem_free(s);
}

void replica_session_touch(struct replica *k, struct replica_session *s, int64_t now_ms)
{
    s->received_ms = now_ms;
    link_remove(&s->link);
    links_append(&k->by_age, &s->link);
}

struct replica_session *replica_session_make(struct replica *k, uint64_t number, uint32_t identity)
{
    struct replica_session *s = map_get(&k->sessions, number);

    if (s && s->identity == identity)
        return s;
    if (!s && k->sessions.count >= MOST_SESSIONS) {
        if (!k->full)
            log_warn("gateway: the replica of other nodes' sessions is full; some sessions will "
                     "not survive the loss of their machine");
        k->full = true;
        return NULL;
    }
    replica_session_drop(k, number);
    s = mem_new(sizeof *s);
    s->number = number;
    s->identity = identity;
    map_put(&k->sessions, number, s);
    links_append(&k->by_age, &s->link);
    return s;
}

struct replica_session *replica_session_find(const struct replica *k, uint64_t number,
                                             uint32_t identity)
{
    struct replica_session *s = map_get(&k->sessions, number);

    return s && s->identity == identity ? s : NULL;
}

static struct replica_node *server_of(struct replica *k, uint32_t identity)
{
    struct replica_node *s = map_get(&k->nodes, identity);

    if (s)
        return s;
    s = mem_new(sizeof *s);
    s->identity = identity;
    map_put(&k->nodes, identity, s);
    return s;
}

/* Copies the head of a slot. The strings are terminated, because they come from another process. */
static void slot_take_head(struct journal_slot *slot, struct str head, struct str presence)
{
    memcpy((void *)slot, head.p, HEAD_BYTES);
    slot->id[sizeof slot->id - 1] = '\0';
    slot->client[sizeof slot->client - 1] = '\0';
    memcpy(slot->presence, presence.p, presence.n);
    slot->presence_n = (uint32_t)presence.n;
}

/* When a session moves between two loops of its node, both send records: an older record of the
 * former loop is ignored. A journal that was restarted may have a lower seq. */
static bool is_overtaken(const struct replica_session *s, unsigned hub,
                         const struct journal_slot *told)
{
    return s->received_ms && !s->borrowed && s->sent_by != hub && s->began == told->first &&
           told->seq < s->slot.seq;
}

/* Stores a whole session. Event numbers that were received before stay valid if they end at the
 * same seq. */
static void receive_all(struct replica *k, const struct replica_node *from, unsigned hub,
                        struct serial_reader *in)
{
    uint64_t number = serial_get(in), seen = serial_get(in);
    struct str head = serial_get_raw(in, HEAD_BYTES), presence = serial_get_bytes(in);

    if (in->bad || presence.n > JOURNAL_PRESENCE) {
        in->bad = true;
        return;
    }
    struct replica_session *s = replica_session_make(k, number, from->identity);
    struct journal_slot told;
    memcpy((void *)&told, head.p, HEAD_BYTES);
    if (!s || is_overtaken(s, hub, &told))
        return;
    uint64_t seq = s->slot.seq, first = s->slot.first;
    bool is_known = s->received_ms && !s->borrowed;
    slot_take_head(&s->slot, head, presence);
    if (is_known && s->slot.seq == seq) {
        s->slot.first = first;
    } else {
        s->slot.first = s->slot.seq;
        memset(s->slot.sent, 0, sizeof s->slot.sent);
    }
    s->slot.base = seen;
    if (s->slot.hub != hub)
        s->slot.hub = JOURNAL_IN_TRANSIT;
    s->gaps = from->hubs[hub].gaps;
    s->sent_by = hub;
    s->began = told.first;
    s->borrowed = false;
    replica_session_touch(k, s, from->received_ms);
}

static void receive_sent(struct replica *k, const struct replica_node *from,
                         struct serial_reader *in)
{
    uint64_t number = serial_get(in), last = serial_get(in);
    size_t count = serial_get_count(in, 8);
    struct replica_session *s = replica_session_find(k, number, from->identity);

    if (s && (s->borrowed || in->bad || s->slot.seq + count != last)) {
        replica_session_drop(k, number);
        s = NULL;
    }
    for (; count; count--) {
        uint64_t told = serial_get(in);

        if (s)
            journal_note(&s->slot, s->slot.seq + 1, told);
    }
}

static void receive_end(struct replica *k, const struct replica_node *from,
                        struct serial_reader *in)
{
    uint64_t number = serial_get(in);

    if (replica_session_find(k, number, from->identity))
        replica_session_drop(k, number);
}

/* Returns false if the message is malformed. */
static bool receive_records(struct replica *k, struct replica_node *from, unsigned hub,
                            struct serial_reader *in)
{
    while (in->rest.n && !in->bad)
        switch (serial_get(in)) {
        case RECORD_ALL:
            receive_all(k, from, hub, in);
            break;
        case RECORD_SENT:
            receive_sent(k, from, in);
            break;
        case RECORD_END:
            receive_end(k, from, in);
            break;
        default: /* sent by a newer version */
            in->bad = true;
            break;
        }
    return !in->bad;
}

void replica_receive_records(struct replica *k, uint32_t identity, struct serial_reader *in,
                             struct replica_reply *ret)
{
    uint64_t magic = serial_get(in), hub = serial_get(in), message = serial_get(in);
    uint64_t position = serial_get(in);

    if (in->bad || magic != JOURNAL_MAGIC || hub >= JOURNAL_HUBS)
        return;
    struct replica_node *from = server_of(k, identity);
    struct replica_hub *h = &from->hubs[hub];
    from->received_ms = clock_steady_ms();
    if (message != h->messages + 1) {
        h->gaps++;
        ret->to = identity;
        serial_put(&ret->bytes, REPLICA_MISSED);
        serial_put(&ret->bytes, identity);
        serial_put(&ret->bytes, hub);
    }
    h->messages = message;
    if (!receive_records(k, from, (unsigned)hub, in))
        h->gaps++;
    else if (position)
        h->position = position;
}
