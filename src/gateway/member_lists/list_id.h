/* list_id.h - the id of a member list; channels with the same viewers share one list. */
#ifndef GATEWAY_MEMBER_LISTS_LIST_ID_H
#define GATEWAY_MEMBER_LISTS_LIST_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "model/channel.h"

enum { LIST_ID_MAX = 12 }; /* maximum size in bytes, with the NUL byte */

/* Computes the id of a member list. The id is "everyone" if @everyone may view channels
 * (`everybody`) and no overwrite denies VIEW_CHANNEL. Otherwise the id is a hash of the overwrites
 * that allow or deny VIEW_CHANNEL. */
void compute_member_list_id(bool everybody, const struct overwrite *overwrites, size_t count,
                            char ret[LIST_ID_MAX]);

/* 32-bit MurmurHash3 for x86, with seed 0. */
uint32_t murmur3_hash32(const void *bytes, size_t count);

#endif
