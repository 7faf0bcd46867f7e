/* quality.h - how well somebody's audio arrives: what is missing, and how unevenly it comes. */
#ifndef RELAY_QUALITY_H
#define RELAY_QUALITY_H

#include "relay/media/packets.h"

struct media_quality {
    uint64_t packets; /* authentic ones */
    uint64_t missing; /* numbers that were passed over */
    uint64_t late;    /* of those that came after all */
    int64_t arrived_ns, jitter_ns;
    uint32_t timestamp; /* of the newest */
};

/* Another packet came: its number, and the place of the newest before it. Returns how many more
 * are missing; -1: one less. */
int64_t quality_take(struct media_quality *q, const struct rtp_place *highest, uint64_t number,
                     uint32_t timestamp, int64_t now_ns);

#endif
