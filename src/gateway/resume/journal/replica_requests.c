/* replica_requests.c - handles requests of local clients and other nodes for sessions. */
#include <string.h>

#include "base/clock.h"
#include "gateway/resume/journal/replica_internal.h"

/* Time for which a refusal by another replica is valid, in ms. */
enum { REFUSAL_VALID_MS = 10 * 1000 };

static uint64_t event_position_of_session_copy(const struct journal_replicas *k,
                                               const struct replicated_session *s)
{
    const struct replicated_node *from = map_find_value(&k->nodes, s->identity);

    if (s->borrowed)
        return s->position;
    if (!from || s->slot.loop_get_index >= JOURNAL_LOOPS_MAX ||
        from->loops[s->slot.loop_get_index].gaps != s->gaps)
        return 0;
    return from->loops[s->slot.loop_get_index].position;
}

enum journal_find_result replica_session_find_events_after_seq(const struct journal_replicas *k,
                                                               const struct replicated_session *s,
                                                               uint64_t seq, uint64_t *ret_seen)
{
    if (!s || (s->borrowed && s->slot.is_incomplete &&
               clock_steady_ms() - s->received_ms > REFUSAL_VALID_MS))
        return JOURNAL_UNKNOWN;
    if (seq > s->slot.seq || seq < s->slot.first)
        return JOURNAL_SEQ_MISSING;
    return journal_slot_find_last_event_before_seq(&s->slot, event_position_of_session_copy(k, s),
                                                   seq, ret_seen)
               ? JOURNAL_FOUND
               : JOURNAL_UNUSABLE;
}

void append_replica_request(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                            uint32_t asker)
{
    serialize_u64(out, REPLICA_REQUEST);
    serialize_u64(out, identity);
    serialize_u64(out, asker);
    serialize_u64(out, number);
    serialize_u64(out, seq);
}

static void append_replica_unknown(struct buf *out, uint32_t identity, uint64_t number)
{
    serialize_u64(out, REPLICA_UNKNOWN);
    serialize_u64(out, identity);
    serialize_u64(out, number);
}

void replica_handle_unknown_session_message(uint32_t identity, struct serialized_data_reader *in,
                                            struct replica_reply *ret)
{
    uint64_t number = deserialize_u64(in);

    if (in->bad)
        return;
    ret->number = number;
    ret->unknown_at = identity;
}

void replica_handle_session_request(struct journal_replicas *k, uint32_t identity,
                                    struct serialized_data_reader *in, struct replica_reply *ret)
{
    uint32_t asker = (uint32_t)deserialize_u64(in);
    uint64_t number = deserialize_u64(in), seq = deserialize_u64(in), seen;
    const struct replicated_session *s =
        replica_session_find_in_map(&k->sessions, number, identity);

    if (in->bad)
        return;
    if (!s) {
        append_replica_unknown(&ret->bytes, k->identity, number);
        ret->to = asker;
        return;
    }
    bool is_found = replica_session_find_events_after_seq(k, s, seq, &seen) == JOURNAL_FOUND;
    ret->to = asker;
    serialize_u64(&ret->bytes, is_found ? REPLICA_SESSION : REPLICA_REFUSAL);
    serialize_u64(&ret->bytes, identity);
    serialize_u64(&ret->bytes, number);
    if (!is_found) {
        serialize_u64(&ret->bytes, s->slot.first);
        serialize_u64(&ret->bytes, s->slot.seq);
        return;
    }
    serialize_u64(&ret->bytes, event_position_of_session_copy(k, s));
    serialize_u64(&ret->bytes, JOURNAL_MAGIC);
    buf_add(&ret->bytes, (const void *)&s->slot, sizeof s->slot);
}

/* Returns whether a received copy of a session has more events than the stored copy s. The former
 * and the current replica may both reply, so the copy with more events is used. */
static bool received_copy_has_more_events(const struct journal_replicas *k,
                                          const struct replicated_session *s,
                                          const struct journal_slot *slot, uint64_t position)
{
    if (s->slot.is_incomplete || slot->is_incomplete)
        return s->slot.is_incomplete && (s->borrowed || !slot->is_incomplete);
    if (slot->seq != s->slot.seq || slot->first != s->slot.first)
        return slot->seq > s->slot.seq || slot->first < s->slot.first;
    return position > event_position_of_session_copy(k, s);
}

static void store_session_copy_from_replica(struct journal_replicas *k, uint32_t identity,
                                            uint64_t number, const struct journal_slot *slot,
                                            uint64_t position, struct replica_reply *ret)
{
    struct replicated_session *s = replica_session_find(k, number, identity);

    if ((s && !received_copy_has_more_events(k, s, slot, position)) ||
        !(s = replica_session_get_or_create(k, true, number, identity)))
        return;
    s->slot = *slot;
    s->slot.id[sizeof slot->id - 1] = '\0';
    s->slot.client[sizeof slot->client - 1] = '\0';
    s->position = position;
    replica_session_set_receipt_time(k, s, clock_steady_ms());
    ret->number = number;
}

void replica_handle_session_copy_message(struct journal_replicas *k, uint32_t identity,
                                         struct serialized_data_reader *in,
                                         struct replica_reply *ret)
{
    uint64_t number = deserialize_u64(in), position = deserialize_u64(in),
             magic = deserialize_u64(in);
    struct str bytes = deserialize_slice_of_bytes(in, sizeof(struct journal_slot));
    struct journal_slot slot;

    if (in->bad || magic != JOURNAL_MAGIC)
        return;
    memcpy((void *)&slot, bytes.p, sizeof slot);
    if (slot.presence_n <= sizeof slot.presence)
        store_session_copy_from_replica(k, identity, number, &slot, position, ret);
}

/* Stores the refusal of another replica as an incomplete copy, with only the first and last seq. */
void replica_handle_refused_session_message(struct journal_replicas *k, uint32_t identity,
                                            struct serialized_data_reader *in,
                                            struct replica_reply *ret)
{
    uint64_t number = deserialize_u64(in), first = deserialize_u64(in), seq = deserialize_u64(in);
    struct journal_slot slot = {
        .is_incomplete = 1, .loop_get_index = JOURNAL_IN_TRANSIT, .first = first, .seq = seq
    };

    if (!in->bad)
        store_session_copy_from_replica(k, identity, number, &slot, 0, ret);
}
