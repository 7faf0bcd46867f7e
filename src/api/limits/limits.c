/* limits.c - rate limits: counters of calls per caller, bucket and window. */
#include "api/limits/internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { SWEEP_EVERY = 1024 };

struct rate_limit_counters *rate_limit_counters_new(const struct rate_limit_options *options)
{
    struct rate_limit_counters *l = mem_new(sizeof *l);

    l->off = options->off;
    l->global = (struct rate_limit){ .name = "global", .window_s = 1 };
    l->anonymous = (struct rate_limit){ .name = "global", .window_s = 1 };
    rate_limits_set_options(l, options);
    for (int i = 0; i < LIMIT_SHARDS; i++)
        pthread_mutex_init(&l->shards[i].lock, NULL);
    return l;
}

void rate_limits_set_options(struct rate_limit_counters *l,
                             const struct rate_limit_options *options)
{
    l->global_per_s = options->global_per_s;
    l->anonymous_per_s = options->anonymous_per_s;
    l->percent = options->percent;
}

static void free_rate_limit_counters(struct rate_limit_counter *c)
{
    while (c) {
        struct rate_limit_counter *next = c->next;

        mem_free(c);
        c = next;
    }
}

void rate_limit_counters_free(struct rate_limit_counters *l)
{
    if (!l)
        return;
    for (int i = 0; i < LIMIT_SHARDS; i++) {
        for (int b = 0; l->shards[i].buckets && b < LIMIT_BUCKETS; b++)
            free_rate_limit_counters(l->shards[i].buckets[b]);
        mem_free(l->shards[i].buckets);
        pthread_mutex_destroy(&l->shards[i].lock);
    }
    mem_free(l);
}

bool rate_limits_are_disabled(const struct rate_limit_counters *l)
{
    return l->off;
}

/* Frees expired counters, so that only the callers of the last window use memory. */
static void free_expired_counters(struct rate_limit_shard *s, int64_t now)
{
    s->since_sweep = 0;
    for (int b = 0; b < LIMIT_BUCKETS; b++) {
        for (struct rate_limit_counter **at = &s->buckets[b]; *at;) {
            struct rate_limit_counter *c = *at;

            if (c->ends_ms > now || c->is_due) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            mem_free(c);
        }
    }
}

struct rate_limit_counter *find_or_create_rate_limit_counter(struct rate_limit_shard *s,
                                                             uint64_t hash, uint64_t caller,
                                                             uint64_t limit, uint64_t major,
                                                             int64_t now)
{
    if (!s->buckets)
        s->buckets = mem_new(LIMIT_BUCKETS * sizeof *s->buckets);
    struct rate_limit_counter **bucket = &s->buckets[hash / LIMIT_SHARDS % LIMIT_BUCKETS];

    for (struct rate_limit_counter *c = *bucket; c; c = c->next)
        if (c->caller == caller && c->limit == limit && c->major == major)
            return c;

    if (++s->since_sweep >= SWEEP_EVERY)
        free_expired_counters(s, now);
    struct rate_limit_counter *c = mem_new(sizeof *c);
    *c = (struct rate_limit_counter){
        .next = *bucket, .caller = caller, .limit = limit, .major = major
    };
    *bucket = c;
    return c;
}

static uint64_t hash_limit_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a without a random key, because the hashes must be
                                         * equal on every node */

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
    return h;
}

/* Returns the hash of a limit's name. Caches it by the address of the limit, which is a
 * constant. */
static uint64_t cached_limit_name_hash(const struct rate_limit *limit)
{
    static _Thread_local struct {
        const struct rate_limit *limit;
        uint64_t name;
    } read[64];
    size_t at = hash_u64((uint64_t)(uintptr_t)limit) % 64;

    if (read[at].limit != limit) {
        read[at].limit = limit;
        read[at].name = hash_limit_name(limit->name) ^ hash_u64(limit->count) ^ limit->window_s;
    }
    return read[at].name;
}

uint64_t hash_limit_counter(uint64_t caller, uint64_t name, uint64_t major)
{
    return hash_u64(caller ^ hash_u64(name ^ hash_u64(major)));
}

/* Returns the caller part of a counter's key. The lowest bit distinguishes accounts from addresses.
 * For a shared limit, which counts all callers together, returns the same key for every caller. */
