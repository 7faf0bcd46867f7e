/* pool.h - blocks the threads of libuv's pool for a test. These threads write files and process
 * long bodies for the whole process: while all are blocked, such a request waits between its
 * checks and the transaction that writes. */
#ifndef SUPPORT_POOL_H
#define SUPPORT_POOL_H

#include "world.h"

void pool_hold(void);
/* Waits until this many requests of the server wait for the blocked threads. */
void pool_await(struct world *w, unsigned requests);
void pool_release(void);

#endif
