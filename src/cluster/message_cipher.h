/* message_cipher.h - encrypts and authenticates the messages that nodes exchange through NATS.
 *
 * It uses XChaCha20-Poly1305 with a key that only nodes with the same pepper have, a random nonce
 * per message, and the NATS subject as additional data. The plaintext begins with the sender's
 * identity, counter and clock and the log position. A receiver rejects messages that are more than
 * CIPHER_AGE_MS old or in the future, and every counter that it has received before, so a replayed
 * message has no effect. */
#ifndef CLUSTER_MESSAGE_CIPHER_H
#define CLUSTER_MESSAGE_CIPHER_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/map.h"

enum {
    CIPHER_KEY_BYTES = 32,
    /* Maximum age of an accepted message in ms, and maximum time that it may be in the future. */
    CIPHER_AGE_MS = 60 * 1000,
    /* Maximum number of later messages of the same sender that may arrive before a message. */
    CIPHER_WINDOW = 4096,
    CIPHER_OVERHEAD = 24 + 16 + 32,
};

struct message_cipher {
    unsigned char key[CIPHER_KEY_BYTES];
    uint32_t sender;          /* identity of this node */
    _Atomic uint64_t counter; /* number of messages sent so far */
    /* Node identity -> struct cipher_sender. Used by the receiving thread only. */
    struct map senders;
};

/* Initialises a cipher. `sender` is an identity that no other process ever has. */
void message_cipher_init(struct message_cipher *c, const unsigned char key[CIPHER_KEY_BYTES],
                         uint32_t sender);
void message_cipher_clear(struct message_cipher *c);

/* Appends the encrypted message to `out`. Thread-safe. */
void message_cipher_encrypt(struct message_cipher *c, struct str subject, int64_t position,
                            struct str bytes, struct buf *out);

enum message_decrypt_result { CIPHER_GOOD, CIPHER_FORGED, CIPHER_LATE, CIPHER_REPEATED };
/* Decrypts a message. Must always be called on the same thread. Writes the plaintext to `plain`;
 * *ret_bytes points into it. */
enum message_decrypt_result message_cipher_decrypt(struct message_cipher *c, struct str subject,
                                                   struct str message, struct buf *plain,
                                                   int64_t *ret_position, struct str *ret_bytes);

#endif
