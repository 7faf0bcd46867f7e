/* dispatch.h - delivers each event to its subscribers, within the loop's time budget.
 *
 * Folder fanout/ delivers events from the bus (event_bus.h) to sessions: dispatch.c iterates over
 * the subscriptions, delivery.c decides for each subscription, channel_visibility.c and
 * visible_channels.c send CHANNEL_CREATE and CHANNEL_DELETE for channels that users gain and lose.
 */
#ifndef GATEWAY_FANOUT_DISPATCH_H
#define GATEWAY_FANOUT_DISPATCH_H

#include <stdbool.h>

struct gateway_loop;
struct gateway_event;
struct session;

/* Starts to deliver an event, and updates the guild view and the subscriptions. The caller still
 * owns the event, which stays in h->queue.delivery until it is delivered. */
void event_dispatch_begin(struct gateway_loop *h, struct gateway_event *n);
/* Continues the delivery of the current event. Returns true when the event is delivered, false if
 * the time budget is spent or a store read is pending. */
bool event_dispatch_continue(struct gateway_loop *h);
/* aborts the delivery of the current event, if any */
void event_dispatch_abort(struct gateway_loop *h);
/* Delivers an event to a session that has moved to this loop and missed the event meanwhile. */
void deliver_missed_event_to_session(struct session *s, struct gateway_event *n);

#endif
