/* message_cipher.c - encrypts and authenticates the messages that nodes exchange through NATS. */
#include "cluster/message_cipher.h"

#include <sodium.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    /* Size of the fields at the beginning of the plaintext: sender, counter, time in ms, position;
     * 8 bytes each. */
    HEAD_BYTES = 32,
};
_Static_assert(NONCE_BYTES + TAG_BYTES + HEAD_BYTES == CIPHER_OVERHEAD,
               "the sizes that others use");
_Static_assert(CIPHER_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
               "the size of a key");

/* Counters of the messages that were received from one other node. */
struct cipher_sender {
    uint32_t identity;
    uint64_t last;       /* greatest counter received from the sender */
    int64_t received_at; /* time of the last message (clock_ms) */
    uint64_t seen[CIPHER_WINDOW / 64];
};

void message_cipher_init(struct message_cipher *c, const unsigned char key[CIPHER_KEY_BYTES],
                         uint32_t sender)
{
    memset(c, 0, sizeof *c);
    memcpy(c->key, key, sizeof c->key);
    c->sender = sender;
}

void message_cipher_clear(struct message_cipher *c)
{
    size_t at = 0;

    for (struct cipher_sender *s; (s = map_next_value(&c->senders, &at));)
        mem_free(s);
    map_clear(&c->senders);
    sodium_memzero(c->key, sizeof c->key);
}

static void write_little_endian_uint64(unsigned char *at, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t read_le64(const unsigned char *at)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

void message_cipher_encrypt(struct message_cipher *c, struct str subject, int64_t position,
                            struct str bytes, struct buf *out)
{
    size_t length = HEAD_BYTES + bytes.n;
    unsigned char *nonce = (unsigned char *)buf_reserve(out, NONCE_BYTES + length + TAG_BYTES);

    if (!nonce)
        return;
    unsigned char *text = nonce + NONCE_BYTES;
    randombytes_buf(nonce, NONCE_BYTES);
    write_little_endian_uint64(text, c->sender);
    write_little_endian_uint64(text + 8, atomic_fetch_add(&c->counter, 1) + 1);
    write_little_endian_uint64(text + 16, (uint64_t)clock_ms());
    write_little_endian_uint64(text + 24, (uint64_t)position);
    if (bytes.n)
        memcpy(text + HEAD_BYTES, bytes.p, bytes.n);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        text, NULL, text, length, (const unsigned char *)subject.p, subject.n, NULL, nonce, c->key);
    out->n += NONCE_BYTES + length + TAG_BYTES;
}

/* Frees the counters of one sender that has sent nothing for long. Replays of its messages are then
 * rejected because of their age. */
static void evict_silent_sender(struct message_cipher *c, int64_t now)
{
    size_t at = 0;
    struct cipher_sender *silent = NULL;

    for (struct cipher_sender *s; !silent && (s = map_next_value(&c->senders, &at));)
        if (now - s->received_at > 2 * CIPHER_AGE_MS)
            silent = s;
    if (silent) {
        map_remove_value(&c->senders, silent->identity);
        mem_free(silent);
    }
}

static struct cipher_sender *cipher_sender_get_or_create(struct message_cipher *c,
                                                         uint32_t identity, int64_t now)
{
    struct cipher_sender *s = map_find_value(&c->senders, identity);

    if (!s) {
        evict_silent_sender(c, now);
        s = mem_new(sizeof *s);
        s->identity = identity;
        map_set_value(&c->senders, identity, s);
    }
    s->received_at = now;
    return s;
}

/* Records the counter of a received message. Returns false if the counter was received before, or
 * is too old for the window of recorded counters. */
static bool cipher_sender_record_counter(struct cipher_sender *s, uint64_t counter)
{
    if (counter + CIPHER_WINDOW <= s->last || !counter)
        return false;
    for (; s->last < counter; s->last++) {
        uint64_t next = s->last + 1;

        /* all counters recorded so far are too old for the window */
        if (counter - next >= CIPHER_WINDOW) {
            memset(s->seen, 0, sizeof s->seen);
            s->last = counter - 1;
            next = counter;
        }
        s->seen[next % CIPHER_WINDOW / 64] &= ~(UINT64_C(1) << next % 64);
    }
    uint64_t *word = &s->seen[counter % CIPHER_WINDOW / 64], bit = UINT64_C(1) << counter % 64;
    bool new = !(*word & bit);
    *word |= bit;
    return new;
}

enum message_decrypt_result message_cipher_decrypt(struct message_cipher *c, struct str subject,
                                                   struct str message, struct buf *plain,
                                                   int64_t *ret_position, struct str *ret_bytes)
{
    const unsigned char *nonce = (const unsigned char *)message.p;
    int64_t now = clock_ms();

    buf_reset(plain);
    if (message.n < CIPHER_OVERHEAD)
        return CIPHER_FORGED;
    size_t length = message.n - NONCE_BYTES - TAG_BYTES;
    unsigned char *text = (unsigned char *)buf_reserve(plain, length);
    if (!text || crypto_aead_xchacha20poly1305_ietf_decrypt(
                     text, NULL, NULL, nonce + NONCE_BYTES, message.n - NONCE_BYTES,
                     (const unsigned char *)subject.p, subject.n, nonce, c->key) != 0)
        return CIPHER_FORGED;
    plain->n = length;
    uint64_t sender = read_le64(text), counter = read_le64(text + 8);
    int64_t sent = (int64_t)read_le64(text + 16);
    if (sent < now - CIPHER_AGE_MS || sent > now + CIPHER_AGE_MS)
        return CIPHER_LATE;
    /* A message from this node is a replay, because NATS does not send this node its own messages
     * ("echo" is false). */
    if (sender == c->sender || !cipher_sender_record_counter(
                                   cipher_sender_get_or_create(c, (uint32_t)sender, now), counter))
        return CIPHER_REPEATED;
    *ret_position = (int64_t)read_le64(text + 24);
    *ret_bytes = str_skip_bytes(buf_as_str(plain), HEAD_BYTES);
    return *ret_position < 0 ? CIPHER_FORGED : CIPHER_GOOD;
}
