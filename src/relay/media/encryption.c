/* encryption.c - encryption of media between one participant and the relay. */
#include "relay/media/encryption.h"

#include <assert.h>
#include <openssl/evp.h>
#include <sodium.h>

#include "base/mem.h"
#include "relay/media/rtcp.h"

enum { TAG_SIZE = 16, COUNTER_SIZE = 4, GCM_NONCE_SIZE = 12, LONG_NONCE_SIZE = 24 };
/* Number of values of the bytes of the relay's nonces: 128 each for the first and last byte, 65,536
 * for the two middle bytes. */
enum { EDGE_BITS = 7, EDGE_VALUES = 1 << EDGE_BITS, MIDDLE_BITS = 16 };

/* Nonces of the relay's packets: the first `used` nonces of a fixed order. A client that counts
 * big-endian changes the first byte of its nonce once per 2^24 packets; a client that counts
 * little-endian changes the last byte. A range that starts 64 away from both bytes of the client's
 * first nonce is therefore safe for 64 * 2^24 packets. */
struct nonce_range {
    /* Values of the first and last byte in the first nonce of the range. */
    unsigned char first, last;
    uint32_t used;
};

struct media_cipher {
    const struct encryption_mode *mode;
    unsigned char key[ENCRYPTION_KEY_SIZE];
    /* Two ranges of nonces: one chosen before the client's first packet, one after it. */
    struct nonce_range ranges[2];
    unsigned range; /* index of the range in use */
    bool broken;
    EVP_CIPHER_CTX *aes; /* expanded AES key, for both directions; NULL for other ciphers */
};

struct encryption_mode {
    const char *name;
    /* Position of the nonce: the RTP header if true, else the last four bytes of the packet. */
    bool header_nonce;
    /* Decrypt and encrypt `body`; the part `clear` is authenticated, but not encrypted. open()
     * returns false if the packet is not authentic. */
    bool (*open)(struct media_cipher *s, struct str clear, struct str body,
                 const unsigned char *nonce, unsigned char *out);
    void (*write)(struct media_cipher *s, struct str clear, struct str plain,
                  const unsigned char *nonce, unsigned char *out);
};

/* --- decrypted packets ---------------------------------------------------------------- */

bool rtp_payload_is_silence(const struct decrypted_rtp_packet *p)
{
    static const unsigned char silence[] = { 0xf8, 0xff, 0xfe };
    size_t before = 0;

    if (p->extended)
        before = RTP_EXTENSION_PREAMBLE_SIZE + 4 * ((size_t)p->bytes[2] << 8 | p->bytes[3]);
    return p->n == before + sizeof silence &&
           memcmp(p->bytes + before, silence, sizeof silence) == 0;
}

/* --- AES-256-GCM ---------------------------------------------------------------------- */

static const unsigned char *byte_pointer_of_str(struct str s)
{
    return (const unsigned char *)s.p;
}

static bool aes_decrypt(struct media_cipher *s, struct str clear, struct str body,
                        const unsigned char *nonce, unsigned char *out)
{
    EVP_CIPHER_CTX *c = s->aes;
    size_t text = body.n - TAG_SIZE;
    unsigned char tag[TAG_SIZE];
    int n;

    memcpy(tag, body.p + text, TAG_SIZE);
    return EVP_DecryptInit_ex2(c, NULL, NULL, nonce, NULL) == 1 &&
           EVP_DecryptUpdate(c, NULL, &n, byte_pointer_of_str(clear), (int)clear.n) == 1 &&
           EVP_DecryptUpdate(c, out, &n, byte_pointer_of_str(body), (int)text) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG_SIZE, tag) == 1 &&
           EVP_DecryptFinal_ex(c, out + n, &n) == 1;
}

static void aes_encrypt(struct media_cipher *s, struct str clear, struct str plain,
                        const unsigned char *nonce, unsigned char *out)
{
    EVP_CIPHER_CTX *c = s->aes;
    int n;
    bool done = EVP_EncryptInit_ex2(c, NULL, NULL, nonce, NULL) == 1 &&
                EVP_EncryptUpdate(c, NULL, &n, byte_pointer_of_str(clear), (int)clear.n) == 1 &&
                EVP_EncryptUpdate(c, out, &n, byte_pointer_of_str(plain), (int)plain.n) == 1 &&
                EVP_EncryptFinal_ex(c, out + n, &n) == 1 &&
                EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG_SIZE, out + plain.n) == 1;

    assert(done);
    (void)done;
}

