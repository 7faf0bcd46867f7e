/* ssrc_blocks.c - the blocks of SSRCs that a worker assigns to participants. */
#include "relay/ssrc_blocks.h"

#include <sodium.h>
#include <string.h>

#include "relay/media/packets.h"

enum { ROUNDS = 4, HALF_BITS = 14, HALF_MASK = (1 << HALF_BITS) - 1 };
_Static_assert(UINT32_MAX / SSRCS_PER_PARTICIPANT == (UINT32_C(1) << 2 * HALF_BITS) - 1,
               "the number of a block has two halves");
_Static_assert((int)SSRC_ORDER_KEY_SIZE == (int)crypto_shorthash_KEYBYTES, "size of the key");

void ssrc_blocks_init(struct ssrc_blocks *b)
{
    randombytes_buf(b->key, sizeof b->key);
    b->next = 0;
}

/* Returns the block at position n of the secret order. A Feistel network permutes the numbers. */
static uint32_t block_in_secret_order(const unsigned char key[SSRC_ORDER_KEY_SIZE], uint32_t n)
{
    uint32_t left = n >> HALF_BITS & HALF_MASK, right = n & HALF_MASK;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t in[] = { round, right };
        unsigned char hash[crypto_shorthash_BYTES];
        uint32_t mixed;

        crypto_shorthash(hash, (const unsigned char *)in, sizeof in, key);
        memcpy(&mixed, hash, sizeof mixed);
        mixed = left ^ (mixed & HALF_MASK);
        left = right;
        right = mixed;
    }
    return left << HALF_BITS | right;
}

uint32_t ssrc_blocks_assign_next(struct ssrc_blocks *b)
{
    uint32_t ssrc;

    do
        ssrc = block_in_secret_order(b->key, b->next++) * SSRCS_PER_PARTICIPANT;
    while (ssrc == 0 || !ssrc_block_is_allowed(ssrc));
    return ssrc;
}
