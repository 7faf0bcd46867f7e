/* quality.c - packet loss and jitter of incoming audio. */
#include "relay/media/quality.h"

#include <stdlib.h>

enum {
    GAP_MAX = 500, /* ten seconds: a larger gap means that the client restarted */
    JITTER_SHARE = 16,
};
#define SECOND_NS INT64_C(1000000000)

/* Interarrival jitter as in RFC 3550: average deviation from the sender's clock, without pauses. */
static void quality_note_jitter(struct media_quality *q, uint32_t timestamp, int64_t now_ns)
{
    int64_t sent = (int64_t)(int32_t)(timestamp - q->timestamp) * SECOND_NS / RTP_CLOCK;
    int64_t off = llabs(now_ns - q->arrived_ns - sent);

    if (q->arrived_ns && sent > 0 && sent < SECOND_NS && off < SECOND_NS)
        q->jitter_ns += (off - q->jitter_ns) / JITTER_SHARE;
    q->arrived_ns = now_ns;
    q->timestamp = timestamp;
}

int64_t quality_take(struct media_quality *q, const struct rtp_place *highest, uint64_t number,
                     uint32_t timestamp, int64_t now_ns)
{
    q->packets++;
    if (highest->begun && number <= highest->number) {
        q->late += q->late < q->missing;
        return -1;
    }
    uint64_t gap = highest->begun ? number - highest->number - 1 : 0;
    quality_note_jitter(q, timestamp, now_ns);
    if (gap > GAP_MAX)
        return 0;
    q->missing += gap;
    return (int64_t)gap;
}
