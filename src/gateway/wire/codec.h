/* codec.h - encodes messages to a client: JSON or ETF, with or without compression. */
#ifndef GATEWAY_WIRE_CODEC_H
#define GATEWAY_WIRE_CODEC_H

#include "gateway/wire/dialects.h"
#include "gateway/wire/news.h"

struct packer;
struct zstd;

/* Settings and compression state of a connection that message encoding needs. */
struct coder {
    const struct dialect *dialect;
    bool compress; /* from IDENTIFY "compress": each message is a complete zlib stream */
    bool begins;   /* the connection has sent no message yet; the first one is HELLO */
    struct packer *packer;
    struct arena *arena;
    struct zstd *zstd; /* zstd stream of the connection; created on first use */
};

/* A dispatch begins with a prefix that ends before the payload. AFTER_NUMBER is the part of the
 * JSON prefix after the sequence number. */
enum { PREFIX_MAX = 256 };
#define AFTER_NUMBER ",\"op\":0,\"d\":"
void encode_prefix(struct buf *out, bool etf, enum event event, uint64_t seq);
/* Returns the bits of enum news_form that apply to every dispatch on a connection of this
 * dialect. */
unsigned dialect_form(const struct dialect *d);
/* Appends a dispatch. Returns true for a WebSocket text frame, false for a binary frame. */
bool encode_dispatch(struct coder *c, uint64_t seq, struct news *n, unsigned form, struct buf *out);
/* Writes a message that is not a dispatch to an empty buffer; d is JSON. Returns true for a
 * WebSocket text frame. */
bool encode_op(struct coder *c, enum opcode op, struct str d, struct buf *out);
void zstd_free(struct zstd *z); /* accepts NULL */

#endif
