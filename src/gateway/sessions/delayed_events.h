/* delayed_events.h - delays all events by a configured time, to test clients. The order of events
 * does not change, and store reads that wait for events also wait for delayed events. */
#ifndef GATEWAY_SESSIONS_DELAYED_EVENTS_H
#define GATEWAY_SESSIONS_DELAYED_EVENTS_H

#include <stdbool.h>

struct gateway_loop;
struct loop_event_batch;

/* Delays a batch of events if a delay is set or earlier events are still delayed: passes it to
 * event_queue_append after the delay, and returns true. If the result is false, the caller must
 * queue the batch. Must be called on the loop of h. */
bool event_batch_delay_if_needed(struct gateway_loop *h, struct loop_event_batch *p);
/* Returns whether any batch is delayed. */
bool has_delayed_events(const struct gateway_loop *h);
/* Frees the delayed batches without delivering their events. */
void delayed_events_discard(struct gateway_loop *h);

#endif
