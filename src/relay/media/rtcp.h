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
    uint32_t sender;            /* SSRC of the packet's sender */
    uint32_t about;             /* SSRC that a request or receiver report concerns; 0 if none */
    size_t about_at;            /* offset of about in bytes */
    bool has_rtp_time;          /* a sender report */
    bool lists_missing;         /* a request for missing packets, by their sequence numbers */
    bool is_transport_feedback; /* arrival times of the packets of one transport */
    bool announces; /* the packet describes the sender's media: forward it to all receivers */
};

/* Parses the next packet of a compound datagram. Returns false at the end or if it is malformed. */
bool rtcp_parse_next(struct str *datagram, struct rtcp_packet *ret);

#endif
