/* srtp.h - SRTP and SRTCP (RFC 3711, RFC 7714) between one browser and the relay.
 *
 * The keys come from the DTLS handshake and differ by direction. The rollover counter of a stream
 * is never sent, so both sides count it per SSRC; it starts at 0 with the first packet that the
 * receiver gets. A session never encrypts two packets with the same SSRC and index, because that
 * would reveal their contents: such a packet is refused. */
#ifndef RELAY_SRTP_H
#define RELAY_SRTP_H

#include "relay/media/encryption.h"

/* SRTP profiles, with the numbers of RFC 5764 and RFC 7714. */
enum srtp_profile {
    PROFILE_CM_SHA1 = 1,
    PROFILE_GCM_128 = 7,
    PROFILE_GCM_256 = 8,
};

enum {
    SRTP_MAX_KEY = 32,
    SRTP_MAX_SALT = 14,
    SRTP_AUTH_KEY = 20,
    SRTP_MATERIAL_MAX = 2 * (SRTP_MAX_KEY + SRTP_MAX_SALT),
    SRTP_MAX_STREAMS = 16, /* maximum number of SSRCs of a browser */
    SRTP_MAX = PACKET_MAX + 20,
};

/* Returns the bytes of keying material that DTLS must export for a profile; 0 if it is unknown. */
size_t srtp_keying_material_size(enum srtp_profile profile);

/* Keys of one direction for RTP or RTCP, derived from the master key. */
struct srtp_keys {
    unsigned char cipher[SRTP_MAX_KEY], auth[SRTP_AUTH_KEY], salt[SRTP_MAX_SALT];
};
void srtp_derive_keys(enum srtp_profile profile, const unsigned char *master_key,
                      const unsigned char *master_salt, bool control, struct srtp_keys *ret);

struct srtp;
/* `material` has the client key, the server key, the client salt and the server salt. */
struct srtp *srtp_new(enum srtp_profile profile, const unsigned char *material);
/* Uses given session keys, for test vectors: keys[0] receives, keys[1] sends. */
struct srtp *srtp_new_from_keys(enum srtp_profile profile, const struct srtp_keys rtp[2],
                                const struct srtp_keys rtcp[2]);
void srtp_free(struct srtp *s); /* erases the keys; accepts NULL */
enum srtp_profile srtp_profile_of(const struct srtp *s);

/* Decrypts an RTP packet of the browser. Returns false if it is not authentic, a replay, malformed,
 * or of one SSRC more than SRTP_MAX_STREAMS. */
bool srtp_decrypt(struct srtp *s, struct str datagram, struct decrypted_rtp_packet *ret);
/* Encrypts a packet for the browser; returns its length, or 0 if its index was used before. */
size_t srtp_encrypt(struct srtp *s, const struct decrypted_rtp_packet *p,
                    unsigned char out[SRTP_MAX]);
/* Encrypts a packet of another participant, of which `number` is the position in that participant's
 * stream. After a pause in which the browser got none of its packets, and after a restart of its
 * sequence numbers, the sequence numbers that the browser gets continue: from a large gap it would
 * derive a wrong rollover counter, and refuse thousands of packets. */
size_t srtp_forward(struct srtp *s, const struct decrypted_rtp_packet *p, uint64_t number,
                    bool audio, unsigned char out[SRTP_MAX]);
/* Returns what srtp_forward added to the sequence number of the latest packet of an SSRC. */
uint16_t srtp_sequence_shift(const struct srtp *s, uint32_t ssrc);
/* Forgets the packets that were sent with these SSRCs, which must not be used again. */
void srtp_forget_sent_streams(struct srtp *s, uint32_t first, unsigned count);
/* Decrypts a compound RTCP packet. Returns false if it is not authentic, a replay or malformed. */
bool srtcp_decrypt(struct srtp *s, struct str datagram, unsigned char out[PACKET_MAX],
                   size_t *ret_n);
/* Encrypts a compound RTCP packet; returns its length, or 0 if it is too long. */
size_t srtcp_encrypt(struct srtp *s, struct str packet, unsigned char out[SRTP_MAX]);

#endif
