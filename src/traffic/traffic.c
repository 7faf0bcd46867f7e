/* traffic.c - ring buffer of recent REST requests and gateway messages. */
#include "traffic/traffic.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"

/* Maximum number of stored records; a power of two. */
enum { MAX_RECORDS = 16 * 1024 };

struct traffic_ring {
    _Atomic bool on;
    bool always;
    unsigned watchers;
    size_t size, max_text;
    pthread_mutex_t lock; /* protects all members but `on` */
    /* memory of the ring buffer; NULL before the first traffic_start_watching */
    char *bytes;
    /* offset of each record in the stream of all records; the index is the record's number %
     * MAX_RECORDS */
    uint64_t *offsets;
    /* length of the stream of all records so far, in bytes; its last `size` bytes are stored */
    uint64_t end;
    size_t at; /* end % size, cached to avoid a division per record */
    uint64_t newest;
};

static void traffic_allocate_ring(struct traffic_ring *t)
{
    if (t->bytes)
        return;
    t->bytes = mem_resize(NULL, t->size);
    t->offsets = mem_new(MAX_RECORDS * sizeof *t->offsets);
}

static size_t max_bytes_of_record_text(size_t ring_bytes)
{
    size_t limit = ring_bytes / 64;

    return limit < TRAFFIC_MIN_TEXT_LIMIT ? TRAFFIC_MIN_TEXT_LIMIT
           : limit > TRAFFIC_MAX_TEXT     ? TRAFFIC_MAX_TEXT
                                          : limit;
}

struct traffic_ring *traffic_ring_new(size_t bytes, bool always)
{
    struct traffic_ring *t = mem_new(sizeof *t);

    t->size = bytes;
    t->max_text = max_bytes_of_record_text(bytes);
    t->always = always;
    pthread_mutex_init(&t->lock, NULL);
    if (always)
        traffic_allocate_ring(t);
    t->on = always;
    return t;
}

void traffic_ring_free(struct traffic_ring *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    mem_free(t->bytes);
    mem_free(t->offsets);
    mem_free(t);
}

bool traffic_is_recorded(const struct traffic_ring *t)
{
    return t && atomic_load_explicit(&t->on, memory_order_relaxed);
}

void traffic_start_watching(struct traffic_ring *t)
{
    pthread_mutex_lock(&t->lock);
    traffic_allocate_ring(t);
    t->watchers++;
    t->on = true;
    pthread_mutex_unlock(&t->lock);
}

void traffic_stop_watching(struct traffic_ring *t)
{
    pthread_mutex_lock(&t->lock);
    t->on = --t->watchers > 0 || t->always;
    pthread_mutex_unlock(&t->lock);
}

/* --- ring buffer ---------------------------------------------------------------------- */

/* Advances the write offset. It wraps at most once: no record exceeds an eighth of the ring. */
static void traffic_ring_advance_offset(struct traffic_ring *t, size_t n)
{
    t->end += n;
    t->at += n;
    if (t->at >= t->size)
        t->at -= t->size;
}

/* Writes bytes to the ring; they may wrap around the end of the ring. */
static void traffic_ring_write_bytes(struct traffic_ring *t, const void *p, size_t n)
{
    size_t first = n < t->size - t->at ? n : t->size - t->at;

    memcpy(t->bytes + t->at, p, first);
    if (n > first)
        memcpy(t->bytes, (const char *)p + first, n - first);
    traffic_ring_advance_offset(t, n);
}

static void traffic_ring_read_bytes(const struct traffic_ring *t, uint64_t from, void *p, size_t n)
{
    size_t at = from % t->size, first = n < t->size - at ? n : t->size - at;

    memcpy(p, t->bytes + at, first);
    if (n > first)
        memcpy((char *)p + first, t->bytes, n - first);
}

static bool traffic_ring_contains_record(const struct traffic_ring *t, uint64_t number)
{
    return number && number <= t->newest && t->newest - number < MAX_RECORDS &&
           t->end - t->offsets[number % MAX_RECORDS] <= t->size;
}

