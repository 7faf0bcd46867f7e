/* websocket.h - encodes and decodes WebSocket frames (RFC 6455, server side).
 *
 * Pure functions: no sockets, no clocks. The reader unmasks in place, joins fragments in a bounded
 * buffer, validates UTF-8 incrementally and returns the close code for a violation. A message that
 * is complete in the caller's bytes is neither copied nor allocated. The interface for connections
 * is in http/server.h. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/http/http_parser.h"

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
    WS_MAX_HEAD = 10, /* maximum length in bytes of the header of a frame that the server sends */
    WS_MAX_CLIENT_HEAD = 14, /* maximum length in bytes of the header of a frame from a client,
                              * which has a mask */
    WS_NO_CODE = 1005,       /* close code that stands for a close frame that contains no code */
};

/* Validates an opening handshake and writes the value of Sec-WebSocket-Accept. If the handshake is
 * invalid, returns false and sets ret_status to 400, 426 (version) or 500. */
bool ws_check_handshake(const struct http_request *r, char accept[29], int *ret_status);

/* A message that has arrived only in part. */
struct ws_partial_message {
    struct buf message; /* payload of the message so far */
    struct buf control; /* payload of a control frame that arrived between fragments */
};

struct ws_reader {
    struct ws_partial_message *pieces; /* incomplete message; usually NULL */
    size_t max;                        /* maximum message size, in bytes */
    uint64_t left; /* number of payload bytes of the current frame that have not arrived yet */
    uint32_t utf8; /* state of the UTF-8 validation of a text message; 0 between characters */
    unsigned char head[WS_MAX_CLIENT_HEAD]; /* header bytes of the current frame that have
                                             * arrived */
    unsigned char head_n;
    unsigned char phase;  /* index into the mask for the next byte of the payload */
    unsigned char opcode; /* opcode of the fragmented message of which more fragments are expected,
                           * or 0 */
    bool in_payload;      /* whether the frame header is complete */
    bool closed;          /* whether a close frame was received or an error occurred */
};

void ws_reader_init(struct ws_reader *r, size_t max_message);
void ws_reader_free(struct ws_reader *r);

struct ws_message {
    enum ws_opcode opcode; /* WS_TEXT, WS_BINARY, WS_PING, WS_PONG or WS_CLOSE */
    struct str payload; /* content of the message, valid until the next ws_reader_decode_bytes; for
                         * WS_CLOSE, the close reason of the peer */
    int close_code;     /* for WS_CLOSE, the peer's close code, or WS_NO_CODE */
};

/* Decodes bytes in place and returns how many were used. Sets *ret_found if a message is complete;
 * then call again with the rest, even if no bytes are left, to free the message. A negative result
 * is a close code (-1002, -1007, -1009) that ends the connection. Incomplete frames are stored in
 * the reader. Input after a close frame or an error is ignored. */
long ws_reader_decode_bytes(struct ws_reader *r, char *bytes, size_t n, struct ws_message *ret,
                            bool *ret_found);

/* Frees the last message. Returns true if the reader stores nothing, so the caller may free it. */
bool ws_reader_release_message(struct ws_reader *r);

/* Writes the header of a frame that is neither fragmented nor masked. Returns the header's
 * length. */
size_t ws_encode_frame_head(char out[WS_MAX_HEAD], enum ws_opcode opcode, uint64_t payload);
/* Appends a whole frame. If the frame does not fit into the buffer, appends nothing. */
void ws_append_frame(struct buf *out, enum ws_opcode opcode, struct str payload);
/* Appends a close frame; a long reason is truncated between characters. With WS_NO_CODE, the frame
 * has no payload. */
void ws_append_close_frame(struct buf *out, int code, struct str reason);

#endif
