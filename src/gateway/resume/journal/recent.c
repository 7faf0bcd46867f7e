/* recent.c - events that a loop retains for sessions that move to it.
 *
 * Each session needs the events that began after it was requested. Events have an ascending
 * index; the oldest are dropped as soon as no expected session needs them. */
#include "gateway/resume/journal/recent.h"

#include "base/mem.h"

static void recent_make_room(struct recent_events *r)
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

void recent_add(struct recent_events *r, struct news *n)
{
    recent_make_room(r);
    r->items[r->to++] = news_ref(n);
}

uint64_t recent_end(const struct recent_events *r)
{
    return r->dropped + (r->to - r->from);
}

struct news *recent_at(struct recent_events *r, uint64_t index)
{
    if (index < r->dropped || index >= recent_end(r))
        return NULL;
    return r->items[r->from + (index - r->dropped)];
}

uint64_t recent_after(const struct recent_events *r, uint64_t index, uint64_t number)
{
    uint64_t low = index < r->dropped ? r->dropped : index, high = recent_end(r);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (r->items[r->from + (middle - r->dropped)]->number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void recent_trim(struct recent_events *r, uint64_t index)
{
    for (; r->dropped < index && r->from < r->to; r->dropped++)
        news_unref(r->items[r->from++]);
    if (r->from == r->to)
        r->from = r->to = 0;
}

void recent_clear(struct recent_events *r)
{
    recent_trim(r, recent_end(r));
    mem_free(r->items);
    *r = (struct recent_events){ 0 };
}
