/* internal.h - the counters, for the files of limits/. */
#ifndef API_LIMITS_INTERNAL_H
#define API_LIMITS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/limits/limits.h"

enum { LIMIT_SHARDS = 64, LIMIT_BUCKETS = 256 };
enum { LIMITS_MESSAGE = 64 * 1024 }; /* bytes sent at once */

struct counter {
    struct counter *next;
    uint64_t who, limit, major;
    int64_t ends_ms;
    unsigned count;
    unsigned others;          /* what other servers counted */
    unsigned told;            /* of the first of these */
    bool is_due;              /* it is in the list of those that are to be told … */
    struct counter *next_due; /* … before this one */
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
    struct limits_others others; /* apart == NULL: there are none */
    struct limit_shard shards[LIMIT_SHARDS];
};

uint64_t counter_hash(uint64_t who, uint64_t name, uint64_t major);
/* The counter of (who, limit, major), which is made if there is none. With the lock of the shard.
 */
struct counter *limit_find(struct limit_shard *s, uint64_t hash, uint64_t who, uint64_t limit,
                           uint64_t major, int64_t now);
/* Begins a new window. */
void counter_begin(struct counter *c, int64_t ends_ms);

/* --- exchange.c ------------------------------------------------------------------------ */

/* After a call was counted, with the lock of the shard: the counter is sent later, or if the limit
 * is strict at once. Then it is written to `out`, which is sent when the lock is given back. */
void counter_note(struct limits *l, struct limit_shard *s, struct counter *c, unsigned most);
void counter_note_strict(struct limits *l, struct counter *c, struct buf *out);

#endif
