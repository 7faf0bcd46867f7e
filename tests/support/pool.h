/* pool.h - the threads of libuv's pool, held by a test.
 *
 * Files are written and long bodies worked on by these threads, which are the same for all of
 * the process: while they are all held, such a request waits between its checks and the
 * transaction that writes. */
#ifndef SUPPORT_POOL_H
#define SUPPORT_POOL_H

#include "world.h"

void pool_hold(void);
/* Waits until so many requests of the server have come as far as the held threads. */
void pool_await(struct world *w, unsigned requests);
void pool_release(void);

#endif
