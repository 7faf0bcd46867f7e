/* hash.h - hash functions for hash tables.
 *
 * Text keys come from clients, so they are hashed with a random key (SipHash): no client can choose
 * names that all collide. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

/* Sets a random key for the hashes of texts. Call it once, before threads start. */
void hash_init_random_key(void);

/* Sets the hash key that all nodes of a cluster share, for hashes that must be equal on all nodes.
 * Call before any hash is stored. The key must stay secret. */
enum { HASH_KEY_BYTES = 16 };
void hash_set_key(const unsigned char key[HASH_KEY_BYTES]);

uint64_t hash_str(struct str s);

/* Hashes an id that this server generated. Clients cannot choose ids, so cheap mixing is enough. */
static inline uint64_t hash_u64(uint64_t v)
{
    v ^= v >> 33;
    v *= 0xff51afd7ed558ccdULL;
    v ^= v >> 33;
    v *= 0xc4ceb9fe1a85ec53ULL;
    v ^= v >> 33;
    return v;
}

#endif
