/* packets.h - parses and writes voice datagrams (RTP, IP discovery, pings) and detects replays.
 *
 * These functions use neither sockets nor keys. They check every length, so all parts of a struct
 * rtp_packet are safe to use. */
#ifndef RELAY_PACKETS_H
#define RELAY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    /* Maximum UDP payload over IPv4 and Ethernet; longer datagrams would be fragmented. */
    PACKET_MAX = 1472,
    PACKET_DISCOVERY_SIZE = 74, /* size in bytes of an IP discovery request, and of its reply */
    PACKET_PING_SIZE = 8,
    RTP_HEADER_SIZE = 12,
    RTP_EXTENSION_PREAMBLE_SIZE = 4, /* size of the extension header: profile and length */
    RTP_OPUS_PAYLOAD_TYPE = 120,     /* payload type of audio */
    RTP_CLOCK_HZ = 48000,
    /* Number of SSRCs of a participant: one for audio, and for each video layer one for video and
     * one for retransmissions. */
    SSRCS_PER_PARTICIPANT = 16,
};

enum media_packet_kind {
    PACKET_IGNORED, /* unknown, or a keep-alive */
    PACKET_IS_DISCOVERY,
    PACKET_IS_PING,
    PACKET_RTP,
    PACKET_RTCP,
};

enum media_packet_kind classify_media_datagram(struct str datagram);

/* Returns the sender's SSRC in an IP discovery, RTP or RTCP packet. The SSRC is not authenticated:
 * any host can send it. */
uint32_t packet_read_ssrc(enum media_packet_kind kind, struct str datagram);

/* Returns whether this block of SSRCs may be assigned to a participant. With one of the SSRCs
 * 0x2112A440 to 0x2112A44F, an IP discovery request would contain the magic cookie of STUN. */
bool ssrc_block_is_allowed(uint32_t first_ssrc);

/* Writes the answer to IP discovery: the public address of the client. */
void packet_write_ip_discovery_reply(uint32_t ssrc, struct str address, unsigned port,
                                     unsigned char out[PACKET_DISCOVERY_SIZE]);
void packet_write_pong(struct str ping, unsigned char out[PACKET_PING_SIZE]);

/* An RTP packet as received, still encrypted. */
struct rtp_packet {
    struct str clear;     /* header, CSRCs and the extension's preamble */
    struct str encrypted; /* everything after the clear part */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned char type;
    unsigned sources; /* number of CSRCs (contributing sources) between header and extension */
    bool extended;
};

/* Parses the RTP header. Returns false if the datagram is shorter than its header states. */
bool rtp_parse_header(struct str datagram, struct rtp_packet *ret);

/* --- replay detection ----------------------------------------------------------------- */

/* Which of the latest sequence numbers of a stream were received: the highest number, and one bit
 * for each of the 127 numbers below it. */
enum { REPLAY_WINDOW = 128 };
struct replay_window {
    uint64_t highest, seen[REPLAY_WINDOW / 64];
    bool begun;
};

/* Returns whether this sequence number was not received yet. After the packet was authenticated,
 * call replay_window_add_number. */
bool replay_window_is_new(const struct replay_window *w, uint64_t number);
void replay_window_add_number(struct replay_window *w, uint64_t number);

/* The highest sequence number and timestamp of a stream so far. rtp_extend_sequence extends a
 * 16-bit sequence number to 64 bits relative to it. It returns false for an old timestamp, which
 * means a replay. */
struct rtp_position {
    uint64_t number;
    uint32_t timestamp;
    bool begun;
};
bool rtp_extend_sequence(const struct rtp_position *highest, const struct rtp_packet *p,
                         uint64_t *ret);
void rtp_update_highest_position(struct rtp_position *highest, const struct rtp_packet *p,
                                 uint64_t number);
/* Returns an upper bound of how many sequence numbers the stream has used. */
uint64_t rtp_count_sequences_used(const struct rtp_position *highest);

/* Received packets of one SSRC. The authenticated header (sequence number and timestamp) decides
 * whether a packet is new. Some senders restart at the same sequence number and timestamp for each
 * track. So if a packet has the sequence number of one of the stream's first packets but other
 * bytes, the sender has restarted; the forwarded numbers continue. */
/* Maximum number of stored hashes of first packets: enough for at least 32 tracks. */
enum { RTP_START_HASHES_MAX = 512 };
struct rtp_stream {
    struct replay_window window;
    struct rtp_position highest;
    uint16_t first; /* received sequence number of the stream's first packet */
    /* Offset between forwarded and received sequence numbers since the last restart. */
    uint16_t ahead;
    /* offset between forwarded and received timestamps since the last restart */
    uint32_t ahead_time;
    /* Bit set of the stream's first packets that were received since the last restart. */
    unsigned start_bits;
    /* The client has changed its transport, so the next packet restarts the stream. */
    bool has_new_sender;
    unsigned start_count; /* number of hashes in `starts`, counted over all restarts */
    uint64_t *starts;
};
/* Position of a packet in its stream: the header fields that the forwarded packet gets. */
struct rtp_stream_position {
    uint64_t number;
    uint16_t sequence;
    uint32_t timestamp;
    bool newest, restarts;
};

/* Returns whether the packet is new; if so, sets its position. After the packet was authenticated,
 * call rtp_stream_record_packet. s is NULL if no packet of the stream has arrived yet. */
bool rtp_stream_packet_is_new(const struct rtp_stream *s, const struct rtp_packet *p,
                              struct rtp_stream_position *ret);
void rtp_stream_record_packet(struct rtp_stream *s, const struct rtp_packet *p,
                              const struct rtp_stream_position *a);
/* Returns the position of a packet that SRTP has found to be authentic and new. If the packet seems
 * old, the sender has started another stream, whose forwarded numbers continue those of the
 * previous stream. The caller records the packet with rtp_stream_record_position. */
struct rtp_stream_position rtp_stream_position_of_new_packet(const struct rtp_stream *s,
                                                             const struct rtp_packet *p);
void rtp_stream_record_position(struct rtp_stream *s, const struct rtp_packet *p,
                                const struct rtp_stream_position *a);
/* Records a video packet that is known to be authentic (SRTP) and returns its position. Only
 * has_new_sender restarts the stream: video frames and retransmissions may arrive in any order. */
struct rtp_stream_position rtp_stream_record_video_packet(struct rtp_stream *s,
                                                          const struct rtp_packet *p);
/* Returns whether no more hashes of first packets can be stored, so that restarts can no longer be
 * distinguished from replays. */
bool rtp_stream_has_no_space_for_start_hashes(const struct rtp_stream *s);
void rtp_stream_clear(struct rtp_stream *s);

#endif
