/* bus.h - how news reaches the loops that have sessions.
 *
 * publish hands one piece of news to every loop of the process, in one order that
 * all of them see. Who listens to which subject is the loops' own knowledge. A bus
 * between nodes publishes what it receives in the same way: an event, its subject, payload
 * and facts point at nothing of the call that they come from. */
#ifndef GATEWAY_FANOUT_BUS_H
#define GATEWAY_FANOUT_BUS_H

#include "gateway/wire/news.h"

struct gateway;

/* Each piece of news that announcements are, in their order; with a reference. */
void news_each(const struct announcement *list, void (*take)(void *arg, struct news *n), void *arg);

/* From any thread; takes the caller's reference. */
void publish(struct gateway *g, struct news *n);

#endif
