/* packing.h - compresses long dispatches on the thread pool. */
#ifndef GATEWAY_SESSIONS_PACKING_H
#define GATEWAY_SESSIONS_PACKING_H

#include "gateway/wire/news.h"

struct packing;
struct peer;

/* Whether an event is too long to be encoded on a loop. */
bool is_long_news(const struct news *n);

/* Encodes the dispatch on the pool, then sends it. Until then peer->packing is set, and later
 * dispatches wait in the replay buffer. */
void packing_begin(struct peer *p, uint64_t seq, struct news *n, unsigned form);
/* The socket is closed: the result is dropped. Accepts NULL. */
void packing_abandon(struct packing *x);

#endif
