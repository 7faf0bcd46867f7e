/* utf8.h - UTF-8, strictly: no surrogates, no overlong forms, up to U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

bool utf8_valid(struct str s);

/* Every byte is a character. */
bool utf8_is_ascii(struct str s);

/* Code points in valid text. */
size_t utf8_length(struct str s);

/* Decodes one code point at the front of valid or invalid text; returns its
 * bytes (1-4), or 0 when the text is empty, cut off or invalid there. */
size_t utf8_decode(struct str s, uint32_t *ret);

/* Writes 1-4 bytes for a code point that is not a surrogate. */
size_t utf8_encode(uint32_t cp, char out[4]);

/* Without white space at both ends, as Unicode knows it (names are trimmed). */
struct str utf8_trim(struct str s);

#endif
