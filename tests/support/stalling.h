/* stalling.h - a proxy to PostgreSQL behind a Unix socket that can be paused. A thread forwards
 * bytes between the socket in a new folder and the test server. While paused it neither reads
 * nor writes, and accepts no connection. */
#ifndef TESTS_SUPPORT_STALLING_H
#define TESTS_SUPPORT_STALLING_H

#include <stdbool.h>

/* Returns the folder, to be appended as " host=…" to a connection string, in which the last host
 * counts. */
const char *stalling_start(void);
void stalling_set(bool stalled);
void stalling_end(void);

#endif