/* --- XChaCha20-Poly1305 and XSalsa20-Poly1305 ----------------------------------------- */

static bool xchacha20_decrypt(struct media_cipher *s, struct str clear, struct str body,
                              const unsigned char *nonce, unsigned char *out)
{
    return crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, byte_pointer_of_str(body),
                                                      body.n, byte_pointer_of_str(clear), clear.n,
                                                      nonce, s->key) == 0;
}

static void xchacha20_encrypt(struct media_cipher *s, struct str clear, struct str plain,
                              const unsigned char *nonce, unsigned char *out)
{
    crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, byte_pointer_of_str(plain), plain.n,
                                               byte_pointer_of_str(clear), clear.n, NULL, nonce,
                                               s->key);
}

static bool xsalsa20_decrypt(struct media_cipher *s, struct str clear, struct str body,
                             const unsigned char *nonce, unsigned char *out)
{
    (void)clear;
    return crypto_secretbox_open_easy(out, byte_pointer_of_str(body), body.n, nonce, s->key) == 0;
}

static void xsalsa20_encrypt(struct media_cipher *s, struct str clear, struct str plain,
                             const unsigned char *nonce, unsigned char *out)
{
    (void)clear;
    crypto_secretbox_easy(out, byte_pointer_of_str(plain), plain.n, nonce, s->key);
}

/* Encryption modes in the order of the offer: clients take the first one that they support. */
static const struct encryption_mode encryption_modes[] = {
    { "aead_aes256_gcm_rtpsize", false, aes_decrypt, aes_encrypt },
    { "aead_xchacha20_poly1305_rtpsize", false, xchacha20_decrypt, xchacha20_encrypt },
    { "xsalsa20_poly1305", true, xsalsa20_decrypt, xsalsa20_encrypt },
};

const struct encryption_mode *encryption_mode_find(struct str name)
{
    for (unsigned i = 0; i < COUNT_OF(encryption_modes); i++)
        if (str_is(name, encryption_modes[i].name))
            return &encryption_modes[i];
    return NULL;
}

bool encryption_mode_uses_header_as_nonce(const struct encryption_mode *mode)
{
    return mode->header_nonce;
}

const char *encryption_mode_name(unsigned i)
{
    return i < COUNT_OF(encryption_modes) ? encryption_modes[i].name : NULL;
}

static EVP_CIPHER_CTX *aes_context_new(const unsigned char *key)
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ready = c && EVP_EncryptInit_ex2(c, EVP_aes_256_gcm(), key, NULL, NULL) == 1;

    assert(ready);
    (void)ready;
    return c;
}

/* Chooses a byte for the relay's nonces. Avoids 0x00, 0x01 and 0x80, which client libraries with a
 * fixed first nonce use. */
static unsigned char choose_byte_that_separates_nonces(void)
{
    return (unsigned char)(0x20 + randombytes_uniform(0x40));
}

struct media_cipher *media_cipher_new(const struct encryption_mode *mode,
                                      const unsigned char key[ENCRYPTION_KEY_SIZE], uint32_t used)
{
    struct media_cipher *s = mem_new(sizeof *s);

    s->mode = mode;
    s->ranges[0] = (struct nonce_range){ choose_byte_that_separates_nonces(),
                                         choose_byte_that_separates_nonces(), used };
    memcpy(s->key, key, ENCRYPTION_KEY_SIZE);
    if (mode->open == aes_decrypt)
        s->aes = aes_context_new(key);
    return s;
}

void media_cipher_free(struct media_cipher *s)
{
    if (!s)
        return;
    EVP_CIPHER_CTX_free(s->aes);
    sodium_memzero(s->key, sizeof s->key);
    mem_free(s);
}

const char *media_cipher_mode_name(const struct media_cipher *s)
{
    return s->mode->name;
}

