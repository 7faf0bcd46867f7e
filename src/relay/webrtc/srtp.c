/* srtp.c - SRTP and SRTCP (RFC 3711, RFC 7714) between one browser and the relay. */
#include "relay/webrtc/srtp.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <sodium.h>

#include "base/map.h"
#include "base/mem.h"
#include "relay/media/rtcp.h"
#include "relay/media/network_order.h"

enum {
    GCM_TAG = 16,
    SHA1_TAG = 10,
    IV_MAX = 16,
    INDEX_WORD = 4, /* E flag and index of SRTCP */
    INCOMING = 0,
    OUTGOING = 1,
    SEQUENCE_HALF = 1 << 15,
    /* Gaps in the sequence numbers of a sender reach a browser unchanged up to this size. Longer
     * gaps are closed, because a pause of audio must not look like lost packets. A pause of video
     * must look like lost packets, so that the browser requests a key frame. */
    AUDIO_GAP_MAX = 100,
    VIDEO_GAP_MAX = SEQUENCE_HALF / 2,
    AUDIO_STEP_AFTER_PAUSE = 1,
    VIDEO_STEP_AFTER_PAUSE = 2048,
};
#define CONTROL_ENCRYPTED UINT32_C(0x80000000)
#define CONTROL_LAST      UINT32_C(0x7fffffff)

struct profile_row {
    enum srtp_profile profile;
    size_t key, salt, tag;
    bool aead;
    const EVP_CIPHER *(*cipher)(void);
    const EVP_CIPHER *(*derivation)(void); /* cipher of the key derivation function */
};

static const struct profile_row profiles[] = {
    { PROFILE_CM_SHA1, 16, 14, SHA1_TAG, false, EVP_aes_128_ctr, EVP_aes_128_ctr },
    { PROFILE_GCM_128, 16, 12, GCM_TAG, true, EVP_aes_128_gcm, EVP_aes_128_ctr },
    { PROFILE_GCM_256, 32, 12, GCM_TAG, true, EVP_aes_256_gcm, EVP_aes_256_ctr },
};

/* The cipher of one direction of RTP or RTCP. */
struct srtp_cipher {
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac; /* without AEAD only */
    unsigned char salt[SRTP_MAX_SALT];
};

/* Packets of one SSRC in one direction. The indexes of sent packets are recorded, too, so that no
 * index is used twice. */
struct srtp_stream {
    struct replay_window window; /* highest: the 48-bit index */
    /* highest position so far in the stream of the sender (srtp_encrypt_forwarded_packet) */
    uint64_t number;
    /* difference between the sender's sequence number and the position in the stream */
    uint16_t offset;
    /* number added to the sender's sequence numbers for this browser */
    uint16_t shift;
};

struct srtp {
    const struct profile_row *row;
    struct srtp_cipher rtp[2], rtcp[2]; /* INCOMING, OUTGOING */
    struct map streams[2];              /* SSRC to struct srtp_stream */
    struct replay_window control;       /* indexes of received RTCP packets */
    uint32_t control_last;              /* index of the last RTCP packet that the relay sent */
};

static const struct profile_row *find_srtp_profile_row(enum srtp_profile profile)
{
    for (unsigned i = 0; i < COUNT_OF(profiles); i++)
        if (profiles[i].profile == profile)
            return &profiles[i];
    return NULL;
}

size_t srtp_keying_material_size(enum srtp_profile profile)
{
    const struct profile_row *row = find_srtp_profile_row(profile);

    return row ? 2 * (row->key + row->salt) : 0;
}

/* --- keys ----------------------------------------------------------------------------- */

/* Derives the key bytes for a label: the key stream of AES in counter mode (RFC 3711, 4.3.3), with
 * key derivation rate 0. */
static void derive_key_for_label(const struct profile_row *row, const unsigned char *key,
                                 const unsigned char *salt, unsigned char label, unsigned char *out,
                                 size_t n)
{
    static const unsigned char zeros[SRTP_MAX_KEY];
    unsigned char iv[IV_MAX] = { 0 };
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int written;

    memcpy(iv, salt, row->salt);
    iv[7] ^= label;
    bool done = c && EVP_EncryptInit_ex2(c, row->derivation(), key, iv, NULL) == 1 &&
                EVP_EncryptUpdate(c, out, &written, zeros, (int)n) == 1;
    assert(done);
    (void)done;
    EVP_CIPHER_CTX_free(c);
}

