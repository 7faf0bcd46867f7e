/* event_batch.h - the events of one commit, shared by all loops that deliver them.
 *
 * The list of events and a struct loop_event_batch per loop are one allocation, so that the
 * publisher (usually the writer thread) needs no allocation and no post per event and loop. The
 * batch owns the events until the last loop has released it. */
#ifndef GATEWAY_SESSIONS_EVENT_BATCH_H
#define GATEWAY_SESSIONS_EVENT_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

struct gateway_loop;
struct gateway_event;
struct event_batch;

/* The progress of one loop in a batch: the loop has started to deliver the first `begun` events. */
struct loop_event_batch {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    struct loop_event_batch *next; /* next batch in the event queue of the loop */
    /* Time at which delayed events are delivered (clock_monotonic_ns). */
    int64_t due_ns;
    struct event_batch *batch;
    size_t begun;
};

struct event_batch {
    unsigned loops;
    _Atomic unsigned unreleased; /* number of loops that have not released the batch */
    size_t count;
    struct gateway_event **events; /* the array is stored after loop_batches */
    struct loop_event_batch loop_batches[];
};

/* Creates a batch for `loops` event loops, with capacity for `capacity` events. */
struct event_batch *event_batch_new(unsigned loops, size_t capacity);
/* Appends an event. The batch takes over the caller's reference. */
void event_batch_add(struct event_batch *b, struct gateway_event *n);
/* Frees a batch that was never posted to loops. */
void event_batch_free(struct event_batch *b);

/* Returns the next event of the batch for this loop, which must exist, and counts it as begun. */
struct gateway_event *loop_event_batch_next_event(struct loop_event_batch *p);
/* Returns the same event as loop_event_batch_next_event, but does not count it as begun. */
struct gateway_event *loop_event_batch_get_first_event(const struct loop_event_batch *p);
bool loop_event_batch_is_consumed(
    /* returns whether this loop has begun to deliver the last event of the batch */
    const struct loop_event_batch *p);
uint64_t loop_batch_last_number(const struct loop_event_batch *p);
/* Releases the batch for one loop; the last release frees the batch. */
void loop_event_batch_release(struct loop_event_batch *p);

#endif
