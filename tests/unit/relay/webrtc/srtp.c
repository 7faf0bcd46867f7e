/* srtp.c - SRTP and SRTCP: vectors of the RFCs and of libsrtp, replays, rollover, damaged
 * packets. */
#include "unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "relay/webrtc/srtp.h"

/* Packets that libsrtp 2.5 made. The master key counts from 0, the salt from a0. The RTP packets
 * have sequence 65535 and 0 (so the second has rollover counter 1), SSRC 16, one word of extension
 * and the payload "opus frame"; the RTCP packet is a PLI, with index 1. */
static const struct {
    enum srtp_profile profile;
    const char *rtp, *rolled, *rtcp;
} vectors[] = {
    { PROFILE_CM_SHA1,
      "9078ffff0000000200000010bede00011085000020c0a82aa489552c7bf87dac16f75ad348eb989a",
      "907800000000000300000010bede00011085000019887e1289032200e5df3a446b65c656fa5628bd",
      "81ce000200000010cd89311180000001d9a93bd112d4c5afb22a" },
    { PROFILE_GCM_128,
      "9078ffff0000000200000010bede0001108500009ebb51677c8c7a6fe5df6918cba452245b403184baea698acb"
      "9f",
      "907800000000000300000010bede000110850000183da7d00d115d8c92937efcfdb78857ede2da474b4bc0d2b2"
      "fd",
      "81ce000200000010d69ce433b4f13aac979cbbdfc2953740a3d84bef80000001" },
    { PROFILE_GCM_256,
      "9078ffff0000000200000010bede000110850000578eec08713d8953781f7efe6ed45cd6b58231577b64262a8d"
      "57",
      "907800000000000300000010bede0001108500003fb252ddc9ecbb412265ca4879279b08fddf14f32719ab5c41"
      "25",
      "81ce000200000010a8ea48ab0b0ecf341aba14840f6948f8bacab63280000001" },
};
enum { VECTORS = sizeof vectors / sizeof *vectors };

static const unsigned char pli[] = { 0x81, 206, 0, 2, 0, 0, 0, 16, 0, 0, 0, 32 };

static size_t parse_hex(const char *hex, unsigned char *out)
{
    size_t n;

    assert_int_equal(sodium_hex2bin(out, SRTP_MAX, hex, strlen(hex), " ", &n, NULL), 0);
    return n;
}

static struct str str_of_hex(const char *hex, unsigned char *out)
{
    size_t n = parse_hex(hex, out);

    return str_slice((const char *)out, n);
}

/* A session whose two directions have the same keys, so that it can read what it writes. */
static struct srtp *new_session(enum srtp_profile profile)
{
    size_t salt = profile == PROFILE_CM_SHA1 ? 14 : 12;
    size_t key = srtp_keying_material_size(profile) / 2 - salt;
    unsigned char material[SRTP_MATERIAL_MAX];

    for (size_t i = 0; i < key; i++)
        material[i] = material[key + i] = (unsigned char)i;
    for (size_t i = 0; i < salt; i++)
        material[2 * key + i] = material[2 * key + salt + i] = (unsigned char)(0xa0 + i);
    return srtp_new(profile, material);
}

static struct decrypted_rtp_packet plain_packet(uint16_t sequence)
{
    struct decrypted_rtp_packet p = { .header = { 0x90, 0x78, (unsigned char)(sequence >> 8),
                                                  (unsigned char)sequence, 0, 0, 0, 2, 0, 0, 0,
                                                  16 },
                                      .extended = true,
                                      .bytes = "\xbe\xde\x00\x01\x10\x85\x00\x00opus frame",
                                      .n = 18 };
    return p;
}

