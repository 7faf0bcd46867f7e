/* packets.h - datagrams of voice, over bytes: what they are, and which were there before.
 *
 * A pure reader and writer: no sockets, no keys. Every length is checked here, so whoever
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

#endif
