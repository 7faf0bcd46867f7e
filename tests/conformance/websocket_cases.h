/* websocket_cases.h - what is sent to an echo, and what must come back. */
#ifndef TESTS_WEBSOCKET_CASES_H
#define TESTS_WEBSOCKET_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIECES = 6 };

/* A frame as a client sends it, right or wrong. */
struct piece {
    unsigned char first; /* fin, reserved bits, opcode; 0 with bytes == NULL ends a list */
    const char *bytes;
    uint32_t n;
    uint32_t fill;     /* this many bytes of 'x' instead */
    uint64_t declared; /* the length that is said, where it differs */
    unsigned form;     /* 2 or 8: bytes of length, where they are not the shortest */
    bool bare;         /* without a mask */
};

/* A message as it comes back. */
struct echo {
    unsigned char opcode;
    const char *bytes; /* NULL ends a list */
    uint32_t n, fill;
};

struct wire_case {
    const char *name;
    struct piece send[PIECES];
    struct echo back[PIECES];
    int code; /* of the server's close frame; 0: it is still there and says goodbye to us */
};

struct handshake_case {
    const char *name, *request;
    int status;
    const char *holds, *lacks; /* text of the answer's head; may be NULL */
};

extern const struct wire_case wire_cases[];           /* ends with .name == NULL */
extern const struct handshake_case handshake_cases[]; /* the same */

#endif
