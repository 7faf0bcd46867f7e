/* codecs.h - chooses the video codec of a voice room: one that all participants can decode. */
#ifndef RELAY_CODECS_H
#define RELAY_CODECS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum video_codec { CODEC_H264, CODEC_VP8, CODEC_VP9, CODEC_AV1, CODEC_H265, CODEC_COUNT };

const char *video_codec_name(enum video_codec codec);

/* Video codecs that a client decodes. A client that sent no list accepts any codec. */
struct video_codecs {
    bool given;
    /* Priority of each codec: lower is preferred; 0 means that the client cannot decode it. */
    uint16_t rank[CODEC_COUNT];
};

/* RTP payload types of a client, by codec; 0 means that the client has named none for the codec. */
struct codec_payload_types {
    unsigned char opus, video[CODEC_COUNT], rtx[CODEC_COUNT];
};
void codec_payload_types_add(struct codec_payload_types *n, struct str name, unsigned type,
                             unsigned rtx);
/* Translates a video payload type of a sender to the payload type of the same codec for a receiver.
 * Returns -1 if the receiver has no type for the codec. */
int codec_payload_types_translate(const struct codec_payload_types *from,
                                  const struct codec_payload_types *to, unsigned type);

/* Adds a codec to the list and sets c->given; ignores a codec with an unknown name. */
void video_codecs_add(struct video_codecs *c, struct str name, int64_t priority);

/* Sums of the codec priorities of all participants of a room. */
struct codec_votes {
    uint64_t ranks[CODEC_COUNT];
    bool refused[CODEC_COUNT];
};
void codec_votes_add(struct codec_votes *count, const struct video_codecs *c);
/* Returns the codec with the lowest priority sum that all participants can decode; H.264 if there
 * is no such codec. */
enum video_codec codec_votes_choose(const struct codec_votes *count);

#endif
