/* framing.h - a request head on its way, between its reader (http.c) and what its
 * headers say about the framing (framing.c). */
#ifndef NET_FRAMING_H
#define NET_FRAMING_H

#include <stdbool.h>

#include "net/http/http.h"

/* What is left to read, and what running out of it means: 0 while more bytes may
 * come, a status once a limit is reached. */
struct cursor {
    const char *at, *end;
    int past;
};

struct head {
    struct cursor c;
    struct http_request *r;
    struct str authority; /* from an absolute target */
    bool close, keep_alive, upgrade, websocket, expect;
};

/* One header line that was read well, and the end of them all. Like everything
 * that reads a piece of a head, they return 1 when it is good, and otherwise what
 * http_read_head shall return. */
long head_take(struct head *h, struct str name, struct str value);
long head_finish(struct head *h);

#endif