static void key_derivation_matches_rfc_3711(void **state)
{
    unsigned char key[SRTP_MAX], salt[SRTP_MAX], expected[SRTP_MAX];
    struct srtp_keys keys = { 0 };

    (void)state;
    parse_hex("E1F97A0D3E018BE0D64FA32C06DE4139", key);
    parse_hex("0EC675AD498AFEEBB6960B3AABE6", salt);
    srtp_derive_keys(PROFILE_CM_SHA1, key, salt, false, &keys);
    parse_hex("C61E7A93744F39EE10734AFE3FF7A087", expected);
    assert_memory_equal(keys.cipher, expected, 16);
    parse_hex("30CBBC08863D8C85D49DB34A9AE1", expected);
    assert_memory_equal(keys.salt, expected, 14);
    parse_hex("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4", expected);
    assert_memory_equal(keys.auth, expected, 20);
}

/* The session keys of RFC 7714 are given, not derived. */
static struct srtp *new_session_of_rfc_7714(enum srtp_profile profile)
{
    struct srtp_keys keys[2] = { 0 };

    for (int k = 0; k < SRTP_MAX_KEY; k++)
        keys[0].cipher[k] = (unsigned char)k;
    memcpy(keys[0].salt, "Quid pro quo", 12);
    keys[1] = keys[0];
    return srtp_new_from_keys(profile, keys, keys);
}

/* RFC 7714, 16.1.1, 16.1.2, 16.2.1 and 16.2.2. */
static void gcm_packets_match_rfc_7714(void **state)
{
    static const struct {
        enum srtp_profile profile;
        const char *sealed;
    } rows[] = {
        { PROFILE_GCM_128, "f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b"
                           "36de3adf8833899d7f27beb16a9152cf765ee4390cce" },
        { PROFILE_GCM_256, "32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f"
                           "1ba63799b87b7aa3db36dfffd6b0f9bb7878d7a76c13" },
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        unsigned char out[SRTP_MAX], expected[SRTP_MAX];
        struct decrypted_rtp_packet p = { .n = 38 }, got;

        memcpy(p.bytes, "Gallia est omnis divisa in partes tres", 38);
        parse_hex("8040f17b8041f8d35501a0b2", p.header);
        struct srtp *s = new_session_of_rfc_7714(rows[i].profile);
        size_t n = srtp_encrypt(s, &p, out);
        assert_int_equal(n, RTP_HEADER_SIZE + parse_hex(rows[i].sealed, expected));
        assert_memory_equal(out + RTP_HEADER_SIZE, expected, n - RTP_HEADER_SIZE);
        assert_true(srtp_decrypt(s, str_slice((const char *)out, n), &got));
        assert_int_equal(got.n, p.n);
        assert_memory_equal(got.bytes, p.bytes, p.n);
        srtp_free(s);
    }
}

/* RFC 7714, 17.1 and 17.2, with index 0x5d4; 17.3 is authentic but not encrypted, which is
 * refused. */
static void gcm_control_packets_match_rfc_7714(void **state)
{
    enum { INDEX = 0x5d4 };
    static const char *const plain = "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c75"
                                     "6e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef";
    static const char *const unencrypted =
        "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeef"
        "deadbeefdeadbeef841dd9683dd78ec92ae58790125f62b3000005d4";
    static const struct {
        enum srtp_profile profile;
        const char *sealed;
    } rows[] = {
        { PROFILE_GCM_128, "81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5"
                           "f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade8000"
                           "05d4" },
        { PROFILE_GCM_256, "81c8000d4d617273d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5"
                           "c1110555be8415f658c61de0476f1b6fad1d1eb30c4446839f57ff6f6cb26ac3be8000"
                           "05d4" },
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct srtp *s = new_session_of_rfc_7714(rows[i].profile);
        unsigned char bytes[SRTP_MAX], expected[SRTP_MAX], out[SRTP_MAX];
        size_t n = parse_hex(plain, expected), got;
        struct str packet = str_slice((const char *)expected, n);

        assert_false(srtcp_decrypt(s, str_of_hex(unencrypted, bytes), out, &got));
        assert_true(srtcp_decrypt(s, str_of_hex(rows[i].sealed, bytes), out, &got));
        assert_int_equal(got, n);
        assert_memory_equal(out, expected, n);
        for (int index = 1; index < INDEX; index++)
            srtcp_encrypt(s, packet, out);
        assert_int_equal(srtcp_encrypt(s, packet, out), parse_hex(rows[i].sealed, bytes));
        assert_memory_equal(out, bytes, n + 20);
        srtp_free(s);
    }
}

