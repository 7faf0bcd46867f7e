/* cbor.h - reader for CBOR (RFC 8949) in the canonical form that security keys send (CTAP2): no
 * indefinite lengths, no tags.
 *
 * After the first malformed item every function returns false. */
#ifndef PLATFORM_ACCOUNTS_MFA_CBOR_H
#define PLATFORM_ACCOUNTS_MFA_CBOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct cbor_reader {
    const unsigned char *at, *end;
};

void cbor_reader_init(struct cbor_reader *r, struct str bytes);
/* Enters a map; then read exactly *ret_count pairs of a key and a value. */
bool cbor_read_map(struct cbor_reader *r, size_t *ret_count);
/* Reads an integer, which may be negative. */
bool cbor_read_int(struct cbor_reader *r, int64_t *ret);
bool cbor_read_bytes(struct cbor_reader *r, struct str *ret);
bool cbor_read_text(struct cbor_reader *r, struct str *ret);
/* Skips any item; arrays and maps may be nested four levels deep. */
bool cbor_skip(struct cbor_reader *r);

#endif
