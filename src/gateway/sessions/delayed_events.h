/* delayed_events.h - delays all events by a configured time, to test clients. The order of events
 * does not change, and reads that wait for events also wait for delayed ones. */
#ifndef GATEWAY_SESSIONS_DELAYED_EVENTS_H
#define GATEWAY_SESSIONS_DELAYED_EVENTS_H

#include <stdbool.h>

struct gateway_loop;
struct loop_event_batch;

/* If a delay is set or delayed parcels are left, stores the parcel and passes it to
 * event_queue_append when it is due. Returns false if there is no delay; then the caller queues the
 * parcel. Runs on the loop of h. */
bool delay_event_batch(struct gateway_loop *h, struct loop_event_batch *p);
/* Whether any parcel is delayed. */
bool has_delayed_events(const struct gateway_loop *h);
/* Releases the delayed parcels without delivering them. */
void delayed_events_release(struct gateway_loop *h);

#endif
