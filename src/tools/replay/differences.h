/* differences.h - compares two JSON bodies and describes their differences in words. */
#ifndef TOOLS_REPLAY_DIFFERENCES_H
#define TOOLS_REPLAY_DIFFERENCES_H

#include "base/arena.h"
#include "base/buf.h"

struct body_comparison {
    struct arena *arena;
    struct buf *out; /* descriptions, separated by "; " */
    /* Called for a custom_id that differs. */
    void (*custom_id_changed)(void *arg, struct str recorded, struct str now);
    void *arg;
};

/* Compares two bodies. Ignores "nonce", values that are redacted in the recording, and custom_id
 * values that libraries choose at random (32 hexadecimal digits). If a body is not JSON, compares
 * the bodies as text. */
void compare_bodies(struct body_comparison *c, struct str recorded, struct str now);

#endif