void srtp_derive_keys(enum srtp_profile profile, const unsigned char *master_key,
                      const unsigned char *master_salt, bool control, struct srtp_keys *ret)
{
    const struct profile_row *row = find_srtp_profile_row(profile);
    unsigned char label = control ? 3 : 0;

    derive_key_for_label(row, master_key, master_salt, label, ret->cipher, row->key);
    derive_key_for_label(row, master_key, master_salt, label + 1, ret->auth, sizeof ret->auth);
    derive_key_for_label(row, master_key, master_salt, label + 2, ret->salt, row->salt);
}

static EVP_MAC_CTX *new_mac(const unsigned char key[SRTP_AUTH_KEY])
{
    char digest[] = "SHA1";
    OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                            OSSL_PARAM_construct_end() };
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(hmac);
    bool ready = mac && EVP_MAC_init(mac, key, SRTP_AUTH_KEY, params) == 1;

    assert(ready);
    (void)ready;
    EVP_MAC_free(hmac);
    return mac;
}

static void srtp_cipher_init(struct srtp_cipher *c, const struct profile_row *row,
                             const struct srtp_keys *keys)
{
    c->cipher = EVP_CIPHER_CTX_new();
    bool ready =
        c->cipher && EVP_EncryptInit_ex2(c->cipher, row->cipher(), keys->cipher, NULL, NULL) == 1;
    assert(ready);
    (void)ready;
    memcpy(c->salt, keys->salt, sizeof c->salt);
    if (!row->aead)
        c->mac = new_mac(keys->auth);
}

static void srtp_cipher_clear(struct srtp_cipher *c)
{
    EVP_CIPHER_CTX_free(c->cipher);
    EVP_MAC_CTX_free(c->mac);
    sodium_memzero(c, sizeof *c);
}

struct srtp *srtp_new_from_keys(enum srtp_profile profile, const struct srtp_keys rtp[2],
                                const struct srtp_keys rtcp[2])
{
    struct srtp *s = mem_new(sizeof *s);

    s->row = find_srtp_profile_row(profile);
    for (int direction = INCOMING; direction <= OUTGOING; direction++) {
        srtp_cipher_init(&s->rtp[direction], s->row, &rtp[direction]);
        srtp_cipher_init(&s->rtcp[direction], s->row, &rtcp[direction]);
        map_init(&s->streams[direction]);
    }
    return s;
}

struct srtp *srtp_new(enum srtp_profile profile, const unsigned char *material)
{
    const struct profile_row *row = find_srtp_profile_row(profile);
    struct srtp_keys rtp[2] = { 0 }, rtcp[2] = { 0 };

    for (size_t i = 0; i < 2; i++) { /* the client's keys, then the server's */
        const unsigned char *key = material + i * row->key;
        const unsigned char *salt = material + 2 * row->key + i * row->salt;

        srtp_derive_keys(profile, key, salt, false, &rtp[i]);
        srtp_derive_keys(profile, key, salt, true, &rtcp[i]);
    }
    struct srtp *s = srtp_new_from_keys(profile, rtp, rtcp);
    sodium_memzero(rtp, sizeof rtp);
    sodium_memzero(rtcp, sizeof rtcp);
    return s;
}

void srtp_free(struct srtp *s)
{
    if (!s)
        return;
    for (int direction = INCOMING; direction <= OUTGOING; direction++) {
        struct srtp_stream *stream;

        srtp_cipher_clear(&s->rtp[direction]);
        srtp_cipher_clear(&s->rtcp[direction]);
        for (size_t at = 0; (stream = map_next_value(&s->streams[direction], &at));)
            mem_free(stream);
        map_clear(&s->streams[direction]);
    }
    mem_free(s);
}

enum srtp_profile srtp_get_profile(const struct srtp *s)
{
    return s->row->profile;
}

/* --- indexes -------------------------------------------------------------------------- */

/* Computes a packet's index from its sequence number and the highest index so far (RFC 3711,
 * 3.3.1). Returns false if the index is before the first packet, too old, or was used before. */
