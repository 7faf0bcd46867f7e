/* websocket_cases.h - frames that are sent to an echo server, and the expected replies. */
#ifndef TESTS_WEBSOCKET_CASES_H
#define TESTS_WEBSOCKET_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIECES = 6 };

/* A client frame, valid or invalid. */
struct piece {
    unsigned char first; /* fin, reserved bits, opcode; 0 with bytes == NULL ends a list */
    const char *bytes;
    uint32_t n;
    uint32_t fill;     /* number of bytes 'x' instead of `bytes` */
    uint64_t declared; /* the declared length, if it differs */
    unsigned form;     /* 2 or 8: bytes of the extended length, if not the shortest */
    bool bare;         /* without a mask */
};

/* A message that the server returns. */
struct echo {
    unsigned char opcode;
    const char *bytes; /* NULL ends a list */
    uint32_t n, fill;
};

struct wire_case {
    const char *name;
    struct piece send[PIECES];
    struct echo back[PIECES];
    int code; /* code of the server's close frame; 0: the connection stays open and closes normally
               */
};

struct handshake_case {
    const char *name, *request;
    int status;
    const char *holds, *lacks; /* text that the response head contains or lacks; may be NULL */
};

extern const struct wire_case wire_cases[];           /* ends with .name == NULL */
extern const struct handshake_case handshake_cases[]; /* ends with .name == NULL */

#endif
