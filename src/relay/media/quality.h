/* quality.h - packet loss and jitter of a participant's incoming audio. */
#ifndef RELAY_QUALITY_H
#define RELAY_QUALITY_H

#include "relay/media/packets.h"

struct media_quality {
    uint64_t packets; /* authenticated packets */
    uint64_t missing; /* sequence numbers skipped */
    uint64_t late;    /* skipped packets that arrived later */
    int64_t arrived_ns, jitter_ns;
    uint32_t timestamp; /* timestamp of the newest packet */
};

/* Records a packet. `highest` is the newest earlier packet. Returns how many packets between the
 * two are missing, or -1 if the packet was counted as missing and arrives late. */
int64_t media_quality_record_packet(struct media_quality *q, const struct rtp_position *highest,
                                    uint64_t number, uint32_t timestamp, int64_t now_ns);

#endif
