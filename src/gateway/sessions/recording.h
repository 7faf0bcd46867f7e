/* recording.h - what sockets of the gateway say and hear, noted for whoever looks. */
#ifndef GATEWAY_SESSIONS_RECORDING_H
#define GATEWAY_SESSIONS_RECORDING_H

#include "gateway/wire/news.h"
#include "traffic/traffic.h"

struct peer;

/* A message that is no dispatch, or the beginning of a socket; d is JSON. Each of these does
 * nothing while nobody looks. */
void record_op(struct peer *p, enum traffic_kind kind, int op, struct str d);
void record_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);
void record_close(struct peer *p, int code, const char *reason);

#endif
