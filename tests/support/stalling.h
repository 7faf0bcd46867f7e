/* stalling.h - a PostgreSQL behind a Unix socket that can be made to stand still.
 *
 * A thread passes bytes between the socket of a new folder and the server of the tests. While it
 * stands still it neither reads nor writes, and accepts no connection. */
#ifndef TESTS_SUPPORT_STALLING_H
#define TESTS_SUPPORT_STALLING_H

#include <stdbool.h>

/* Returns the folder, for " host=…" behind a connection string: the last host counts. */
const char *stalling_start(void);
void stalling_set(bool stalled);
void stalling_end(void);

#endif
