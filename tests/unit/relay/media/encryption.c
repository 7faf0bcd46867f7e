/* encryption.c - tests the voice encryption modes against packets of other implementations. The
 * vectors come from independent implementations of XChaCha20, XSalsa20 and the packet layout,
 * not from libsodium. */
#include "unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "base/mem.h"
#include "relay/media/encryption.h"

#define AES    "aead_aes256_gcm_rtpsize"
#define CHACHA "aead_xchacha20_poly1305_rtpsize"
#define SALSA  "xsalsa20_poly1305"

/* The payload is "opus frame", the extension one word; the key is the bytes 0 to 31. The
 * client's packets have the nonce 00000001, the server's 40000041. */
static const struct {
    const char *mode;
    bool extended;
    const char *theirs, *ours;
} vectors[] = {
    { AES, false,
      "8078000100000002000000102b46b8d92c3c86c932598bc81ccced037165cf82c22c6d876c6c00000001",
      "807800010000000200000010101d7888e464609ac96c3da622ed2295c28b73a2f362cd4464b040000041" },
    { AES, true,
      "907800010000000200000010bede000154c9cdaa632a81db7f5a17f1c4d80f1997301a018ea77079db26ad8c7be0"
      "00000001",
      "907800010000000200000010bede00016f920dfbab726788846f8cf42b056a4d729b3d5b03296c0024d9ca5d7189"
      "40000041" },
    { CHACHA, false,
      "80780001000000020000001066d724534f66e3bea382b0288356ca3decc06472c3ebb3406cdc00000001",
      "8078000100000002000000103a5bf61e4e71de3ed74cb4211e61237fcd2413af319166941a9840000041" },
    { SALSA, false, "807800010000000200000010607abd9544ed9ccb340394660a2c8866a1c24522751b33be8df4",
      "807800010000000200000010607abd9544ed9ccb340394660a2c8866a1c24522751b33be8df4" },
    { SALSA, true,
      "9078000100000002000000109a337844d853b0304bb959a790f2afe4b51a150e3d8f95e188ef78f696dfb0df9700",
      "9078000100000002000000109a337844d853b0304bb959a790f2afe4b51a150e3d8f95e188ef78f696dfb0df9700" },
};
enum { VECTORS = sizeof vectors / sizeof *vectors };

static struct media_cipher *seal_of(const char *mode)
{
    unsigned char key[ENCRYPTION_KEY_SIZE];

    for (int i = 0; i < ENCRYPTION_KEY_SIZE; i++)
        key[i] = (unsigned char)i;
    return media_cipher_new(encryption_mode_find(str_of(mode)), key, 0);
}

static size_t from_hex(const char *hex, unsigned char *out)
{
    size_t n;

    assert_int_equal(sodium_hex2bin(out, ENCRYPTED_PACKET_MAX, hex, strlen(hex), NULL, &n, NULL),
                     0);
    return n;
}

static struct rtp_packet packet_of(const unsigned char *bytes, size_t n)
{
    struct rtp_packet p;

    assert_true(rtp_parse_header(str_slice((const char *)bytes, n), &p));
    return p;
}

