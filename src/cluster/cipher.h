/* cipher.h - encryption of what servers send each other through NATS.
 *
 * XChaCha20-Poly1305 with a key that only servers with the same pepper have, a random nonce for
 * each message and the subject as additional data. Inside stand the sender, its counter, its
 * clock and the position. A receiver refuses what is older than CIPHER_AGE_MS or that much ahead
 * of its own clock, and every counter that it has seen before: a message that somebody else sends
 * again has no effect. */
#ifndef CLUSTER_CIPHER_H
#define CLUSTER_CIPHER_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/map.h"

enum {
    CIPHER_KEY = 32,
    CIPHER_AGE_MS = 60 * 1000, /* also the skew of clocks that is tolerated */
    CIPHER_WINDOW = 4096,      /* counters of one sender that may arrive out of order */
    CIPHER_OVERHEAD = 24 + 16 + 32,
};

struct cipher {
    unsigned char key[CIPHER_KEY];
    uint32_t sender;          /* this server */
    _Atomic uint64_t counter; /* messages that it sent */
    struct map senders;       /* identity -> struct cipher_sender; of the receiving thread */
};

/* sender: an identity that no other server has or had. */
void cipher_init(struct cipher *c, const unsigned char key[CIPHER_KEY], uint32_t sender);
void cipher_clear(struct cipher *c);

/* Appends the message to out. From any thread. */
void cipher_seal(struct cipher *c, struct str subject, int64_t position, struct str bytes,
                 struct buf *out);

enum cipher_verdict { CIPHER_GOOD, CIPHER_FORGED, CIPHER_LATE, CIPHER_REPEATED };
/* From one thread. The bytes are in plain, whose content before is replaced. */
enum cipher_verdict cipher_open(struct cipher *c, struct str subject, struct str message,
                                struct buf *plain, int64_t *ret_position, struct str *ret_bytes);

#endif
