/* video.h - simulcast layers of a participant's video, and which layer a viewer receives. */
#ifndef RELAY_VIDEO_H
#define RELAY_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/relay.h"

/* A participant has a block of SSRCs: one for audio, then two per layer, for video and its
 * retransmissions. VIDEO_REQUEST_MAX is the maximum number of SSRCs in an op 15. */
enum { VIDEO_REQUEST_MAX = 64 };

/* Video that a viewer requests (op 15). A viewer that has not sent op 15 requests no video. */
struct requested_ssrc_quality {
    uint32_t ssrc;
    unsigned char quality; /* 0: this SSRC is refused */
};
struct video_request {
    unsigned char any; /* requested quality for all SSRCs that are not in `named` */
    unsigned count;
    struct requested_ssrc_quality named[VIDEO_REQUEST_MAX];
};

/* RTP payload types that a participant uses for the video that it sends. */
struct video_payload_types {
    uint64_t bits[2];
};
bool video_payload_type_is_set(const struct video_payload_types *t, unsigned type);
void video_payload_type_add(struct video_payload_types *t, unsigned type);
/* Returns the payload types of a client that negotiates none: all dynamic types except that of
 * audio. */
struct video_payload_types video_payload_types_default(void);

/* Returns the video SSRC of a layer, in the block that starts at SSRC `block`. */
uint32_t video_layer_ssrc(uint32_t block, unsigned layer);
/* Returns the video layer of an SSRC, or -1 if it is the audio SSRC or not in the block. */
int video_layer_of_ssrc(uint32_t block, uint32_t ssrc);

/* Returns the layer that a viewer receives: the best layer whose quality is not above the requested
 * quality, or else the smallest layer. Refused and inactive layers are excluded. Returns -1 if no
 * layer is left. */
int video_choose_layer(const struct relay_video_layer *layers, unsigned count, uint32_t block,
                       const struct video_request *wants);

#endif
