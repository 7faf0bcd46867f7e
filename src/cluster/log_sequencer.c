/* log_sequencer.c - delivers the log entries of all nodes in the order of their positions. */
#include "cluster/log_sequencer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

enum { SEQUENCER_SLOTS = 1 << 16 };

/* A log entry that waits for earlier entries. If bytes.n is 0, its transaction was aborted. */
struct sequencer_slot {
    bool filled;
    bool published; /* whether NATS delivered the entry */
    struct str bytes;
    struct log_entry_address *address; /* on the heap; NULL if unknown */
};

struct log_sequencer {
    struct log_entry_sink sink;
    pthread_mutex_t lock;
    int64_t next, head;
    struct arena *arena; /* memory of the log entry being delivered */
    _Atomic uint64_t unreadable;
    bool records_delivered;
    uint64_t delivered_count;
    struct delivered_log_entry delivered[DELIVERED_ENTRIES_RECORDED];
    struct sequencer_slot slots[SEQUENCER_SLOTS];
};

struct log_sequencer *log_sequencer_new(const struct log_entry_sink *sink, int64_t next)
{
    struct log_sequencer *l = mem_new(sizeof *l);

    l->sink = *sink;
    l->next = next;
    l->head = next - 1;
    l->arena = arena_new();
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void sequencer_slot_clear(struct sequencer_slot *s)
{
    mem_free((void *)s->bytes.p);
    mem_free(s->address);
    *s = (struct sequencer_slot){ 0 };
}

void log_sequencer_free(struct log_sequencer *l)
{
    if (!l)
        return;
    for (int i = 0; i < SEQUENCER_SLOTS; i++)
        sequencer_slot_clear(&l->slots[i]);
    pthread_mutex_destroy(&l->lock);
    arena_free(l->arena);
    mem_free(l);
}

static struct sequencer_slot *sequencer_slot_at(struct log_sequencer *l, int64_t position)
{
    return &l->slots[position & (SEQUENCER_SLOTS - 1)];
}

static void record_delivered_hash(struct log_sequencer *l, uint64_t hash)
{
    if (l->records_delivered)
        l->delivered[l->delivered_count++ % DELIVERED_ENTRIES_RECORDED] =
            (struct delivered_log_entry){ l->next, hash };
}

static void record_delivered_entry(struct log_sequencer *l, struct str bytes)
{
    if (l->records_delivered)
        record_delivered_hash(l, hash_str(bytes));
}

/* Delivers the entry of a slot. Returns false if the entry came from NATS and cannot be decoded: it
 * must be read from the log then. */
static bool deliver_entry_of_slot(struct log_sequencer *l, const struct sequencer_slot *s)
{
    struct log_entry f;

    arena_reset(l->arena);
    bool readable = log_entry_decode(s->bytes, l->arena, &f);
    if (!readable && s->published) {
        log_warn("cluster: cannot decode the event that NATS delivered for position %lld; "
                 "reading it from the log instead",
                 (long long)l->next);
        return false;
    }
    record_delivered_entry(l, s->bytes);
    if (readable) {
        l->sink.deliver(l->sink.arg, l->next, &f);
    } else {
        atomic_fetch_add(&l->unreadable, 1);
        log_error("cluster: cannot decode the event at position %lld of the log, so this server "
                  "has missed events or revocations and is not ready (/readyz) until it is "
                  "restarted; does another version of this program use the database?",
                  (long long)l->next);
    }
    return true;
}

static void skip_unneeded_log_entry(struct log_sequencer *l, const struct log_entry_address *a)
{
    record_delivered_hash(l, a->hash);
    l->sink.pass_over(l->sink.arg, l->next, a);
    l->next++;
}

static void deliver_log_entries_in_order(struct log_sequencer *l)
{
    for (;;) {
        struct sequencer_slot *s = sequencer_slot_at(l, l->next);

        if (s->address && !l->sink.needs(l->sink.arg, s->address))
            skip_unneeded_log_entry(l, s->address);
        else if (s->filled)
            l->next += !s->bytes.n || deliver_entry_of_slot(l, s);
        else
            return;
        sequencer_slot_clear(s);
    }
}

static void store_log_entry_until_its_turn(struct log_sequencer *l, int64_t position,
                                           struct str bytes, bool published)
{
    struct sequencer_slot *s = sequencer_slot_at(l, position);

