/* replica_records.c - stores the journal records that other nodes send. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "gateway/resume/journal/replica_internal.h"

enum {
    REPLICA_SESSIONS_MAX = 4 * JOURNAL_SLOTS_MAX, /* each has about 4 KiB */
    SLOT_HEAD_BYTES = offsetof(struct journal_slot, presence),
};

void replica_session_remove(struct journal_replicas *k, struct replicated_session *s)
{
    if (!s)
        return;
    map_remove_value(s->borrowed ? &k->borrowed : &k->sessions, s->number);
    linked_list_remove(&s->link);
    mem_free(s);
}

void replica_session_set_receipt_time(struct journal_replicas *k, struct replicated_session *s,
                                      int64_t now_ms)
{
    s->received_ms = now_ms;
    linked_list_remove(&s->link);
    linked_list_append(&k->by_age, &s->link);
}

struct replicated_session *replica_session_get_or_create(struct journal_replicas *k, bool borrowed,
                                                         uint64_t number, uint32_t identity)
{
    struct map *copies = borrowed ? &k->borrowed : &k->sessions;
    struct replicated_session *s = map_find_value(copies, number);

    if (s && s->identity == identity)
        return s;
    if (!s && k->sessions.count + k->borrowed.count >= REPLICA_SESSIONS_MAX) {
        if (!k->full)
            log_warn("gateway: the replica of other nodes' sessions is full; some sessions will "
                     "not survive the loss of their machine");
        k->full = true;
        return NULL;
    }
    replica_session_remove(k, s);
    s = mem_new(sizeof *s);
    s->number = number;
    s->identity = identity;
    s->borrowed = borrowed;
    map_set_value(copies, number, s);
    linked_list_append(&k->by_age, &s->link);
    return s;
}

struct replicated_session *replica_session_find_in_map(const struct map *copies, uint64_t number,
                                                       uint32_t identity)
{
    struct replicated_session *s = map_find_value(copies, number);

    return s && s->identity == identity ? s : NULL;
}

struct replicated_session *replica_session_find(const struct journal_replicas *k, uint64_t number,
                                                uint32_t identity)
{
    struct replicated_session *s = replica_session_find_in_map(&k->borrowed, number, identity);

    return s ? s : replica_session_find_in_map(&k->sessions, number, identity);
}

static struct replicated_node *replica_node_get_or_create(struct journal_replicas *k,
                                                          uint32_t identity)
{
    struct replicated_node *s = map_find_value(&k->nodes, identity);

    if (s)
        return s;
    s = mem_new(sizeof *s);
    s->identity = identity;
    map_set_value(&k->nodes, identity, s);
    return s;
}

/* Copies the first fields of a received record to a journal slot, and terminates the strings with
 * NUL, because another process sent them. */
static void copy_session_head_to_slot(struct journal_slot *slot, struct str head,
                                      struct str presence)
{
    memcpy((void *)slot, head.p, SLOT_HEAD_BYTES);
    slot->id[sizeof slot->id - 1] = '\0';
    slot->client[sizeof slot->client - 1] = '\0';
    memcpy(slot->presence, presence.p, presence.n);
    slot->presence_n = (uint32_t)presence.n;
}

/* Returns whether a record is outdated. When a session moves between two loops of its node, both
 * loops send records; older records of the former loop are ignored. A record with a lower seq is
 * not outdated if the owner's journal of the session began again. */
static bool session_record_is_outdated(const struct replicated_session *s, unsigned hub,
                                       const struct journal_slot *delivered_to)
{
    return s->received_ms && s->sent_by != hub && s->began == delivered_to->first &&
           delivered_to->seq < s->slot.seq;
}

/* Stores a whole session. Event numbers that the copy already has stay valid if they end at the
 * last seq of the record. */
static void handle_whole_session_record(struct journal_replicas *k,
                                        const struct replicated_node *from, unsigned hub,
                                        struct serialized_data_reader *in)
{
    uint64_t number = deserialize_u64(in), seen = deserialize_u64(in);
    struct str head = deserialize_slice_of_bytes(in, SLOT_HEAD_BYTES),
               presence = deserialize_bytes(in);

