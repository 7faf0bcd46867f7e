/* quality.c - packet loss and jitter of incoming audio. */
#include "relay/media/quality.h"

#include <stdlib.h>

enum {
    /* A gap of more than ten seconds of audio means that the client restarted. */
    MAX_GAP_PACKETS = 500,
    JITTER_DIVISOR = 16,
};
#define SECOND_NS INT64_C(1000000000)

/* Records interarrival jitter as in RFC 3550: the average deviation from the sender's clock,
 * without pauses. */
static void record_jitter_of_audio_packet(struct media_quality *q, uint32_t timestamp,
                                          int64_t now_ns)
{
    int64_t sent = (int64_t)(int32_t)(timestamp - q->timestamp) * SECOND_NS / RTP_CLOCK_HZ;
    int64_t off = llabs(now_ns - q->arrived_ns - sent);

    if (q->arrived_ns && sent > 0 && sent < SECOND_NS && off < SECOND_NS)
        q->jitter_ns += (off - q->jitter_ns) / JITTER_DIVISOR;
    q->arrived_ns = now_ns;
    q->timestamp = timestamp;
}

int64_t media_quality_record_packet(struct media_quality *q, const struct rtp_position *highest,
                                    uint64_t number, uint32_t timestamp, int64_t now_ns)
{
    q->packets++;
    if (highest->begun && number <= highest->number) {
        q->late += q->late < q->missing;
        return -1;
    }
    uint64_t gap = highest->begun ? number - highest->number - 1 : 0;
    record_jitter_of_audio_packet(q, timestamp, now_ns);
    if (gap > MAX_GAP_PACKETS)
        return 0;
    q->missing += gap;
    return (int64_t)gap;
}
