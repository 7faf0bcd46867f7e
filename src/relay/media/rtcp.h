/* rtcp.h - what participants tell each other about media, over bytes: reports and requests. */
#ifndef RELAY_RTCP_H
#define RELAY_RTCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { RTCP_HEADER = 8, RTCP_MAX_PARTS = 16 };

/* One of the parts of a datagram. */
struct rtcp_part {
    struct str bytes;
    uint32_t sender; /* who says it */
    uint32_t about;  /* whose media a request or a report of a receiver is about; 0: nobody's */
    bool announces;  /* it is about what the sender sends: for everybody who gets that */
};

/* Takes the next part off; false: there is none that can be read. */
bool rtcp_next(struct str *datagram, struct rtcp_part *ret);

#endif
