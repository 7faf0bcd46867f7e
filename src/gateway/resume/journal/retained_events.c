/* retained_events.c - events that a loop retains for sessions that move to it.
 *
 * A session needs the events whose delivery began after its transfer was requested. Each retained
 * event has an index, one higher than the event before. The oldest events are dropped when no
 * moving session needs them any more. */
#include "gateway/resume/journal/retained_events.h"

#include "base/mem.h"

static void retained_events_reserve(struct retained_events *r)
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

void retained_events_add(struct retained_events *r, struct gateway_event *n)
{
    retained_events_reserve(r);
    r->items[r->to++] = gateway_event_ref(n);
}

uint64_t retained_events_end(const struct retained_events *r)
{
    return r->dropped + (r->to - r->from);
}

struct gateway_event *retained_event_at(struct retained_events *r, uint64_t index)
{
    if (index < r->dropped || index >= retained_events_end(r))
        return NULL;
    return r->items[r->from + (index - r->dropped)];
}

uint64_t retained_events_find_after(const struct retained_events *r, uint64_t index,
                                    uint64_t number)
{
    uint64_t low = index < r->dropped ? r->dropped : index, high = retained_events_end(r);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (r->items[r->from + (middle - r->dropped)]->number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void retained_events_drop_before(struct retained_events *r, uint64_t index)
{
    for (; r->dropped < index && r->from < r->to; r->dropped++)
        gateway_event_unref(r->items[r->from++]);
    if (r->from == r->to)
        r->from = r->to = 0;
}

void retained_events_clear(struct retained_events *r)
{
    retained_events_drop_before(r, retained_events_end(r));
    mem_free(r->items);
    *r = (struct retained_events){ 0 };
}
