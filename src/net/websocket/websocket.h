/* websocket.h - RFC 6455 framing, server side, over bytes.
 *
 * A pure reader and writer: no sockets, no clocks. The reader unmasks in place,
 * joins fragments in a bounded buffer, checks UTF-8 as it comes and says with
 * which close code a violation ends the connection. A message that is whole in
 * the caller's bytes is neither copied nor allocated. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/http/http.h"

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
    WS_MAX_HEAD = 10,        /* bytes before the payload of a frame we send */
    WS_MAX_CLIENT_HEAD = 14, /* the same with a mask */
    WS_NO_CODE = 1005,       /* a close frame without a code */
};

/* Is this a good opening handshake? Writes the value of Sec-WebSocket-Accept.
 * Otherwise false and *ret_status is 400 or 426 (version). */
bool ws_handshake(const struct http_request *r, char accept[29], int *ret_status);

/* What did not come in one read. */
struct ws_pieces {
    struct buf message; /* the message so far */
    struct buf control; /* the same for a control frame between its fragments */
};

struct ws_reader {
    struct ws_pieces *pieces; /* NULL: there are none, as nearly always */
    size_t max;               /* largest message */
    uint64_t left;            /* payload bytes of the current frame still to come */
    uint32_t utf8;            /* state of the incremental check; 0 between characters */
    unsigned char head[WS_MAX_CLIENT_HEAD]; /* of the current frame, as far as it is here */
    unsigned char head_n;
    unsigned char phase;  /* byte of the mask for the next byte of payload */
    unsigned char opcode; /* of the message being joined, or 0 */
    bool in_payload;      /* the head is complete */
    bool closed;          /* a close frame or an error: nothing follows */
};

void ws_reader_init(struct ws_reader *r, size_t max_message);
void ws_reader_clear(struct ws_reader *r);

struct ws_message {
    enum ws_opcode opcode; /* WS_TEXT, WS_BINARY, WS_PING, WS_PONG or WS_CLOSE */
    struct str payload;    /* valid until the next ws_read; WS_CLOSE: the reason */
    int close_code;        /* WS_CLOSE: what the peer said, or WS_NO_CODE */
};

/* Takes bytes (which it changes) and returns how many it used; *ret_found says
 * whether a whole message came out: then call again with the rest, also when no
 * bytes are left, which lets go of the message: an idle reader holds no memory.
 * Negative: a close code (-1002, -1007, -1009) that ends it. Incomplete frames
 * are kept inside, so without a message all bytes are used. What follows a close
 * frame or an error is used and ignored. */
long ws_read(struct ws_reader *r, char *bytes, size_t n, struct ws_message *ret, bool *ret_found);

/* Lets go of the last message, too. True: the reader is as it was made, so who needs its memory
 * may make another one for what comes next. */
bool ws_reader_rests(struct ws_reader *r);

/* Writes the head of an unfragmented, unmasked frame; returns its bytes. */
size_t ws_write_head(char out[WS_MAX_HEAD], enum ws_opcode opcode, uint64_t payload);
/* Appends a whole frame, or nothing when it does not fit. */
void ws_write(struct buf *out, enum ws_opcode opcode, struct str payload);
/* Appends a close frame; reason is cut to what fits, between characters. With
 * WS_NO_CODE it is empty. */
void ws_write_close(struct buf *out, int code, struct str reason);

#endif
