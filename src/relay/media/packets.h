/* packets.h - parses and writes voice datagrams (RTP, IP discovery, pings) and detects replays.
 *
 * Works on bytes only: no sockets, no keys. Every length is checked here, so the parts of a struct
 * rtp_packet are safe to use. */
#ifndef RELAY_PACKETS_H
#define RELAY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    PACKET_MAX = 1472,          /* UDP payload of IPv4 over Ethernet; longer datagrams would be
                                 * fragmented */
    PACKET_DISCOVERY_SIZE = 74, /* size of the IP discovery request and of its answer */
    PACKET_PING_SIZE = 8,
    RTP_HEADER_SIZE = 12,
    RTP_EXTENSION_PREAMBLE_SIZE = 4, /* size of the extension header: profile and length */
    RTP_OPUS_PAYLOAD_TYPE = 120,     /* payload type of audio */
    RTP_CLOCK_HZ = 48000,
    SSRCS_PER_PARTICIPANT =
        16, /* SSRCs per participant: audio, then video and retransmissions per layer */
};

enum packet_kind {
    PACKET_IGNORED, /* unknown, or a keep-alive */
    PACKET_IS_DISCOVERY,
    PACKET_IS_PING,
    PACKET_RTP,
    PACKET_RTCP,
};

enum packet_kind classify_media_datagram(struct str datagram);

/* Returns the sender's SSRC as stated in an IP discovery, RTP or RTCP packet; it is not
 * authenticated. */
uint32_t packet_read_ssrc(enum packet_kind kind, struct str datagram);

/* Returns whether a block of SSRCs may be given to a participant. An IP discovery request with one
 * of the SSRCs 0x2112A440 to 0x2112A44F would contain the magic cookie of STUN. */
bool ssrc_block_is_allowed(uint32_t first_ssrc);

/* Writes the answer to IP discovery: the public address of the client. */
void packet_write_discovery_reply(uint32_t ssrc, struct str address, unsigned port,
                                  unsigned char out[PACKET_DISCOVERY_SIZE]);
void packet_write_pong(struct str ping, unsigned char out[PACKET_PING_SIZE]);

/* An RTP packet as received, still encrypted. */
struct rtp_packet {
    struct str clear;     /* header, CSRCs and the extension's preamble */
    struct str encrypted; /* everything after the clear part */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned char type;
    unsigned sources; /* number of CSRCs, between header and extension */
    bool extended;
};

/* Parses the header. Returns false if the datagram is shorter than its header states. */
bool rtp_parse_header(struct str datagram, struct rtp_packet *ret);

/* --- replay detection ----------------------------------------------------------------- */

/* Received sequence numbers: the highest one, and a bit for each of the 127 numbers below it. */
enum { REPLAY_WINDOW = 128 };
struct replay_window {
    uint64_t highest, seen[REPLAY_WINDOW / 64];
    bool begun;
};

/* Returns whether the number has not been received yet. Call replay_window_add once the packet is
 * authenticated. */
bool replay_window_is_new(const struct replay_window *w, uint64_t number);
void replay_window_add(struct replay_window *w, uint64_t number);

/* The highest position of a stream so far. Relative to it, rtp_extend_sequence extends a 16-bit
 * sequence number to 64 bits, or returns false for an old timestamp, which means a replay. */
struct rtp_position {
    uint64_t number;
    uint32_t timestamp;
    bool begun;
};
bool rtp_extend_sequence(const struct rtp_position *highest, const struct rtp_packet *p,
                         uint64_t *ret);
void rtp_update_highest_position(struct rtp_position *highest, const struct rtp_packet *p,
                                 uint64_t number);
/* Returns an upper bound of the number of sequence numbers that the stream has used. */
uint64_t rtp_count_sequences_used(const struct rtp_position *highest);

/* Packets of one SSRC. The authenticated header (sequence and timestamp) decides whether a packet
 * is new. Some senders restart with the same sequence and timestamp for each track. So a packet
 * that has the numbers of the stream's beginning but other bytes restarts the stream, and its
 * numbers continue. */
enum { RTP_START_HASHES_MAX = 512 }; /* maximum number of stored hashes, for at least 32 tracks */
struct rtp_stream {
    struct replay_window window;
    struct rtp_position highest;
    uint16_t first;      /* sequence of the first packet, as received */
    uint16_t ahead;      /* offset added to sequence numbers since the last restart */
    uint32_t ahead_time; /* offset added to timestamps since the last restart */
    unsigned start_bits; /* bit set of the stream's first packets received since the last restart */
    bool has_new_sender; /* the next packet restarts the stream: the client changed its transport */
    unsigned start_count; /* number of hashes in `starts`, over all restarts */
    uint64_t *starts;
};
/* Position of a packet in its stream: the header fields with which it is forwarded. */
struct rtp_stream_position {
    uint64_t number;
    uint16_t sequence;
    uint32_t timestamp;
    bool newest, restarts;
};

/* Returns whether the packet is new; call rtp_stream_record_packet once it is authenticated. s is
 * NULL if no packet of this stream has arrived yet. */
bool rtp_stream_check_packet(const struct rtp_stream *s, const struct rtp_packet *p,
                             struct rtp_stream_position *ret);
void rtp_stream_record_packet(struct rtp_stream *s, const struct rtp_packet *p,
                              const struct rtp_stream_position *a);
/* Returns the position of a packet that SRTP has found to be authentic and new. If the packet seems
 * old, the sender has begun another stream, whose numbers continue those of the previous one.
 * rtp_stream_record_position records the packet. */
struct rtp_stream_position rtp_stream_position_of_new_packet(const struct rtp_stream *s,
                                                             const struct rtp_packet *p);
void rtp_stream_record_position(struct rtp_stream *s, const struct rtp_packet *p,
                                const struct rtp_stream_position *a);
/* Returns the position of a video packet that is known to be authentic (SRTP) and records it. Only
 * has_new_sender restarts the stream: frames and retransmissions may arrive in any order. */
struct rtp_stream_position rtp_stream_record_video_packet(struct rtp_stream *s,
                                                          const struct rtp_packet *p);
/* Returns whether no more hashes of first packets can be stored, so that restarts and replays look
 * the same. */
bool rtp_stream_has_no_space_for_start_hashes(const struct rtp_stream *s);
void rtp_stream_clear(struct rtp_stream *s);

#endif
