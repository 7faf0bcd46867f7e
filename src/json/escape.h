/* escape.h - decodes escapes in JSON strings. */
#ifndef JSON_ESCAPE_H
#define JSON_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;

/* Decodes the escape at p. Returns its length (a surrogate pair is one escape), or 0 if the escape
 * is invalid or is a lone surrogate. */
size_t decode_escape(const char *p, const char *end, uint32_t *ret);

/* Decodes all escapes of a string; the escapes must be valid. */
struct str decode_escapes(struct arena *arena, struct str raw);

#endif
