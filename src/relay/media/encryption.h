/* encryption.h - encryption of media between one participant and the relay, in three modes. A
 * participant has one key for both directions. In the AEAD modes a nonce is four bytes that the
 * sender chooses. Client libraries count in either byte order, from 0, from a random number, or
 * again for each track, so a client's nonce is never interpreted as a number. The relay's nonces
 * come from ranges whose first and last byte are far from the client's (struct nonce_range). */
#ifndef RELAY_SEAL_H
#define RELAY_SEAL_H

#include "relay/media/packets.h"

enum {
    ENCRYPTION_KEY_SIZE = 32,
    ENCRYPTION_OVERHEAD = 20, /* maximum number of bytes that a mode adds: tag and nonce */
    ENCRYPTED_PACKET_MAX = PACKET_MAX + ENCRYPTION_OVERHEAD + RTP_EXTENSION_PREAMBLE_SIZE,
    NONCES_PER_KEY = 1 << 30, /* nonces per key for packets of the relay */
};

/* An encryption mode. Names are those of Discord's API, in the order in which clients are offered
 * them. */
struct encryption_mode;
const struct encryption_mode *encryption_mode_find(struct str name);
/* Returns whether the RTP header is the nonce; only as the nonce is the header authenticated
 * then. */
bool encryption_mode_uses_header_as_nonce(const struct encryption_mode *mode);
/* Returns the name of the i-th mode, or NULL. */
const char *encryption_mode_name(unsigned i);

struct media_cipher; /* an encryption mode with its key */

/* `used` is the number of the relay's nonces that count as used already. */
struct media_cipher *media_cipher_new(const struct encryption_mode *mode,
                                      const unsigned char key[ENCRYPTION_KEY_SIZE], uint32_t used);
void media_cipher_free(struct media_cipher *s);                   /* erases the key; accepts NULL */
const char *media_cipher_mode_name(const struct media_cipher *s); /* name of the mode */
/* Returns whether the RTP header is the nonce, so that no header may be sent twice. */
bool media_cipher_uses_header_as_nonce(const struct media_cipher *s);

struct decrypted_rtp_packet {
    unsigned char header[RTP_HEADER_SIZE]; /* without CSRCs */
    bool extended;
    /* Decrypted: the extension's preamble if there is one, the extension, and the payload. */
    unsigned char bytes[PACKET_MAX];
    size_t n;
};
/* Returns whether the payload is the Opus silence frame, which clients send before they pause. */
bool rtp_payload_is_silence(const struct decrypted_rtp_packet *p);

/* Decrypts a packet. Returns false if it is not authentic with this key, or too short. */
bool media_cipher_decrypt(struct media_cipher *s, const struct rtp_packet *p,
                          struct decrypted_rtp_packet *ret);
/* Returns whether an authentic packet of the client used a nonce that the relay had used, so that
 * the key is no longer safe. */
bool media_cipher_nonce_was_reused(const struct media_cipher *s);
/* Decrypts RTCP, whose first eight bytes are clear. Returns false if it is not authentic or too
 * short, or if the mode has a header nonce: such a mode has no RTCP, as RTCP headers repeat. */
bool media_cipher_decrypt_rtcp(struct media_cipher *s, struct str datagram,
                               unsigned char out[PACKET_MAX], size_t *ret_n);
/* Encrypts RTCP with the relay's next nonce; returns the length, or 0 if no nonce is left or the
 * mode has no RTCP. */
size_t media_cipher_encrypt_rtcp(struct media_cipher *s, struct str packet,
                                 unsigned char out[ENCRYPTED_PACKET_MAX]);
/* Encrypts a whole packet with the relay's next nonce; returns its length, or 0 if no nonce is
 * left. */
size_t media_cipher_encrypt(struct media_cipher *s, const struct decrypted_rtp_packet *p,
                            unsigned char out[ENCRYPTED_PACKET_MAX]);

#endif
