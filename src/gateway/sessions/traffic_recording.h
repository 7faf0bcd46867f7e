/* traffic_recording.h - records messages of gateway sockets for the console's traffic viewer. */
#ifndef GATEWAY_SESSIONS_TRAFFIC_RECORDING_H
#define GATEWAY_SESSIONS_TRAFFIC_RECORDING_H

#include "gateway/wire/gateway_event.h"
#include "traffic/traffic.h"

struct caller;
struct gateway_socket;

/* Records a new socket, or a message other than a dispatch; d is JSON. No effect while recording is
 * off. */
void record_opcode_as_traffic(struct gateway_socket *p, enum traffic_kind kind, int op,
                              struct str d);
void record_dispatch_as_traffic(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                                unsigned form);
/* Records the close of a socket. `caller` is the account of a socket without a session, or NULL.
 * `cause` is a sentence that explains the close, or empty. */
void record_socket_close_as_traffic(struct gateway_socket *p, int code, const char *reason,
                                    const struct caller *caller, struct str cause);

#endif
