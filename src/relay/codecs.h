/* codecs.h - which video codec the people of a room use: one that all of them can show. */
#ifndef RELAY_CODECS_H
#define RELAY_CODECS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum video_codec { CODEC_H264, CODEC_VP8, CODEC_VP9, CODEC_AV1, CODEC_H265, CODEC_COUNT };

const char *video_codec_name(enum video_codec codec);

/* What a client decodes, and how far down its list. Who says nothing of video takes any. */
struct video_codecs {
    bool given;
    uint16_t rank[CODEC_COUNT]; /* the lower the better; 0: not this one */
};

/* Of an unknown name nothing is noted; but it was given. */
void video_codecs_add(struct video_codecs *c, struct str name, int64_t priority);

/* Counts what the people of a room can do, one after the other. */
struct codec_count {
    uint64_t ranks[CODEC_COUNT];
    bool refused[CODEC_COUNT];
};
void codec_count_add(struct codec_count *count, const struct video_codecs *c);
/* Of those that nobody refused the one that people like best; H.264 where there is none. */
enum video_codec codec_count_best(const struct codec_count *count);

#endif
