/* manager.h - what the service manager of the system gives us, and what it wants to be told.
 *
 * The protocols of systemd: sockets that were opened before the process began (LISTEN_FDS), and
 * a datagram that says what state it is in (NOTIFY_SOCKET). */
#ifndef MANAGER_H
#define MANAGER_H

#include <stdbool.h>

/* The socket that we shall listen on; 0 when we open our own. False, with a sentence in the log,
 * when there are several. Asked once. */
bool manager_socket(int *ret);

/* "READY=1", "STOPPING=1". Nothing happens when nobody wants to know. */
void manager_tell(const char *state);

#endif