    if (in->bad || presence.n > JOURNAL_PRESENCE_BYTES) {
        in->bad = true;
        return;
    }
    struct replicated_session *s = replica_session_get_or_create(k, false, number, from->identity);
    struct journal_slot delivered_to;
    memcpy((void *)&delivered_to, head.p, SLOT_HEAD_BYTES);
    if (!s || session_record_is_outdated(s, hub, &delivered_to))
        return;
    uint64_t seq = s->slot.seq, first = s->slot.first;
    bool is_known = s->received_ms;
    copy_session_head_to_slot(&s->slot, head, presence);
    if (is_known && s->slot.seq == seq) {
        s->slot.first = first;
    } else {
        s->slot.first = s->slot.seq;
        memset(s->slot.sent, 0, sizeof s->slot.sent);
    }
    s->slot.base = seen;
    if (s->slot.loop_get_index != hub)
        s->slot.loop_get_index = JOURNAL_IN_TRANSIT;
    s->gaps = from->loops[hub].gaps;
    s->sent_by = hub;
    s->began = delivered_to.first;
    replica_session_remove(k, replica_session_find_in_map(&k->borrowed, number, from->identity));
    replica_session_set_receipt_time(k, s, from->received_ms);
}

static void handle_sent_events_record(struct journal_replicas *k,
                                      const struct replicated_node *from,
                                      struct serialized_data_reader *in)
{
    uint64_t number = deserialize_u64(in), last = deserialize_u64(in);
    size_t count = deserialize_element_count(in, 8);
    struct replicated_session *s =
        replica_session_find_in_map(&k->sessions, number, from->identity);

    replica_session_remove(k, replica_session_find_in_map(&k->borrowed, number, from->identity));
    if (s && (in->bad || s->slot.seq + count != last)) {
        replica_session_remove(k, s);
        s = NULL;
    }
    for (; count; count--) {
        uint64_t delivered_to = deserialize_u64(in);

        if (s)
            journal_record_dispatch(&s->slot, s->slot.seq + 1, delivered_to);
    }
}

static void handle_session_end_record(struct journal_replicas *k,
                                      const struct replicated_node *from,
                                      struct serialized_data_reader *in)
{
    uint64_t number = deserialize_u64(in);

    replica_session_remove(k, replica_session_find_in_map(&k->sessions, number, from->identity));
    replica_session_remove(k, replica_session_find_in_map(&k->borrowed, number, from->identity));
}

/* Handles all records of a message. Returns false if the message is malformed. */
static bool handle_session_records(struct journal_replicas *k, struct replicated_node *from,
                                   unsigned hub, struct serialized_data_reader *in)
{
    while (in->rest.n && !in->bad)
        switch (deserialize_u64(in)) {
        case RECORD_WHOLE_SESSION:
            handle_whole_session_record(k, from, hub, in);
            break;
        case RECORD_SENT_EVENTS:
            handle_sent_events_record(k, from, in);
            break;
        case RECORD_SESSION_END:
            handle_session_end_record(k, from, in);
            break;
        default: /* record of a newer version */
            in->bad = true;
            break;
        }
    return !in->bad;
}

void replica_handle_journal_records(struct journal_replicas *k, uint32_t identity,
                                    struct serialized_data_reader *in, struct replica_reply *ret)
{
    uint64_t magic = deserialize_u64(in), hub = deserialize_u64(in), message = deserialize_u64(in);
    uint64_t position = deserialize_u64(in);

    if (in->bad || magic != JOURNAL_MAGIC || hub >= JOURNAL_LOOPS_MAX)
        return;
    struct replicated_node *from = replica_node_get_or_create(k, identity);
    struct replication_receive_state_of_loop *h = &from->loops[hub];
    from->received_ms = clock_steady_ms();
    if (message != h->messages + 1) {
        h->gaps++;
        ret->to = identity;
        serialize_u64(&ret->bytes, REPLICA_GAP);
        serialize_u64(&ret->bytes, identity);
        serialize_u64(&ret->bytes, hub);
    }
    h->messages = message;
    if (!handle_session_records(k, from, (unsigned)hub, in))
        h->gaps++;
    else if (position)
        h->position = position;
}
