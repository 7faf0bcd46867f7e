/* event_bus.h - publishes events to all loops of the process.
 *
 * publish_event_to_loops posts an event to every loop, in the same order on all loops. Each loop
 * finds the subscribers itself. Events from other nodes are published in the same way. */
#ifndef GATEWAY_FANOUT_EVENT_BUS_H
#define GATEWAY_FANOUT_EVENT_BUS_H

#include "gateway/wire/gateway_event.h"

struct gateway;

/* Calls take() for every event that the announcements produce, in order. take() becomes the owner
 * of the event's reference. */
void for_each_announced_event(const struct emitted_event *list,
                              void (*take)(void *arg, struct gateway_event *n), void *arg);

/* Posts an event to all loops. Thread-safe; takes over the caller's reference to the event. */
void publish_event_to_loops(struct gateway *g, struct gateway_event *n);

#endif
