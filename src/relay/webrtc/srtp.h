/* srtp.h - SRTP and SRTCP (RFC 3711, RFC 7714) between one browser and the relay.
 *
 * The keys come from the DTLS handshake and differ by direction. The rollover counter of a stream
 * is not sent: both sides count it per SSRC, from 0 at the first packet that the receiver gets. A
 * session never encrypts two packets with the same SSRC and index, because that would reveal their
 * contents: such a packet is refused. */
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

/* Returns how many bytes of keying material DTLS must export for a profile, or 0 if it is unknown.
 */
size_t srtp_keying_material_size(enum srtp_profile profile);

/* Keys of one direction, for RTP or RTCP, derived from the master key. */
struct srtp_keys {
    unsigned char cipher[SRTP_MAX_KEY], auth[SRTP_AUTH_KEY], salt[SRTP_MAX_SALT];
};
void srtp_derive_keys(enum srtp_profile profile, const unsigned char *master_key,
                      const unsigned char *master_salt, bool control, struct srtp_keys *ret);

struct srtp;
/* Creates a session. `material` has the client key, the server key, the client salt and the server
 * salt, in this order. */
struct srtp *srtp_new(enum srtp_profile profile, const unsigned char *material);
/* Creates a session with the given session keys, for test vectors: keys[0] is for received packets,
 * keys[1] for sent packets. */
struct srtp *srtp_new_from_keys(enum srtp_profile profile, const struct srtp_keys rtp[2],
                                const struct srtp_keys rtcp[2]);
void srtp_free(struct srtp *s); /* erases the keys; accepts NULL */
enum srtp_profile srtp_get_profile(const struct srtp *s);

/* Decrypts an RTP packet of the browser. Returns false if it is malformed, not authentic, a replay,
 * or has a new SSRC although the browser already uses SRTP_MAX_STREAMS SSRCs. */
bool srtp_decrypt(struct srtp *s, struct str datagram, struct decrypted_rtp_packet *ret);
/* Encrypts a packet for the browser. Returns its length, or 0 if its index was used before. */
size_t srtp_encrypt(struct srtp *s, const struct decrypted_rtp_packet *p,
                    unsigned char out[SRTP_MAX]);
/* Encrypts a packet of another participant for the browser; `number` is the position of the packet
 * in that participant's stream. The browser gets continuous sequence numbers, even after a pause
 * without packets of the participant, and after the participant has restarted its sequence numbers.
 * After a large gap the browser would have a wrong rollover counter, and would refuse thousands of
 * packets. */
size_t srtp_encrypt_forwarded_packet(struct srtp *s, const struct decrypted_rtp_packet *p,
                                     uint64_t number, bool audio, unsigned char out[SRTP_MAX]);
/* Returns how much srtp_encrypt_forwarded_packet added to the sequence number of this SSRC's latest
 * packet. */
uint16_t srtp_sequence_shift(const struct srtp *s, uint32_t ssrc);
/* Frees the state of the packets that were sent with these SSRCs. The SSRCs must not be used again
 * in this session. */
void srtp_forget_sent_streams(struct srtp *s, uint32_t first, unsigned count);
/* Decrypts a compound RTCP packet. Returns false if it is not authentic, a replay or malformed. */
bool srtcp_decrypt(struct srtp *s, struct str datagram, unsigned char out[PACKET_MAX],
                   size_t *ret_n);
/* Encrypts a compound RTCP packet. Returns its length, or 0 if it is too long. */
size_t srtcp_encrypt(struct srtp *s, struct str packet, unsigned char out[SRTP_MAX]);

#endif
