/* internal.h - the counters of rate limits, for the files of limits/. */
#ifndef API_LIMITS_INTERNAL_H
#define API_LIMITS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/limits/limits.h"

enum { LIMIT_SHARDS = 64, LIMIT_BUCKETS = 256 };
enum { LIMITS_MESSAGE = 64 * 1024 }; /* maximum bytes per message between nodes */

struct rate_limit_counter {
    struct rate_limit_counter *next;
    uint64_t caller, limit, major;
    int64_t ends_ms;
    unsigned count;
    unsigned others;    /* calls that other nodes have counted */
    unsigned published; /* part of `count` that was already sent to the other nodes */
    bool is_due;        /* whether the counter is in the list of counters that will be sent to other
                         * nodes */
    struct rate_limit_counter *next_due; /* next counter in the list of counters that will be sent
                                          * to other nodes */
};

struct rate_limit_shard {
    pthread_mutex_t lock;
    unsigned since_sweep;
    struct rate_limit_counter **buckets; /* LIMIT_BUCKETS lists; NULL before the first counter */
    struct rate_limit_counter *due;
};

struct rate_limit_counters {
    bool off, shares;
    _Atomic bool has_due;
    _Atomic unsigned global_per_s, anonymous_per_s, percent;
    struct rate_limit global, anonymous;
    /* Callbacks that send counts to other nodes; count_disconnected_nodes is NULL if there are no
     * other nodes. */
    struct rate_limit_cluster_callbacks others;
    struct rate_limit_shard shards[LIMIT_SHARDS];
};

uint64_t hash_limit_counter(uint64_t caller, uint64_t name, uint64_t major);
/* Finds or creates the counter of (caller, limit, major). The caller holds the shard's lock. */
struct rate_limit_counter *find_or_create_rate_limit_counter(struct rate_limit_shard *s,
                                                             uint64_t hash, uint64_t caller,
                                                             uint64_t limit, uint64_t major,
                                                             int64_t now);
void rate_limit_counter_start_window(struct rate_limit_counter *c, int64_t ends_ms);

/* --- cluster_exchange.c ---------------------------------------------------------------- */

/* rate_limit_counter_enqueue_for_other_nodes queues a counter for sending to other nodes.
 * rate_limit_counter_encode_for_other_nodes writes a counter to `out`, which the caller sends after
 * releasing the lock. Call them after an API call was counted, with the shard's lock held. */
void rate_limit_counter_enqueue_for_other_nodes(struct rate_limit_counters *l,
                                                struct rate_limit_shard *s,
                                                struct rate_limit_counter *c, unsigned most);
void rate_limit_counter_encode_for_other_nodes(struct rate_limit_counters *l,
                                               struct rate_limit_counter *c, struct buf *out);

#endif
