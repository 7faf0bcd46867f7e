/* internal.h - declarations shared by wire.c, line.c and gateway.c. */
#ifndef TOOLS_WIRE_INTERNAL_H
#define TOOLS_WIRE_INTERNAL_H

#include "base/buf.h"
#include "tools/wire/wire.h"

enum { WIRE_LARGEST = 256 * 1024 * 1024 };

struct wire {
    struct arena *arena;
    bool hushed, secure;
    struct str authority; /* value of the Host header */
    const char *host, *port, *token;
    const char *pin; /* expected certificate fingerprint; NULL: verify with the system's CAs */

    /* The following members belong to the gateway connection. */
    struct wire_line *line; /* NULL: not connected */
    struct buf in;
    size_t used;     /* bytes of `in` already parsed */
    int64_t beat_ns; /* heartbeat interval */
    int64_t next_beat;
    int64_t seq;
    struct str session;
};

/* Connects to the server; NULL (prints why): no server, or its certificate is not trusted. */
struct wire_line *line_open(const struct wire *w);
void line_close(struct wire_line *l);
bool line_send_all(struct wire_line *l, struct str bytes);
/* Receives bytes. Returns 1 if data was received, 0 on timeout, -1 if the connection is closed. */
int line_receive(struct wire_line *l, struct buf *in, int64_t wait_ms);

#endif
