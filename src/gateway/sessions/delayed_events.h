/* delayed_events.h - delays all events by a configured time, to test clients. The order of events
 * does not change, and store reads that wait for events also wait for delayed events. */
#ifndef GATEWAY_SESSIONS_DELAYED_EVENTS_H
#define GATEWAY_SESSIONS_DELAYED_EVENTS_H

#include <stdbool.h>

struct gateway_loop;
struct loop_event_batch;

/* If a delay is set, or earlier events are still delayed, takes the batch, passes it to
 * event_queue_append when the delay is over, and returns true. If it returns false, the caller must
 * queue the batch. Must be called on the loop of h. */
bool delay_event_batch(struct gateway_loop *h, struct loop_event_batch *p);
/* Returns whether any batch is delayed. */
bool has_delayed_events(const struct gateway_loop *h);
/* Releases the delayed batches without delivering them. */
void delayed_events_release(struct gateway_loop *h);

#endif
