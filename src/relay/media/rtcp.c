/* rtcp.c - parses RTCP packets. */
#include "relay/media/rtcp.h"
#include "relay/media/network_order.h"

enum {
    SENDER_REPORT = 200,
    RECEIVER_REPORT = 201,
    DESCRIPTION = 202,
    RTP_FEEDBACK = 205,
    PAYLOAD_FEEDBACK = 206,
    GENERIC_NACK = 1,
    TRANSPORT_FEEDBACK = 15,
    /* Payload-specific feedback format that names the media SSRC in its list, not in its header. */
    FULL_INTRA_REQUEST = 4,
};

static uint32_t rtcp_read_u32(struct str bytes, size_t at)
{
    return bytes.n < at + 4 ? 0 : network_read_u32(bytes.p + at);
}

/* Returns the offset of the media SSRC in an RTCP packet, or 0 if the packet has none. */
static size_t rtcp_media_ssrc_offset(unsigned type, unsigned format)
{
    if (type == RECEIVER_REPORT)
        return format ? RTCP_HEADER_SIZE : 0;
    if (type != RTP_FEEDBACK && type != PAYLOAD_FEEDBACK)
        return 0;
    return type == PAYLOAD_FEEDBACK && format == FULL_INTRA_REQUEST ? RTCP_HEADER_SIZE + 4
                                                                    : RTCP_HEADER_SIZE;
}

bool rtcp_parse_next(struct str *datagram, struct rtcp_packet *ret)
{
    const unsigned char *b = (const unsigned char *)datagram->p;

    if (datagram->n < RTCP_HEADER_SIZE || b[0] >> 6 != 2)
        return false;
    size_t size = 4 * (1 + ((size_t)b[2] << 8 | b[3]));
    if (size < RTCP_HEADER_SIZE || size > datagram->n)
        return false;
    unsigned type = b[1], format = b[0] & 0x1f;
    struct str bytes = str_slice(datagram->p, size);
    size_t about_at = rtcp_media_ssrc_offset(type, format);
    *ret = (struct rtcp_packet){
        .bytes = bytes,
        .sender = rtcp_read_u32(bytes, 4),
        .about = about_at ? rtcp_read_u32(bytes, about_at) : 0,
        .about_at = about_at,
        .has_rtp_time = type == SENDER_REPORT,
        .lists_missing = type == RTP_FEEDBACK && format == GENERIC_NACK,
        .is_transport_feedback = type == RTP_FEEDBACK && format == TRANSPORT_FEEDBACK,
        .announces = type == SENDER_REPORT || type == DESCRIPTION,
    };
    *datagram = str_skip_bytes(*datagram, size);
    return true;
}
