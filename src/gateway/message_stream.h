/* message_stream.h - encodes and decodes the messages of a gateway connection without a session,
 * for programs that play a server, such as `guildhall replay`. */
#ifndef GATEWAY_MESSAGE_STREAM_H
#define GATEWAY_MESSAGE_STREAM_H

#include <stdbool.h>

#include "base/buf.h"

struct http_request;
struct message_stream;

/* Creates a stream with the encoding and compression that the URL of the connection requests. */
struct message_stream *message_stream_new(const struct http_request *r);
void message_stream_free(struct message_stream *s);

/* Switches to per-message compression, which a client requests with "compress" in IDENTIFY: from
 * now on each long message is compressed separately. */
void message_stream_enable_compression(struct message_stream *s);
/* Encodes a message, given as JSON, into the empty buffer `out`. Returns true if the message must
 * be sent as a WebSocket text frame, false for a binary frame. */
bool message_stream_encode(struct message_stream *s, struct str json, struct buf *out);
/* Decodes a message of a client to JSON in `out`. Returns false if the message is malformed. */
bool message_stream_decode(const struct message_stream *s, struct str message, struct buf *out);

#endif
