/* video.c - chooses the simulcast layer that a viewer receives. */
#include "relay/video.h"

#include "relay/media/packets.h"

enum { TYPE_FIRST = 96, TYPE_LAST = 127 };

bool video_payload_type_is_set(const struct video_payload_types *t, unsigned type)
{
    return t->bits[type / 64 % 2] >> (type % 64) & 1;
}

void video_payload_type_add(struct video_payload_types *t, unsigned type)
{
    t->bits[type / 64 % 2] |= UINT64_C(1) << (type % 64);
}

struct video_payload_types video_payload_types_default(void)
{
    struct video_payload_types t = { 0 };

    for (unsigned type = TYPE_FIRST; type <= TYPE_LAST; type++)
        if (type != RTP_OPUS_PAYLOAD_TYPE)
            video_payload_type_add(&t, type);
    return t;
}

uint32_t video_layer_ssrc(uint32_t block, unsigned layer)
{
    return block + 1 + 2 * layer;
}

int video_layer_of_ssrc(uint32_t block, uint32_t ssrc)
{
    uint32_t at = ssrc - block;

    return at >= 1 && at <= 2 * RELAY_LAYERS_MAX ? (int)((at - 1) / 2) : -1;
}

/* Returns the quality that a viewer requested for a block of SSRCs. Sets *ret_refused to a bit set
 * of the layers that the viewer refused. */
static unsigned requested_quality_of_block(uint32_t block, const struct video_request *wants,
                                           unsigned *ret_refused)
{
    unsigned asked = 0;
    bool named = false;

    *ret_refused = 0;
    for (unsigned i = 0; i < wants->count; i++) {
        int layer = video_layer_of_ssrc(block, wants->named[i].ssrc);

        if (layer < 0)
            continue;
        if (!wants->named[i].quality)
            *ret_refused |= 1U << layer;
        else if (wants->named[i].quality > asked)
            asked = wants->named[i].quality;
        named = named || wants->named[i].quality;
    }
    return named ? asked : wants->any;
}

static bool layer_fits_quality_better(const struct relay_video_layer *layers, int best, unsigned i,
                                      unsigned asked)
{
    unsigned old = layers[best].quality, new = layers[i].quality;

    if (new <= asked)
        return old > asked || new > old;
    return old > asked && new < old;
}

int video_choose_layer(const struct relay_video_layer *layers, unsigned count, uint32_t block,
                       const struct video_request *wants)
{
    unsigned refused, asked = requested_quality_of_block(block, wants, &refused);
    int best = -1;

    for (unsigned i = 0; asked && i < count; i++) {
        if (!layers[i].active || refused >> i & 1)
            continue;
        if (best < 0 || layer_fits_quality_better(layers, best, i, asked))
            best = (int)i;
    }
    return best;
}
