/* video.h - simulcast layers of a participant's video, and which layer a viewer receives. */
#ifndef RELAY_VIDEO_H
#define RELAY_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/relay.h"

/* A participant has a block of SSRCs: audio, then two per layer, for video and retransmissions. */
enum { VIDEO_NAMED = 64 };

/* Video that a participant requests (op 15); none until it has sent op 15. */
struct video_want {
    uint32_t ssrc;
    unsigned char quality; /* 0: this SSRC is refused */
};
struct video_wants {
    unsigned char any; /* quality of all SSRCs that are not named */
    unsigned count;
    struct video_want named[VIDEO_NAMED];
};

/* Payload types with which a participant sends video. */
struct video_types {
    uint64_t bits[2];
};
bool video_type_is(const struct video_types *t, unsigned type);
void video_type_add(struct video_types *t, unsigned type);
/* Default without negotiation: all dynamic payload types except that of audio. */
struct video_types video_types_usual(void);

/* Returns the SSRC of a layer, for a block that starts at `block`. */
uint32_t video_ssrc(uint32_t block, unsigned layer);
/* Returns the layer of an SSRC; -1: audio, or not in the block. */
int video_layer_of(uint32_t block, uint32_t ssrc);

/* Returns the layer that a viewer receives: the best one not above the requested quality, else the
 * smallest; refused and inactive layers are excluded. -1: none. */
int video_choose(const struct relay_layer *layers, unsigned count, uint32_t block,
                 const struct video_wants *wants);

#endif
