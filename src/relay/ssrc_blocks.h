/* ssrc_blocks.h - the blocks of SSRCs that a worker assigns to participants.
 *
 * Clients cannot guess a block. A block is assigned again only after all other blocks were
 * assigned: a client that stays in a room for months must not get the media of two participants
 * with the same SSRC, because the nonces of SRTP and of xsalsa20 contain the SSRC. */
#ifndef RELAY_SSRC_BLOCKS_H
#define RELAY_SSRC_BLOCKS_H

#include <stdint.h>

enum { SSRC_ORDER_KEY_SIZE = 16 };

struct ssrc_blocks {
    unsigned char key[SSRC_ORDER_KEY_SIZE]; /* key of the secret order of all blocks */
    uint32_t next;                          /* number in that order */
};

void ssrc_blocks_init(struct ssrc_blocks *b);
/* Returns the first SSRC of the next block; never 0. */
uint32_t ssrc_blocks_take(struct ssrc_blocks *b);

#endif