static bool compute_packet_index(const struct srtp_stream *stream, uint16_t sequence, uint64_t *ret)
{
    if (!stream) {
        *ret = sequence;
        return true;
    }
    uint64_t rollovers = stream->window.highest >> 16;
    uint16_t highest = (uint16_t)stream->window.highest;

    if (highest < SEQUENCE_HALF && sequence > highest + SEQUENCE_HALF) {
        if (rollovers == 0)
            return false;
        rollovers--;
    } else if (highest >= SEQUENCE_HALF && sequence < highest - SEQUENCE_HALF) {
        rollovers++;
    }
    *ret = rollovers << 16 | sequence;
    return replay_window_is_new(&stream->window, *ret);
}

/* Records the index of a packet in the stream of its SSRC, which is created if it is NULL. */
static struct srtp_stream *record_packet_index(struct srtp *s, int direction, uint32_t ssrc,
                                               struct srtp_stream *stream, uint64_t index)
{
    if (!stream) {
        stream = mem_new(sizeof *stream);
        map_set_value(&s->streams[direction], ssrc, stream);
    }
    replay_window_add_number(&stream->window, index);
    return stream;
}

/* --- one packet ----------------------------------------------------------------------- */

/* Computes the initialisation vector of a packet from salt, SSRC and index. */
static void write_initialization_vector(const struct srtp *s, const struct srtp_cipher *c,
                                        uint32_t ssrc, uint64_t index, unsigned char iv[IV_MAX])
{
    size_t ssrc_at = s->row->aead ? 2 : 4, index_at = s->row->aead ? 6 : 8;

    memset(iv, 0, IV_MAX);
    memcpy(iv, c->salt, s->row->salt);
    for (size_t i = 0; i < 4; i++)
        iv[ssrc_at + i] ^= (unsigned char)(ssrc >> (24 - 8 * i));
    for (size_t i = 0; i < 6; i++)
        iv[index_at + i] ^= (unsigned char)(index >> (40 - 8 * i));
}

static const unsigned char *get_srtp_bytes_of_text(struct str s)
{
    return (const unsigned char *)s.p;
}

/* Encrypts or decrypts in counter mode, where both operations are the same. */
static bool crypt_in_counter_mode(EVP_CIPHER_CTX *c, const unsigned char *iv, struct str in,
                                  unsigned char *out)
{
    int n;

    return EVP_EncryptInit_ex2(c, NULL, NULL, iv, NULL) == 1 &&
           EVP_EncryptUpdate(c, out, &n, get_srtp_bytes_of_text(in), (int)in.n) == 1;
}

static bool decrypt_gcm(EVP_CIPHER_CTX *c, const unsigned char *iv, struct str clear,
                        struct str more, struct str sealed, unsigned char *out)
{
    unsigned char tag[GCM_TAG];
    int n;

    memcpy(tag, sealed.p + sealed.n - GCM_TAG, GCM_TAG);
    return EVP_DecryptInit_ex2(c, NULL, NULL, iv, NULL) == 1 &&
           EVP_DecryptUpdate(c, NULL, &n, get_srtp_bytes_of_text(clear), (int)clear.n) == 1 &&
           (more.n == 0 ||
            EVP_DecryptUpdate(c, NULL, &n, get_srtp_bytes_of_text(more), (int)more.n) == 1) &&
           EVP_DecryptUpdate(c, out, &n, get_srtp_bytes_of_text(sealed),
                             (int)(sealed.n - GCM_TAG)) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, GCM_TAG, tag) == 1 &&
           EVP_DecryptFinal_ex(c, out + n, &n) == 1;
}

/* Encrypts with AES-GCM: writes the ciphertext, then the authentication tag. */
static void encrypt_gcm(EVP_CIPHER_CTX *c, const unsigned char *iv, struct str clear,
                        struct str more, struct str plain, unsigned char *out)
{
    int n;
    bool done = EVP_EncryptInit_ex2(c, NULL, NULL, iv, NULL) == 1 &&
                EVP_EncryptUpdate(c, NULL, &n, get_srtp_bytes_of_text(clear), (int)clear.n) == 1 &&
                (more.n == 0 ||
                 EVP_EncryptUpdate(c, NULL, &n, get_srtp_bytes_of_text(more), (int)more.n) == 1) &&
                EVP_EncryptUpdate(c, out, &n, get_srtp_bytes_of_text(plain), (int)plain.n) == 1 &&
                EVP_EncryptFinal_ex(c, out + n, &n) == 1 &&
                EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, GCM_TAG, out + plain.n) == 1;

    assert(done);
    (void)done;
}

