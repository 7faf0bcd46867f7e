/* codecs.c - chooses the video codec of a voice room. */
#include "relay/codecs.h"

static const char *const codec_names[CODEC_COUNT] = {
    [CODEC_H264] = "H264", [CODEC_VP8] = "VP8",   [CODEC_VP9] = "VP9",
    [CODEC_AV1] = "AV1",   [CODEC_H265] = "H265",
};

const char *video_codec_name(enum video_codec codec)
{
    return codec_names[codec];
}

void codec_payload_types_add(struct codec_payload_types *n, struct str name, unsigned type,
                             unsigned rtx)
{
    if (str_is(name, "opus"))
        n->opus = (unsigned char)type;
    for (int i = 0; i < CODEC_COUNT; i++) {
        if (!str_is(name, codec_names[i]))
            continue;
        n->video[i] = (unsigned char)type;
        n->rtx[i] = (unsigned char)rtx;
    }
}

int codec_payload_types_translate(const struct codec_payload_types *from,
                                  const struct codec_payload_types *to, unsigned type)
{
    for (int i = 0; type && i < CODEC_COUNT; i++) {
        if (from->video[i] == type)
            return to->video[i] ? to->video[i] : -1;
        if (from->rtx[i] == type)
            return to->rtx[i] ? to->rtx[i] : -1;
    }
    return -1;
}

void video_codecs_add(struct video_codecs *c, struct str name, int64_t priority)
{
    const int64_t last = UINT16_MAX - 1;

    c->given = true;
    for (int i = 0; i < CODEC_COUNT; i++)
        if (str_is(name, codec_names[i]))
            c->rank[i] =
                (uint16_t)(1 + (priority < 0 || priority > last - 1 ? last - 1 : priority));
}

void codec_votes_add(struct codec_votes *count, const struct video_codecs *c)
{
    for (int i = 0; c->given && i < CODEC_COUNT; i++) {
        count->ranks[i] += c->rank[i];
        count->refused[i] = count->refused[i] || !c->rank[i];
    }
}

enum video_codec codec_votes_choose(const struct codec_votes *count)
{
    int best = -1;

    for (int i = 0; i < CODEC_COUNT; i++)
        if (!count->refused[i] && (best < 0 || count->ranks[i] < count->ranks[best]))
            best = i;
    return best < 0 ? CODEC_H264 : (enum video_codec)best;
}
