/* manager.h - systemd: socket activation and state notification.
 *
 * The service manager passes sockets that it has opened (LISTEN_FDS), and receives the state of the
 * process as a datagram (NOTIFY_SOCKET). */
#ifndef MANAGER_H
#define MANAGER_H

#include <stdbool.h>

/* The listening socket from the service manager; 0: none. False: several were passed, which is
 * logged. Called once per start. */
bool manager_socket(int *ret);

/* Sends "READY=1" or "STOPPING=1"; does nothing without NOTIFY_SOCKET. */
void manager_tell(const char *state);

#endif
