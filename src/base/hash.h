/* hash.h - spreading keys over tables.
 *
 * Text keys come from outside, so they are hashed with a key drawn at start
 * (SipHash): nobody can choose names that all land in one slot. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

/* Once, before threads start. */
void hash_init(void);

/* Instead, where several servers have to hash alike: with a key that they share and nobody else
 * knows. Before anything was hashed that is kept. */
enum { HASH_KEY = 16 };
void hash_use_key(const unsigned char key[HASH_KEY]);

uint64_t hash_str(struct str s);

/* For ids that we gave out ourselves: a cheap mix. */
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
