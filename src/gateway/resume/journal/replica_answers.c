/* replica_answers.c - requests for copies of sessions, for a local client or another node. */
#include <string.h>

#include "base/clock.h"
#include "gateway/resume/journal/replica_internal.h"

enum { UNFIT_MS = 10 * 1000 }; /* how long a refusal of another replica is valid */

static uint64_t hub_position(const struct replica *k, const struct replica_session *s)
{
    const struct replica_node *from = map_get(&k->nodes, s->identity);

    if (s->borrowed)
        return s->position;
    if (!from || s->slot.hub >= JOURNAL_HUBS || from->hubs[s->slot.hub].gaps != s->gaps)
        return 0;
    return from->hubs[s->slot.hub].position;
}

enum journal_verdict replica_session_judge(const struct replica *k, const struct replica_session *s,
                                           uint64_t seq, uint64_t *ret_seen)
{
    if (!s || (s->borrowed && s->slot.torn && clock_steady_ms() - s->received_ms > UNFIT_MS))
        return JOURNAL_UNKNOWN;
    if (seq > s->slot.seq || seq < s->slot.first)
        return JOURNAL_SHORT;
    return journal_slot_seen(&s->slot, hub_position(k, s), seq, ret_seen) ? JOURNAL_FOUND
                                                                          : JOURNAL_UNFIT;
}

void replica_write_question(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                            uint32_t asker)
{
    serial_put(out, REPLICA_ASK);
    serial_put(out, identity);
    serial_put(out, asker);
    serial_put(out, number);
    serial_put(out, seq);
}

void replica_receive_question(struct replica *k, uint32_t identity, struct serial_reader *in,
                              struct replica_reply *ret)
{
    uint32_t asker = (uint32_t)serial_get(in);
    uint64_t number = serial_get(in), seq = serial_get(in), seen;
    const struct replica_session *s = replica_session_find(k, number, identity);

    if (in->bad || !s || s->borrowed)
        return;
    bool is_found = replica_session_judge(k, s, seq, &seen) == JOURNAL_FOUND;
    ret->to = asker;
    serial_put(&ret->bytes, is_found ? REPLICA_ANSWER : REPLICA_REFUSAL);
    serial_put(&ret->bytes, identity);
    serial_put(&ret->bytes, number);
    if (!is_found) {
        serial_put(&ret->bytes, s->slot.first);
        serial_put(&ret->bytes, s->slot.seq);
        return;
    }
    serial_put(&ret->bytes, hub_position(k, s));
    serial_put(&ret->bytes, JOURNAL_MAGIC);
    buf_add(&ret->bytes, (const void *)&s->slot, sizeof s->slot);
}

/* A former and a current replica may both reply: the copy that has more events is used. An equal
 * copy is no reason to read the store again. */
static bool knows_more(const struct replica *k, const struct replica_session *s,
                       const struct journal_slot *slot, uint64_t position)
{
    if (s->slot.torn || slot->torn)
        return s->slot.torn && (s->borrowed || !slot->torn);
    if (slot->seq != s->slot.seq || slot->first != s->slot.first)
        return slot->seq > s->slot.seq || slot->first < s->slot.first;
    return position > hub_position(k, s);
}

static void replica_session_borrow(struct replica *k, uint32_t identity, uint64_t number,
                                   const struct journal_slot *slot, uint64_t position,
                                   struct replica_reply *ret)
{
    struct replica_session *s = map_get(&k->sessions, number);

    if (s && s->identity != identity && !s->borrowed)
        return; /* another node owns the session by now and replicates it to this node */
    s = replica_session_find(k, number, identity);
    if ((s && !knows_more(k, s, slot, position)) ||
        !(s = replica_session_make(k, number, identity)))
        return;
    s->slot = *slot;
    s->slot.id[sizeof slot->id - 1] = '\0';
    s->slot.client[sizeof slot->client - 1] = '\0';
    s->borrowed = true;
    s->position = position;
    replica_session_touch(k, s, clock_steady_ms());
    ret->number = number;
}

void replica_receive_answer(struct replica *k, uint32_t identity, struct serial_reader *in,
                            struct replica_reply *ret)
{
    uint64_t number = serial_get(in), position = serial_get(in), magic = serial_get(in);
    struct str bytes = serial_get_raw(in, sizeof(struct journal_slot));
    struct journal_slot slot;

    if (in->bad || magic != JOURNAL_MAGIC)
        return;
    memcpy((void *)&slot, bytes.p, sizeof slot);
    if (slot.presence_n <= sizeof slot.presence)
        replica_session_borrow(k, identity, number, &slot, position, ret);
}

/* Stores a refusal as a torn copy that has only the range of seqs. */
void replica_receive_unfit(struct replica *k, uint32_t identity, struct serial_reader *in,
                           struct replica_reply *ret)
{
    uint64_t number = serial_get(in), first = serial_get(in), seq = serial_get(in);
    struct journal_slot slot = { .torn = 1, .hub = JOURNAL_IN_TRANSIT, .first = first, .seq = seq };

    if (!in->bad)
        replica_session_borrow(k, identity, number, &slot, 0, ret);
}
