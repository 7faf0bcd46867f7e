/* hash.c - hash functions for hash tables. */
#include "base/hash.h"

#include <sodium.h>
#include <string.h>

static unsigned char hash_key[crypto_shorthash_KEYBYTES];

void hash_init_random_key(void)
{
    randombytes_buf(hash_key, sizeof hash_key);
}

void hash_set_key(const unsigned char key[HASH_KEY_BYTES])
{
    _Static_assert(HASH_KEY_BYTES == sizeof hash_key,
                   "the key must have the size of a SipHash key");
    memcpy(hash_key, key, sizeof hash_key);
}

uint64_t hash_str(struct str s)
{
    uint64_t h;

    crypto_shorthash((unsigned char *)&h, (const unsigned char *)s.p, s.n, hash_key);
    return h;
}
