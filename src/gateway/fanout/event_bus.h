/* event_bus.h - publishes events to all loops of the process.
 *
 * publish posts an event to every loop, in an order that is the same on all of them. Each loop
 * finds the subscribers itself. Events from other nodes are published in the same way. */
#ifndef GATEWAY_FANOUT_EVENT_BUS_H
#define GATEWAY_FANOUT_EVENT_BUS_H

#include "gateway/wire/gateway_event.h"

struct gateway;

/* Calls take() for every event that the announcements produce, in order. take() owns one
 * reference of the event. */
void for_each_announced_event(const struct emitted_event *list,
                              void (*take)(void *arg, struct gateway_event *n), void *arg);

/* Thread-safe; takes over the caller's reference. */
void publish_event(struct gateway *g, struct gateway_event *n);

#endif
