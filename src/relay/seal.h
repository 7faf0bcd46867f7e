/* seal.h - how media is encrypted between one participant and us: the three modes.
 *
 * A participant has one key for both directions. Clients count their nonces up from 0 or 1,
 * so ours begin at 0x80000000 and theirs may not get there: no nonce is used twice. */
#ifndef RELAY_SEAL_H
#define RELAY_SEAL_H

#include "relay/packets.h"

enum {
    SEAL_KEY = 32,
    SEAL_OVERHEAD = 20, /* the most that a mode adds: tag and counter */
    SEAL_MAX = PACKET_MAX + SEAL_OVERHEAD + RTP_PREAMBLE,
};
#define SEAL_OURS UINT32_C(0x80000000) /* the first counter of the server */

/* A mode; the names are the interface's, in the order in which clients are offered them. */
struct seal_mode;
const struct seal_mode *seal_mode_find(struct str name);
/* Whether its nonces are packets' headers, which then have nothing else to authenticate them. */
bool seal_mode_uses_header(const struct seal_mode *mode);
/* Name of the i-th mode, or NULL. */
const char *seal_mode_name(unsigned i);

struct seal; /* a mode and a key */

/* Our packets are counted from `first` on. */
struct seal *seal_new(const struct seal_mode *mode, const unsigned char key[SEAL_KEY],
                      uint32_t first);
void seal_free(struct seal *s);              /* forgets the key; accepts NULL */
const char *seal_name(const struct seal *s); /* of its mode */
/* Whether nonces of this mode are the packet's header, so that no two packets with the same
 * one may be sent. */
bool seal_uses_header(const struct seal *s);

/* What a packet holds, decrypted. */
struct rtp_plain {
    unsigned char header[RTP_HEADER]; /* without contributing sources */
    bool extended;
    /* The extension's preamble when there is one, then its elements and the payload. */
    unsigned char bytes[PACKET_MAX];
    size_t n;
};
/* Whether it is a frame in which nobody says anything, as clients send before they pause. */
bool rtp_is_silence(const struct rtp_plain *p);

/* The counter that the sender gave the packet; 0 where the header is the nonce. False: it is too
 * short, or has a counter of ours. */
bool seal_counter(const struct seal *s, const struct rtp_packet *p, uint32_t *ret);
/* False: it was not sealed with this key. */
bool seal_open(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret);
/* Control packets: the first eight bytes are clear. Modes whose nonce is the header have none, for
 * their headers come again. False: not with this key, too short, or a mode without them. */
bool seal_control_counter(const struct seal *s, struct str datagram, uint32_t *ret);
bool seal_open_control(struct seal *s, struct str datagram, unsigned char out[PACKET_MAX],
                       size_t *ret_n);
/* As seal_write; 0 for modes without them too. The packet has at least its header. */
size_t seal_write_control(struct seal *s, struct str packet, unsigned char out[SEAL_MAX]);
/* Writes a whole packet with the next counter of ours; returns its length, or 0 when there
 * is no counter left. */
size_t seal_write(struct seal *s, const struct rtp_plain *p, unsigned char out[SEAL_MAX]);

#endif
