/* replica.c - copies of other nodes' journals: handles messages, chooses the node that gets a copy,
 * evicts old copies. */
#include "gateway/resume/journal/replica.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/resume/journal/replica_internal.h"
#include "gateway/sessions/session.h"

enum {
    REPLICA_NODES_MAX = 4096, /* limit of nodes that store copies */
    EVICTED_PER_CALL = 1024,
    /* Added to the time for which a copy is stored; longer than one full resend. */
    REPLICATION_SLACK_MS = 60 * 1000,
};

struct journal_replicas *journal_replicas_new(uint32_t identity)
{
    struct journal_replicas *k = mem_new(sizeof *k);

    k->identity = identity;
    pthread_mutex_init(&k->lock, NULL);
    map_init(&k->nodes);
    map_init(&k->sessions);
    map_init(&k->borrowed);
    map_init(&k->replicas);
    linked_list_init(&k->by_age);
    return k;
}

void journal_replicas_free(struct journal_replicas *k)
{
    size_t at = 0;

    if (!k)
        return;
    while (!linked_list_is_empty(&k->by_age))
        replica_session_remove(k, container_of(k->by_age.next, struct replicated_session, link));
    for (struct replicated_node *s; (s = map_next_value(&k->nodes, &at));)
        mem_free(s);
    map_clear(&k->sessions);
    map_clear(&k->borrowed);
    map_clear(&k->nodes);
    map_clear(&k->replicas);
    pthread_mutex_destroy(&k->lock);
    mem_free(k);
}

void append_replica_hello(struct buf *out, uint32_t identity)
{
    serialize_u64(out, REPLICA_HELLO);
    serialize_u64(out, identity);
    serialize_u64(out, JOURNAL_MAGIC);
}

static void handle_replica_hello(struct journal_replicas *k, uint32_t identity,
                                 struct serialized_data_reader *in)
{
    uint64_t magic = deserialize_u64(in);

    if (!in->bad && magic == JOURNAL_MAGIC && k->replicas.count < REPLICA_NODES_MAX)
        map_set_value(&k->replicas, identity, (void *)(uintptr_t)identity);
}

/* Removes dead nodes from the set of nodes that store copies. A node that was removed by mistake is
 * added again by its next REPLICA_HELLO. */
static void remove_dead_replica_nodes(struct journal_replicas *k, const uint32_t *identities,
                                      size_t count)
{
    struct map living;

    map_init(&living);
    for (size_t i = 0; i < count; i++)
        if (map_find_value(&k->replicas, identities[i]))
            map_set_value(&living, identities[i], (void *)(uintptr_t)identities[i]);
    map_clear(&k->replicas);
    k->replicas = living;
}

uint32_t choose_replica_node(struct journal_replicas *k, uint32_t me, const uint32_t *identities,
                             size_t count)
{
    uint32_t next = 0, first = 0;

    pthread_mutex_lock(&k->lock);
    remove_dead_replica_nodes(k, identities, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = identities[i];

        if (id == me || !map_find_value(&k->replicas, id))
            continue;
        if (id > me && (!next || id < next))
            next = id;
        if (!first || id < first)
            first = id;
    }
    pthread_mutex_unlock(&k->lock);
    return next ? next : first;
}

bool all_replica_nodes_are_in_set(struct journal_replicas *k, uint32_t owner,
                                  const struct map *identities)
{
    uintptr_t identity;
    size_t at = 0;

    pthread_mutex_lock(&k->lock);
    /* False after this node has started, because it does not know yet which nodes store copies. */
    bool are_in_set = k->replicas.count > 0;
    while ((identity = (uintptr_t)map_next_value(&k->replicas, &at)))
        are_in_set = are_in_set && (identity == k->identity || identity == owner ||
                                    map_find_value(identities, identity));
    pthread_mutex_unlock(&k->lock);
    return are_in_set;
}

static void handle_replication_gap_report(struct serialized_data_reader *in,
                                          struct replica_reply *ret)
{
    uint64_t hub = deserialize_u64(in);

    ret->restart = !in->bad && hub < JOURNAL_LOOPS_MAX;
    ret->loop_get_index = (unsigned)hub;
}

void replica_handle_message(struct journal_replicas *k, struct str message,
                            struct replica_reply *ret)
{
    struct serialized_data_reader in = { .rest = message };
    uint64_t kind = deserialize_u64(&in);
    uint32_t identity = (uint32_t)deserialize_u64(&in);

    ret->to = 0;
    ret->number = 0;
    ret->unknown_at = 0;
    ret->restart = false;
    ret->hello = !in.bad && kind == REPLICA_HELLO && identity != k->identity;
    if (in.bad)
        return;
    pthread_mutex_lock(&k->lock);
    if (kind == REPLICA_RECORDS)
        replica_handle_journal_records(k, identity, &in, ret);
    else if (kind == REPLICA_GAP)
        handle_replication_gap_report(&in, ret);
    else if (kind == REPLICA_REQUEST)
        replica_handle_session_request(k, identity, &in, ret);
    else if (kind == REPLICA_SESSION)
        replica_handle_session_copy_message(k, identity, &in, ret);
    else if (kind == REPLICA_REFUSAL)
        replica_handle_refused_session_message(k, identity, &in, ret);
    else if (kind == REPLICA_UNKNOWN)
        replica_handle_unknown_session_message(identity, &in, ret);
    else if (kind == REPLICA_HELLO)
        handle_replica_hello(k, identity, &in);
    pthread_mutex_unlock(&k->lock);
}

enum journal_find_result replica_find_session(struct journal_replicas *k, uint32_t identity,
                                              uint64_t number, uint64_t seq, struct arena *arena,
                                              struct found_journal_session *ret)
{
    pthread_mutex_lock(&k->lock);
    const struct replicated_session *s = replica_session_find(k, number, identity);
    enum journal_find_result answer = replica_session_find_events_after_seq(k, s, seq, &ret->seen);
    if (answer == JOURNAL_FOUND) {
        ret->slot = arena_alloc(arena, sizeof *ret->slot);
        *ret->slot = s->slot;
    }
    pthread_mutex_unlock(&k->lock);
    return answer;
}

static bool replica_session_is_expired(int64_t received_ms, int64_t now_ms)
{
    return now_ms - received_ms > SESSION_EXPIRY_MS + REPLICATION_SLACK_MS;
}

/* Removes expired copies. The list is sorted by age, so the loop ends at the first valid copy. */
void journal_replicas_evict_expired(struct journal_replicas *k, int64_t now_ms)
{
    size_t count = 0, at = 0;
    struct replicated_node *silent = NULL;

    pthread_mutex_lock(&k->lock);
    for (; count < EVICTED_PER_CALL && !linked_list_is_empty(&k->by_age); count++) {
        struct replicated_session *s =
            container_of(k->by_age.next, struct replicated_session, link);

        if (!replica_session_is_expired(s->received_ms, now_ms))
            break;
        replica_session_remove(k, s);
    }
    for (struct replicated_node *s; (s = map_next_value(&k->nodes, &at));)
        if (replica_session_is_expired(s->received_ms, now_ms))
            silent = s;
    if (silent) {
        map_remove_value(&k->nodes, silent->identity);
        mem_free(silent);
    }
    if (count)
        k->full = false;
    pthread_mutex_unlock(&k->lock);
}

uint64_t replica_session_count(struct journal_replicas *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t count = k->sessions.count + k->borrowed.count;
    pthread_mutex_unlock(&k->lock);
    return count;
}
