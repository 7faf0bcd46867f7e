/* limits.c - how often a caller may do what. */
#include "api/limits/limits.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/serial.h"
#include "json/write.h"

enum { SHARDS = 64, BUCKETS = 256, SWEEP_EVERY = 1024 };
enum { ENTRY = 5, MESSAGE_BYTES = 64 * 1024 }; /* what is told: of a counter, and at once */

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
    struct counter *buckets[BUCKETS];
    struct counter *due;
};

struct limits {
    bool off, shares;
    _Atomic bool has_due;
    _Atomic unsigned global_per_s, anonymous_per_s, percent;
    struct limit global, anonymous;
    struct limits_others others; /* apart == NULL: there are none */
    struct limit_shard shards[SHARDS];
};

struct limits *limits_new(const struct limits_options *options)
{
    struct limits *l = mem_new(sizeof *l);

    l->off = options->off;
    l->global = (struct limit){ .name = "global", .window_s = 1 };
    l->anonymous = (struct limit){ .name = "global", .window_s = 1 };
    limits_set(l, options);
    for (int i = 0; i < SHARDS; i++)
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
    for (int i = 0; i < SHARDS; i++) {
        for (int b = 0; b < BUCKETS; b++)
            free_chain(l->shards[i].buckets[b]);
        pthread_mutex_destroy(&l->shards[i].lock);
    }
    mem_free(l);
}

bool limits_off(const struct limits *l)
{
    return l->off;
}

/* Counters whose window is over are given back now and then, so that memory
 * follows the callers of the last window and not of all time. */
