/* exchange.c - exchanges rate-limit counts between the nodes of a cluster. */
#include "api/limits/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/serial.h"

enum { ENTRY = 5 }; /* numbers per counter in a message */

void limits_share(struct limits *l)
{
    l->shares = true;
}

void limits_set_others(struct limits *l, const struct limits_others *others)
{
    l->others = *others;
}

/* Writes a counter to a message. The caller holds the shard's lock. */
static void counter_write(struct counter *c, struct buf *out)
{
    int64_t ends = clock_ms() + c->ends_ms - clock_steady_ms(); /* wall clock, for other nodes */
    const uint64_t numbers[] = { c->who, c->limit, c->major, (uint64_t)ends,
                                 c->count > c->told ? c->count - c->told : 0 };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        serial_put(out, numbers[i]);
    c->told = c->count > c->told ? c->count : c->told;
    c->is_due = false;
}

/* Queues a counter for sending, once it has reached a quarter of its limit. */
void counter_note(struct limits *l, struct limit_shard *s, struct counter *c, unsigned most)
{
    if (c->is_due || (c->count + c->others) * 4 < most)
        return;
    c->is_due = true;
    c->next_due = s->due;
    s->due = c;
    atomic_store_explicit(&l->has_due, true, memory_order_release);
}

/* Writes the counter of a strict limit to `out`, which the caller sends after it has released the
 * lock. */
void counter_note_strict(struct limits *l, struct counter *c, struct buf *out)
{
    buf_init(out, LIMITS_MESSAGE);
    if (l->others.send)
        counter_write(c, out);
}

static void shard_tell(struct limit_shard *s, struct buf *out)
{
    pthread_mutex_lock(&s->lock);
    while (s->due && out->n < LIMITS_MESSAGE) {
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
    buf_init(&out, 2 * LIMITS_MESSAGE);
    for (int i = 0; i < LIMIT_SHARDS;) {
        shard_tell(&l->shards[i], &out);
        bool full = out.n >= LIMITS_MESSAGE;

        i += !full;
        if (full || (i == LIMIT_SHARDS && out.n)) {
            send(arg, buf_str(&out));
            buf_reset(&out);
        }
    }
    buf_clear(&out);
}

/* Adds the count of another node. If several nodes have started a window for one caller, the
 * earliest window counts. */
static void counter_hear(struct limits *l, const uint64_t n[ENTRY])
{
    uint64_t hash = counter_hash(n[0], n[1], n[2]);
    struct limit_shard *s = &l->shards[hash % LIMIT_SHARDS];
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
