/* framing.h - state shared by the parser of request heads (http_parser.c) and the parser of the
 * headers that determine the body's length (framing.c). */
#ifndef NET_FRAMING_H
#define NET_FRAMING_H

#include <stdbool.h>

#include "net/http/http_parser.h"

/* The remaining input. If a parser function reaches its end, it returns `past`: 0 if more bytes may
 * arrive, or a negative HTTP status if the input was cut at a size limit. */
struct input_cursor {
    const char *at, *end;
    int past;
};

struct request_head_parser {
    struct input_cursor c;
    struct http_request *r;
    struct str authority; /* host of an absolute request target */
    bool close, keep_alive, upgrade, websocket, expect;
};

/* request_head_interpret_header handles one parsed header; request_head_check_and_complete runs
 * after the last one. Both return 1 on success, otherwise the value that http_parse_head must
 * return. */
long request_head_interpret_header(struct request_head_parser *h, struct str name,
                                   struct str value);
long request_head_check_and_complete(struct request_head_parser *h);

#endif
