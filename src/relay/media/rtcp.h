/* rtcp.h - parses RTCP packets: sender and receiver reports, feedback requests. */
#ifndef RELAY_RTCP_H
#define RELAY_RTCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { RTCP_HEADER_SIZE = 8, RTCP_MAX_PARTS = 16 };

/* A packet of a compound RTCP datagram. */
struct rtcp_packet {
    struct str bytes;
    uint32_t sender; /* SSRC of the packet's sender */
    /* SSRC of the media to which a request or receiver report refers; 0 if none. */
    uint32_t about;
    size_t about_at;    /* offset of about in bytes */
    bool has_rtp_time;  /* a sender report */
    bool lists_missing; /* the packet requests missing packets by their sequence numbers */
    /* The packet reports arrival times of all packets of a transport (transport-wide feedback). */
    bool is_transport_feedback;
    /* The packet describes media of its sender, so it is forwarded to all receivers. */
    bool announces;
};

/* Parses the next packet of a compound datagram and removes it from the datagram. Returns false at
 * the end, or if the packet is malformed. */
bool rtcp_parse_next(struct str *datagram, struct rtcp_packet *ret);

#endif
