/* limits.c - rate limits: counters of calls per caller, bucket and window. */
#include "api/limits/internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { SWEEP_EVERY = 1024 };

struct limits *limits_new(const struct limits_options *options)
{
    struct limits *l = mem_new(sizeof *l);

    l->off = options->off;
    l->global = (struct limit){ .name = "global", .window_s = 1 };
    l->anonymous = (struct limit){ .name = "global", .window_s = 1 };
    limits_set(l, options);
    for (int i = 0; i < LIMIT_SHARDS; i++)
        pthread_mutex_init(&l->shards[i].lock, NULL);
    return l;
}

void limits_set(struct limits *l, const struct limits_options *options)
{
    l->global_per_s = options->global_per_s;
    l->anonymous_per_s = options->anonymous_per_s;
    l->percent = options->percent;
}

static void free_chain(struct counter *c)
{
    while (c) {
        struct counter *next = c->next;

        mem_free(c);
        c = next;
    }
}

void limits_free(struct limits *l)
{
    if (!l)
        return;
    for (int i = 0; i < LIMIT_SHARDS; i++) {
        for (int b = 0; b < LIMIT_BUCKETS; b++)
            free_chain(l->shards[i].buckets[b]);
        pthread_mutex_destroy(&l->shards[i].lock);
    }
    mem_free(l);
}

bool limits_off(const struct limits *l)
{
    return l->off;
}

/* Frees expired counters, so that memory use depends on the callers of the last window only. */
static void limit_sweep(struct limit_shard *s, int64_t now)
{
    s->since_sweep = 0;
    for (int b = 0; b < LIMIT_BUCKETS; b++) {
        for (struct counter **at = &s->buckets[b]; *at;) {
            struct counter *c = *at;

            if (c->ends_ms > now || c->is_due) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            mem_free(c);
        }
    }
}

struct counter *limit_find(struct limit_shard *s, uint64_t hash, uint64_t who, uint64_t limit,
                           uint64_t major, int64_t now)
{
    struct counter **bucket = &s->buckets[hash / LIMIT_SHARDS % LIMIT_BUCKETS];

    for (struct counter *c = *bucket; c; c = c->next)
        if (c->who == who && c->limit == limit && c->major == major)
            return c;

    if (++s->since_sweep >= SWEEP_EVERY)
        limit_sweep(s, now);
    struct counter *c = mem_new(sizeof *c);
    *c = (struct counter){ .next = *bucket, .who = who, .limit = limit, .major = major };
    *bucket = c;
    return c;
}

static uint64_t name_hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a: the same on every node */

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
    return h;
}

/* Caches the hash of the name by the limit's address, because limits are constants. */
static uint64_t limit_name(const struct limit *limit)
{
    static _Thread_local struct {
        const struct limit *limit;
        uint64_t name;
    } read[64];
    size_t at = hash_u64((uint64_t)(uintptr_t)limit) % 64;

    if (read[at].limit != limit) {
        read[at].limit = limit;
        read[at].name = name_hash(limit->name) ^ hash_u64(limit->count) ^ limit->window_s;
    }
    return read[at].name;
}

uint64_t counter_hash(uint64_t who, uint64_t name, uint64_t major)
{
    return hash_u64(who ^ hash_u64(name ^ hash_u64(major)));
}

/* Returns the caller part of a counter's key; the lowest bit separates accounts from addresses. A
 * shared limit has no caller. */
static uint64_t counted_for(uint64_t who, bool anonymous, const struct limit *limit)
{
    return limit->shared ? 0 : who << 1 | anonymous;
}

void counter_begin(struct counter *c, int64_t ends_ms)
{
    c->ends_ms = ends_ms;
    c->count = c->others = c->told = 0;
}

static struct verdict limit_count(struct limits *l, uint64_t who, const struct limit *limit,
                                  uint64_t major, unsigned most)
{
    uint64_t name = limit_name(limit), hash = counter_hash(who, name, major);
    struct limit_shard *s = &l->shards[hash % LIMIT_SHARDS];
    int64_t now = clock_steady_ms();
    struct buf out = { 0 };

    pthread_mutex_lock(&s->lock);
    struct counter *c = limit_find(s, hash, who, name, major, now);
    if (c->ends_ms <= now)
        counter_begin(c, now + (int64_t)limit->window_s * 1000);
    bool allowed = c->count + c->others < most;
    if (allowed)
        c->count++;
    if (allowed && l->shares && limit->strict)
        counter_note_strict(l, c, &out);
    else if (allowed && l->shares)
        counter_note(l, s, c, most);
    unsigned used = c->count + c->others;
    struct verdict v = {
        .allowed = allowed,
        .shared = limit->shared,
        .limit = most,
        .remaining = used < most ? most - used : 0, /* most may be lower than at the last call */
        .reset_at_ms = clock_ms() + c->ends_ms - now,
        .reset_after_ms = c->ends_ms - now,
    };
    pthread_mutex_unlock(&s->lock);
    if (out.n) {
        l->others.send(l->others.arg, buf_str(&out));
        buf_clear(&out);
    }
    return v;
}

struct verdict limits_count(struct limits *l, uint64_t who, bool anonymous,
                            const struct limit *limit, uint64_t major)
{
    unsigned most = (unsigned)((uint64_t)limit->count * l->percent / 100);

    if (limit->strict && l->others.apart)
        most /= l->others.apart(l->others.arg);
    return limit_count(l, counted_for(who, anonymous, limit), limit, major, most ? most : 1);
}

void limits_return(struct limits *l, uint64_t who, bool anonymous, const struct limit *limit,
                   uint64_t major)
{
    uint64_t key = counted_for(who, anonymous, limit), name = limit_name(limit);
    uint64_t hash = counter_hash(key, name, major);
    struct limit_shard *s = &l->shards[hash % LIMIT_SHARDS];

    pthread_mutex_lock(&s->lock);
    struct counter *c = limit_find(s, hash, key, name, major, clock_steady_ms());
    /* The window in which the call was counted may have ended. */
    if (c->count)
        c->count--;
    pthread_mutex_unlock(&s->lock);
}

struct verdict limits_count_global(struct limits *l, uint64_t who, bool anonymous)
{
    const struct limit *limit = anonymous ? &l->anonymous : &l->global;
    unsigned most = anonymous ? l->anonymous_per_s : l->global_per_s;
    struct verdict v = limit_count(l, who << 1 | anonymous, limit, 0, most);

    v.global = true;
    return v;
}

void limit_bucket(const struct limit *limit, char out[17])
{
    uint64_t h = name_hash(limit->name);

    for (int i = 0; i < 16; i++)
        out[i] = "0123456789abcdef"[h >> (60 - 4 * i) & 15];
    out[16] = '\0';
}
