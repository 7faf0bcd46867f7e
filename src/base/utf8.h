/* utf8.h - strict UTF-8: no surrogates, no overlong forms, up to U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

bool utf8_is_valid(struct str s);

bool utf8_is_ascii(struct str s);

/* Returns the number of code points. The text must be valid UTF-8. */
size_t utf8_length(struct str s);

/* Decodes the first code point. Returns its length (1-4 bytes), or 0 if the text is empty,
 * truncated or invalid. */
size_t utf8_decode(struct str s, uint32_t *ret);

/* Writes a code point as 1-4 bytes and returns their number. The code point must not be a
 * surrogate. */
size_t utf8_encode(uint32_t cp, char out[4]);

/* Returns the text without an incomplete character at its end, for texts that were truncated at an
 * arbitrary byte. */
struct str utf8_drop_incomplete_last_character(struct str s);

/* Removes Unicode white space at both ends. */
struct str utf8_trim(struct str s);

#endif
