/* sending.h - messages on their way to a socket. */
#ifndef GATEWAY_SESSIONS_SENDING_H
#define GATEWAY_SESSIONS_SENDING_H

#include "gateway/wire/codec.h"

struct peer;

/* Messages that are not dispatches; d is JSON. */
void send_op(struct peer *p, enum opcode op, struct str d);
/* A dispatch in a form of the news, without NEWS_ETF and NEWS_DEFLATED. */
void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);

/* A coder without packer and arena, for another thread. It has the socket's stream until it
 * is returned; what is sent meanwhile that needs the stream waits. */
void coder_lend(struct peer *p, struct coder *ret);
void coder_return(struct peer *p, struct coder *c);
/* Sends what was encoded, and then what waited. */
void send_encoded(struct peer *p, struct buf *message, bool text);
void send_late(struct peer *p);
void late_free(struct peer *p);

#endif
