/* video.h - what somebody shows and who wants it: layers, and what is asked for. */
#ifndef RELAY_VIDEO_H
#define RELAY_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/relay.h"

/* SSRCs of a block: audio, then two a layer, for it and for what is sent of it again. */
enum { VIDEO_NAMED = 64 };

/* What a participant wants to see; none of it until it has said so. */
struct video_want {
    uint32_t ssrc;
    unsigned char quality; /* 0: not this one */
};
struct video_wants {
    unsigned char any; /* of everything that is not named */
    unsigned count;
    struct video_want named[VIDEO_NAMED];
};

/* Payload types that somebody sends video with. */
struct video_types {
    uint64_t bits[2];
};
bool video_type_is(const struct video_types *t, unsigned type);
void video_type_add(struct video_types *t, unsigned type);
/* What is there without a negotiation: all types that have no fixed meaning, but audio's. */
struct video_types video_types_usual(void);

/* The SSRC of a layer, of a block that begins there. */
uint32_t video_ssrc(uint32_t block, unsigned layer);
/* The layer that an SSRC of the block belongs to, or -1: audio, or none. */
int video_layer_of(uint32_t block, uint32_t ssrc);

/* Which of the layers somebody gets who wants this: of those it has not refused, the best that is
 * not better than what it asked for, else the smallest. -1: none. */
int video_choose(const struct relay_layer *layers, unsigned count, uint32_t block,
                 const struct video_wants *wants);

#endif
