/* wire_internal.h - what wire.c and wire_gateway.c share. */
#ifndef TOOLS_WIRE_INTERNAL_H
#define TOOLS_WIRE_INTERNAL_H

#include "base/buf.h"
#include "tools/wire.h"

enum { WIRE_LARGEST = 256 * 1024 * 1024 };

struct wire {
    struct arena *arena;
    bool hushed;
    struct str authority; /* for Host */
    const char *host, *port, *token;

    /* The gateway. */
    int fd; /* -1: not connected */
    struct buf in;
    size_t used;     /* bytes of `in` that were read */
    int64_t beat_ns; /* between heartbeats */
    int64_t next_beat;
    int64_t seq;
    struct str session;
};

/* -1: there is nobody; says so. */
int wire_dial(const struct wire *w);
bool wire_send_all(int fd, struct str bytes);
/* 1: something came, 0: nothing in time, -1: it ended. */
int wire_receive(int fd, struct buf *in, int64_t wait_ms);

#endif
