/* list_id.h - the name of a member list: channels that the same people see share one. */
#ifndef GATEWAY_MEMBER_LISTS_LIST_ID_H
#define GATEWAY_MEMBER_LISTS_LIST_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "model/channel.h"

enum { LIST_ID_MAX = 12 }; /* bytes, the final zero included */

/* "everyone" when @everyone may view channels (everybody) and no overwrite takes that from
 * anybody; else a hash of the overwrites that say who views the channel. */
void list_id_write(bool everybody, const struct overwrite *overwrites, size_t count,
                   char ret[LIST_ID_MAX]);

/* MurmurHash3, for x86 and 32 bits, with seed 0. */
uint32_t murmur3(const void *bytes, size_t count);

#endif
