/* codec.h - messages to a client, in the form it asked for; for those who make them on
 * another thread. */
#ifndef GATEWAY_CODEC_H
#define GATEWAY_CODEC_H

#include "gateway/internal.h"

/* What a message is made with. */
struct coder {
    const struct dialect *dialect;
    bool compress; /* payloads, one by one */
    bool begins;   /* nothing was sent yet: HELLO, which is no dispatch */
    struct packer *packer;
    struct arena *arena;
    struct zstd *zstd; /* of the socket; made when it is needed */
};

/* Appends a dispatch; true: it is text. */
bool encode_dispatch(struct coder *c, uint64_t seq, struct news *n, unsigned form, struct buf *out);

/* A coder without packer and arena. It has the socket's stream until it is returned; what
 * is sent meanwhile that needs the stream waits. */
void coder_lend(struct peer *p, struct coder *ret);
void coder_return(struct peer *p, struct coder *c);
/* Sends what was encoded, and then what waited. */
void send_encoded(struct peer *p, struct buf *message, bool text);
void send_late(struct peer *p);

#endif
