/* codec.h - encodes messages to a client: JSON or ETF, with or without compression. */
#ifndef GATEWAY_WIRE_CODEC_H
#define GATEWAY_WIRE_CODEC_H

#include "gateway/wire/dialects.h"
#include "gateway/wire/gateway_event.h"

struct compressor;
struct zstd;

/* Settings and compression state of a connection, for encoding messages. */
struct message_encoder {
    const struct wire_format *dialect;
    bool compress; /* "compress" of IDENTIFY: each message is a complete zlib stream */
    bool begins;   /* the next message is HELLO, the first message of the connection */
    struct compressor *packer;
    struct arena *arena;
    struct zstd *zstd; /* zstd stream of the connection, created at its first use */
};

/* encode_dispatch_prefix writes the bytes of a dispatch that precede its payload.
 * DISPATCH_JSON_AFTER_SEQ is the part of the JSON prefix that follows the sequence number. */
enum { DISPATCH_PREFIX_MAX = 256 };
#define DISPATCH_JSON_AFTER_SEQ ",\"op\":0,\"d\":"
void encode_dispatch_prefix(struct buf *out, bool etf, enum event event, uint64_t seq);
/* Adds the bits of enum payload_form that every dispatch on a connection of this dialect has. */
unsigned wire_format_add_payload_form_bits(const struct wire_format *d, unsigned form);
/* Appends a dispatch. Returns true for a WebSocket text frame, false for a binary frame. */
bool encode_dispatch(struct message_encoder *c, uint64_t seq, struct gateway_event *n,
                     unsigned form, struct buf *out);
/* Writes a message other than a dispatch to an empty buffer; d is JSON. Returns true if the result
 * is a WebSocket text frame. */
bool encode_opcode_message(struct message_encoder *c, enum gateway_opcode op, struct str d,
                           struct buf *out);
/* Encodes a whole message, given as JSON, into an empty buffer. Returns true if the result is a
 * WebSocket text frame. */
bool encode_json_message(struct message_encoder *c, struct str json, struct buf *out);
void zstd_stream_free(struct zstd *z); /* accepts NULL */

#endif