static void packets_of_libsrtp_are_decrypted(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct srtp *s = new_session(vectors[i].profile);
        unsigned char bytes[SRTP_MAX], control[PACKET_MAX];
        struct decrypted_rtp_packet p;
        size_t n;

        assert_true(srtp_decrypt(s, str_of_hex(vectors[i].rtp, bytes), &p));
        assert_int_equal(p.n, 18);
        assert_true(p.extended);
        assert_memory_equal(p.bytes + 8, "opus frame", 10);
        assert_true(srtp_decrypt(s, str_of_hex(vectors[i].rolled, bytes), &p));
        assert_memory_equal(p.bytes + 8, "opus frame", 10);
        assert_true(srtcp_decrypt(s, str_of_hex(vectors[i].rtcp, bytes), control, &n));
        assert_int_equal(n, sizeof pli);
        assert_memory_equal(control, pli, sizeof pli);
        srtp_free(s);
    }
}

static void encrypted_packets_equal_those_of_libsrtp(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct srtp *s = new_session(vectors[i].profile);
        unsigned char out[SRTP_MAX], expected[SRTP_MAX];
        struct decrypted_rtp_packet p = plain_packet(65535);
        struct decrypted_rtp_packet rolled = plain_packet(0);

        rolled.header[7] = 3;
        size_t n = srtp_encrypt(s, &p, out);
        assert_int_equal(n, parse_hex(vectors[i].rtp, expected));
        assert_memory_equal(out, expected, n);
        n = srtp_encrypt(s, &rolled, out);
        assert_int_equal(n, parse_hex(vectors[i].rolled, expected));
        assert_memory_equal(out, expected, n);
        n = srtcp_encrypt(s, str_slice((const char *)pli, sizeof pli), out);
        assert_int_equal(n, parse_hex(vectors[i].rtcp, expected));
        assert_memory_equal(out, expected, n);
        srtp_free(s);
    }
}

static void replayed_packets_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct srtp *s = new_session(vectors[i].profile);
        unsigned char bytes[SRTP_MAX], control[PACKET_MAX];
        struct decrypted_rtp_packet p;
        size_t n;

        assert_true(srtp_decrypt(s, str_of_hex(vectors[i].rtp, bytes), &p));
        assert_false(srtp_decrypt(s, str_of_hex(vectors[i].rtp, bytes), &p));
        assert_true(srtcp_decrypt(s, str_of_hex(vectors[i].rtcp, bytes), control, &n));
        assert_false(srtcp_decrypt(s, str_of_hex(vectors[i].rtcp, bytes), control, &n));
        srtp_free(s);
    }
}

static void srtp_packet_with_any_changed_byte_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct srtp *s = new_session(vectors[i].profile);
        unsigned char bytes[SRTP_MAX], control[PACKET_MAX];
        struct decrypted_rtp_packet p;
        size_t n;

        for (size_t at = 0, size = parse_hex(vectors[i].rtp, bytes); at < size; at++) {
            bytes[at] ^= 1;
            assert_false(srtp_decrypt(s, str_slice((const char *)bytes, size), &p));
            bytes[at] ^= 1;
            assert_false(srtp_decrypt(s, str_slice((const char *)bytes, at), &p));
        }
        for (size_t at = 0, size = parse_hex(vectors[i].rtcp, bytes); at < size; at++) {
            bytes[at] ^= 1;
            assert_false(srtcp_decrypt(s, str_slice((const char *)bytes, size), control, &n));
            bytes[at] ^= 1;
            assert_false(srtcp_decrypt(s, str_slice((const char *)bytes, at), control, &n));
        }
        srtp_free(s);
    }
}

