/* codec.h - encodes messages to a client: JSON or ETF, with or without compression. */
#ifndef GATEWAY_WIRE_CODEC_H
#define GATEWAY_WIRE_CODEC_H

#include "gateway/wire/dialects.h"
#include "gateway/wire/news.h"

struct packer;
struct zstd;

/* The settings and state of a connection that encoding needs. */
struct coder {
    const struct dialect *dialect;
    bool compress; /* each payload is a zlib stream of its own (IDENTIFY "compress") */
    bool begins;   /* first message of the connection: HELLO */
    struct packer *packer;
    struct arena *arena;
    struct zstd *zstd; /* stream of the connection; created on first use */
};

/* The part of a dispatch before its payload; AFTER_NUMBER is what follows the number in JSON. */
enum { PREFIX_MAX = 256 };
#define AFTER_NUMBER ",\"op\":0,\"d\":"
void encode_prefix(struct buf *out, bool etf, enum event event, uint64_t seq);
/* Bits of enum news_form that every dispatch on such a connection needs. */
unsigned dialect_form(const struct dialect *d);
/* Appends a dispatch; true: it goes into a text frame. */
bool encode_dispatch(struct coder *c, uint64_t seq, struct news *n, unsigned form, struct buf *out);
/* Writes a message that is not a dispatch to an empty buffer; d is JSON. True: a text frame. */
bool encode_op(struct coder *c, enum opcode op, struct str d, struct buf *out);
void zstd_free(struct zstd *z); /* accepts NULL */

#endif
