/* line.c - delivers the frames of all nodes in the order of their positions (see line.h). */
#include "cluster/line.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

enum { SLOTS = 1 << 16 };

/* A frame that waits for earlier ones; bytes.n == 0: an aborted position. */
struct line_slot {
    bool filled;
    bool published; /* received through NATS */
    struct str bytes;
};

struct log_line {
    struct line_sink sink;
    pthread_mutex_t lock;
    int64_t next, head;
    struct arena *arena; /* memory of the current frame */
    _Atomic uint64_t unreadable;
    bool remembers;
    uint64_t told_count;
    struct line_told told[LINE_REMEMBERED];
    struct line_slot slots[SLOTS];
};

struct log_line *line_new(const struct line_sink *sink, int64_t next)
{
    struct log_line *l = mem_new(sizeof *l);

    l->sink = *sink;
    l->next = next;
    l->head = next - 1;
    l->arena = arena_new();
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void line_free(struct log_line *l)
{
    if (!l)
        return;
    for (int i = 0; i < SLOTS; i++)
        mem_free((void *)l->slots[i].bytes.p);
    pthread_mutex_destroy(&l->lock);
    arena_free(l->arena);
    mem_free(l);
}

static struct line_slot *slot_at(struct log_line *l, int64_t position)
{
    return &l->slots[position & (SLOTS - 1)];
}

static void note_told(struct log_line *l, struct str bytes)
{
    if (l->remembers)
        l->told[l->told_count++ % LINE_REMEMBERED] = (struct line_told){ l->next, hash_str(bytes) };
}

/* Returns false if the published frame cannot be decoded and must be read from the log. */
static bool tell_slot(struct log_line *l, const struct line_slot *s)
{
    struct frame f;

    arena_reset(l->arena);
    bool readable = frame_decode(s->bytes, l->arena, &f);
    if (!readable && s->published) {
        log_warn("cluster: the frame that NATS delivered for position %lld cannot be read; it is "
                 "read from the log",
                 (long long)l->next);
        return false;
    }
    note_told(l, s->bytes);
    if (readable) {
        l->sink.tell(l->sink.arg, l->next, &f);
    } else {
        atomic_fetch_add(&l->unreadable, 1);
        log_error("cluster: the frame at position %lld of the log cannot be read, so this server "
                  "has missed events or revocations and is not ready (/readyz) until it is "
                  "restarted; does another version of this program use the database?",
                  (long long)l->next);
    }
    return true;
}

static void line_advance(struct log_line *l)
{
    for (struct line_slot *s; (s = slot_at(l, l->next))->filled;) {
        l->next += !s->bytes.n || tell_slot(l, s);
        mem_free((void *)s->bytes.p);
        *s = (struct line_slot){ 0 };
    }
}

static void line_keep(struct log_line *l, int64_t position, struct str bytes, bool published)
{
    struct line_slot *s = slot_at(l, position);

    /* A frame from the log replaces a published frame, which may be unreadable. */
    if (s->filled && (published || !s->published))
        return;
    mem_free((void *)s->bytes.p);
    *s = (struct line_slot){ .filled = true, .published = published };
    if (bytes.n) {
        char *copy = mem_resize(NULL, bytes.n);

        memcpy(copy, bytes.p, bytes.n);
        s->bytes = str_slice(copy, bytes.n);
    }
}

static void line_put(struct log_line *l, int64_t position, struct str bytes,
                     const struct frame *frame, bool published)
{
    pthread_mutex_lock(&l->lock);
    bool fits = position >= l->next && position < l->next + SLOTS;
    if (fits && position > l->head)
        l->head = position;
    if (fits && position == l->next && frame) {
        note_told(l, bytes);
        l->sink.tell(l->sink.arg, position, frame);
        l->next++;
    } else if (fits) {
        line_keep(l, position, bytes, published);
    }
    line_advance(l);
    pthread_mutex_unlock(&l->lock);
}

void line_offer(struct log_line *l, int64_t position, struct str bytes, const struct frame *frame)
{
    line_put(l, position, bytes, frame, false);
}

void line_offer_published(struct log_line *l, int64_t position, struct str bytes)
{
    line_put(l, position, bytes, NULL, true);
}

uint64_t line_void(struct log_line *l, int64_t last)
{
    uint64_t count = 0;

    pthread_mutex_lock(&l->lock);
    for (; l->next <= last; count++) {
        slot_at(l, l->next)->filled = true;
        line_advance(l);
    }
    if (l->head < l->next - 1)
        l->head = l->next - 1;
    pthread_mutex_unlock(&l->lock);
    return count;
}

void line_remember(struct log_line *l)
{
    l->remembers = true;
}

size_t line_told(struct log_line *l, struct line_told out[LINE_REMEMBERED])
{
    pthread_mutex_lock(&l->lock);
    uint64_t count = l->told_count < LINE_REMEMBERED ? l->told_count : LINE_REMEMBERED;
    for (uint64_t i = 0; i < count; i++)
        out[i] = l->told[(l->told_count - count + i) % LINE_REMEMBERED];
    pthread_mutex_unlock(&l->lock);
    return count;
}

uint64_t line_unreadable(const struct log_line *l)
{
    return atomic_load(&l->unreadable);
}

int64_t line_next(struct log_line *l)
{
    pthread_mutex_lock(&l->lock);
    int64_t next = l->next;
    pthread_mutex_unlock(&l->lock);
    return next;
}

int64_t line_head(struct log_line *l)
{
    pthread_mutex_lock(&l->lock);
    int64_t head = l->head;
    pthread_mutex_unlock(&l->lock);
    return head;
}