/* Computes the authentication tag: the first bytes of HMAC-SHA1 over a packet and, for RTP, its
 * rollover counter. */
static void compute_sha1_tag(EVP_MAC_CTX *mac, struct str packet, const unsigned char *rollovers,
                             unsigned char tag[SHA1_TAG])
{
    unsigned char whole[20];
    size_t n;
    bool done = EVP_MAC_init(mac, NULL, 0, NULL) == 1 &&
                EVP_MAC_update(mac, get_srtp_bytes_of_text(packet), packet.n) == 1 &&
                (!rollovers || EVP_MAC_update(mac, rollovers, 4) == 1) &&
                EVP_MAC_final(mac, whole, &n, sizeof whole) == 1;

    assert(done);
    (void)done;
    memcpy(tag, whole, SHA1_TAG);
}

/* --- RTP ------------------------------------------------------------------------------ */

/* Returns the size of the unencrypted part of a packet: header, CSRCs and the whole extension.
 * Returns 0 if the packet is malformed. */
static size_t unencrypted_part_size(const struct rtp_packet *p)
{
    size_t n = p->clear.n;

    if (p->extended) {
        const unsigned char *preamble =
            get_srtp_bytes_of_text(p->clear) + n - RTP_EXTENSION_PREAMBLE_SIZE;

        n += 4 * (size_t)network_read_u16(preamble + 2);
    }
    return n <= p->clear.n + p->encrypted.n ? n : 0;
}

static bool decrypt_rtp_payload(struct srtp *s, uint32_t ssrc, uint64_t index, struct str clear,
                                struct str sealed, unsigned char *out)
{
    struct srtp_cipher *c = &s->rtp[INCOMING];
    unsigned char iv[IV_MAX], rollovers[4], tag[SHA1_TAG];

    write_initialization_vector(s, c, ssrc, index, iv);
    if (s->row->aead)
        return decrypt_gcm(c->cipher, iv, clear, (struct str){ 0 }, sealed, out);
    write_u32_in_network_byte_order(rollovers, (uint32_t)(index >> 16));
    struct str text = str_slice(sealed.p, sealed.n - SHA1_TAG);
    compute_sha1_tag(c->mac, str_slice(clear.p, clear.n + text.n), rollovers, tag);
    return sodium_memcmp(tag, text.p + text.n, SHA1_TAG) == 0 &&
           crypt_in_counter_mode(c->cipher, iv, text, out);
}

bool srtp_decrypt(struct srtp *s, struct str datagram, struct decrypted_rtp_packet *ret)
{
    struct rtp_packet p;
    uint64_t index;

    if (datagram.n > PACKET_MAX || !rtp_parse_header(datagram, &p))
        return false;
    struct srtp_stream *stream = map_find_value(&s->streams[INCOMING], p.ssrc);
    size_t clear = unencrypted_part_size(&p), fixed = RTP_HEADER_SIZE + 4 * (size_t)p.sources;
    if (clear == 0 || datagram.n <= clear + s->row->tag ||
        (!stream && s->streams[INCOMING].count >= SRTP_MAX_STREAMS) ||
        !compute_packet_index(stream, p.sequence, &index))
        return false;
    size_t extension = clear - fixed;
    if (!decrypt_rtp_payload(s, p.ssrc, index, str_slice(datagram.p, clear),
                             str_skip_bytes(datagram, clear), ret->bytes + extension))
        return false;
    memcpy(ret->header, datagram.p, RTP_HEADER_SIZE);
    ret->header[0] &= 0xf0; /* CSRCs are not forwarded */
    ret->extended = p.extended;
    memcpy(ret->bytes, datagram.p + fixed, extension);
    ret->n = datagram.n - fixed - s->row->tag;
    record_packet_index(s, INCOMING, p.ssrc, stream, index);
    return true;
}