    /* Replace an entry that came from NATS, which may be undecodable, by the same entry from the
     * log. Drop every other repeated entry. */
    if (s->filled && (published || !s->published))
        return;
    mem_free((void *)s->bytes.p);
    s->filled = true;
    s->published = published;
    s->bytes = (struct str){ 0 };
    if (bytes.n) {
        char *copy = mem_resize(NULL, bytes.n);

        memcpy(copy, bytes.p, bytes.n);
        s->bytes = str_slice(copy, bytes.n);
    }
}

static void sequencer_insert_entry(struct log_sequencer *l, int64_t position, struct str bytes,
                                   const struct log_entry *frame, bool published)
{
    pthread_mutex_lock(&l->lock);
    bool fits = position >= l->next && position < l->next + SEQUENCER_SLOTS;
    if (fits && position > l->head)
        l->head = position;
    if (fits && position == l->next && frame) {
        record_delivered_entry(l, bytes);
        l->sink.deliver(l->sink.arg, position, frame);
        sequencer_slot_clear(sequencer_slot_at(l, position));
        l->next++;
    } else if (fits) {
        store_log_entry_until_its_turn(l, position, bytes, published);
    }
    deliver_log_entries_in_order(l);
    pthread_mutex_unlock(&l->lock);
}

void log_sequencer_offer_entry(struct log_sequencer *l, int64_t position, struct str bytes,
                               const struct log_entry *frame)
{
    sequencer_insert_entry(l, position, bytes, frame, false);
}

void log_sequencer_offer_entry_from_nats(struct log_sequencer *l, int64_t position,
                                         struct str bytes)
{
    sequencer_insert_entry(l, position, bytes, NULL, true);
}

static void store_log_entry_address(struct log_sequencer *l, int64_t position,
                                    const struct log_entry_address *a)
{
    struct sequencer_slot *s = sequencer_slot_at(l, position);

    if (s->address)
        return;
    s->address = mem_new(sizeof *s->address);
    *s->address = *a;
}

void log_sequencer_offer_address_of_entry(struct log_sequencer *l, int64_t position,
                                          const struct log_entry_address *a, struct str bytes)
{
    pthread_mutex_lock(&l->lock);
    if (position >= l->next && position < l->next + SEQUENCER_SLOTS) {
        if (position > l->head)
            l->head = position;
        if (position == l->next && !l->sink.needs(l->sink.arg, a)) {
            skip_unneeded_log_entry(l, a);
            sequencer_slot_clear(sequencer_slot_at(l, position));
        } else {
            store_log_entry_address(l, position, a);
            if (bytes.n)
                store_log_entry_until_its_turn(l, position, bytes, true);
        }
        deliver_log_entries_in_order(l);
    }
    pthread_mutex_unlock(&l->lock);
}

uint64_t log_sequencer_abort_missing(struct log_sequencer *l, int64_t last)
{
    uint64_t count = 0;

    pthread_mutex_lock(&l->lock);
    for (; l->next <= last; count++) {
        struct sequencer_slot *s = sequencer_slot_at(l, l->next);

        if (s->address)
            break;
        s->filled = true;
        deliver_log_entries_in_order(l);
    }
    if (l->head < l->next - 1)
        l->head = l->next - 1;
    pthread_mutex_unlock(&l->lock);
    return count;
}

void log_sequencer_enable_delivered_list(struct log_sequencer *l)
{
    l->records_delivered = true;
}

size_t log_sequencer_list_delivered_entries(
    struct log_sequencer *l, struct delivered_log_entry out[DELIVERED_ENTRIES_RECORDED])
{
    pthread_mutex_lock(&l->lock);
    uint64_t count = l->delivered_count < DELIVERED_ENTRIES_RECORDED ? l->delivered_count
                                                                     : DELIVERED_ENTRIES_RECORDED;
    for (uint64_t i = 0; i < count; i++)
        out[i] = l->delivered[(l->delivered_count - count + i) % DELIVERED_ENTRIES_RECORDED];
    pthread_mutex_unlock(&l->lock);
    return count;
}

uint64_t log_sequencer_unreadable_count(const struct log_sequencer *l)
{
    return atomic_load(&l->unreadable);
}

int64_t log_sequencer_next_position(struct log_sequencer *l)
{
    pthread_mutex_lock(&l->lock);
    int64_t next = l->next;
    pthread_mutex_unlock(&l->lock);
    return next;
}

int64_t log_sequencer_greatest_position(struct log_sequencer *l)
{
    pthread_mutex_lock(&l->lock);
    int64_t head = l->head;
    pthread_mutex_unlock(&l->lock);
    return head;
}
