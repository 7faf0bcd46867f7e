/* websocket.h - RFC 6455 framing, server side, over bytes.
 *
 * A pure reader and writer: no sockets, no clocks. The reader unmasks in place,
 * joins fragments in a bounded buffer, checks UTF-8 as it comes and says with
 * which close code a violation ends the connection. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/http.h"

enum ws_opcode {
    WS_CONTINUE = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10
};

enum {
    WS_MAX_CONTROL = 125,
    WS_MAX_HEAD = 10, /* bytes before the payload of a frame we send */
};

/* Is this a good opening handshake? Writes the value of Sec-WebSocket-Accept.
 * Otherwise 0 and *ret_status is 400 or 426 (version). */
bool ws_handshake(const struct http_request *r, char accept[29], int *ret_status);

struct ws_reader {
    struct buf message; /* fragments of the message so far */
    struct buf partial; /* bytes of a frame that is not complete */
    int opcode;         /* of the message being joined, or 0 */
    uint32_t utf8;      /* state of the incremental check */
    size_t max;         /* largest message */
    bool closed;        /* a close frame was read: nothing follows */
};

void ws_reader_init(struct ws_reader *r, size_t max_message);
void ws_reader_clear(struct ws_reader *r);

struct ws_message {
    enum ws_opcode opcode; /* WS_TEXT, WS_BINARY, WS_PING, WS_PONG or WS_CLOSE */
    struct str payload;    /* valid until the next ws_read */
    int close_code;        /* WS_CLOSE: what the peer said, 1005 when nothing */
};

/* Takes bytes (which it may change) and returns how many it used; *ret_found
 * says whether a whole message came out: call again with the rest while bytes
 * are left. Negative: a close code (-1002, -1007, -1009) that ends it. Incomplete
 * frames are kept inside, so all bytes are always used in the end. An idle
 * reader holds no memory. */
long ws_read(struct ws_reader *r, char *bytes, size_t n, struct ws_message *ret, bool *ret_found);

/* Writes the head of an unfragmented, unmasked frame; returns its bytes. */
size_t ws_write_head(char out[WS_MAX_HEAD], enum ws_opcode opcode, uint64_t payload);
/* Appends a whole frame. */
void ws_write(struct buf *out, enum ws_opcode opcode, struct str payload);
/* Appends a close frame; reason is cut to what fits. */
void ws_write_close(struct buf *out, int code, struct str reason);

#endif
