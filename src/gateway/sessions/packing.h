/* packing.h - compresses long dispatches on the thread pool. */
#ifndef GATEWAY_SESSIONS_PACKING_H
#define GATEWAY_SESSIONS_PACKING_H

#include "gateway/wire/news.h"

struct packing;
struct peer;

/* Returns whether the event's payload is too long to be encoded on an event loop. */
bool is_long_news(const struct news *n);

/* Encodes the dispatch on the thread pool, then sends it. Until then peer->packing is set, and
 * later dispatches wait in the replay buffer. */
void packing_begin(struct peer *p, uint64_t seq, struct news *n, unsigned form);
/* Drops the result, because the socket is closed. Accepts NULL. */
void packing_abandon(struct packing *x);

#endif
