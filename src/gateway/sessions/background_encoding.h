/* background_encoding.h - compresses long dispatches on the thread pool. */
#ifndef GATEWAY_SESSIONS_BACKGROUND_ENCODING_H
#define GATEWAY_SESSIONS_BACKGROUND_ENCODING_H

#include "gateway/wire/gateway_event.h"

struct background_encoding;
struct gateway_socket;

/* Returns whether the event's payload is too long to be encoded on an event loop. */
bool event_payload_is_too_long_for_loop(const struct gateway_event *n);

/* Encodes the dispatch on the thread pool, then sends it. Until then p->encoding is set, and later
 * dispatches wait in the replay buffer. */
void background_encoding_begin(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                               unsigned form);
/* Marks that the encoded bytes are not needed, because the socket is closed. Accepts NULL. */
void background_encoding_cancel(struct background_encoding *x);

#endif
