/* manager.h - systemd: socket activation and state notification.
 *
 * systemd passes sockets that it has opened (LISTEN_FDS), and receives the state of the process as
 * a datagram (NOTIFY_SOCKET). */
#ifndef MANAGER_H
#define MANAGER_H

#include <stdbool.h>

/* Returns the listening socket that systemd passed; 0: none. Returns false and logs if several were
 * passed. Called once per start. */
bool manager_socket(int *ret);

/* Sends a state such as "READY=1" or "STOPPING=1" to systemd, if NOTIFY_SOCKET is set. */
void manager_tell(const char *state);

#endif
