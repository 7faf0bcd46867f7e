/* cluster_exchange.c - exchanges rate-limit counts between the nodes of a cluster. */
#include "api/limits/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/serial.h"

enum { ENTRY = 5 }; /* number of integers that a message has for each counter */

void rate_limits_enable_sharing_between_nodes(struct rate_limit_counters *l)
{
    l->shares = true;
}

void rate_limits_set_cluster_callbacks(struct rate_limit_counters *l,
                                       const struct rate_limit_cluster_callbacks *others)
{
    l->others = *others;
}

/* Appends a counter to a message for other nodes. The caller holds the shard's lock. */
static void append_counter_to_message(struct rate_limit_counter *c, struct buf *out)
{
    int64_t ends = clock_ms() + c->ends_ms - clock_steady_ms(); /* wall clock, for other nodes */
    const uint64_t numbers[] = { c->caller, c->limit, c->major, (uint64_t)ends,
                                 c->count > c->published ? c->count - c->published : 0 };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        serialize_u64(out, numbers[i]);
    c->published = c->count > c->published ? c->count : c->published;
    c->is_due = false;
}

/* If a counter has reached a quarter of its limit, puts it into the list of counters to send to
 * other nodes. */
void rate_limit_counter_enqueue_for_other_nodes(struct rate_limit_counters *l,
                                                struct rate_limit_shard *s,
                                                struct rate_limit_counter *c, unsigned most)
{
    if (c->is_due || (c->count + c->others) * 4 < most)
        return;
    c->is_due = true;
    c->next_due = s->due;
    s->due = c;
    atomic_store_explicit(&l->has_due, true, memory_order_release);
}

/* Writes the counter of a strict limit to `out`; the caller sends it after releasing the lock. */
void rate_limit_counter_encode_for_other_nodes(struct rate_limit_counters *l,
                                               struct rate_limit_counter *c, struct buf *out)
{
    buf_init(out, LIMITS_MESSAGE);
    if (l->others.send)
        append_counter_to_message(c, out);
}

static void append_due_counters_of_shard(struct rate_limit_shard *s, struct buf *out)
{
    pthread_mutex_lock(&s->lock);
    while (s->due && out->n < LIMITS_MESSAGE) {
        struct rate_limit_counter *c = s->due;

        s->due = c->next_due;
        append_counter_to_message(c, out);
    }
    pthread_mutex_unlock(&s->lock);
}

void rate_limits_publish_counts(struct rate_limit_counters *l,
                                void (*send)(void *arg, struct str message), void *arg)
{
    struct buf out;

    if (!atomic_exchange_explicit(&l->has_due, false, memory_order_acquire))
        return;
    buf_init(&out, 2 * LIMITS_MESSAGE);
    for (int i = 0; i < LIMIT_SHARDS;) {
        append_due_counters_of_shard(&l->shards[i], &out);
        bool full = out.n >= LIMITS_MESSAGE;

        i += !full;
        if (full || (i == LIMIT_SHARDS && out.n)) {
            send(arg, buf_as_str(&out));
            buf_reset(&out);
        }
    }
    buf_clear(&out);
}

/* Adds the count of another node. If several nodes have started a window for the same counter, the
 * window that started first is used. */
static void merge_received_rate_limit_count(struct rate_limit_counters *l, const uint64_t n[ENTRY])
{
    uint64_t hash = hash_limit_counter(n[0], n[1], n[2]);
    struct rate_limit_shard *s = &l->shards[hash % LIMIT_SHARDS];
    int64_t now = clock_steady_ms(), ends = now + (int64_t)n[3] - clock_ms();

    if (ends <= now || n[4] > UINT32_MAX / 2)
        return;
    pthread_mutex_lock(&s->lock);
    struct rate_limit_counter *c =
        find_or_create_rate_limit_counter(s, hash, n[0], n[1], n[2], now);
    if (c->ends_ms <= now)
        rate_limit_counter_start_window(c, ends);
    else if (ends < c->ends_ms)
        c->ends_ms = ends;
    c->others += (unsigned)n[4];
    pthread_mutex_unlock(&s->lock);
}

uint64_t limits_receive_counts(struct rate_limit_counters *l, struct str message)
{
    struct serialized_data_reader in = { .rest = message };
    uint64_t calls = 0;

    while (in.rest.n >= ENTRY * sizeof(uint64_t)) {
        uint64_t numbers[ENTRY];

        for (size_t i = 0; i < ENTRY; i++)
            numbers[i] = deserialize_u64(&in);
        merge_received_rate_limit_count(l, numbers);
        calls += numbers[4];
    }
    return calls;
}