static void srtp_packet_index_is_never_encrypted_twice(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    unsigned char out[SRTP_MAX];
    struct decrypted_rtp_packet p = plain_packet(1000), late = plain_packet(999),
                                old = plain_packet(800);

    (void)state;
    assert_true(srtp_encrypt(s, &p, out) > 0);
    assert_int_equal(srtp_encrypt(s, &p, out), 0);
    assert_true(srtp_encrypt(s, &late, out) > 0);
    assert_int_equal(srtp_encrypt(s, &late, out), 0);
    assert_int_equal(srtp_encrypt(s, &old, out), 0); /* below the window: it may have been sent */
    srtp_free(s);
}

static void srtp_packet_before_the_first_one_is_refused(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    unsigned char out[SRTP_MAX];
    struct decrypted_rtp_packet first = plain_packet(3), before = plain_packet(65535);

    (void)state;
    assert_true(srtp_encrypt(s, &first, out) > 0);
    assert_int_equal(srtp_encrypt(s, &before, out), 0); /* its rollover counter would be -1 */
    srtp_free(s);
}

static void srtp_sequence_rollovers_are_counted_by_both_sides(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct srtp *s = new_session(vectors[i].profile);
        unsigned char out[SRTP_MAX];
        struct decrypted_rtp_packet p, got;

        for (uint32_t number = 60000; number < 60000 + 3 * 65536; number += 100) {
            p = plain_packet((uint16_t)number);
            size_t n = srtp_encrypt(s, &p, out);
            assert_true(n > 0);
            assert_true(srtp_decrypt(s, str_slice((const char *)out, n), &got));
            assert_memory_equal(got.bytes, p.bytes, p.n);
        }
        srtp_free(s);
    }
}

/* Forwards a packet to a browser, which decrypts it; returns the sequence number that the browser
 * gets, or -1 if it gets none. */
static int forward_to_browser(struct srtp *s, uint64_t number, bool audio)
{
    struct decrypted_rtp_packet p = plain_packet((uint16_t)number), got;
    unsigned char out[SRTP_MAX];
    size_t n = srtp_encrypt_forwarded_packet(s, &p, number, audio, out);

    if (!n)
        return -1;
    assert_true(srtp_decrypt(s, str_slice((const char *)out, n), &got));
    assert_memory_equal(got.bytes, p.bytes, p.n);
    return got.header[2] << 8 | got.header[3];
}

/* A browser that was deafened for 40,000 packets would take the next one for an old one. */
static void forwarded_packets_continue_after_a_pause(void **state)
{
    uint64_t pauses[] = { 101, 20000, 32768, 40000, 65500, 65536, 200000 };
    struct srtp *s = new_session(PROFILE_GCM_128);
    uint64_t number = (UINT64_C(1) << 32) + 1000;
    int last;

    (void)state;
    assert_int_equal(forward_to_browser(s, number, true), 1000);
    assert_int_equal(forward_to_browser(s, number += 100, true), 1100); /* lost packets */
    assert_int_equal(srtp_sequence_shift(s, 16), 0);
    last = 1100;
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        assert_int_equal(forward_to_browser(s, number += pauses[i], true), ++last);
        assert_int_equal((uint16_t)((unsigned)number + srtp_sequence_shift(s, 16)), last);
        assert_int_equal(forward_to_browser(s, number += 2, true), last += 2);
        assert_int_equal(forward_to_browser(s, number - 1, true), last - 1); /* late */
        assert_int_equal(forward_to_browser(s, number - 1, true), -1);
        assert_int_equal(forward_to_browser(s, number - 3, true), -1); /* from the pause */
    }
    srtp_free(s);
}

/* Browsers request a key frame when packets seem to be lost, so the pause of a video stays visible.
 */
static void gap_in_forwarded_video_stays_visible_in_numbers(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    uint64_t number = (UINT64_C(1) << 32) + 1000;

    (void)state;
    assert_int_equal(forward_to_browser(s, number, false), 1000);
    assert_int_equal(forward_to_browser(s, number += 16384, false), 17384);
    assert_int_equal(forward_to_browser(s, number += 16385, false), 17384 + 2048);
    assert_int_equal(forward_to_browser(s, number += 1, false), 17384 + 2049);
    srtp_free(s);
}