static uint32_t ssrc_of_packet(const struct decrypted_rtp_packet *p)
{
    return network_read_u32((const char *)p->header + 8);
}

/* Encrypts a packet with the given sequence number instead of its own. *stream has the sent packets
 * of its SSRC. If *stream is NULL, it is created, unless the result is 0. */
static size_t encrypt_with_sequence(struct srtp *s, const struct decrypted_rtp_packet *p,
                                    uint16_t sequence, unsigned char out[SRTP_MAX],
                                    struct srtp_stream **stream)
{
    struct srtp_cipher *c = &s->rtp[OUTGOING];
    uint32_t ssrc = ssrc_of_packet(p);
    size_t extension =
        p->extended ? RTP_EXTENSION_PREAMBLE_SIZE + 4 * (size_t)network_read_u16(p->bytes + 2) : 0;
    unsigned char iv[IV_MAX], rollovers[4];
    uint64_t index;

    if (extension > p->n || RTP_HEADER_SIZE + p->n > PACKET_MAX ||
        !compute_packet_index(*stream, sequence, &index))
        return 0;
    size_t clear = RTP_HEADER_SIZE + extension;
    struct str plain = str_slice((const char *)p->bytes + extension, p->n - extension);
    struct str head = str_slice((const char *)out, clear);
    memcpy(out, p->header, RTP_HEADER_SIZE);
    write_u16_in_network_byte_order(out + 2, sequence);
    memcpy(out + RTP_HEADER_SIZE, p->bytes, extension);
    write_initialization_vector(s, c, ssrc, index, iv);
    if (s->row->aead) {
        encrypt_gcm(c->cipher, iv, head, (struct str){ 0 }, plain, out + clear);
    } else {
        crypt_in_counter_mode(c->cipher, iv, plain, out + clear);
        write_u32_in_network_byte_order(rollovers, (uint32_t)(index >> 16));
        compute_sha1_tag(c->mac, str_slice((const char *)out, clear + plain.n), rollovers,
                         out + clear + plain.n);
    }
    *stream = record_packet_index(s, OUTGOING, ssrc, *stream, index);
    return clear + plain.n + s->row->tag;
}

size_t srtp_encrypt(struct srtp *s, const struct decrypted_rtp_packet *p,
                    unsigned char out[SRTP_MAX])
{
    struct srtp_stream *stream = map_find_value(&s->streams[OUTGOING], ssrc_of_packet(p));

    return encrypt_with_sequence(s, p, network_read_u16(p->header + 2), out, &stream);
}

size_t srtp_encrypt_forwarded_packet(struct srtp *s, const struct decrypted_rtp_packet *p,
                                     uint64_t number, bool audio, unsigned char out[SRTP_MAX])
{
    struct srtp_stream *stream = map_find_value(&s->streams[OUTGOING], ssrc_of_packet(p));
    uint16_t sequence = network_read_u16(p->header + 2), offset = (uint16_t)(sequence - number),
             shift = stream ? stream->shift : 0;

    if (stream && (number > stream->number + (audio ? AUDIO_GAP_MAX : VIDEO_GAP_MAX) ||
                   offset != stream->offset))
        shift = (uint16_t)(stream->window.highest +
                           (audio ? AUDIO_STEP_AFTER_PAUSE : VIDEO_STEP_AFTER_PAUSE) - sequence);
    size_t n = encrypt_with_sequence(s, p, (uint16_t)(sequence + shift), out, &stream);
    if (n) {
        stream->number = number > stream->number ? number : stream->number;
        stream->offset = offset;
        stream->shift = shift;
    }
    return n;
}

uint16_t srtp_sequence_shift(const struct srtp *s, uint32_t ssrc)
{
    const struct srtp_stream *stream = map_find_value(&s->streams[OUTGOING], ssrc);

    return stream ? stream->shift : 0;
}

void srtp_forget_sent_streams(struct srtp *s, uint32_t first, unsigned count)
{
    for (uint32_t ssrc = first; ssrc < first + count; ssrc++)
        mem_free(map_remove_value(&s->streams[OUTGOING], ssrc));
}

/* --- RTCP ----------------------------------------------------------------------------- */

