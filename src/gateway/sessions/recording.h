/* recording.h - records messages of gateway sockets for the traffic viewer. */
#ifndef GATEWAY_SESSIONS_RECORDING_H
#define GATEWAY_SESSIONS_RECORDING_H

#include "gateway/wire/news.h"
#include "traffic/traffic.h"

struct peer;

/* Records a message that is not a dispatch, or a new socket; d is JSON. No effect while
 * recording is off. */
void record_op(struct peer *p, enum traffic_kind kind, int op, struct str d);
void record_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);
void record_close(struct peer *p, int code, const char *reason);

#endif
