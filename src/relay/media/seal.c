/* seal.c - encryption of media between one participant and the relay. */
#include "relay/media/seal.h"

#include <assert.h>
#include <openssl/evp.h>
#include <sodium.h>

#include "base/mem.h"
#include "relay/media/rtcp.h"

enum { TAG = 16, COUNTER = 4, GCM_NONCE = 12, LONG_NONCE = 24 };
/* The first and last byte of the relay's nonces have 128 values each, the two middle bytes any. */
enum { EDGE_BITS = 7, EDGE = 1 << EDGE_BITS, MIDDLE_BITS = 16 };

/* Nonces of the relay's packets: the first `used` ones of a fixed order. A client that counts
 * big-endian changes the first byte slowly, one that counts little-endian the last byte, once per
 * 2^24 packets. A range that starts 64 away from both bytes of the client's first nonce is
 * therefore safe for 64 * 2^24 packets. */
struct nonce_range {
    unsigned char first, last; /* first and last byte of the range's first nonce */
    uint32_t used;
};

struct seal {
    const struct seal_mode *mode;
    unsigned char key[SEAL_KEY];
    struct nonce_range ranges[2]; /* before and after the client's first packet */
    unsigned range;               /* index of the range in use */
    bool broken;
    EVP_CIPHER_CTX *aes; /* AES only: the expanded key, for both directions */
};

struct seal_mode {
    const char *name;
    bool header_nonce; /* the header is the nonce; otherwise the last four bytes of the packet
                        * are */
    /* Decrypt and encrypt the bytes after the clear part. open returns false if they are not
     * authentic. */
    bool (*open)(struct seal *s, struct str clear, struct str body, const unsigned char *nonce,
                 unsigned char *out);
    void (*write)(struct seal *s, struct str clear, struct str plain, const unsigned char *nonce,
                  unsigned char *out);
};

/* --- decrypted packets ---------------------------------------------------------------- */

bool rtp_is_silence(const struct rtp_plain *p)
{
    static const unsigned char silence[] = { 0xf8, 0xff, 0xfe };
    size_t before = 0;

    if (p->extended)
        before = RTP_PREAMBLE + 4 * ((size_t)p->bytes[2] << 8 | p->bytes[3]);
    return p->n == before + sizeof silence &&
           memcmp(p->bytes + before, silence, sizeof silence) == 0;
}

/* --- AES-256-GCM ---------------------------------------------------------------------- */

static const unsigned char *bytes_of(struct str s)
{
    return (const unsigned char *)s.p;
}

static bool aes_open(struct seal *s, struct str clear, struct str body, const unsigned char *nonce,
                     unsigned char *out)
{
    EVP_CIPHER_CTX *c = s->aes;
    size_t text = body.n - TAG;
    unsigned char tag[TAG];
    int n;

    memcpy(tag, body.p + text, TAG);
    return EVP_DecryptInit_ex2(c, NULL, NULL, nonce, NULL) == 1 &&
           EVP_DecryptUpdate(c, NULL, &n, bytes_of(clear), (int)clear.n) == 1 &&
           EVP_DecryptUpdate(c, out, &n, bytes_of(body), (int)text) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG, tag) == 1 &&
           EVP_DecryptFinal_ex(c, out + n, &n) == 1;
}

static void aes_write(struct seal *s, struct str clear, struct str plain,
                      const unsigned char *nonce, unsigned char *out)
{
    EVP_CIPHER_CTX *c = s->aes;
    int n;
    bool done = EVP_EncryptInit_ex2(c, NULL, NULL, nonce, NULL) == 1 &&
                EVP_EncryptUpdate(c, NULL, &n, bytes_of(clear), (int)clear.n) == 1 &&
                EVP_EncryptUpdate(c, out, &n, bytes_of(plain), (int)plain.n) == 1 &&
                EVP_EncryptFinal_ex(c, out + n, &n) == 1 &&
                EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG, out + plain.n) == 1;

    assert(done);
    (void)done;
}

/* --- XChaCha20-Poly1305 and XSalsa20-Poly1305 ----------------------------------------- */

static bool chacha_open(struct seal *s, struct str clear, struct str body,
                        const unsigned char *nonce, unsigned char *out)
{
    return crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, bytes_of(body), body.n,
                                                      bytes_of(clear), clear.n, nonce, s->key) == 0;
}

static void chacha_write(struct seal *s, struct str clear, struct str plain,
                         const unsigned char *nonce, unsigned char *out)
{
    crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, bytes_of(plain), plain.n, bytes_of(clear),
                                               clear.n, NULL, nonce, s->key);
}

