/* seal.h - encryption of media between one participant and the relay, in three modes. A participant
 * has one key for both directions. In the AEAD modes a nonce is four bytes that the sender chooses.
 * Client libraries count in either byte order, from 0, from a random number, or again for each
 * track, so a client's nonce is never interpreted as a number. The relay's nonces come from ranges
 * whose first and last byte are far from the client's (struct nonce_range in seal.c). */
#ifndef RELAY_SEAL_H
#define RELAY_SEAL_H

#include "relay/media/packets.h"

enum {
    SEAL_KEY = 32,
    SEAL_OVERHEAD = 20, /* maximum that a mode adds: tag and nonce */
    SEAL_MAX = PACKET_MAX + SEAL_OVERHEAD + RTP_PREAMBLE,
    SEAL_NONCES = 1 << 30, /* nonces per key for packets of the relay */
};

/* An encryption mode. Names are those of Discord's API, in the order in which clients are offered
 * them. */
struct seal_mode;
const struct seal_mode *seal_mode_find(struct str name);
/* Whether the RTP header is the nonce; such a mode does not authenticate the header otherwise. */
bool seal_mode_uses_header(const struct seal_mode *mode);
/* Returns the name of the i-th mode, or NULL. */
const char *seal_mode_name(unsigned i);

struct seal; /* an encryption mode with its key */

/* used: number of the relay's nonces that count as used already. */
struct seal *seal_new(const struct seal_mode *mode, const unsigned char key[SEAL_KEY],
                      uint32_t used);
void seal_free(struct seal *s);              /* erases the key; accepts NULL */
const char *seal_name(const struct seal *s); /* name of the mode */
/* Whether the RTP header is the nonce, so that no header may be sent twice. */
bool seal_uses_header(const struct seal *s);

/* A decrypted packet. */
struct rtp_plain {
    unsigned char header[RTP_HEADER]; /* without CSRCs */
    bool extended;
    /* The extension's preamble if there is one, then the extension and the payload. */
    unsigned char bytes[PACKET_MAX];
    size_t n;
};
/* Whether the payload is the Opus silence frame, which clients send before they pause. */
bool rtp_is_silence(const struct rtp_plain *p);

/* Decrypts a packet. False: not authentic with this key, or too short. */
bool seal_open(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret);
/* Whether an authentic packet of the client used a nonce that the relay had used: the key is no
 * longer safe. */
bool seal_is_broken(const struct seal *s);
/* Decrypts RTCP: the first eight bytes are clear. False: not authentic, too short, or a mode with a
 * header nonce, which has no RTCP because RTCP headers repeat. */
bool seal_open_control(struct seal *s, struct str datagram, unsigned char out[PACKET_MAX],
                       size_t *ret_n);
/* Encrypts RTCP with the relay's next nonce; returns the length, or 0 if no nonce is left or the
 * mode has no RTCP. */
size_t seal_write_control(struct seal *s, struct str packet, unsigned char out[SEAL_MAX]);
/* Encrypts a whole packet with the relay's next nonce; returns its length, or 0 if no nonce is
 * left. */
size_t seal_write(struct seal *s, const struct rtp_plain *p, unsigned char out[SEAL_MAX]);

#endif
