/* recent.c - events that a loop has begun while sessions are on their way to it.
 *
 * Each session needs those that began after it was asked for, so they are known by an index
 * that goes on counting, and the oldest go as soon as nobody is expected who needs them. */
#include "gateway/recent.h"

#include "base/mem.h"
#include "gateway/facts.h"

static void make_room(struct recent *r)
{
    if (r->to < r->cap)
        return;
    if (r->from > r->cap / 2) {
        memmove(r->items, r->items + r->from, (r->to - r->from) * sizeof *r->items);
        r->to -= r->from;
        r->from = 0;
        return;
    }
    r->cap = r->cap ? r->cap * 2 : 64;
    r->items = mem_resize(r->items, r->cap * sizeof *r->items);
}

void recent_add(struct recent *r, struct news *n)
{
    make_room(r);
    r->items[r->to++] = (struct recent_event){ .news = news_ref(n) };
}

uint64_t recent_end(const struct recent *r)
{
    return r->dropped + (r->to - r->from);
}

struct recent_event *recent_at(struct recent *r, uint64_t index)
{
    if (index < r->dropped || index >= recent_end(r))
        return NULL;
    return &r->items[r->from + (index - r->dropped)];
}

uint64_t recent_after(const struct recent *r, uint64_t index, uint64_t number)
{
    uint64_t low = index < r->dropped ? r->dropped : index, high = recent_end(r);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (r->items[r->from + (middle - r->dropped)].news->number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct facts *recent_facts(struct recent_event *e)
{
    if (e->facts || e->unreadable)
        return e->facts;
    struct arena *arena = arena_new();
    struct facts *f = arena_alloc(arena, sizeof *f);

    if (!facts_read(e->news->event, news_payload(e->news), arena, f)) {
        arena_free(arena);
        e->unreadable = true;
        return NULL;
    }
    e->arena = arena;
    e->facts = f;
    return f;
}

void recent_trim(struct recent *r, uint64_t index)
{
    for (; r->dropped < index && r->from < r->to; r->dropped++) {
        struct recent_event *e = &r->items[r->from++];

        news_unref(e->news);
        if (e->arena)
            arena_free(e->arena);
    }
    if (r->from == r->to)
        r->from = r->to = 0;
}

void recent_clear(struct recent *r)
{
    recent_trim(r, recent_end(r));
    mem_free(r->items);
    *r = (struct recent){ 0 };
}
