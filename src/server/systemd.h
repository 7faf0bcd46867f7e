/* systemd.h - systemd: socket activation and state notification.
 *
 * systemd passes sockets that it has opened (LISTEN_FDS), and receives the state of the process as
 * a datagram (NOTIFY_SOCKET). */
#ifndef SYSTEMD_H
#define SYSTEMD_H

#include <stdbool.h>

/* Sets *ret to the listening socket that systemd passed, or to 0 if it passed none. If it passed
 * several, logs an error and returns false. Must be called once per start. */
bool systemd_listening_socket(int *ret);

/* Sends a state such as "READY=1" or "STOPPING=1" to systemd, if NOTIFY_SOCKET is set. */
void systemd_notify_state(const char *state);

#endif
