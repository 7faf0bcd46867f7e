/* encryption.h - encryption of media between one participant and the relay, in three modes. A
 * participant has one key for both directions. In the AEAD modes a nonce is four bytes that the
 * sender chooses. Client libraries count in either byte order, from 0 or from a random number, and
 * some start again for each track, so a client's nonce is never interpreted as a number. The
 * relay's nonces come from ranges whose first and last byte are far from those of the client
 * (struct nonce_range). */
#ifndef RELAY_SEAL_H
#define RELAY_SEAL_H

#include "relay/media/packets.h"

enum {
    ENCRYPTION_KEY_SIZE = 32,
    /* Maximum number of bytes that encryption adds to a packet: tag and nonce. */
    ENCRYPTION_OVERHEAD = 20,
    ENCRYPTED_PACKET_MAX = PACKET_MAX + ENCRYPTION_OVERHEAD + RTP_EXTENSION_PREAMBLE_SIZE,
    NONCES_PER_KEY = 1 << 30, /* maximum number of nonces that the relay uses with one key */
};

/* An encryption mode. Names are those of Discord's API, in the order of the offer. */
struct encryption_mode;
const struct encryption_mode *encryption_mode_find(struct str name);
/* Returns whether the RTP header is the nonce. It is then authenticated only as the nonce. */
bool encryption_mode_uses_header_as_nonce(const struct encryption_mode *mode);
/* Returns the name of the i-th encryption mode, or NULL if there are fewer modes. */
const char *encryption_mode_name(unsigned i);

struct media_cipher; /* an encryption mode with its key */

/* Creates a cipher. `used` is the number of the relay's nonces that are treated as already used. */
struct media_cipher *media_cipher_new(const struct encryption_mode *mode,
                                      const unsigned char key[ENCRYPTION_KEY_SIZE], uint32_t used);
void media_cipher_free(struct media_cipher *s);                   /* erases the key; accepts NULL */
const char *media_cipher_mode_name(const struct media_cipher *s); /* name of the mode */
/* Returns whether the RTP header is the nonce. If so, no header may be sent twice. */
bool media_cipher_uses_header_as_nonce(const struct media_cipher *s);

struct decrypted_rtp_packet {
    unsigned char header[RTP_HEADER_SIZE]; /* without CSRCs */
    bool extended;
    /* the decrypted bytes: header extension with its preamble (if there is one), payload */
    unsigned char bytes[PACKET_MAX];
    size_t n;
};
/* Returns whether the payload is the Opus silence frame, which clients send after speech. */
bool rtp_payload_is_silence(const struct decrypted_rtp_packet *p);

/* Decrypts an RTP packet. Returns false if it is too short or not authentic with this key. */
bool media_cipher_decrypt(struct media_cipher *s, const struct rtp_packet *p,
                          struct decrypted_rtp_packet *ret);
/* Returns whether an authentic packet of the client used a nonce that the relay had used. If so,
 * the key is no longer safe. */
bool media_cipher_nonce_was_reused(const struct media_cipher *s);
/* Decrypts an RTCP packet, whose first eight bytes are not encrypted. Returns false if the packet
 * is too short or not authentic, or if the RTP header is the nonce: this mode has no RTCP, because
 * RTCP headers repeat. */
bool media_cipher_decrypt_rtcp(struct media_cipher *s, struct str datagram,
                               unsigned char out[PACKET_MAX], size_t *ret_n);
/* Encrypts an RTCP packet with the relay's next nonce. Returns its length, or 0 if no nonce is left
 * or the mode has no RTCP. */
size_t media_cipher_encrypt_rtcp(struct media_cipher *s, struct str packet,
                                 unsigned char out[ENCRYPTED_PACKET_MAX]);
/* Encrypts a whole packet with the relay's next nonce; returns its length, or 0 without a nonce. */
size_t media_cipher_encrypt(struct media_cipher *s, const struct decrypted_rtp_packet *p,
                            unsigned char out[ENCRYPTED_PACKET_MAX]);

#endif
