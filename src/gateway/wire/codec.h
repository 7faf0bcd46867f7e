/* codec.h - messages to a client, in the form it asked for. */
#ifndef GATEWAY_WIRE_CODEC_H
#define GATEWAY_WIRE_CODEC_H

#include "gateway/wire/dialects.h"
#include "gateway/wire/news.h"

struct packer;
struct zstd;

/* What a message is made with. */
struct coder {
    const struct dialect *dialect;
    bool compress; /* payloads, one by one */
    bool begins;   /* nothing was sent yet: HELLO, which is no dispatch */
    struct packer *packer;
    struct arena *arena;
    struct zstd *zstd; /* of the socket; made when it is needed */
};

/* What is in front of a dispatch's payload, and of that what follows the number as JSON. */
enum { PREFIX_MAX = 256 };
#define AFTER_NUMBER ",\"op\":0,\"d\":"
void encode_prefix(struct buf *out, bool etf, enum event event, uint64_t seq);
/* The bits of enum news_form that every dispatch of such a connection has. */
unsigned dialect_form(const struct dialect *d);
/* Appends a dispatch; true: it is text. */
bool encode_dispatch(struct coder *c, uint64_t seq, struct news *n, unsigned form, struct buf *out);
/* The same of a message that is no dispatch, to an empty buffer; d is JSON. */
bool encode_op(struct coder *c, enum opcode op, struct str d, struct buf *out);
void zstd_free(struct zstd *z); /* accepts NULL */

#endif
