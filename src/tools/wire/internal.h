/* internal.h - what wire.c, line.c and gateway.c share. */
#ifndef TOOLS_WIRE_INTERNAL_H
#define TOOLS_WIRE_INTERNAL_H

#include "base/buf.h"
#include "tools/wire/wire.h"

enum { WIRE_LARGEST = 256 * 1024 * 1024 };

struct wire {
    struct arena *arena;
    bool hushed, secure;
    struct str authority; /* for Host */
    const char *host, *port, *token;
    const char *pin; /* of the certificate that is expected; NULL: one that the machine trusts */

    /* The gateway. */
    struct wire_line *line; /* NULL: not connected */
    struct buf in;
    size_t used;     /* bytes of `in` that were read */
    int64_t beat_ns; /* between heartbeats */
    int64_t next_beat;
    int64_t seq;
    struct str session;
};

/* NULL: there is nobody, or nobody whom we trust; says so. */
struct wire_line *line_open(const struct wire *w);
void line_close(struct wire_line *l);
bool line_send_all(struct wire_line *l, struct str bytes);
/* 1: something came, 0: nothing in time, -1: it ended. */
int line_receive(struct wire_line *l, struct buf *in, int64_t wait_ms);

#endif
