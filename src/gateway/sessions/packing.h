/* packing.h - long dispatches get the form of their socket on the pool. */
#ifndef GATEWAY_SESSIONS_PACKING_H
#define GATEWAY_SESSIONS_PACKING_H

#include "gateway/wire/news.h"

struct packing;
struct peer;

/* Is it too much to be compressed, or made external terms, on a loop? */
bool is_long_news(const struct news *n);

/* Sends one when it is ready. Until then peer->packing is set, and what follows waits among
 * what is kept. */
void packing_begin(struct peer *p, uint64_t seq, struct news *n, unsigned form);
/* Its socket is gone. Accepts NULL. */
void packing_abandon(struct packing *x);

#endif
