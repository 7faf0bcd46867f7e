/* fuzz_srtp.c - fuzzes SRTP and SRTCP. Input: a byte that selects the profile and whether the test
 * encrypts the packet (so that the parser after decryption is reached too); then the datagram. If
 * bit 0x40 of the byte is set, the rest is a list of packets to forward. */
#include "fuzz.h"

#include <string.h>

#include "relay/media/network_order.h"
#include "relay/webrtc/srtp.h"

static const enum srtp_profile profiles[] = { PROFILE_CM_SHA1, PROFILE_GCM_128, PROFILE_GCM_256 };

/* Both directions have the same keys, so a session decrypts what it has encrypted. */
static struct srtp *session_new(enum srtp_profile profile)
{
    struct srtp_keys rtp[2] = { 0 }, rtcp[2] = { 0 };

    return srtp_new_from_keys(profile, rtp, rtcp);
}

/* A packet that was encrypted is decrypted to the same bytes, once. */
static void check_rtp_round_trip(struct srtp *s, struct str bytes)
{
    struct decrypted_rtp_packet plain = { 0 }, again;
    unsigned char out[SRTP_MAX];

    if (bytes.n <= RTP_HEADER_SIZE || bytes.n > PACKET_MAX)
        return;
    memcpy(plain.header, bytes.p, RTP_HEADER_SIZE);
    plain.header[0] = (unsigned char)(0x80 | (plain.header[0] & 0x10));
    plain.extended = plain.header[0] & 0x10;
    plain.n = bytes.n - RTP_HEADER_SIZE;
    memcpy(plain.bytes, bytes.p + RTP_HEADER_SIZE, plain.n);
    if (plain.extended && plain.n < RTP_EXTENSION_PREAMBLE_SIZE)
        return;
    size_t n = srtp_encrypt(s, &plain, out);
    if (!n)
        return;
    FUZZ_CHECK(n <= sizeof out);
    struct str datagram = str_slice((const char *)out, n);
    if (n > PACKET_MAX || !srtp_decrypt(s, datagram, &again))
        return;
    FUZZ_CHECK(again.n == plain.n && memcmp(again.bytes, plain.bytes, plain.n) == 0);
    FUZZ_CHECK(memcmp(again.header, plain.header, RTP_HEADER_SIZE) == 0);
    FUZZ_CHECK(!srtp_decrypt(s, datagram, &again));
    FUZZ_CHECK(!srtp_encrypt(s, &plain, out));
}

static void check_rtcp_round_trip(struct srtp *s, struct str bytes)
{
    unsigned char out[SRTP_MAX], again[PACKET_MAX];
    size_t n = bytes.n <= PACKET_MAX ? srtcp_encrypt(s, bytes, out) : 0, left;

    if (!n || n > PACKET_MAX)
        return;
    FUZZ_CHECK(srtcp_decrypt(s, str_slice((const char *)out, n), again, &left));
    FUZZ_CHECK(left == bytes.n && memcmp(again, bytes.p, left) == 0);
    FUZZ_CHECK(!srtcp_decrypt(s, str_slice((const char *)out, n), again, &left));
}

/* Forwards packets of two senders with any numbers. Each entry has the difference to the number
 * before, the difference between sequence and number, and the SSRC. The browser accepts every
 * packet that it gets. */
static void check_forwarded_packets(struct srtp *s, struct str in)
{
    enum { ENTRY = 5, SENDERS = 4 };
    uint64_t numbers[SENDERS];

    for (int i = 0; i < SENDERS; i++)
        numbers[i] = UINT64_C(1) << 32;
    for (; in.n >= ENTRY; in = str_skip_bytes(in, ENTRY)) {
        unsigned sender = (unsigned char)in.p[4] % SENDERS;
        uint64_t *number = &numbers[sender];
        struct decrypted_rtp_packet plain = { .header = { 0x80 }, .n = 2, .bytes = "x" }, got;
        unsigned char out[SRTP_MAX];

        *number = (uint64_t)((int64_t)*number + (int16_t)network_read_u16(in.p));
        write_u16_in_network_byte_order(plain.header + 2,
                                        (uint16_t)(*number + network_read_u16(in.p + 2) % SENDERS));
        plain.header[11] = (unsigned char)sender;
        size_t n = srtp_encrypt_forwarded_packet(s, &plain, *number, sender == 0, out);
        if (!n)
            continue;
        FUZZ_CHECK(srtp_decrypt(s, str_slice((const char *)out, n), &got));
        FUZZ_CHECK(got.n == 2 && got.bytes[0] == 'x');
        FUZZ_CHECK(network_read_u16(got.header + 2) ==
                   (uint16_t)(network_read_u16(plain.header + 2) + srtp_sequence_shift(s, sender)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decrypted_rtp_packet plain;
    unsigned char control[PACKET_MAX];
    size_t n;

    if (size < 1)
        return 0;
    struct srtp *s = session_new(profiles[data[0] % 3]);
    struct str datagram = str_slice((const char *)data + 1, size - 1);
    if (data[0] & 0x40) {
        check_forwarded_packets(s, datagram);
    } else if (data[0] & 0x80) {
        check_rtp_round_trip(s, datagram);
        check_rtcp_round_trip(s, datagram);
    } else if (datagram.n >= RTP_HEADER_SIZE) {
        if (srtp_decrypt(s, datagram, &plain))
            FUZZ_CHECK(plain.n <= PACKET_MAX);
        if (srtcp_decrypt(s, datagram, control, &n))
            FUZZ_CHECK(n <= PACKET_MAX);
    }
    srtp_free(s);
    return 0;
}
