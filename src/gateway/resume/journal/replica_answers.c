/* replica_answers.c - sessions that are asked for: by a client here, or by another server. */
#include <string.h>

#include "base/clock.h"
#include "gateway/resume/journal/replica_internal.h"

enum { UNFIT_MS = 10 * 1000 }; /* so long it counts that another keeper could not help */

static uint64_t hub_position(const struct keeper *k, const struct kept_session *s)
{
    const struct kept_server *from = map_get(&k->servers, s->identity);

    if (s->lent)
        return s->position;
    if (!from || s->slot.hub >= LEDGER_HUBS || from->hubs[s->slot.hub].gaps != s->gaps)
        return 0;
    return from->hubs[s->slot.hub].position;
}

enum kept_answer kept_judge(const struct keeper *k, const struct kept_session *s, uint64_t seq,
                            uint64_t *ret_seen)
{
    if (!s || (s->lent && s->slot.torn && clock_steady_ms() - s->heard_ms > UNFIT_MS))
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

void keeper_hear_question(struct keeper *k, uint32_t identity, struct serial_reader *in,
                          struct keeper_reply *ret)
{
    uint32_t asker = (uint32_t)serial_get(in);
    uint64_t number = serial_get(in), seq = serial_get(in), seen;
    const struct kept_session *s = kept_session_find(k, number, identity);

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
    s = kept_session_find(k, number, identity);
    if ((s && !knows_more(k, s, slot, position)) || !(s = kept_session_make(k, number, identity)))
        return;
    s->slot = *slot;
    s->slot.id[sizeof slot->id - 1] = '\0';
    s->slot.client[sizeof slot->client - 1] = '\0';
    s->lent = true;
    s->position = position;
    kept_session_touch(k, s, clock_steady_ms());
    ret->number = number;
}

void keeper_hear_answer(struct keeper *k, uint32_t identity, struct serial_reader *in,
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
void keeper_hear_unfit(struct keeper *k, uint32_t identity, struct serial_reader *in,
                       struct keeper_reply *ret)
{
    uint64_t number = serial_get(in), first = serial_get(in), seq = serial_get(in);
    struct ledger_slot slot = { .torn = 1, .hub = LEDGER_AWAY, .first = first, .seq = seq };

    if (!in->bad)
        kept_lend(k, identity, number, &slot, 0, ret);
}