/* Video of UDP clients keeps its sequence numbers when the sender restarts them. */
static void forwarded_video_continues_after_a_restart(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    struct decrypted_rtp_packet p = plain_packet(30000), restarted = plain_packet(7), got;
    unsigned char out[SRTP_MAX];

    (void)state;
    assert_true(srtp_encrypt_forwarded_packet(s, &p, 30000, false, out) > 0);
    size_t n = srtp_encrypt_forwarded_packet(s, &restarted, 30001, false, out);
    assert_true(srtp_decrypt(s, str_slice((const char *)out, n), &got));
    assert_int_equal(got.header[2] << 8 | got.header[3], 30000 + 2048);
    srtp_free(s);
}

static void srtp_streams_of_a_forgotten_sender_start_again(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    struct decrypted_rtp_packet p = plain_packet(1000), old = plain_packet(10), other = old;
    unsigned char out[SRTP_MAX];

    (void)state;
    other.header[11] = 18;
    assert_true(srtp_encrypt(s, &p, out) && srtp_encrypt(s, &other, out));
    assert_int_equal(srtp_encrypt(s, &old, out), 0);
    srtp_forget_sent_streams(s, 16, 2);
    assert_true(srtp_encrypt(s, &old, out) > 0);
    assert_int_equal(srtp_encrypt(s, &other, out), 0); /* of another participant */
    srtp_free(s);
}

static void only_sixteen_srtp_streams_are_accepted(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    unsigned char out[SRTP_MAX];
    struct decrypted_rtp_packet p = plain_packet(1), got;

    (void)state;
    for (unsigned ssrc = 0; ssrc <= SRTP_MAX_STREAMS; ssrc++) {
        p.header[11] = (unsigned char)ssrc;
        size_t n = srtp_encrypt(s, &p, out);
        assert_true(srtp_decrypt(s, str_slice((const char *)out, n), &got) ==
                    (ssrc < SRTP_MAX_STREAMS));
    }
    srtp_free(s);
}

static void rtp_extension_longer_than_the_packet_is_refused(void **state)
{
    struct srtp *s = new_session(PROFILE_GCM_128);
    unsigned char bytes[SRTP_MAX], out[SRTP_MAX];
    struct decrypted_rtp_packet p = plain_packet(1);
    struct str datagram = str_of_hex(vectors[1].rtp, bytes);

    (void)state;
    bytes[15] = 0xff;
    assert_false(srtp_decrypt(s, datagram, &p));
    p = plain_packet(1);
    p.bytes[3] = 0xff;
    assert_int_equal(srtp_encrypt(s, &p, out), 0);
    srtp_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_derivation_matches_rfc_3711),
        cmocka_unit_test(gcm_packets_match_rfc_7714),
        cmocka_unit_test(gcm_control_packets_match_rfc_7714),
        cmocka_unit_test(packets_of_libsrtp_are_decrypted),
        cmocka_unit_test(encrypted_packets_equal_those_of_libsrtp),
        cmocka_unit_test(replayed_packets_are_refused),
        cmocka_unit_test(srtp_packet_with_any_changed_byte_is_refused),
        cmocka_unit_test(srtp_packet_index_is_never_encrypted_twice),
        cmocka_unit_test(srtp_packet_before_the_first_one_is_refused),
        cmocka_unit_test(srtp_sequence_rollovers_are_counted_by_both_sides),
        cmocka_unit_test(forwarded_packets_continue_after_a_pause),
        cmocka_unit_test(gap_in_forwarded_video_stays_visible_in_numbers),
        cmocka_unit_test(forwarded_video_continues_after_a_restart),
        cmocka_unit_test(srtp_streams_of_a_forgotten_sender_start_again),
        cmocka_unit_test(only_sixteen_srtp_streams_are_accepted),
        cmocka_unit_test(rtp_extension_longer_than_the_packet_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
