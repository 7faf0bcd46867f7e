/* event_batch.c - the events of one commit, shared by all loops that deliver them. */
#include "gateway/sessions/event_batch.h"

#include <assert.h>

#include "base/mem.h"
#include "gateway/wire/gateway_event.h"

struct event_batch *event_batch_new(unsigned loops, size_t capacity)
{
    size_t parcels = loops * sizeof(struct loop_event_batch);
    struct event_batch *b = mem_new(sizeof *b + parcels + capacity * sizeof *b->events);

    b->loops = loops;
    b->unreleased = loops;
    b->events = (struct gateway_event **)(void *)(b->loop_batches + loops);
    for (unsigned i = 0; i < loops; i++)
        b->loop_batches[i].batch = b;
    return b;
}

void event_batch_add(struct event_batch *b, struct gateway_event *n)
{
    b->events[b->count++] = n;
}

void event_batch_free(struct event_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        gateway_event_unref(b->events[i]);
    mem_free(b);
}

struct gateway_event *loop_event_batch_next_event(struct loop_event_batch *p)
{
    assert(p->begun < p->batch->count);
    return p->batch->events[p->begun++];
}

struct gateway_event *loop_event_batch_get_first_event(const struct loop_event_batch *p)
{
    assert(p->begun < p->batch->count);
    return p->batch->events[p->begun];
}

bool loop_event_batch_is_consumed(const struct loop_event_batch *p)
{
    return p->begun == p->batch->count;
}

uint64_t loop_batch_last_number(const struct loop_event_batch *p)
{
    return p->batch->events[p->batch->count - 1]->number;
}

void loop_event_batch_release(struct loop_event_batch *p)
{
    struct event_batch *b = p->batch;

    if (atomic_fetch_sub_explicit(&b->unreleased, 1, memory_order_acq_rel) == 1)
        event_batch_free(b);
}