static bool salsa_open(struct seal *s, struct str clear, struct str body,
                       const unsigned char *nonce, unsigned char *out)
{
    (void)clear;
    return crypto_secretbox_open_easy(out, bytes_of(body), body.n, nonce, s->key) == 0;
}

static void salsa_write(struct seal *s, struct str clear, struct str plain,
                        const unsigned char *nonce, unsigned char *out)
{
    (void)clear;
    crypto_secretbox_easy(out, bytes_of(plain), plain.n, nonce, s->key);
}

/* Modes in the order in which they are offered: clients take the first one that they support. */
static const struct seal_mode modes[] = {
    { "aead_aes256_gcm_rtpsize", false, aes_open, aes_write },
    { "aead_xchacha20_poly1305_rtpsize", false, chacha_open, chacha_write },
    { "xsalsa20_poly1305", true, salsa_open, salsa_write },
};

const struct seal_mode *seal_mode_find(struct str name)
{
    for (unsigned i = 0; i < COUNT_OF(modes); i++)
        if (str_is(name, modes[i].name))
            return &modes[i];
    return NULL;
}

bool seal_mode_uses_header(const struct seal_mode *mode)
{
    return mode->header_nonce;
}

const char *seal_mode_name(unsigned i)
{
    return i < COUNT_OF(modes) ? modes[i].name : NULL;
}

static EVP_CIPHER_CTX *aes_context(const unsigned char *key)
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ready = c && EVP_EncryptInit_ex2(c, EVP_aes_256_gcm(), key, NULL, NULL) == 1;

    assert(ready);
    (void)ready;
    return c;
}

/* Libraries that do not start at random start with bytes 0x00, 0x01 or 0x80, so start elsewhere. */
static unsigned char edge_choose(void)
{
    return (unsigned char)(0x20 + randombytes_uniform(0x40));
}

struct seal *seal_new(const struct seal_mode *mode, const unsigned char key[SEAL_KEY],
                      uint32_t used)
{
    struct seal *s = mem_new(sizeof *s);

    s->mode = mode;
    s->ranges[0] = (struct nonce_range){ edge_choose(), edge_choose(), used };
    memcpy(s->key, key, SEAL_KEY);
    if (mode->open == aes_open)
        s->aes = aes_context(key);
    return s;
}

void seal_free(struct seal *s)
{
    if (!s)
        return;
    EVP_CIPHER_CTX_free(s->aes);
    sodium_memzero(s->key, sizeof s->key);
    mem_free(s);
}

const char *seal_name(const struct seal *s)
{
    return s->mode->name;
}

bool seal_uses_header(const struct seal *s)
{
    return s->mode->header_nonce;
}

/* --- decryption ----------------------------------------------------------------------- */

static bool range_has_used(const struct nonce_range *r, const unsigned char nonce[COUNTER])
{
    unsigned first = (unsigned char)(nonce[0] - r->first), last = nonce[3] - r->last;

    last &= 0xff;
    return first < EDGE && last < EDGE &&
           (last << (MIDDLE_BITS + EDGE_BITS) | first << MIDDLE_BITS | (unsigned)nonce[1] << 8 |
            nonce[2]) < r->used;
}

/* Records the nonce of an authentic packet of the client. */
static void nonce_take(struct seal *s, const unsigned char nonce[COUNTER])
{
    for (unsigned i = 0; i <= s->range; i++)
        s->broken |= range_has_used(&s->ranges[i], nonce);
    if (s->range)
        return;
    s->range = 1;
    s->ranges[1] = (struct nonce_range){ (unsigned char)(nonce[0] + EDGE / 2),
                                         (unsigned char)(nonce[3] + EDGE / 2), s->ranges[0].used };
}

bool seal_is_broken(const struct seal *s)
{
    return s->broken;
}

bool seal_open_control(struct seal *s, struct str datagram, unsigned char out[PACKET_MAX],
                       size_t *ret_n)
{
    unsigned char nonce[LONG_NONCE] = { 0 };

    if (s->mode->header_nonce || datagram.n > PACKET_MAX ||
        datagram.n < RTCP_HEADER + TAG + COUNTER)
        return false;
    struct str body = str_slice(datagram.p + RTCP_HEADER, datagram.n - RTCP_HEADER - COUNTER);
    memcpy(nonce, body.p + body.n, COUNTER);
    memcpy(out, datagram.p, RTCP_HEADER);
    *ret_n = RTCP_HEADER + body.n - TAG;
    bool opened =
        s->mode->open(s, str_slice(datagram.p, RTCP_HEADER), body, nonce, out + RTCP_HEADER);
    if (opened)
        nonce_take(s, nonce);
    return opened;
}

/* Decrypts with the header as nonce: only the header is clear, the preamble of an extension is
 * encrypted. */
