/* bus.h - publishes events to all loops of the process.
 *
 * publish posts an event to every loop, in an order that is the same on all of them. Each loop
 * finds the subscribers itself. Events from other nodes are published in the same way. */
#ifndef GATEWAY_FANOUT_BUS_H
#define GATEWAY_FANOUT_BUS_H

#include "gateway/wire/news.h"

struct gateway;

/* Calls take() for every event that the announcements produce, in order. take() owns one
 * reference of the event. */
void news_each(const struct announcement *list, void (*take)(void *arg, struct news *n), void *arg);

/* Thread-safe; takes over the caller's reference. */
void publish(struct gateway *g, struct news *n);

#endif