/* Writes a record that does not wrap around the end of the ring, which is the usual case. */
static void traffic_ring_write_without_wrapping(char *at, const struct traffic_record *r,
                                                const struct str texts[TRAFFIC_TEXTS])
{
    memcpy(at, r, sizeof *r);
    at += sizeof *r;
    for (int i = 0; i < TRAFFIC_TEXTS; i++) {
        if (!r->stored[i])
            continue;
        memcpy(at, texts[i].p, r->stored[i]);
        at += r->stored[i];
    }
}

static void traffic_ring_write_record(struct traffic_ring *t, const struct traffic_record *r,
                                      const struct str texts[TRAFFIC_TEXTS], size_t bytes)
{
    if (bytes <= t->size - t->at) {
        traffic_ring_write_without_wrapping(t->bytes + t->at, r, texts);
        traffic_ring_advance_offset(t, bytes);
        return;
    }
    traffic_ring_write_bytes(t, r, sizeof *r);
    for (int i = 0; i < TRAFFIC_TEXTS; i++)
        if (r->stored[i])
            traffic_ring_write_bytes(t, texts[i].p, r->stored[i]);
}

void traffic_add_record(struct traffic_ring *t, struct traffic_record *r,
                        const struct str texts[TRAFFIC_TEXTS])
{
    size_t bytes = sizeof *r;

    for (int i = 0; i < TRAFFIC_TEXTS; i++) {
        r->lengths[i] = texts[i].n < UINT32_MAX ? (uint32_t)texts[i].n : UINT32_MAX;
        r->stored[i] = (uint32_t)(texts[i].n < t->max_text ? texts[i].n : t->max_text);
        bytes += r->stored[i];
    }
    r->monotonic_ns = clock_monotonic_ns();
    pthread_mutex_lock(&t->lock);
    if (t->bytes) {
        r->number = ++t->newest;
        t->offsets[r->number % MAX_RECORDS] = t->end;
        traffic_ring_write_record(t, r, texts, bytes);
    }
    pthread_mutex_unlock(&t->lock);
}

/* --- reading -------------------------------------------------------------------------- */

static uint64_t ring_oldest(const struct traffic_ring *t)
{
    uint64_t low = t->newest < MAX_RECORDS ? 1 : t->newest - MAX_RECORDS + 1, high = t->newest;

    /* Find the oldest stored record by binary search: offsets grow with record numbers. */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (traffic_ring_contains_record(t, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return traffic_ring_contains_record(t, low) ? low : 0;
}

void traffic_read_record_number_range(struct traffic_ring *t, uint64_t *ret_oldest,
                                      uint64_t *ret_newest)
{
    pthread_mutex_lock(&t->lock);
    *ret_newest = t->newest;
    *ret_oldest = t->bytes ? ring_oldest(t) : 0;
    pthread_mutex_unlock(&t->lock);
}

bool traffic_read_record(struct traffic_ring *t, uint64_t number, struct traffic_record *ret,
                         struct buf *room)
{
    size_t bytes = 0;
    bool there;

    buf_reset(room);
    pthread_mutex_lock(&t->lock);
    there = t->bytes && traffic_ring_contains_record(t, number);
    if (there) {
        uint64_t from = t->offsets[number % MAX_RECORDS];

        traffic_ring_read_bytes(t, from, ret, sizeof *ret);
        for (int i = 0; i < TRAFFIC_TEXTS; i++)
            bytes += ret->stored[i];
        char *at = buf_reserve(room, bytes + 1);
        there = at != NULL;
        if (at)
            traffic_ring_read_bytes(t, from + sizeof *ret, at, bytes);
    }
    pthread_mutex_unlock(&t->lock);
    room->n = there ? bytes : 0;
    return there;
}

struct str traffic_record_text(const struct traffic_record *r, const struct buf *room,
                               enum traffic_record_text which)
{
    size_t at = 0;

    for (int i = 0; i < (int)which; i++)
        at += r->stored[i];
    return str_slice(room->p + at, r->stored[which]);
}