static bool open_by_header(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret)
{
    unsigned char nonce[LONG_NONCE] = { 0 };
    struct str body = str_slice(p->clear.p + RTP_HEADER, p->clear.n - RTP_HEADER + p->sealed.n);

    if (p->sources || body.n <= TAG)
        return false;
    memcpy(nonce, p->clear.p, RTP_HEADER);
    ret->n = body.n - TAG;
    return s->mode->open(s, p->clear, body, nonce, ret->bytes) &&
           (!p->extended || ret->n >= RTP_PREAMBLE);
}

static bool open_by_counter(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret)
{
    unsigned char nonce[LONG_NONCE] = { 0 };
    struct str body = str_slice(p->sealed.p, p->sealed.n - COUNTER);
    size_t preamble = p->extended ? RTP_PREAMBLE : 0;

    memcpy(nonce, p->sealed.p + body.n, COUNTER);
    memcpy(ret->bytes, p->clear.p + p->clear.n - preamble, preamble);
    ret->n = preamble + body.n - TAG;
    bool opened = s->mode->open(s, p->clear, body, nonce, ret->bytes + preamble);
    if (opened)
        nonce_take(s, nonce);
    return opened;
}

bool seal_open(struct seal *s, const struct rtp_packet *p, struct rtp_plain *ret)
{
    size_t least = s->mode->header_nonce ? TAG : TAG + COUNTER;

    if (p->clear.n + p->sealed.n > PACKET_MAX || p->sealed.n <= least)
        return false;
    memcpy(ret->header, p->clear.p, RTP_HEADER);
    ret->header[0] &= 0xf0; /* CSRCs are not forwarded */
    ret->extended = p->extended;
    return s->mode->header_nonce ? open_by_header(s, p, ret) : open_by_counter(s, p, ret);
}

/* --- encryption ----------------------------------------------------------------------- */

static size_t write_by_header(struct seal *s, const struct rtp_plain *p, unsigned char *out)
{
    unsigned char nonce[LONG_NONCE] = { 0 };
    struct str plain = str_slice((const char *)p->bytes, p->n);

    memcpy(out, p->header, RTP_HEADER);
    memcpy(nonce, p->header, RTP_HEADER);
    s->mode->write(s, (struct str){ 0 }, plain, nonce, out + RTP_HEADER);
    return RTP_HEADER + TAG + plain.n;
}

/* Writes the relay's next nonce; false: none is left. The ranges may overlap, so the second one
 * skips nonces that the first one has used. */
static bool nonce_next(struct seal *s, unsigned char nonce[COUNTER])
{
    struct nonce_range *r = &s->ranges[s->range];

    do {
        uint32_t i = r->used;

        if (i >= SEAL_NONCES)
            return false;
        r->used++;
        nonce[0] = (unsigned char)(r->first + (i >> MIDDLE_BITS & (EDGE - 1)));
        nonce[1] = (unsigned char)(i >> 8);
        nonce[2] = (unsigned char)i;
        nonce[3] = (unsigned char)(r->last + (i >> (MIDDLE_BITS + EDGE_BITS)));
    } while (s->range && range_has_used(&s->ranges[0], nonce));
    return true;
}

size_t seal_write_control(struct seal *s, struct str packet, unsigned char out[SEAL_MAX])
{
    unsigned char nonce[LONG_NONCE] = { 0 };
    struct str plain = str_from(packet, RTCP_HEADER);

    if (s->mode->header_nonce || !nonce_next(s, nonce))
        return 0;
    memcpy(out, packet.p, RTCP_HEADER);
    s->mode->write(s, str_slice(packet.p, RTCP_HEADER), plain, nonce, out + RTCP_HEADER);
    memcpy(out + packet.n + TAG, nonce, COUNTER);
    return packet.n + TAG + COUNTER;
}

size_t seal_write(struct seal *s, const struct rtp_plain *p, unsigned char out[SEAL_MAX])
{
    unsigned char nonce[LONG_NONCE] = { 0 };
    size_t clear = RTP_HEADER + (p->extended ? RTP_PREAMBLE : 0);

    if (s->mode->header_nonce)
        return write_by_header(s, p, out);
    if (!nonce_next(s, nonce))
        return 0;
    size_t preamble = clear - RTP_HEADER;
    struct str plain = str_slice((const char *)p->bytes + preamble, p->n - preamble);
    memcpy(out, p->header, RTP_HEADER);
    memcpy(out + RTP_HEADER, p->bytes, preamble);
    s->mode->write(s, str_slice((const char *)out, clear), plain, nonce, out + clear);
    memcpy(out + clear + plain.n + TAG, nonce, COUNTER);
    return clear + plain.n + TAG + COUNTER;
}
