/* seal.h - how media is encrypted between one participant and us: the three modes.
 *
 * A participant has one key for both directions. In the AEAD modes a nonce is four bytes that the
 * sender chooses; libraries count in either byte order, from 0, from a random number, or again for
 * each track, so a client's nonce is never read as a number. Ours come from ranges whose first and
 * last byte are far from those of the client (struct nonce_range in seal.c). */
#ifndef RELAY_SEAL_H
#define RELAY_SEAL_H

#include "relay/media/packets.h"

enum {
    SEAL_KEY = 32,
    SEAL_OVERHEAD = 20, /* the most that a mode adds: tag and nonce */
    SEAL_MAX = PACKET_MAX + SEAL_OVERHEAD + RTP_PREAMBLE,
    SEAL_NONCES = 1 << 30, /* that one key has for our packets */
};

/* A mode; the names are the interface's, in the order in which clients are offered them. */
struct seal_mode;
const struct seal_mode *seal_mode_find(struct str name);
/* Whether its nonces are packets' headers, which then have nothing else to authenticate them. */
bool seal_mode_uses_header(const struct seal_mode *mode);
/* Name of the i-th mode, or NULL. */
const char *seal_mode_name(unsigned i);

struct seal; /* a mode and a key */

/* used: how many of our nonces count as used already. */
struct seal *seal_new(const struct seal_mode *mode, const unsigned char key[SEAL_KEY],
                      uint32_t used);
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

/* False: it was not sealed with this key, or is too short. */
bool seal_open(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret);
/* An authentic packet of the client had a nonce that we had used: the key is not safe any more. */
bool seal_is_broken(const struct seal *s);
/* Control packets: the first eight bytes are clear. Modes whose nonce is the header have none, for
 * their headers come again. False: not with this key, too short, or a mode without them. */
bool seal_open_control(struct seal *s, struct str datagram, unsigned char out[PACKET_MAX],
                       size_t *ret_n);
/* As seal_write; 0 for modes without them too. The packet has at least its header. */
size_t seal_write_control(struct seal *s, struct str packet, unsigned char out[SEAL_MAX]);
/* Writes a whole packet with the next nonce of ours; returns its length, or 0 when there
 * is no nonce left. */
size_t seal_write(struct seal *s, const struct rtp_plain *p, unsigned char out[SEAL_MAX]);

#endif
