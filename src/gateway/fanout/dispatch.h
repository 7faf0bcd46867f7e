/* dispatch.h - delivers each event to its subscribers, within the loop's time budget.
 *
 * Folder fanout/ delivers events from the bus (event_bus.h) to sessions: dispatch.c iterates over
 * the subscriptions, delivery.c decides for each subscription, channel_visibility.c and
 * visible_channels.c send CHANNEL_CREATE and CHANNEL_DELETE for channels that users gain or
 * lose. */
#ifndef GATEWAY_FANOUT_DISPATCH_H
#define GATEWAY_FANOUT_DISPATCH_H

#include <stdbool.h>

struct gateway_loop;
struct gateway_event;
struct session;

/* Starts to deliver an event, and applies it to the guild view and to subscriptions. The caller
 * still owns the event, which stays in h->queue.delivery until it is delivered. */
void dispatch_begin(struct gateway_loop *h, struct gateway_event *n);
/* Returns true if the event is delivered, false if the time budget is spent or a store read is
 * pending. */
bool dispatch_continue(struct gateway_loop *h);
void event_dispatch_abort(struct gateway_loop *h); /* aborts the delivery in progress, if any */
/* Delivers one missed event to a session that has moved to this loop. */
void deliver_missed_event_to_session(struct session *s, struct gateway_event *n);

#endif
