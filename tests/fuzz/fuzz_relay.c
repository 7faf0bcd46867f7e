/* fuzz_relay.c - fuzzes the parsers of voice datagrams. Input: a byte that selects the mode and
 * whether the test encrypts the packet (so that the parser after decryption is reached too);
 * then the datagram. */
#include "fuzz.h"

#include <sodium.h>
#include <string.h>

#include "base/mem.h"
#include "relay/media/rtcp.h"
#include "relay/media/encryption.h"

static void check_replay_window_accepts_numbers_once(const struct rtp_packet *p)
{
    static struct rtp_stream stream;
    struct rtp_stream_position a;

    if (rtp_stream_has_no_space_for_start_hashes(&stream))
        rtp_stream_clear(&stream);
    if (!rtp_stream_packet_is_new(&stream, p, &a))
        return;
    FUZZ_CHECK(a.sequence == (uint16_t)a.number);
    rtp_stream_record_packet(&stream, p, &a);
    FUZZ_CHECK(!rtp_stream_packet_is_new(&stream, p, &a));
}

/* Decrypted packets can be encrypted in every mode and fit the buffer. */
static void check_encryption_in_every_mode(const struct decrypted_rtp_packet *plain,
                                           const unsigned char *key)
{
    unsigned char *out = mem_new(ENCRYPTED_PACKET_MAX);

    for (unsigned i = 0; encryption_mode_name(i); i++) {
        struct media_cipher *s =
            media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(i))), key, 0);
        size_t n = media_cipher_encrypt(s, plain, out);

        FUZZ_CHECK(n > RTP_HEADER_SIZE && n <= ENCRYPTED_PACKET_MAX && (out[0] & 0x0f) == 0);
        media_cipher_free(s);
    }
    mem_free(out);
}

/* Encrypts a packet like a client: header and preamble stay unencrypted. */
static size_t seal_by_hand(struct str datagram, const unsigned char *key, unsigned char *out)
{
    unsigned char nonce[24] = { 0, 0, 0, 1 };
    struct rtp_packet p;
    unsigned long long n;

    if (datagram.n + ENCRYPTION_OVERHEAD > PACKET_MAX || !rtp_parse_header(datagram, &p))
        return 0;
    memcpy(out, p.clear.p, p.clear.n);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        out + p.clear.n, &n, (const unsigned char *)p.encrypted.p, p.encrypted.n,
        (const unsigned char *)p.clear.p, p.clear.n, NULL, nonce, key);
    memcpy(out + p.clear.n + n, nonce, 4);
    return p.clear.n + (size_t)n + 4;
}

/* RTCP parts cover the packet, and decryption restores the encrypted data. */
static void check_rtcp_parts_and_decryption(struct str datagram, const unsigned char *key)
{
    unsigned char *out = mem_new(ENCRYPTED_PACKET_MAX), *opened = mem_new(PACKET_MAX);
    struct media_cipher *s =
        media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(1))), key, 0);
    struct str rest = datagram;
    struct rtcp_packet part;
    size_t n, again;

    while (rtcp_parse_next(&rest, &part)) {
        FUZZ_CHECK(part.bytes.n >= RTCP_HEADER_SIZE && !(part.announces && part.about));
        n = media_cipher_encrypt_rtcp(s, part.bytes, out);
        FUZZ_CHECK(n > part.bytes.n && n <= ENCRYPTED_PACKET_MAX);
        bool fits = n <= PACKET_MAX;
        FUZZ_CHECK(media_cipher_decrypt_rtcp(s, str_slice((const char *)out, n), opened, &again) ==
                   fits);
        FUZZ_CHECK(!fits || str_eq(str_slice((const char *)opened, again), part.bytes));
    }
    FUZZ_CHECK(datagram.n > PACKET_MAX || !media_cipher_decrypt_rtcp(s, datagram, opened, &again));
    media_cipher_free(s);
    mem_free(out);
    mem_free(opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char key[ENCRYPTION_KEY_SIZE] = { 1 };
    unsigned char sealed[ENCRYPTED_PACKET_MAX];
    struct decrypted_rtp_packet *plain;
    struct rtp_packet p;

    if (size < 1 || sodium_init() < 0)
        return 0;
    struct str datagram = str_slice((const char *)data + 1, size - 1);
    enum media_packet_kind kind = classify_media_datagram(datagram);
    if (kind == PACKET_IS_DISCOVERY || kind == PACKET_RTCP)
        packet_read_ssrc(kind, datagram);
    if (kind == PACKET_RTCP)
        check_rtcp_parts_and_decryption(datagram, key);
    if (kind != PACKET_RTP)
        return 0;
    unsigned mode = data[0] % 3;
    size_t n = data[0] & 0x80 ? seal_by_hand(datagram, key, sealed) : 0;
    if (n) {
        mode = 1;
        datagram = str_slice((const char *)sealed, n);
    }
    if (!rtp_parse_header(datagram, &p))
        return 0;
    FUZZ_CHECK(p.clear.n + p.encrypted.n == datagram.n && p.clear.n >= RTP_HEADER_SIZE);
    check_replay_window_accepts_numbers_once(&p);
    struct media_cipher *s =
        media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(mode))), key, 0);
    plain = mem_new(sizeof *plain);
    bool opened = media_cipher_decrypt(s, &p, plain);
    FUZZ_CHECK(!n || opened || p.encrypted.n <= 20);
    if (opened)
        check_encryption_in_every_mode(plain, key);
    media_cipher_free(s);
    mem_free(plain);
    return 0;
}
