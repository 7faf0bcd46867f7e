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

/* Compresses each long message from now on, as IDENTIFY with "compress" requests. */
void message_stream_compress(struct message_stream *s);
/* Writes a message, which is JSON, to an empty buffer. Returns true for a WebSocket text frame. */
bool message_stream_encode(struct message_stream *s, struct str json, struct buf *out);
/* Writes the JSON of a message from the client. Returns false if it is malformed. */
bool message_stream_decode(const struct message_stream *s, struct str message, struct buf *out);

#endif