static bool decrypt_rtcp_gcm(struct srtp *s, struct str datagram, uint32_t word, unsigned char *out)
{
    struct srtp_cipher *c = &s->rtcp[INCOMING];
    struct str clear = str_slice(datagram.p, RTCP_HEADER_SIZE);
    struct str sealed =
        str_slice(datagram.p + RTCP_HEADER_SIZE, datagram.n - RTCP_HEADER_SIZE - INDEX_WORD);
    struct str index = str_skip_bytes(datagram, datagram.n - INDEX_WORD);
    unsigned char iv[IV_MAX];

    write_initialization_vector(s, c, network_read_u32(datagram.p + 4), word & CONTROL_LAST, iv);
    return decrypt_gcm(c->cipher, iv, clear, index, sealed, out);
}

static bool decrypt_rtcp_sha1(struct srtp *s, struct str datagram, uint32_t word,
                              unsigned char *out)
{
    struct srtp_cipher *c = &s->rtcp[INCOMING];
    struct str covered = str_slice(datagram.p, datagram.n - SHA1_TAG);
    struct str sealed =
        str_slice(datagram.p + RTCP_HEADER_SIZE, covered.n - RTCP_HEADER_SIZE - INDEX_WORD);
    unsigned char iv[IV_MAX], tag[SHA1_TAG];

    compute_sha1_tag(c->mac, covered, NULL, tag);
    if (sodium_memcmp(tag, covered.p + covered.n, SHA1_TAG) != 0)
        return false;
    write_initialization_vector(s, c, network_read_u32(datagram.p + 4), word & CONTROL_LAST, iv);
    return crypt_in_counter_mode(c->cipher, iv, sealed, out);
}

bool srtcp_decrypt(struct srtp *s, struct str datagram, unsigned char out[PACKET_MAX],
                   size_t *ret_n)
{
    if (datagram.n > PACKET_MAX || datagram.n <= RTCP_HEADER_SIZE + s->row->tag + INDEX_WORD)
        return false;
    size_t word_at = datagram.n - INDEX_WORD - (s->row->aead ? 0 : SHA1_TAG);
    uint32_t word = network_read_u32(datagram.p + word_at);
    if (!(word & CONTROL_ENCRYPTED) || !replay_window_is_new(&s->control, word & CONTROL_LAST) ||
        !(s->row->aead ? decrypt_rtcp_gcm(s, datagram, word, out + RTCP_HEADER_SIZE)
                       : decrypt_rtcp_sha1(s, datagram, word, out + RTCP_HEADER_SIZE)))
        return false;
    memcpy(out, datagram.p, RTCP_HEADER_SIZE);
    *ret_n = datagram.n - s->row->tag - INDEX_WORD;
    replay_window_add_number(&s->control, word & CONTROL_LAST);
    return true;
}

size_t srtcp_encrypt(struct srtp *s, struct str packet, unsigned char out[SRTP_MAX])
{
    struct srtp_cipher *c = &s->rtcp[OUTGOING];
    unsigned char iv[IV_MAX], word[INDEX_WORD];

    if (packet.n <= RTCP_HEADER_SIZE || packet.n > PACKET_MAX - INDEX_WORD ||
        s->control_last >= CONTROL_LAST)
        return 0;
    struct str plain = str_skip_bytes(packet, RTCP_HEADER_SIZE);
    uint32_t index = ++s->control_last;
    write_initialization_vector(s, c, network_read_u32(packet.p + 4), index, iv);
    write_u32_in_network_byte_order(word, index | CONTROL_ENCRYPTED);
    memcpy(out, packet.p, RTCP_HEADER_SIZE);
    if (s->row->aead) {
        encrypt_gcm(c->cipher, iv, str_slice(packet.p, RTCP_HEADER_SIZE),
                    str_slice((const char *)word, INDEX_WORD), plain, out + RTCP_HEADER_SIZE);
        memcpy(out + packet.n + GCM_TAG, word, INDEX_WORD);
    } else {
        crypt_in_counter_mode(c->cipher, iv, plain, out + RTCP_HEADER_SIZE);
        memcpy(out + packet.n, word, INDEX_WORD);
        compute_sha1_tag(c->mac, str_slice((const char *)out, packet.n + INDEX_WORD), NULL,
                         out + packet.n + INDEX_WORD);
    }
    return packet.n + s->row->tag + INDEX_WORD;
}
