/* packets.h - datagrams of voice, over bytes: what they are, and which were there before.
 *
 * A reader and writer: no sockets, no keys. Every length is checked here, so whoever
 * gets a struct rtp_packet may use its parts. */
#ifndef RELAY_PACKETS_H
#define RELAY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    PACKET_MAX = 1472,     /* of IPv4 over Ethernet; longer ones would come in fragments */
    PACKET_DISCOVERY = 74, /* asked and answered in exactly so many bytes */
    PACKET_PING = 8,
    RTP_HEADER = 12,
    RTP_PREAMBLE = 4, /* of a header extension: its profile and its length */
    RTP_OPUS = 120,   /* the payload type of audio */
    RTP_CLOCK = 48000,
    SSRC_BLOCK = 16, /* of one participant: audio, video, rtx, and room for layers */
};

enum packet_kind {
    PACKET_NONE, /* nothing that we know, or a keep-alive */
    PACKET_ASKS_ADDRESS,
    PACKET_PINGS,
    PACKET_RTP,
    PACKET_RTCP,
};

enum packet_kind packet_kind(struct str datagram);

/* Of a packet that asks for its address, of RTP and of RTCP: who it says that it is from. */
uint32_t packet_ssrc(enum packet_kind kind, struct str datagram);

/* The answer to who asks for its address, as it is seen from here. */
void packet_write_address(uint32_t ssrc, struct str address, unsigned port,
                          unsigned char out[PACKET_DISCOVERY]);
void packet_write_pong(struct str ping, unsigned char out[PACKET_PING]);

/* An RTP packet as it was sent, before anything is decrypted. */
struct rtp_packet {
    struct str clear;  /* header, sources and the extension's preamble */
    struct str sealed; /* all that follows */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned char type;
    unsigned sources; /* contributing ones, between the header and the extension */
    bool extended;
};

/* False: it is shorter than it says. */
bool rtp_read(struct str datagram, struct rtp_packet *ret);

/* --- what was there before ------------------------------------------------------------ */

/* Numbers that were seen: the highest, and which of the 127 below it. */
enum { REPLAY_WINDOW = 128 };
struct replay_window {
    uint64_t highest, seen[REPLAY_WINDOW / 64];
    bool begun;
};

/* Whether the number is new; it stays so until it is added. */
bool window_is_new(const struct replay_window *w, uint64_t number);
void window_add(struct replay_window *w, uint64_t number);

/* RTP numbers are short: this one's place among those of its stream, or false when by its
 * time it is one of long ago that comes again. */
struct rtp_place {
    uint64_t number;
    uint32_t timestamp;
    bool begun;
};
bool rtp_extend(const struct rtp_place *highest, const struct rtp_packet *p, uint64_t *ret);
void rtp_advance(struct rtp_place *highest, const struct rtp_packet *p, uint64_t number);
/* How many numbers its stream has gone through, at most. */
uint64_t rtp_age(const struct rtp_place *highest);

/* The packets of one SSRC. What is new is decided by the header, which is authenticated: sequence
 * and timestamp. Some senders begin again with the same sequence and timestamp for each track; a
 * packet from the beginning of a stream whose bytes were not there before restarts it, and what
 * follows is numbered after what came before. */
enum { RTP_STARTS = 512 }; /* packets from beginnings that are recognised: 32 tracks at least */
struct rtp_stream {
    struct replay_window window;
    struct rtp_place highest;
    uint16_t first;       /* sequence of the first packet, as it was sent */
    uint16_t ahead;       /* added to sequences since the last restart … */
    uint32_t ahead_time;  /* … and to timestamps */
    unsigned start_bits;  /* packets of the beginning that came since the last restart */
    unsigned start_count; /* hashes of packets from all beginnings */
    uint64_t *starts;
};
/* Where a packet belongs in its stream: header fields to pass on. */
struct rtp_admission {
    uint64_t number;
    uint16_t sequence;
    uint32_t timestamp;
    bool newest, restarts;
};

/* Whether the packet is new; it stays so until it is taken, once it is known to be authentic.
 * s NULL: there is none yet. */
bool rtp_stream_admits(const struct rtp_stream *s, const struct rtp_packet *p,
                       struct rtp_admission *ret);
void rtp_stream_take(struct rtp_stream *s, const struct rtp_packet *p,
                     const struct rtp_admission *a);
/* No more beginnings can be recognised. */
bool rtp_stream_is_full(const struct rtp_stream *s);
void rtp_stream_clear(struct rtp_stream *s);

#endif
