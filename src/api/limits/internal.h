/* internal.h - the counters of rate limits, for the files of limits/. */
#ifndef API_LIMITS_INTERNAL_H
#define API_LIMITS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/limits/limits.h"

enum { LIMIT_SHARDS = 64, LIMIT_BUCKETS = 256 };
enum { LIMITS_MESSAGE = 64 * 1024 }; /* bytes per message */

struct counter {
    struct counter *next;
    uint64_t who, limit, major;
    int64_t ends_ms;
    unsigned count;
    unsigned others;          /* calls that other nodes have counted */
    unsigned told;            /* part of count that was sent to other nodes */
    bool is_due;              /* the counter is in the list of counters to send */
    struct counter *next_due; /* next in the list of counters to send */
};

struct limit_shard {
    pthread_mutex_t lock;
    unsigned since_sweep;
    struct counter *buckets[LIMIT_BUCKETS];
    struct counter *due;
};

struct limits {
    bool off, shares;
    _Atomic bool has_due;
    _Atomic unsigned global_per_s, anonymous_per_s, percent;
    struct limit global, anonymous;
    struct limits_others others; /* count_disconnected_nodes NULL: no other nodes */
    struct limit_shard shards[LIMIT_SHARDS];
};

uint64_t counter_hash(uint64_t who, uint64_t name, uint64_t major);
/* Finds or creates the counter of (caller, limit, major). The caller holds the shard's lock. */
struct counter *limit_find(struct limit_shard *s, uint64_t hash, uint64_t who, uint64_t limit,
                           uint64_t major, int64_t now);
void counter_begin(struct counter *c, int64_t ends_ms);

/* --- cluster_exchange.c ---------------------------------------------------------------- */

/* Called after a call was counted, with the shard's lock. counter_note queues the counter for
 * sending. counter_note_strict writes it to `out`, which the caller sends after releasing the
 * lock. */
void counter_note(struct limits *l, struct limit_shard *s, struct counter *c, unsigned most);
void counter_note_strict(struct limits *l, struct counter *c, struct buf *out);

#endif
