/* dispatch.h - each event to those who listen, a piece at a time.
 *
 * This folder brings an event from the bus to sessions: dispatch.c walks over the seats,
 * delivery.c decides for each of them, sight.c and seen_channels.c tell people of channels that
 * they see now, or no more. Nothing here belongs to one session: what a session has been told
 * is kept in sessions/. */
#ifndef GATEWAY_FANOUT_DISPATCH_H
#define GATEWAY_FANOUT_DISPATCH_H

#include <stdbool.h>

struct hub;
struct news;
struct session;

/* Gives one event to those who may see it, and keeps views and seats right. The event, which
 * stays its caller's, is h->queue.delivery until it is finished. */
void dispatch_begin(struct hub *h, struct news *n);
/* True: it is finished. False: when the turn's share is spent, or a look at the store has to
 * end first. */
bool dispatch_continue(struct hub *h);
void dispatch_drop(struct hub *h); /* what is at hand, if anything */
/* One event to one session that came late. */
void dispatch_to(struct session *s, struct news *n);

#endif