bool media_cipher_uses_header_as_nonce(const struct media_cipher *s)
{
    return s->mode->header_nonce;
}

/* --- decryption ----------------------------------------------------------------------- */

static bool nonce_range_has_used_nonce(const struct nonce_range *r,
                                       const unsigned char nonce[COUNTER_SIZE])
{
    unsigned first = (unsigned char)(nonce[0] - r->first), last = nonce[3] - r->last;

    last &= 0xff;
    return first < EDGE_VALUES && last < EDGE_VALUES &&
           (last << (MIDDLE_BITS + EDGE_BITS) | first << MIDDLE_BITS | (unsigned)nonce[1] << 8 |
            nonce[2]) < r->used;
}

/* Records the nonce of an authentic packet of the client. */
static void record_client_nonce(struct media_cipher *s, const unsigned char nonce[COUNTER_SIZE])
{
    for (unsigned i = 0; i <= s->range; i++)
        s->broken |= nonce_range_has_used_nonce(&s->ranges[i], nonce);
    if (s->range)
        return;
    s->range = 1;
    s->ranges[1] =
        (struct nonce_range){ (unsigned char)(nonce[0] + EDGE_VALUES / 2),
                              (unsigned char)(nonce[3] + EDGE_VALUES / 2), s->ranges[0].used };
}

bool media_cipher_nonce_was_reused(const struct media_cipher *s)
{
    return s->broken;
}

bool media_cipher_decrypt_rtcp(struct media_cipher *s, struct str datagram,
                               unsigned char out[PACKET_MAX], size_t *ret_n)
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };

    if (s->mode->header_nonce || datagram.n > PACKET_MAX ||
        datagram.n < RTCP_HEADER_SIZE + TAG_SIZE + COUNTER_SIZE)
        return false;
    struct str body =
        str_slice(datagram.p + RTCP_HEADER_SIZE, datagram.n - RTCP_HEADER_SIZE - COUNTER_SIZE);
    memcpy(nonce, body.p + body.n, COUNTER_SIZE);
    memcpy(out, datagram.p, RTCP_HEADER_SIZE);
    *ret_n = RTCP_HEADER_SIZE + body.n - TAG_SIZE;
    bool opened = s->mode->open(s, str_slice(datagram.p, RTCP_HEADER_SIZE), body, nonce,
                                out + RTCP_HEADER_SIZE);
    if (opened)
        record_client_nonce(s, nonce);
    return opened;
}

/* Decrypts a packet whose nonce is its RTP header. Only the header is unencrypted; the preamble of
 * an extension is encrypted. */
static bool decrypt_with_header_nonce(struct media_cipher *s, const struct rtp_packet *p,
                                      struct decrypted_rtp_packet *ret)
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };
    struct str body =
        str_slice(p->clear.p + RTP_HEADER_SIZE, p->clear.n - RTP_HEADER_SIZE + p->encrypted.n);

    if (p->sources || body.n <= TAG_SIZE)
        return false;
    memcpy(nonce, p->clear.p, RTP_HEADER_SIZE);
    ret->n = body.n - TAG_SIZE;
    return s->mode->open(s, p->clear, body, nonce, ret->bytes) &&
           (!p->extended || ret->n >= RTP_EXTENSION_PREAMBLE_SIZE);
}

static bool decrypt_with_counter_nonce(struct media_cipher *s, const struct rtp_packet *p,
                                       struct decrypted_rtp_packet *ret)
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };
    struct str body = str_slice(p->encrypted.p, p->encrypted.n - COUNTER_SIZE);
    size_t preamble = p->extended ? RTP_EXTENSION_PREAMBLE_SIZE : 0;

    memcpy(nonce, p->encrypted.p + body.n, COUNTER_SIZE);
    memcpy(ret->bytes, p->clear.p + p->clear.n - preamble, preamble);
    ret->n = preamble + body.n - TAG_SIZE;
    bool opened = s->mode->open(s, p->clear, body, nonce, ret->bytes + preamble);
    if (opened)
        record_client_nonce(s, nonce);
    return opened;
}

