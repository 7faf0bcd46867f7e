/* sending.h - sends messages to a socket. */
#ifndef GATEWAY_SESSIONS_SENDING_H
#define GATEWAY_SESSIONS_SENDING_H

#include "gateway/wire/codec.h"

struct peer;

/* Sends a message that is not a dispatch; d is JSON. */
void send_op(struct peer *p, enum opcode op, struct str d);
/* Sends a dispatch; form: bits of enum news_form except NEWS_ETF and NEWS_DEFLATED. */
void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);

/* Creates an encoder without compressor and arena, for another thread. It owns the socket's zstd
 * stream until it is returned; messages that need the stream wait meanwhile. */
void coder_lend(struct peer *p, struct coder *ret);
void coder_return(struct peer *p, struct coder *c);
/* Sends a message that is already encoded. */
void send_encoded(struct peer *p, struct buf *message, bool text);
void send_late(struct peer *p);
void late_free(struct peer *p);

#endif