static void packets_of_other_implementations_are_decrypted(void **state)
{
    unsigned char bytes[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet plain;

    (void)state;
    for (int i = 0; i < VECTORS; i++) {
        struct media_cipher *s = seal_of(vectors[i].mode);
        struct rtp_packet p = packet_of(bytes, from_hex(vectors[i].theirs, bytes));
        const char *expected =
            vectors[i].extended ? "\xbe\xde\0\1\x10\xff\0\0opus frame" : "opus frame";

        assert_true(media_cipher_decrypt(s, &p, &plain));
        assert_int_equal(plain.extended, vectors[i].extended);
        assert_int_equal(plain.n, vectors[i].extended ? 18 : 10);
        assert_memory_equal(plain.bytes, expected, plain.n);
        media_cipher_free(s);
    }
}

static void encrypted_packets_match_other_implementations(void **state)
{
    unsigned char theirs[ENCRYPTED_PACKET_MAX], ours[ENCRYPTED_PACKET_MAX],
        made[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet plain;

    (void)state;
    for (int i = 0; i < VECTORS; i++) {
        struct media_cipher *s = seal_of(vectors[i].mode);
        struct rtp_packet p = packet_of(theirs, from_hex(vectors[i].theirs, theirs));
        size_t n = from_hex(vectors[i].ours, ours);

        assert_true(media_cipher_decrypt(s, &p, &plain));
        assert_int_equal(media_cipher_encrypt(s, &plain, made), n);
        assert_memory_equal(made, ours, n);
        media_cipher_free(s);
    }
}

static void packets_can_be_encrypted_again_in_another_mode(void **state)
{
    unsigned char bytes[ENCRYPTED_PACKET_MAX], made[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet plain, again;

    (void)state;
    for (int i = 0; i < VECTORS; i++) {
        for (unsigned to = 0; encryption_mode_name(to); to++) {
            struct media_cipher *a = seal_of(vectors[i].mode),
                                *b = seal_of(encryption_mode_name(to));
            struct rtp_packet p = packet_of(bytes, from_hex(vectors[i].theirs, bytes));

            assert_true(media_cipher_decrypt(a, &p, &plain));
            size_t n = media_cipher_encrypt(b, &plain, made);
            p = packet_of(made, n);
            assert_true(media_cipher_decrypt(b, &p, &again));
            assert_int_equal(again.n, plain.n);
            assert_memory_equal(again.bytes, plain.bytes, plain.n);
            /* A client nonce equal to one of the server's makes the key unusable. */
            assert_int_equal(media_cipher_nonce_was_reused(b),
                             !media_cipher_uses_header_as_nonce(b));
            media_cipher_free(a);
            media_cipher_free(b);
        }
    }
}

/* Clients do not parse contributing sources and would treat them as encrypted data. The marker
 * bit and the encrypted padding are preserved. */
static void contributing_sources_are_removed_when_forwarding(void **state)
{
    enum { SOURCES = 8, CLEAR = 12 + SOURCES + 4, PLAIN = 9 };
    static const unsigned char words[PLAIN] = { 0x10, 0xff, 0, 0, 'o', 'p', 'u', 0, 2 };
    unsigned char theirs[ENCRYPTED_PACKET_MAX] = { 0xb2, 0xf8, 0, 1, 0, 0, 0, 2, 0, 0, 0, 16 };
    unsigned char key[ENCRYPTION_KEY_SIZE], ours[ENCRYPTED_PACKET_MAX], opened[PLAIN],
        nonce[24] = { [3] = 1 };
    struct media_cipher *s = seal_of(CHACHA);
    struct decrypted_rtp_packet plain;

    (void)state;
    for (int i = 0; i < ENCRYPTION_KEY_SIZE; i++)
        key[i] = (unsigned char)i;
    memset(theirs + 12, 0xaa, SOURCES);
    memcpy(theirs + 12 + SOURCES, "\xbe\xde\0\1", 4);
    crypto_aead_xchacha20poly1305_ietf_encrypt(theirs + CLEAR, NULL, words, PLAIN, theirs, CLEAR,
                                               NULL, nonce, key);
    memcpy(theirs + CLEAR + PLAIN + 16, nonce, 4);
    struct rtp_packet p = packet_of(theirs, CLEAR + PLAIN + 16 + 4);
    assert_true(media_cipher_decrypt(s, &p, &plain));
    size_t n = media_cipher_encrypt(s, &plain, ours);
    assert_int_equal(n, CLEAR - SOURCES + PLAIN + 16 + 4);
    assert_int_equal(ours[0], 0xb0);
    assert_memory_equal(ours + 1, theirs + 1, 11);
    assert_memory_equal(ours + 12, "\xbe\xde\0\1", 4);
    memcpy(nonce, ours + n - 4, 4);
    assert_int_equal(crypto_aead_xchacha20poly1305_ietf_decrypt(opened, NULL, NULL, ours + 16,
                                                                PLAIN + 16, ours, 16, nonce, key),
                     0);
    assert_memory_equal(opened, words, PLAIN);
    media_cipher_free(s);
}

static void modified_or_truncated_packets_are_refused(void **state)
{
    unsigned char bytes[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet plain;
    struct rtp_packet p;

    (void)state;
    for (int i = 0; i < VECTORS; i++) {
        struct media_cipher *s = seal_of(vectors[i].mode);
        size_t n = from_hex(vectors[i].theirs, bytes);

        for (size_t at = 0; at < n; at++) {
            bytes[at] ^= 4;
            if (rtp_parse_header(str_slice((const char *)bytes, n), &p))
                assert_false(media_cipher_decrypt(s, &p, &plain));
            bytes[at] ^= 4;
        }
        for (size_t cut = RTP_HEADER_SIZE; cut < n; cut++)
            if (rtp_parse_header(str_slice((const char *)bytes, cut), &p))
                assert_false(media_cipher_decrypt(s, &p, &plain));
        p = packet_of(bytes, n);
        assert_true(media_cipher_decrypt(s, &p, &plain));
        media_cipher_free(s);
    }
}

/* --- nonces --------------------------------------------------------------------------- */

enum { NONCES = 200000 };

static uint32_t nonce_of(const unsigned char *packet, size_t n)
{
    return (uint32_t)packet[n - 4] << 24 | (uint32_t)packet[n - 3] << 16 |
           (uint32_t)packet[n - 2] << 8 | packet[n - 1];
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void encrypt_packets_and_collect_nonces(struct media_cipher *s, uint32_t *nonces,
                                               size_t count)
{
    struct decrypted_rtp_packet plain = { .header = { 0x80, 0x78 }, .n = 1 };
    unsigned char out[ENCRYPTED_PACKET_MAX];

    for (size_t i = 0; i < count; i++) {
        size_t n = media_cipher_encrypt(s, &plain, out);

        assert_int_equal(n, RTP_HEADER_SIZE + 1 + ENCRYPTION_OVERHEAD);
        nonces[i] = nonce_of(out, n);
    }
}

static bool client_sends(struct media_cipher *s, uint32_t nonce)
{
    unsigned char key[ENCRYPTION_KEY_SIZE], bytes[ENCRYPTED_PACKET_MAX] = { 0x80, 0x78 },
                                            long_nonce[24] = { 0 };
    struct decrypted_rtp_packet plain;
    unsigned long long n;

    for (int i = 0; i < ENCRYPTION_KEY_SIZE; i++)
        key[i] = (unsigned char)i;
    for (int i = 0; i < 4; i++)
        long_nonce[i] = (unsigned char)(nonce >> (24 - 8 * i));
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + RTP_HEADER_SIZE, &n,
                                               (const unsigned char *)"x", 1, bytes,
                                               RTP_HEADER_SIZE, NULL, long_nonce, key);
    memcpy(bytes + RTP_HEADER_SIZE + n, long_nonce, 4);
    struct rtp_packet p = packet_of(bytes, RTP_HEADER_SIZE + (size_t)n + 4);
    return media_cipher_decrypt(s, &p, &plain);
}

static void encryption_never_reuses_a_nonce(void **state)
{
    uint32_t *nonces = mem_new((size_t)NONCES * sizeof *nonces);

    (void)state;
    for (uint32_t theirs = 0; theirs < 256; theirs += 51) {
        struct media_cipher *s = seal_of(CHACHA);

        encrypt_packets_and_collect_nonces(s, nonces, NONCES / 2);
        assert_true(client_sends(s, (theirs + 64) << 24 | theirs));
        encrypt_packets_and_collect_nonces(s, nonces + NONCES / 2, NONCES / 2);
        qsort(nonces, NONCES, sizeof *nonces, compare_u32);
        for (int i = 1; i < NONCES; i++)
            assert_true(nonces[i] != nonces[i - 1]);
        media_cipher_free(s);
    }
    mem_free(nonces);
}

/* Client libraries count nonces in either byte order and from any number. */
static void encryption_never_uses_a_nonce_of_the_client(void **state)
{
    static const uint32_t starts[] = { 0, 1, 418, 0x7fffff00, 0x80000000, 0xffffff80, 0x5a5a5a5a };
    uint32_t ours[4];

    (void)state;
    for (unsigned at = 0; at < COUNT_OF(starts); at++) {
        for (int little = 0; little < 2; little++) {
            struct media_cipher *s = seal_of(CHACHA);

            for (uint32_t i = 0; i < 3000; i++) {
                uint32_t nonce = starts[at] + i;

                assert_true(client_sends(s, little ? __builtin_bswap32(nonce) : nonce));
                encrypt_packets_and_collect_nonces(s, ours, COUNT_OF(ours));
                assert_false(media_cipher_nonce_was_reused(s));
            }
            assert_true(client_sends(s, ours[0]));
            assert_true(media_cipher_nonce_was_reused(s));
            media_cipher_free(s);
        }
    }
}

static void encryption_fails_after_the_last_nonce(void **state)
{
    static const unsigned char key[ENCRYPTION_KEY_SIZE] = { 1 };
    unsigned char out[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet plain = { .header = { 0x80, 0x78 }, .n = 1 };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct media_cipher *s = media_cipher_new(
            encryption_mode_find(str_of(encryption_mode_name(i))), key, NONCES_PER_KEY - 2);

        assert_int_not_equal(media_cipher_encrypt(s, &plain, out), 0);
        assert_int_not_equal(media_cipher_encrypt(s, &plain, out), 0);
        assert_int_equal(media_cipher_encrypt(s, &plain, out), 0);
        assert_int_equal(media_cipher_encrypt(s, &plain, out), 0);
        media_cipher_free(s);
    }
}

static void encryption_modes_are_found_by_name(void **state)
{
    (void)state;
    assert_non_null(encryption_mode_find(STR(AES)));
    assert_null(encryption_mode_find(STR("plain")));
    assert_null(encryption_mode_find(STR("")));
    assert_string_equal(encryption_mode_name(0), AES);
    assert_null(encryption_mode_name(3));
}

static void opus_silence_frame_is_recognized_after_any_extension(void **unused)
{
    static const struct {
        bool extended, silent;
        const char *bytes;
    } rows[] = {
        { false, true, "f8fffe" },
        { false, false, "f8ffff" },
        { false, false, "f8fffe00" },
        { false, false, "f8ff" },
        { true, true, "bede0000f8fffe" },
        { true, true, "bede000110aabbccf8fffe" },
        { true, false, "bede000110aabbccf8ff00" },
        { true, false, "bedeffff10aabbccf8fffe" },
        { true, false, "f8fffe00" },
    };

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct decrypted_rtp_packet p = { .extended = rows[i].extended };

        sodium_hex2bin(p.bytes, sizeof p.bytes, rows[i].bytes, strlen(rows[i].bytes), NULL, &p.n,
                       NULL);
        assert_int_equal(rtp_payload_is_silence(&p), rows[i].silent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_of_other_implementations_are_decrypted),
        cmocka_unit_test(encrypted_packets_match_other_implementations),
        cmocka_unit_test(packets_can_be_encrypted_again_in_another_mode),
        cmocka_unit_test(contributing_sources_are_removed_when_forwarding),
        cmocka_unit_test(modified_or_truncated_packets_are_refused),
        cmocka_unit_test(encryption_never_reuses_a_nonce),
        cmocka_unit_test(encryption_never_uses_a_nonce_of_the_client),
        cmocka_unit_test(encryption_fails_after_the_last_nonce),
        cmocka_unit_test(encryption_modes_are_found_by_name),
        cmocka_unit_test(opus_silence_frame_is_recognized_after_any_extension),
    };

    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
