/* pool.h - the threads of libuv's pool, held by a test.
 *
 * Files are written and long bodies worked on by these threads, which are the same for all of
 * the process: while they are all held, such a request waits between its checks and the
 * transaction that writes. */
#ifndef SUPPORT_POOL_H
#define SUPPORT_POOL_H

void pool_hold(void);
void pool_release(void);

#endif