static uint64_t counter_caller_key(uint64_t caller, bool anonymous, const struct rate_limit *limit)
{
    return limit->shared ? 0 : caller << 1 | anonymous;
}

void rate_limit_counter_start_window(struct rate_limit_counter *c, int64_t ends_ms)
{
    c->ends_ms = ends_ms;
    c->count = c->others = c->published = 0;
}

static struct rate_limit_result count_call_in_rate_limit_window(struct rate_limit_counters *l,
                                                                uint64_t caller,
                                                                const struct rate_limit *limit,
                                                                uint64_t major, unsigned most)
{
    uint64_t name = cached_limit_name_hash(limit), hash = hash_limit_counter(caller, name, major);
    struct rate_limit_shard *s = &l->shards[hash % LIMIT_SHARDS];
    int64_t now = clock_steady_ms();
    struct buf out = { 0 };

    pthread_mutex_lock(&s->lock);
    struct rate_limit_counter *c =
        find_or_create_rate_limit_counter(s, hash, caller, name, major, now);
    if (c->ends_ms <= now)
        rate_limit_counter_start_window(c, now + (int64_t)limit->window_s * 1000);
    bool allowed = c->count + c->others < most;
    if (allowed)
        c->count++;
    if (allowed && l->shares && limit->strict)
        rate_limit_counter_encode_for_other_nodes(l, c, &out);
    else if (allowed && l->shares)
        rate_limit_counter_enqueue_for_other_nodes(l, s, c, most);
    unsigned used = c->count + c->others;
    struct rate_limit_result v = {
        .allowed = allowed,
        .shared = limit->shared,
        .limit = most,
        .remaining = used < most ? most - used : 0, /* `most` may have been lowered */
        .reset_at_ms = clock_ms() + c->ends_ms - now,
        .reset_after_ms = c->ends_ms - now,
    };
    pthread_mutex_unlock(&s->lock);
    if (out.n) {
        l->others.send(l->others.arg, buf_as_str(&out));
        buf_clear(&out);
    }
    return v;
}

struct rate_limit_result rate_limits_count_call(struct rate_limit_counters *l, uint64_t caller,
                                                bool anonymous, const struct rate_limit *limit,
                                                uint64_t major)
{
    unsigned most = (unsigned)((uint64_t)limit->count * l->percent / 100);

    if (limit->strict && l->others.count_disconnected_nodes)
        most /= l->others.count_disconnected_nodes(l->others.arg);
    return count_call_in_rate_limit_window(l, counter_caller_key(caller, anonymous, limit), limit,
                                           major, most ? most : 1);
}

void rate_limits_revert_call_count(struct rate_limit_counters *l, uint64_t caller, bool anonymous,
                                   const struct rate_limit *limit, uint64_t major)
{
    uint64_t key = counter_caller_key(caller, anonymous, limit),
             name = cached_limit_name_hash(limit);
    uint64_t hash = hash_limit_counter(key, name, major);
    struct rate_limit_shard *s = &l->shards[hash % LIMIT_SHARDS];

    pthread_mutex_lock(&s->lock);
    struct rate_limit_counter *c =
        find_or_create_rate_limit_counter(s, hash, key, name, major, clock_steady_ms());
    /* If the count is 0, the window in which the call was counted has ended. */
    if (c->count)
        c->count--;
    pthread_mutex_unlock(&s->lock);
}

struct rate_limit_result rate_limits_count_global_call(struct rate_limit_counters *l,
                                                       uint64_t caller, bool anonymous)
{
    const struct rate_limit *limit = anonymous ? &l->anonymous : &l->global;
    unsigned most = anonymous ? l->anonymous_per_s : l->global_per_s;
    struct rate_limit_result v =
        count_call_in_rate_limit_window(l, caller << 1 | anonymous, limit, 0, most);

    v.global = true;
    return v;
}

void format_rate_limit_bucket_id(const struct rate_limit *limit, char out[17])
{
    uint64_t h = hash_limit_name(limit->name);

    for (int i = 0; i < 16; i++)
        out[i] = "0123456789abcdef"[h >> (60 - 4 * i) & 15];
    out[16] = '\0';
}
