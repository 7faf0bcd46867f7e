/* ssrc_blocks.h - the blocks of SSRCs that a worker assigns to participants.
 *
 * Clients cannot guess a block. A block is assigned again only after all other blocks. Otherwise a
 * client that stays in a room for months might get media of two participants with the same SSRC,
 * and the nonces of SRTP and of xsalsa20 contain the SSRC. */
#ifndef RELAY_SSRC_BLOCKS_H
#define RELAY_SSRC_BLOCKS_H

#include <stdint.h>

enum { SSRC_ORDER_KEY_SIZE = 16 };

struct ssrc_blocks {
    /* key of the secret order in which blocks are assigned */
    unsigned char key[SSRC_ORDER_KEY_SIZE];
    uint32_t next; /* number in that order */
};

void ssrc_blocks_init(struct ssrc_blocks *b);
/* Assigns the next block of SSRCs and returns its first SSRC, which is never 0. */
uint32_t ssrc_blocks_assign_next(struct ssrc_blocks *b);

#endif