bool media_cipher_decrypt(struct media_cipher *s, const struct rtp_packet *p,
                          struct decrypted_rtp_packet *ret)
{
    size_t least = s->mode->header_nonce ? TAG_SIZE : TAG_SIZE + COUNTER_SIZE;

    if (p->clear.n + p->encrypted.n > PACKET_MAX || p->encrypted.n <= least)
        return false;
    memcpy(ret->header, p->clear.p, RTP_HEADER_SIZE);
    ret->header[0] &= 0xf0; /* CSRCs are not forwarded */
    ret->extended = p->extended;
    return s->mode->header_nonce ? decrypt_with_header_nonce(s, p, ret)
                                 : decrypt_with_counter_nonce(s, p, ret);
}

/* --- encryption ----------------------------------------------------------------------- */

static size_t encrypt_with_header_nonce(struct media_cipher *s,
                                        const struct decrypted_rtp_packet *p, unsigned char *out)
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };
    struct str plain = str_slice((const char *)p->bytes, p->n);

    memcpy(out, p->header, RTP_HEADER_SIZE);
    memcpy(nonce, p->header, RTP_HEADER_SIZE);
    s->mode->write(s, (struct str){ 0 }, plain, nonce, out + RTP_HEADER_SIZE);
    return RTP_HEADER_SIZE + TAG_SIZE + plain.n;
}

/* Writes the relay's next nonce. Returns false if no nonce is left. The second range skips nonces
 * that the first range has used, because the ranges may overlap. */
static bool take_next_nonce_of_relay(struct media_cipher *s, unsigned char nonce[COUNTER_SIZE])
{
    struct nonce_range *r = &s->ranges[s->range];

    do {
        uint32_t i = r->used;

        if (i >= NONCES_PER_KEY)
            return false;
        r->used++;
        nonce[0] = (unsigned char)(r->first + (i >> MIDDLE_BITS & (EDGE_VALUES - 1)));
        nonce[1] = (unsigned char)(i >> 8);
        nonce[2] = (unsigned char)i;
        nonce[3] = (unsigned char)(r->last + (i >> (MIDDLE_BITS + EDGE_BITS)));
    } while (s->range && nonce_range_has_used_nonce(&s->ranges[0], nonce));
    return true;
}

size_t media_cipher_encrypt_rtcp(struct media_cipher *s, struct str packet,
                                 unsigned char out[ENCRYPTED_PACKET_MAX])
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };
    struct str plain = str_skip_bytes(packet, RTCP_HEADER_SIZE);

    if (s->mode->header_nonce || !take_next_nonce_of_relay(s, nonce))
        return 0;
    memcpy(out, packet.p, RTCP_HEADER_SIZE);
    s->mode->write(s, str_slice(packet.p, RTCP_HEADER_SIZE), plain, nonce, out + RTCP_HEADER_SIZE);
    memcpy(out + packet.n + TAG_SIZE, nonce, COUNTER_SIZE);
    return packet.n + TAG_SIZE + COUNTER_SIZE;
}

size_t media_cipher_encrypt(struct media_cipher *s, const struct decrypted_rtp_packet *p,
                            unsigned char out[ENCRYPTED_PACKET_MAX])
{
    unsigned char nonce[LONG_NONCE_SIZE] = { 0 };
    size_t clear = RTP_HEADER_SIZE + (p->extended ? RTP_EXTENSION_PREAMBLE_SIZE : 0);

    if (s->mode->header_nonce)
        return encrypt_with_header_nonce(s, p, out);
    if (!take_next_nonce_of_relay(s, nonce))
        return 0;
    size_t preamble = clear - RTP_HEADER_SIZE;
    struct str plain = str_slice((const char *)p->bytes + preamble, p->n - preamble);
    memcpy(out, p->header, RTP_HEADER_SIZE);
    memcpy(out + RTP_HEADER_SIZE, p->bytes, preamble);
    s->mode->write(s, str_slice((const char *)out, clear), plain, nonce, out + clear);
    memcpy(out + clear + plain.n + TAG_SIZE, nonce, COUNTER_SIZE);
    return clear + plain.n + TAG_SIZE + COUNTER_SIZE;
}
