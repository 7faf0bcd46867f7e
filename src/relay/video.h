/* video.h - simulcast layers of a participant's video, and which layer a viewer receives. */
#ifndef RELAY_VIDEO_H
#define RELAY_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "relay/relay.h"

/* A participant has a block of SSRCs: audio, then two per layer, for video and retransmissions.
 * VIDEO_REQUEST_MAX limits the SSRCs that op 15 may name. */
enum { VIDEO_REQUEST_MAX = 64 };

/* Video that a participant requests (op 15). Nothing is requested until it has sent op 15. */
struct video_request_entry {
    uint32_t ssrc;
    unsigned char quality; /* 0: this SSRC is refused */
};
struct video_request {
    unsigned char any; /* quality of all SSRCs that are not in `named` */
    unsigned count;
    struct video_request_entry named[VIDEO_REQUEST_MAX];
};

/* Payload types with which a participant sends video. */
struct video_payload_types {
    uint64_t bits[2];
};
bool video_payload_type_is_set(const struct video_payload_types *t, unsigned type);
void video_payload_type_add(struct video_payload_types *t, unsigned type);
/* Returns the types without negotiation: all dynamic payload types except that of audio. */
struct video_payload_types video_payload_types_default(void);

/* Returns the SSRC of a layer, for a block that starts at `block`. */
uint32_t video_layer_ssrc(uint32_t block, unsigned layer);
/* Returns the layer of an SSRC, or -1 if it is audio or not in the block. */
int video_layer_of_ssrc(uint32_t block, uint32_t ssrc);

/* Returns the layer that a viewer receives: the best one not above the requested quality, else the
 * smallest; refused and inactive layers are excluded. Returns -1 if there is none. */
int video_choose_layer(const struct relay_video_layer *layers, unsigned count, uint32_t block,
                       const struct video_request *wants);

#endif