static void limit_sweep(struct limit_shard *s, int64_t now)
{
    s->since_sweep = 0;
    for (int b = 0; b < BUCKETS; b++) {
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

static struct counter *limit_find(struct limit_shard *s, uint64_t hash, uint64_t who,
                                  uint64_t limit, uint64_t major, int64_t now)
{
    struct counter **bucket = &s->buckets[hash / SHARDS % BUCKETS];

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

/* A row is a literal: its address says which name was read before. */
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

static uint64_t counter_hash(uint64_t who, uint64_t name, uint64_t major)
{
    return hash_u64(who ^ hash_u64(name ^ hash_u64(major)));
}

/* Accounts and addresses share no counter, whatever their numbers; what is limited for
 * everybody together has no caller. */
static uint64_t counted_for(uint64_t who, bool anonymous, const struct limit *limit)
{
    return limit->shared ? 0 : who << 1 | anonymous;
}

static void counter_begin(struct counter *c, int64_t ends_ms)
{
    c->ends_ms = ends_ms;
    c->count = c->others = c->told = 0;
}

/* What is far from its limit concerns nobody else. */
static void counter_note(struct limits *l, struct limit_shard *s, struct counter *c, unsigned most)
{
    if (c->is_due || (c->count + c->others) * 4 < most)
        return;
    c->is_due = true;
    c->next_due = s->due;
    s->due = c;
    atomic_store_explicit(&l->has_due, true, memory_order_release);
}

static void counter_write(struct counter *c, struct buf *out);

/* What is strict is told now: `out` is sent when the lock is given back. */
static void counter_note_strict(struct limits *l, struct counter *c, struct buf *out)
{
    buf_init(out, MESSAGE_BYTES);
    if (l->others.send)
        counter_write(c, out);
}

static struct verdict limit_count(struct limits *l, uint64_t who, const struct limit *limit,
                                  uint64_t major, unsigned most)
{
    uint64_t name = limit_name(limit), hash = counter_hash(who, name, major);
    struct limit_shard *s = &l->shards[hash % SHARDS];
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
        .remaining = used < most ? most - used : 0, /* it may have been more before */
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
    struct limit_shard *s = &l->shards[hash % SHARDS];

    pthread_mutex_lock(&s->lock);
    struct counter *c = limit_find(s, hash, key, name, major, clock_steady_ms());
    /* The window in which it was counted may be over. */
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

/* --- among several servers ------------------------------------------------------------ */

void limits_share(struct limits *l)
{
    l->shares = true;
}

void limits_set_others(struct limits *l, const struct limits_others *others)
{
    l->others = *others;
}

/* With the lock of the shard. */
static void counter_write(struct counter *c, struct buf *out)
{
    int64_t ends = clock_ms() + c->ends_ms - clock_steady_ms(); /* as other servers know it */
    const uint64_t numbers[] = { c->who, c->limit, c->major, (uint64_t)ends,
                                 c->count > c->told ? c->count - c->told : 0 };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        serial_put(out, numbers[i]);
    c->told = c->count > c->told ? c->count : c->told;
    c->is_due = false;
}

static void shard_tell(struct limit_shard *s, struct buf *out)
{
    pthread_mutex_lock(&s->lock);
    while (s->due && out->n < MESSAGE_BYTES) {
        struct counter *c = s->due;

        s->due = c->next_due;
        counter_write(c, out);
    }
    pthread_mutex_unlock(&s->lock);
}

void limits_tell(struct limits *l, void (*send)(void *arg, struct str message), void *arg)
{
    struct buf out;

    if (!atomic_exchange_explicit(&l->has_due, false, memory_order_acquire))
        return;
    buf_init(&out, 2 * MESSAGE_BYTES);
    for (int i = 0; i < SHARDS;) {
        shard_tell(&l->shards[i], &out);
        bool full = out.n >= MESSAGE_BYTES;

        i += !full;
        if (full || (i == SHARDS && out.n)) {
            send(arg, buf_str(&out));
            buf_reset(&out);
        }
    }
    buf_clear(&out);
}

/* Windows that several servers began for one caller become one, that of the first. */
static void counter_hear(struct limits *l, const uint64_t n[ENTRY])
{
    uint64_t hash = counter_hash(n[0], n[1], n[2]);
    struct limit_shard *s = &l->shards[hash % SHARDS];
    int64_t now = clock_steady_ms(), ends = now + (int64_t)n[3] - clock_ms();

    if (ends <= now || n[4] > UINT32_MAX / 2)
        return;
    pthread_mutex_lock(&s->lock);
    struct counter *c = limit_find(s, hash, n[0], n[1], n[2], now);
    if (c->ends_ms <= now)
        counter_begin(c, ends);
    else if (ends < c->ends_ms)
        c->ends_ms = ends;
    c->others += (unsigned)n[4];
    pthread_mutex_unlock(&s->lock);
}

uint64_t limits_hear(struct limits *l, struct str message)
{
    struct serial_reader in = { .rest = message };
    uint64_t calls = 0;

    while (in.rest.n >= ENTRY * sizeof(uint64_t)) {
        uint64_t numbers[ENTRY];

        for (size_t i = 0; i < ENTRY; i++)
            numbers[i] = serial_get(&in);
        counter_hear(l, numbers);
        calls += numbers[4];
    }
    return calls;
}

/* --- as an answer says it ------------------------------------------------------------- */

/* Milliseconds as seconds with three decimals. */
static void add_seconds(struct buf *out, int64_t ms)
{
    buf_add_i64(out, ms / 1000);
    buf_add_char(out, '.');
    for (int64_t digit = 100; digit; digit /= 10)
        buf_add_char(out, (char)('0' + ms / digit % 10));
}

static void add_line(struct buf *out, const char *name, int64_t value)
{
    buf_add_str(out, str_of(name));
    buf_add_lit(out, ": ");
    buf_add_i64(out, value);
    buf_add_lit(out, "\r\n");
}

static void add_bucket_lines(const struct verdict *v, const struct limit *limit, struct buf *out)
{
    char bucket[17];

    limit_bucket(limit, bucket);
    add_line(out, "X-RateLimit-Limit", v->limit);
    add_line(out, "X-RateLimit-Remaining", v->remaining);
    buf_add_lit(out, "X-RateLimit-Reset: ");
    add_seconds(out, v->reset_at_ms);
    buf_add_lit(out, "\r\nX-RateLimit-Reset-After: ");
    add_seconds(out, v->reset_after_ms);
    buf_add_lit(out, "\r\nX-RateLimit-Bucket: ");
    buf_add(out, bucket, 16);
    buf_add_lit(out, "\r\n");
}

void limits_headers(const struct verdict *v, const struct limit *limit, struct buf *out)
{
    if (!v->global)
        add_bucket_lines(v, limit, out);
    if (v->allowed)
        return;
    if (v->global)
        buf_add_lit(out, "X-RateLimit-Global: true\r\nX-RateLimit-Scope: global\r\n");
    else if (v->shared)
        buf_add_lit(out, "X-RateLimit-Scope: shared\r\n");
    else
        buf_add_lit(out, "X-RateLimit-Scope: user\r\n");
    /* Rounded up: zero would make clients try again at once. */
    add_line(out, "Retry-After", (v->reset_after_ms + 999) / 1000);
}

void limits_body(const struct verdict *v, enum err e, struct buf *out)
{
    int code = error_info(e)->code;
    struct json j = json_to(out);

    json_object(&j);
    json_name(&j, "message");
    json_text(&j, v->shared ? STR("The resource is being rate limited.")
                            : str_of(error_info(e)->message));
    json_name(&j, "retry_after");
    json_real(&j, (double)v->reset_after_ms / 1000);
    json_name(&j, "global");
    json_bool(&j, v->global);
    if (code) {
        json_name(&j, "code");
        json_int(&j, code);
    }
    json_object_end(&j);
}
